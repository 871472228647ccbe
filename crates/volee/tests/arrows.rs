//! The arrows between crates are those of ARCHITECTURE.md's table, and no others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
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

/// Reads rows such as ``| `volee-search` | stores … | system, logic |``; "all the above" is every earlier row.
fn allowed() -> Arrows {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the map is there");
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

/// The arrows that the manifests have; a crate may use any other for its tests.
fn present() -> Arrows {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
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
