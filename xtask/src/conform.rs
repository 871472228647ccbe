//! `cargo xtask bench conform [MESSAGES [CAPACITY [ACTIONS]]]`: complete test graphs of the alternating bit
//! protocol, explored on the fly, for the purpose "accept after 10 visible actions" (Joubert and Mateescu
//! 2006, section 4.2).
//!
//! Both methods, each in a process of its own, so that its memory is its own; the two reduced graphs must be
//! strongly bisimilar. The published figures for N=256 stand beside ours. The run is stored in
//! `bench/conform.csv`.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use volee::bes::Solver;
use volee::conform::{
    Determinised, Interface, Livelock, Matcher, Purpose, Specification, TestGraph, by_equations, direct,
};
use volee::lts::generate::AlternatingBit;
use volee::lts::{Relation, compare, read_file, write_file};
use volee::system::{Budget, Meter, Quiet};

/// Figures of the 2006 report for the protocol with 256 messages, on machines of its time.
const PUBLISHED: &str = "\
published, N=256: sequential EXTRACTOR 139 min 22 s, 2772 MB, raw 12,139,232 states, 39,020,231 transitions;
                  TGV 597 min, 2322 MB, 264,194 states, 854,786 transitions";

const HEADER: &str = "messages,capacity,actions,method,cpu_seconds,megabytes,specification_states,raw_states,raw_transitions,\
meta_states,nodes,edges,reduced_nodes,reduced_edges\n";

/// Runs the benchmark.
pub fn bench(arguments: &[String]) -> Result<(), String> {
    if let [only, method, rest @ ..] = arguments
        && only == "--only"
    {
        return one(method, rest);
    }
    let own = std::env::current_exe().map_err(|e| e.to_string())?;
    let folder = std::env::temp_dir().join(format!("volee-bench-conform-{}", std::process::id()));
    fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let files = ["direct", "equations"].map(|method| (method, folder.join(format!("{method}.vlts"))));
    let mut rows = String::new();
    let mut run = || -> Result<(), String> {
        for (method, file) in &files {
            let mut command = Command::new(&own);
            command.args(["bench", "conform", "--only", method, &file.display().to_string()]).args(arguments);
            let output =
                command.stderr(std::process::Stdio::inherit()).output().map_err(|e| e.to_string())?;
            if !output.status.success() {
                return Err(format!("{method} ended with {}", output.status));
            }
            rows.push_str(&String::from_utf8_lossy(&output.stdout));
        }
        let meter = Meter::start(Budget::default());
        let read = |file: &Path| read_file(file).map_err(|e| e.to_string());
        let difference = compare(&read(&files[0].1)?, &read(&files[1].1)?, Relation::Strong, &meter);
        match difference.map_err(|e| e.to_string())? {
            None => Ok(()),
            Some(_) => Err("the graphs of the two methods are not strongly bisimilar".into()),
        }
    };
    let ended = run();
    // What is left behind would only cost room.
    let _ = fs::remove_dir_all(&folder);
    println!("{HEADER}{rows}{PUBLISHED}");
    ended?;
    println!("the reduced graphs of both methods are strongly bisimilar");
    store(&rows)
}

fn store(rows: &str) -> Result<(), String> {
    fs::create_dir_all("bench").map_err(|e| e.to_string())?;
    let path = Path::new("bench/conform.csv");
    let is_new = !path.exists();
    let mut file = fs::File::options().create(true).append(true).open(path).map_err(|e| e.to_string())?;
    let header = if is_new { HEADER } else { "" };
    file.write_all(format!("{header}{rows}").as_bytes()).map_err(|e| e.to_string())
}

/// One method: prints its row, and writes the reduced graph.
fn one(method: &str, arguments: &[String]) -> Result<(), String> {
    let [file, numbers @ ..] = arguments else { return Err("which file?".into()) };
    let number = |at: usize, default: u32| match numbers.get(at) {
        Some(text) => text.parse().map_err(|_| format!("`{text}` is not a number")),
        None => Ok(default),
    };
    let (messages, capacity, actions) = (number(0, 256)?, number(1, 3)?, number(2, 10)?);
    let meter = Meter::start(Budget { memory: Some(4 << 30), ..Budget::default() });
    let patterns = |text: &str| Matcher::parse_list(text).map_err(|e| e.to_string());
    let interface = Interface { inputs: patterns("PUT")?, outputs: patterns("GET")?, ..Interface::default() };
    let mut system = AlternatingBit::new(messages as u16, capacity as u8);
    let mut progress = Quiet;
    let specification =
        Specification::new(&mut system, interface, Livelock::Quiescent, &meter, &mut progress);
    let purpose = Purpose::after(actions as usize).map_err(|e| e.to_string())?;
    let mut product = Determinised::new(specification, purpose);
    let selected = match method {
        "direct" => direct(&mut product),
        _ => by_equations(&mut product, Solver::Auto, &meter, &mut Quiet).map(|(selected, _)| selected),
    };
    let selected = selected.map_err(|e| e.to_string())?;
    let reduced: TestGraph = selected.graph.reduced(&meter).map_err(|e| e.to_string())?;
    let (cpu, megabytes) = used();
    let s = selected.sizes;
    println!(
        "{messages},{capacity},{actions},{method},{cpu:.2},{megabytes},{},{},{},{},{},{},{},{}",
        s.specification_states,
        s.raw_states,
        s.raw_transitions,
        s.meta_states,
        s.nodes,
        s.edges,
        reduced.node_count(),
        reduced.edge_count()
    );
    write_file(&reduced.to_lts(), Path::new(file)).map_err(|e| e.to_string())
}

/// CPU seconds and peak memory of this process so far, where the system tells.
fn used() -> (f64, u64) {
    let schedule = fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds: f64 = schedule.split_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or(0.0);
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|l| l.starts_with("VmHWM:"));
    let kilobytes: u64 =
        peak.and_then(|l| l.split_whitespace().nth(1)).and_then(|n| n.parse().ok()).unwrap_or(0);
    (nanoseconds / 1e9, kilobytes >> 10)
}
