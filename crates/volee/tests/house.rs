//! The house is as its papers say: arrows between crates are those of ARCHITECTURE.md's table and no others,
//! every dependency is used, and every licence in the tree is one that a user of this one may accept without
//! asking.
//!
//! Public tools do the last two more finely; these need nothing installed, so they run wherever the tests do.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

type Arrows = BTreeMap<String, BTreeSet<String>>;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The full name of a crate that the table names by its last word.
fn full_name(word: &str) -> String {
    match word {
        "volee" | "xtask" => word.to_string(),
        _ if word.starts_with("volee-") => word.to_string(),
        _ => format!("volee-{word}"),
    }
}

/// Reads rows such as ``| `volee-search` | stores … | system, logic |``; "all the above" is every earlier
/// row.
fn allowed() -> Arrows {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the map is there");
    let mut arrows = Arrows::new();
    for line in text.lines().filter(|l| l.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [name, _, uses] = cells[..] else { panic!("a row of three cells: {line}") };
        let uses: BTreeSet<String> = match uses {
            "" => BTreeSet::new(),
            "all the above" => arrows.keys().cloned().collect(),
            list => list.split(',').map(|word| full_name(word.trim())).collect(),
        };
        arrows.insert(name.trim_matches('`').to_string(), uses);
    }
    arrows
}

/// What cargo says of the packages: ours alone, or all that they are built from.
fn metadata(more: &[&str]) -> Value {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--offline"])
        .args(more)
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo prints JSON")
}

/// The arrows that the manifests have; a crate may use any other for its tests.
fn present() -> Arrows {
    let metadata = metadata(&["--no-deps"]);
    let packages = metadata["packages"].as_array().expect("packages");
    let names: BTreeSet<&str> = packages.iter().filter_map(|p| p["name"].as_str()).collect();
    let uses = |package: &Value| -> BTreeSet<String> {
        let dependencies = package["dependencies"].as_array().expect("dependencies");
        let ours = dependencies.iter().filter(|d| d["kind"] != "dev").filter_map(|d| d["name"].as_str());
        ours.filter(|n| names.contains(n)).map(str::to_string).collect()
    };
    packages.iter().map(|p| (p["name"].as_str().expect("a name").to_string(), uses(p))).collect()
}

#[test]
fn every_arrow_is_in_the_table() {
    let allowed = allowed();
    assert!(allowed.len() > 10, "the table was read: {allowed:?}");
    let mut wrong = Vec::new();
    for (name, uses) in present() {
        match allowed.get(&name) {
            None => wrong.push(format!("{name} has no row")),
            Some(may) => wrong.extend(uses.difference(may).map(|used| format!("{name} -> {used}"))),
        }
    }
    assert!(wrong.is_empty(), "not in ARCHITECTURE.md's table: {wrong:?}");
}

#[test]
fn the_arrows_of_the_table_point_one_way() {
    let mut known = BTreeSet::new();
    let mut waiting = allowed();
    while !waiting.is_empty() {
        let next = waiting.iter().find(|(_, uses)| uses.is_subset(&known)).map(|(name, _)| name.clone());
        let next = next.unwrap_or_else(|| panic!("a cycle among {:?}", waiting.keys()));
        waiting.remove(&next);
        known.insert(next);
    }
}

/// Every Rust file below a folder.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(extension) if extension == "rs" => files.push(path),
                _ => {}
            }
        }
    }
    files
}

/// Their text.
fn rust_text(folder: &Path) -> String {
    rust_files(folder).iter().map(|path| fs::read_to_string(path).expect("source is text")).collect()
}

/// Whether `name` stands in `text` as a word of its own.
fn names(text: &str, name: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name)
        .any(|(at, _)| !text[..at].ends_with(word) && !text[at + name.len()..].starts_with(word))
}

#[test]
fn every_dependency_is_named_in_the_code_that_may_use_it() {
    let metadata = metadata(&["--no-deps"]);
    let mut unused = Vec::new();
    for package in metadata["packages"].as_array().expect("packages") {
        let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
        let home = manifest.parent().expect("a manifest is in a folder");
        let shipped = rust_text(&home.join("src")) + &rust_text(&home.join("build.rs"));
        let tests = rust_text(&home.join("tests")) + &rust_text(&home.join("examples"));
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let name = dependency["rename"].as_str().or(dependency["name"].as_str()).expect("a name");
            let name = name.replace('-', "_");
            let for_tests = dependency["kind"] == "dev";
            let used = names(&shipped, &name) || for_tests && names(&tests, &name);
            if !used {
                unused.push(format!("{} -> {name}", package["name"]));
            }
        }
    }
    assert!(unused.is_empty(), "dependencies that no code names: {unused:?}");
}

/// Rooms whose callers are people at a command line, or who write its commands for them, and what only tests
/// use.
const KNOW_FLAGS: &[&str] = &["volee-cli", "volee-lsp", "volee-page", "volee-testkit"];

/// The flags that stand in the code of a file, tests left out: `--word`, `-D`.
fn flags_in(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let mut flags = Vec::new();
    for line in code.lines() {
        for (at, _) in line.match_indices('-') {
            let rest = &line[at..];
            let long =
                rest.strip_prefix("--").is_some_and(|r| r.starts_with(|c: char| c.is_ascii_lowercase()));
            let define = rest.strip_prefix("-D").is_some_and(|r| !r.starts_with(|c: char| c.is_lowercase()));
            if (long || define) && !line[..at].ends_with(word) {
                flags.push(line.trim().to_string());
            }
        }
    }
    flags
}

#[test]
fn no_crate_below_the_command_line_names_a_flag() {
    assert_eq!(flags_in("a --x\nb - -3\nc--d x-D\n\"-D N\"").len(), 2);
    let mut named = Vec::new();
    for entry in fs::read_dir(root().join("crates")).expect("the rooms").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !KNOW_FLAGS.contains(&name.as_str()) {
            for path in rust_files(&entry.path().join("src")) {
                let text = fs::read_to_string(&path).expect("source is text");
                named.extend(flags_in(&text).into_iter().map(|line| format!("{}: {line}", path.display())));
            }
        }
    }
    assert!(named.is_empty(), "only the command line knows the names of flags: {named:#?}");
}

/// The rooms that answer; the command line asks through the door.
const ENGINES: &[&str] = &[
    "bes", "channels", "cluster", "conform", "counters", "families", "integers", "logic", "lts", "nets",
    "search",
];

#[test]
fn the_command_line_names_no_engine() {
    let text = rust_text(&root().join("crates/volee-cli/src"));
    let named: Vec<&&str> =
        ENGINES.iter().filter(|room| text.contains(&format!("volee::{room}::"))).collect();
    assert!(named.is_empty(), "what is needed of {named:?} stands beside what is asked, in `volee`");
}

/// Licences that ask for no more than their text and notices.
const ACCEPTED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Whether one may choose accepted licences only: an expression of `OR` over `AND`, with brackets around one
/// level.
fn acceptable(expression: &str) -> bool {
    let plain = expression.replace('/', " OR ");
    let mut depth = 0_i32;
    let mut parts = vec![String::new()];
    let mut operators = Vec::new();
    for word in plain.replace('(', " ( ").replace(')', " ) ").split_whitespace() {
        match word {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 && (word == "OR" || word == "AND") {
            operators.push(word.to_string());
            parts.push(String::new());
        } else if !(word == "(" && depth == 1 || word == ")" && depth == 0) {
            let part = parts.last_mut().expect("there is always one");
            part.push_str(if part.is_empty() { "" } else { " " });
            part.push_str(word);
        }
    }
    if let [only] = &parts[..] {
        return ACCEPTED.contains(&only.as_str()) || (plain.contains('(') && acceptable(only));
    }
    // `AND` binds more tightly: each run of parts joined by it must be acceptable as a whole.
    let mut good = vec![acceptable(&parts[0])];
    for (operator, part) in operators.iter().zip(&parts[1..]) {
        let next = acceptable(part);
        match operator.as_str() {
            "AND" => *good.last_mut().expect("not empty") &= next,
            _ => good.push(next),
        }
    }
    good.contains(&true)
}

#[test]
fn licence_expressions_are_understood() {
    for good in ["MIT", "MIT/Apache-2.0", "GPL-3.0 OR MIT", "(MIT OR GPL-3.0) AND Unicode-3.0"] {
        assert!(acceptable(good), "{good}");
    }
    for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "(GPL-3.0 OR MIT) AND AGPL-3.0", "GPL-2.0 OR GPL-3.0"] {
        assert!(!acceptable(bad), "{bad}");
    }
}

#[test]
fn everything_that_is_linked_has_an_accepted_licence() {
    // Only what this platform links is sure to have been fetched.
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(rustc).arg("-vV").output().expect("rustc runs").stdout;
    let version = String::from_utf8(version).expect("rustc prints text");
    let host = version.lines().find_map(|l| l.strip_prefix("host: ")).expect("rustc names its host");
    let metadata = metadata(&["--filter-platform", host]);
    let packages = metadata["packages"].as_array().expect("packages");
    let refused = packages.iter().filter(|p| !acceptable(p["license"].as_str().unwrap_or("")));
    let refused: Vec<String> = refused.map(|p| format!("{} {}", p["name"], p["license"])).collect();
    assert!(refused.is_empty(), "licences to look at: {refused:?}");
}
