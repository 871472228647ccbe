//! `cargo xtask fuzz [SECONDS [SEED [TARGET]]]`: mutated inputs for every parser and for the wire, in this
//! process.
//!
//! An input starts as a file of the project or as a small sample, and is changed a few times: bytes flipped,
//! pieces cut, doubled, moved or taken from another input, numbers made huge, words of the language put in.
//! Whatever comes out, a parser must answer: no panic, at most a second, at most 256 MB. A watching thread
//! sees an input that takes longer or more, writes it to a file and ends the process, because nothing else
//! could. Runs on the stable toolchain; the same harness is a test with a few seconds.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use volee::system::memory;
use volee_testkit::Random;

use crate::clock::cpu_nanoseconds;

/// What an input may take.
const LONGEST: Duration = Duration::from_secs(1);
const LARGEST: u64 = 256 << 20;
/// Inputs longer than this tell little and take long.
const LONGEST_INPUT: usize = 1 << 14;

/// A parser, and what its inputs look like.
pub struct Target {
    /// What it is called.
    pub name: &'static str,
    /// The extension of the project's files that it reads.
    extension: &'static str,
    samples: &'static [&'static str],
    words: &'static [&'static str],
    run: fn(&[u8]),
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn promela(bytes: &[u8]) {
    let text = text(bytes);
    let options = volee::promela::Options::default();
    let (model, _) = volee::promela::parse("f.pml", &text, &options);
    if let Some(model) = model {
        let _ = volee::promela::parse_predicate(&model, &text[..text.floor_char_boundary(40)]);
        if let Ok(lowered) = volee::promela::lower(Arc::new(model)) {
            let _ = lowered.machine(Default::default());
        }
    }
}

/// A system of a thousand million states is what its parameters ask for: it is made only where it is small.
fn member(bytes: &[u8]) {
    if let Ok((family, values)) = volee::lts::generate::parse_member(&text(bytes)) {
        let seed = |at: usize| family.parameters[at].name == "seed";
        if values.iter().enumerate().all(|(at, &value)| value <= 1000 || seed(at)) {
            let _ = family.make(&values);
        }
    }
}

fn wire(bytes: &[u8]) {
    let _ = volee::cluster::remote::understands(bytes);
}

/// Every parser there is.
pub const TARGETS: &[Target] = &[
    Target {
        name: "promela",
        extension: "pml",
        samples: &[
            "mtype = { a, b }; chan c = [2] of { mtype, byte }; active proctype P() { byte x; do :: c!a,x :: c?b,x -> break :: else -> skip od }",
        ],
        words: &[
            "do",
            "od",
            "if",
            "fi",
            "::",
            "->",
            "atomic {",
            "d_step {",
            "unless",
            "#define A(x) x x",
            "#if 1",
            "#include \"x\"",
            "typedef T {",
            "[65535]",
            "inline f(a) {",
            "for (i : 1 .. 9) {",
            "ltl p { [] <> a }",
            "never {",
            "run P()",
            "provided (",
            "select (x : 0 .. 3)",
            "c??[a,_]",
            "eval(x)",
            "timeout",
            "priority 3",
        ],
        run: promela,
    },
    Target {
        name: "aut",
        extension: "aut",
        samples: &["des (0, 2, 2)\n(0, \"a\", 1)\n(1, i, 0)\n"],
        words: &["des (", "4294967295", "\"", "\\", ", "],
        run: |bytes| drop(volee::lts::read_aut(&mut &bytes[..], "f.aut", Some(bytes.len() as u64))),
    },
    Target {
        name: "binary systems",
        extension: "vlts",
        samples: &["volee"],
        words: &["\u{ff}\u{ff}"],
        run: |bytes| drop(volee::lts::read_binary(&mut &bytes[..], "f.vlts")),
    },
    Target {
        name: "spec",
        extension: "spec",
        samples: &["vars x y\nrules\nx >= 1 -> x' = x-1, y' = y+1;\ninit\nx >= 1, y = 0\ntarget\ny >= 3\n"],
        words: &["vars", "rules", "init", "target", ">=", "->", "' =", "99999999999999999999"],
        run: |bytes| {
            let _ = volee::nets::read_spec("f.spec", &text(bytes));
            let _ = volee::counters::parse_spec("f.spec", &text(bytes));
        },
    },
    Target {
        name: "fst",
        extension: "fst",
        samples: &[
            "model m { var x; states a; transition t := { from := a; to := a; guard := x >= 0; action := x' = x + 1; }; } strategy s { Region i := {state = a && x = 0}; }",
        ],
        words: &["transition", "guard :=", "action :=", "Region", "&&", "'"],
        run: |bytes| drop(volee::counters::parse_fst("f.fst", &text(bytes))),
    },
    Target {
        name: "pnml",
        extension: "pnml",
        samples: &[
            "<pnml><net id=\"n\" type=\"t\"><page id=\"p\"><place id=\"a\"><initialMarking><text>1</text></initialMarking></place><transition id=\"t\"/><arc id=\"x\" source=\"a\" target=\"t\"/></page></net></pnml>",
        ],
        words: &[
            "<place id=\"b\">",
            "</page>",
            "&#x0;",
            "<![CDATA[",
            "<!DOCTYPE a [<!ENTITY b \"c\">]>",
            "&b;",
        ],
        run: |bytes| drop(volee::nets::read_pnml("f.pnml", &text(bytes))),
    },
    Target {
        name: "scm",
        extension: "scm",
        samples: &[
            "scm m :\nnb_channels = 1 ;\nparameters :\nreal a ;\nautomaton A :\ninitial : 0\nstate 0 :\nto 0 : when true , 0 ! a ;\n",
        ],
        words: &["automaton B :", "state 65535 :", "to 70000 :", "nb_channels = 4294967296 ;"],
        run: |bytes| drop(volee::channels::read_scm("f.scm", &text(bytes))),
    },
    Target {
        name: "formulas",
        extension: "ltl",
        samples: &["[] (p -> <> {x == 1}) && (a U !b) || X c", "{[*]; a; b[+]} |-> c"],
        words: &["[]", "<>", " U ", " V ", "W", "X", "(((", "!", "<->", "{", "\""],
        run: |bytes| drop(volee::logic::formula::parse(&text(bytes), "f")),
    },
    Target {
        name: "mu",
        extension: "mcl",
        samples: &["nu X . (<true*> mu Y . ([\"a\"] Y or <not \"b\"> X))", "[true* . \"error\"] false"],
        words: &[
            "mu X .",
            "nu Y .",
            "[",
            "]",
            "<",
            ">",
            "*",
            "macro A(X) = X end_macro",
            "implies",
            "AG",
            "E_U(",
        ],
        run: |bytes| drop(volee::logic::mu::read("f", &text(bytes))),
    },
    Target {
        name: "hoa",
        extension: "hoa",
        samples: &[
            "HOA: v1\nStates: 2\nStart: 0\nAP: 1 \"a\"\nAcceptance: 1 Inf(0)\n--BODY--\nState: 0 {0}\n[0] 1\nState: 1\n[t] 0\n--END--\n",
        ],
        words: &["Alias: @a 0", "[!0&@a|t]", "4294967295", "Acceptance: 32 Inf(0)&Inf(1)"],
        run: |bytes| drop(volee::logic::hoa::read_hoa(&text(bytes), "f.hoa")),
    },
    Target {
        name: "equations",
        extension: "bes",
        samples: &["block mu B is\nX0 = X1 or X2\nX1 = true\nX2 = X0 and X1\nend block\n"],
        words: &["block nu C is", "end block", "X4294967295", "or", "and"],
        run: |bytes| drop(volee::bes::format::read_bes("f.bes", &text(bytes))),
    },
    Target {
        name: "games",
        extension: "gm",
        samples: &["parity 2;\n0 1 0 1,2 \"a\";\n1 2 1 0;\n2 0 0 2;\n"],
        words: &["parity 4294967295;", "start 9;", ","],
        run: |bytes| drop(volee::bes::format::read_gm("f.gm", &text(bytes))),
    },
    Target {
        name: "families",
        extension: "family",
        samples: &["abp messages=4 capacity=2", "hubs states=8"],
        words: &["18446744073709551615", "random-graph", "=", "states="],
        run: member,
    },
    Target {
        name: "tests",
        extension: "json",
        samples: &["{\"format\":\"volee-test\",\"nodes\":[]}"],
        words: &["4294967296", "[[", "null"],
        run: |bytes| drop(volee::conform::read_test(&text(bytes))),
    },
    Target {
        name: "mappings",
        extension: "toml",
        samples: &["ignore = ['#.*']\n[[send]]\nlabel = 'a(\\d+)'\nline = '$1'\n"],
        words: &["[[receive]]", "(a{1000}){1000}", "((((", "$99999"],
        run: |bytes| drop(volee::conform::run::Mapping::parse(&text(bytes), "f.toml")),
    },
    Target {
        name: "traces",
        extension: "json",
        samples: &["{\"format\":\"volee-trace-1\",\"model\":\"a\",\"defines\":[],\"plain\":true}"],
        words: &["run:0.1x99999999999", "@", "x"],
        run: |bytes| {
            let text = text(bytes);
            let _ = volee::report::Trace::from_json(&text);
        },
    },
    Target {
        name: "the wire",
        extension: "",
        samples: &["\u{5}\0\0\0\u{1}\u{2}\u{3}\u{4}\u{5}\u{1}\0\0\0\0"],
        words: &["\u{7f}\u{7f}\u{7f}", "\0\0\0\0"],
        run: wire,
    },
];

/// What went wrong with an input.
pub struct Found {
    /// The parser.
    pub target: &'static str,
    /// What it did.
    pub why: String,
    /// The input.
    pub input: Vec<u8>,
}

/// The input under way, for the thread that watches.
struct Current {
    started: Instant,
    base: u64,
    target: &'static str,
    input: Vec<u8>,
}

static CURRENT: Mutex<Option<Current>> = Mutex::new(None);

fn set_current(current: Option<Current>) {
    *CURRENT.lock().unwrap_or_else(PoisonError::into_inner) = current;
}

/// Ends the process when an input takes far too long or far too much.
fn watch() {
    loop {
        std::thread::sleep(Duration::from_millis(2));
        let current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(now) = &*current else { continue };
        let large = memory::held().saturating_sub(now.base) > LARGEST;
        if large || now.started.elapsed() > 60 * LONGEST {
            let path = keep(now.target, &now.input);
            let why = if large { "takes more than 256 MB" } else { "does not end" };
            eprintln!("{}: an input {why}: {}", now.target, path.display());
            std::process::exit(1);
        }
    }
}

/// Writes an input to a file.
pub fn keep(target: &str, input: &[u8]) -> PathBuf {
    let path = std::env::temp_dir().join(format!("volee-fuzz-{}.bin", target.replace(' ', "-")));
    let _ = std::fs::write(&path, input);
    path
}

/// Runs targets in turn for so long; gives the number of inputs.
///
/// # Errors
/// The first input that goes wrong.
pub fn fuzz(targets: &[&'static Target], time: Duration, seed: u64) -> Result<u64, Found> {
    static WATCHED: std::sync::Once = std::sync::Once::new();
    WATCHED.call_once(|| drop(std::thread::spawn(watch)));
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let ended = rounds(targets, time, seed);
    std::panic::set_hook(usual);
    ended
}

fn rounds(targets: &[&'static Target], time: Duration, seed: u64) -> Result<u64, Found> {
    let (mut random, start, mut count) = (Random::new(seed), Instant::now(), 0);
    let corpora: Vec<Vec<Vec<u8>>> = targets.iter().map(|target| corpus(target)).collect();
    while start.elapsed() < time {
        for (target, corpus) in targets.iter().zip(&corpora) {
            for _ in 0..64 {
                try_one(target, mutated(corpus, target.words, &mut random))?;
                count += 1;
            }
        }
    }
    Ok(count)
}

fn try_one(target: &'static Target, input: Vec<u8>) -> Result<(), Found> {
    let (started, before) = (Instant::now(), cpu_nanoseconds());
    set_current(Some(Current { started, base: memory::held(), target: target.name, input: input.clone() }));
    let ended = catch_unwind(AssertUnwindSafe(|| (target.run)(&input)));
    // On a machine with much to do an input waits; only what it takes itself counts.
    let elapsed = Duration::from_nanos(cpu_nanoseconds().saturating_sub(before));
    set_current(None);
    let why = match ended {
        Err(panic) => {
            let message = panic.downcast_ref::<String>().map(String::as_str);
            format!("panics: {}", message.or(panic.downcast_ref::<&str>().copied()).unwrap_or("silently"))
        }
        Ok(()) if elapsed > LONGEST => format!("takes {elapsed:?}"),
        Ok(()) => return Ok(()),
    };
    Err(Found { target: target.name, why, input })
}

/// What inputs are made from: the samples, and the project's files of this kind.
fn corpus(target: &Target) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = target.samples.iter().map(|s| s.as_bytes().to_vec()).collect();
    if !target.extension.is_empty() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for folder in ["models", "examples"] {
            gather(&root.join(folder), target.extension, &mut all);
        }
    }
    all
}

fn gather(folder: &Path, extension: &str, all: &mut Vec<Vec<u8>>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            gather(&path, extension, all);
        } else if path.extension().is_some_and(|e| e == extension)
            && let Ok(bytes) = std::fs::read(&path)
            && bytes.len() <= LONGEST_INPUT
        {
            all.push(bytes);
        }
    }
}

fn mutated(corpus: &[Vec<u8>], words: &[&str], random: &mut Random) -> Vec<u8> {
    let mut input = random.pick(corpus).clone();
    for _ in 0..1 + random.below(6) {
        mutate(&mut input, corpus, words, random);
    }
    input.truncate(LONGEST_INPUT);
    input
}

fn mutate(input: &mut Vec<u8>, corpus: &[Vec<u8>], words: &[&str], random: &mut Random) {
    let (from, to) = {
        let (a, b) = (random.below(input.len() + 1), random.below(input.len() + 1));
        (a.min(b), a.max(b).min(a.min(b) + 1 + random.below(64)))
    };
    match random.below(8) {
        0 if from < input.len() => input[from] ^= 1 << random.below(8),
        1 => drop(input.drain(from..to.min(input.len()))),
        2 => {
            let piece = input[from..to.min(input.len())].to_vec();
            let at = random.below(input.len() + 1);
            input.splice(at..at, piece.repeat(1 + random.below(4)));
        }
        3 => {
            let other = random.pick(corpus);
            let start = random.below(other.len() + 1);
            let end = other.len().min(start + random.below(200));
            input.splice(from..from, other[start..end].iter().copied());
        }
        4 => {
            let number = *random.pick(&[
                "0",
                "-1",
                "255",
                "65536",
                "2147483648",
                "4294967296",
                "18446744073709551616",
            ]);
            input.splice(from..to.min(input.len()), number.bytes());
        }
        5 => input.truncate(from),
        6 if from < input.len() => input[from] = random.below(256) as u8,
        _ => {
            let word = *random.pick(words);
            input.splice(from..from, format!(" {word} ").into_bytes());
        }
    }
}

/// The command.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let number = |at: usize, usual: u64| match arguments.get(at) {
        Some(text) => text.parse().map_err(|_| format!("`{text}` is no number")),
        None => Ok(usual),
    };
    let (seconds, seed) = (number(0, 60)?, number(1, volee_testkit::seed_of_the_day())?);
    let wanted = |target: &&Target| arguments.get(2).is_none_or(|name| target.name == name);
    let targets: Vec<&'static Target> = TARGETS.iter().filter(wanted).collect();
    match fuzz(&targets, Duration::from_secs(seconds), seed) {
        Ok(count) => {
            println!("{count} inputs over {} parsers, seed {seed}: all answered", targets.len());
            Ok(())
        }
        Err(found) => {
            let path = keep(found.target, &found.input);
            Err(format!("{} {}, seed {seed}; the input is in {}", found.target, found.why, path.display()))
        }
    }
}
