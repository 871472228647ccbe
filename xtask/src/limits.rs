//! `cargo xtask limits [BINARY]`: every verb and every engine on inputs that are too large for them, in 64 MB
//! and 2 s.
//!
//! A row holds when the process ends by itself with exit code 3 and one answer that says which limit it was,
//! no later than a second after its time, and with a peak of resident memory of at most 24 MB above its
//! budget, seen from outside. The rows are what the book's page about limits shows; one that does not hold
//! makes the command fail.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use xtask::worker::Worker;

const MEMORY: u64 = 64;
const OVERHEAD: u64 = 24;
const TIME: Duration = Duration::from_secs(2);
const GRACE: Duration = Duration::from_secs(1);
/// A process that is still there after this is ended.
const LOST: Duration = Duration::from_secs(30);

/// What is asked, of what, and how.
struct Row {
    what: &'static str,
    call: &'static str,
}

const fn row(what: &'static str, call: &'static str) -> Row {
    Row { what, call }
}

/// Words of a call are separated by spaces; files are those of [`make_inputs`].
const ROWS: &[Row] = &[
    row("a search, depth first", "check many.pml"),
    row("a search, breadth first", "check many.pml --search bfs"),
    row("a search that must keep all states", "check many.pml --replacement none"),
    row("an approximate search", "check many.pml --approximate bitstate"),
    row("a search by two workers", "check many.pml --workers 2"),
    row("a formula of linear time", "check many.pml --ltl [](a>=0)"),
    row("progress under fairness", "check many.pml --progress --fair"),
    row("a formula of the mu-calculus", "check many.pml --mu [true*]<true>true"),
    row("100,000 labels and a formula", "check labels.aut --mu LABELS"),
    row("families", "check many.spec --engine families"),
    row("a search by workers elsewhere", "check many.pml --cluster hosts.toml"),
    row("a search that is kept", "check many.pml --checkpoint kept.ck"),
    row("a search with states on disk", "check many.pml --spill ."),
    row("channels", "check many.pml --engine channels"),
    row("counters", "check ints.pml --engine counters --invariant a!=-77"),
    row("a test of forty actions", "tests io.pml --inputs in --outputs out --after 40"),
    row("a suite of tests", "tests io.pml --inputs in --outputs out --suite -o suite"),
    row("a program that is tested for ever", "conform echo.aut --random 100000000 -- ECHO"),
    row("the explorer", "explore many.pml --no-open"),
    row("the language server", "lsp"),
    row("a statement two million times", "check skips.pml"),
    row("a text that never ends", "check endless.pml"),
    row("all values of unbounded integers", "reachable counters.spec"),
    row("a long simulation", "simulate many.pml --steps 1000000"),
    row("a long run replayed", "replay many.pml run:0x60000000"),
    row("an automaton of a formula", "automaton EVENTUALLY --infinite"),
    row("figures of a system", "info large.aut"),
    row("figures of a model", "info many.pml"),
    row("events of a model", "info many.pml --events"),
    row("another format", "convert many.pml out.aut"),
    row("a reduction", "reduce large.aut -o small.aut --relation branching"),
    row("a comparison", "compare large.aut large.aut --relation weak"),
    row("a system of a family", "generate hubs --states 1073741824 -o out.aut"),
    row("a random graph", "generate random-graph --states 100000000 -o out.aut"),
    row("random equations", "solve --random 100000000,3,2"),
    row("a game", "solve large.gm"),
    row("slips of a large text", "lint skips.pml"),
    row("the layout of a large text", "format skips.pml"),
];

/// What a row took.
struct Taken {
    code: Option<i32>,
    seconds: f64,
    peak: u64,
    limit: String,
}

impl Taken {
    fn complaint(&self) -> Option<String> {
        let late = self.seconds > (TIME + GRACE).as_secs_f64();
        let large = self.peak > (MEMORY + OVERHEAD) << 10;
        match self.code {
            None => Some("it had to be ended".into()),
            Some(code) if code != 3 => Some(format!("it ended with code {code}")),
            _ if late => Some(format!("it ended after {:.2} s", self.seconds)),
            _ if large => Some(format!("it took {} MB", self.peak >> 10)),
            _ if self.limit.is_empty() => Some("its answer names no limit".into()),
            _ => None,
        }
    }
}

/// Runs all rows, or those whose call has a given word in it.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let binary = arguments.first().map_or("target/release/volee", String::as_str);
    let binary = fs::canonicalize(binary).map_err(|e| format!("build volee first ({binary}): {e}"))?;
    let folder = std::env::temp_dir().join(format!("volee-limits-{}", std::process::id()));
    fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    make_inputs(&folder).map_err(|e| e.to_string())?;
    let mut table = String::from("| what | call | ends after | peak | limit |\n|---|---|---|---|---|\n");
    let mut complaints = Vec::new();
    for row in ROWS.iter().filter(|row| arguments.get(1).is_none_or(|word| row.call.contains(word.as_str())))
    {
        let taken = measure(&binary, &folder, row).map_err(|e| e.to_string())?;
        let (what, call) = (row.what, row.call.replace('|', "\\|"));
        let line = format!(
            "| {what} | `{call}` | {:.2} s | {} MB | {} |\n",
            taken.seconds,
            taken.peak >> 10,
            taken.limit
        );
        print!("{line}");
        table.push_str(&line);
        complaints.extend(taken.complaint().map(|why| format!("{}: {why}", row.call)));
    }
    let _ = fs::remove_dir_all(&folder);
    if let Some(path) = arguments.get(2) {
        fs::write(path, table).map_err(|e| e.to_string())?;
    }
    match complaints.is_empty() {
        true => Ok(()),
        false => Err(format!("{} rows do not hold:\n{}", complaints.len(), complaints.join("\n"))),
    }
}

fn measure(binary: &Path, folder: &Path, row: &Row) -> std::io::Result<Taken> {
    let mut command = Command::new(binary);
    command.current_dir(folder).args(["--memory", &format!("{MEMORY}M"), "--time", "2s"]);
    // A language server has a protocol of its own, and waits for whoever speaks it.
    match row.call {
        "lsp" => command.stdin(Stdio::piped()),
        _ => command.args(["--format", "json"]).stdin(Stdio::null()),
    };
    command.args(words(row.call));
    let workers = row.call.contains("--cluster").then(|| Worker::several(binary, folder, 2));
    let _workers = workers.transpose().map_err(std::io::Error::other)?;
    let feeder = row.call.contains("endless").then(|| feed(&folder.join("endless.pml")));
    let answer = folder.join("answer.json");
    let mut child = command.stdout(File::create(&answer)?).stderr(Stdio::null()).spawn()?;
    let (start, mut peak) = (Instant::now(), 0);
    let mut ended = None;
    while ended.is_none() && start.elapsed() < LOST {
        peak = peak.max(crate::resident::high_water_mark(child.id()).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(2));
        ended = child.try_wait()?;
    }
    let seconds = start.elapsed().as_secs_f64();
    if ended.is_none() {
        child.kill()?;
        child.wait()?;
    }
    if let Some(mut feeder) = feeder.transpose()? {
        let _ = feeder.kill();
        let _ = feeder.wait();
    }
    let text = fs::read_to_string(&answer).unwrap_or_default();
    let code = ended.and_then(|status| status.code());
    Ok(Taken { code, seconds, peak, limit: kind_of_limit(&text) })
}

/// The first `"kind"` of an answer; of a text, which limit it speaks of.
fn kind_of_limit(answer: &str) -> String {
    for (words, kind) in [("unknown   the time limit", "time"), ("unknown   the memory budget", "memory")] {
        if answer.contains(words) {
            return kind.into();
        }
    }
    let kind = answer.split("\"kind\": \"").nth(1).and_then(|rest| rest.split('"').next());
    kind.unwrap_or_default().to_string()
}

/// Writes into a pipe for ever.
fn feed(pipe: &Path) -> std::io::Result<std::process::Child> {
    let _ = fs::remove_file(pipe);
    Command::new("mkfifo").arg(pipe).status()?;
    Command::new("sh").args(["-c", "exec yes 'byte x;' > \"$0\""]).arg(pipe).stderr(Stdio::null()).spawn()
}

fn words(call: &str) -> Vec<String> {
    let word = |word: &str| match word {
        "EVENTUALLY" => (1..15).map(|n| format!("<>(a=={n})")).collect::<Vec<_>>().join(" && "),
        "ECHO" => "./echo.sh".into(),
        "LABELS" => "[true*. \"L9*\"] <true*. \"L1*\"> true".into(),
        other => other.into(),
    };
    call.split(' ').map(word).collect()
}

fn make_inputs(folder: &Path) -> std::io::Result<()> {
    let write = |name: &str, text: &str| fs::write(folder.join(name), text);
    write("many.pml", MANY)?;
    write("counters.spec", COUNTERS)?;
    write("ints.pml", INTEGERS)?;
    write("io.pml", SERVERS)?;
    write("echo.aut", "des (0, 2, 2)\n(0, \"?ask\", 1)\n(1, \"!tell\", 0)\n")?;
    write("echo.sh", "#!/bin/sh\nwhile read x; do echo '!tell'; done\n")?;
    fs::set_permissions(folder.join("echo.sh"), fs::Permissions::from_mode(0o700))?;
    write("many.spec", &many_places())?;
    write_lines(&folder.join("skips.pml"), "active proctype P() {", "skip;", 2_000_000, "}")?;
    write_graph(&folder.join("large.aut"), 1_000_000, 100)?;
    write_graph(&folder.join("labels.aut"), 1_000_000, 100_000)?;
    write_game(&folder.join("large.gm"), 2_000_000)
}

fn write_lines(path: &Path, first: &str, line: &str, count: usize, last: &str) -> std::io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    writeln!(out, "{first}")?;
    for _ in 0..count {
        writeln!(out, "{line}")?;
    }
    writeln!(out, "{last}")?;
    out.flush()
}

/// Numbers that look like chance and are the same every time.
fn scattered(n: u64) -> u64 {
    let mixed = (n ^ (n >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}

fn write_graph(path: &Path, states: u64, labels: u64) -> std::io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    writeln!(out, "des (0, {}, {states})", 3 * states)?;
    for state in 0..states {
        writeln!(out, "({state}, \"L{}\", {})", scattered(state) % labels, (state + 1) % states)?;
        writeln!(out, "({state}, \"L{}\", {})", scattered(3 * state) % labels, scattered(state) % states)?;
        writeln!(out, "({state}, \"i\", {})", scattered(7 * state) % states)?;
    }
    out.flush()
}

fn write_game(path: &Path, nodes: u64) -> std::io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    writeln!(out, "parity {};", nodes - 1)?;
    for node in 0..nodes {
        let (a, b) = (scattered(node) % nodes, (node + 1) % nodes);
        writeln!(out, "{node} {} {} {a},{b};", scattered(node) % 9, node % 2)?;
    }
    out.flush()
}

/// Eight processes that count, each in its own way.
const MANY: &str = "byte a, b, c, d;
chan q = [8] of { byte };
active [4] proctype Up() { byte n; do :: n = n + 1; a = a + n; q!n :: b = b + a; c = c ^ n od }
active [4] proctype Down() { byte m; do :: q?m; d = d + m :: c = c + 1; m = d od }
";

/// Integers that grow and shrink by each other.
const INTEGERS: &str = "int a, b, c, d;
active [3] proctype Up() { int n; do :: a = a + b + 1; n = n + a :: b < a -> b = b + n + 2 :: c = c + d - n od }
active [3] proctype Down() { int m; do :: a > c -> d = d + a; m = m + 1 :: c = c + m :: d > m -> a = a - m; b = b + d od }
";

/// Servers that count what they are sent.
const SERVERS: &str = "chan in = [0] of { byte };
chan out = [0] of { byte };
active [6] proctype S() { byte n, m; do :: in?m -> n = n + m :: n = n * 3 + 1 :: out!n od }
";

/// Three counters that feed each other, so that no acceleration ends.
const COUNTERS: &str = "vars x y z u v w

rules
x >= 1, y >= 1 -> x' = x-1, z' = z+2;
z >= 1 -> z' = z-1, y' = y+3, u' = u+1;
u >= 2, y >= 1 -> u' = u-2, x' = x+1, v' = v+1;
v >= 1, z >= 3 -> v' = v-1, w' = w+2;
w >= 1, x >= 2 -> w' = w-1, y' = y+1, z' = z+1;
y >= 5 -> y' = y-5, x' = x+2, w' = w+1;

init
x = 1, y >= 1, z = 0, u = 0, v = 0, w = 0

target
x >= 9, y >= 9, z >= 9, u >= 9, v >= 9, w >= 9
";

/// Tokens that wander between forty places, any number of them.
fn many_places() -> String {
    let places: Vec<String> = (0..40).map(|p| format!("p{p}")).collect();
    let mut text = format!("vars {}\n\nrules\n", places.join(" "));
    for p in 0..40 {
        let (a, b, c) = (p, (p * 7 + 1) % 40, (p * 11 + 3) % 40);
        if a != b && b != c && a != c {
            let _ = writeln!(text, "p{a} >= 1, p{b} >= 1 -> p{a}' = p{a}-1, p{b}' = p{b}-1, p{c}' = p{c}+2;");
        }
    }
    let first: Vec<String> =
        (0..40).map(|p| format!("p{p} {} 1", if p % 3 == 0 { ">=" } else { "=" })).collect();
    let target: Vec<String> = (0..20).map(|p| format!("p{} >= 3", 2 * p)).collect();
    let _ = write!(text, "\ninit\n{}\n\ntarget\n{}\n", first.join(", "), target.join(", "));
    text
}
