//! The commands in the README and the book do what is printed there.
//!
//! In a ```` ```console ```` block a line that starts with `$ ` is run in a shell, and the lines after it are
//! what it must print. A line `…` stands for any lines. Times and memory may differ. A block whose first line
//! ends in `file=NAME` is written to that file first. `VOLEE_UPDATE=1 cargo test -p volee-cli documents`
//! writes the real outputs into the documents.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex_lite::Regex;

use crate::sandbox::{Sandbox, example_servers, root};

fn documents() -> Vec<PathBuf> {
    let mut all = vec![root().join("README.md")];
    let chapters = std::fs::read_dir(root().join("book/src")).expect("the book is there");
    all.extend(chapters.filter_map(|entry| entry.ok().map(|e| e.path())));
    all.retain(|p| p.extension().is_some_and(|e| e == "md"));
    all.sort();
    all
}

#[test]
fn commands_in_documents_do_what_is_printed_there() {
    let update = std::env::var_os("VOLEE_UPDATE").is_some();
    example_servers();
    let mut wrong = String::new();
    let mut commands = 0;
    for path in documents() {
        let text = std::fs::read_to_string(&path).expect("it is there");
        let (real, run) = rewritten(&text);
        commands += run;
        if real == text {
            continue;
        }
        match update {
            true => std::fs::write(&path, real).expect("it can be written"),
            false => wrong.push_str(&difference(&path, &text, &real)),
        }
    }
    assert!(commands > 0, "no command was found");
    assert!(wrong.is_empty(), "{wrong}\nVOLEE_UPDATE=1 writes what is really printed");
}

/// The document with the real output after each command, and how many commands were run. Output that was
/// right is left as it stands.
fn rewritten(text: &str) -> (String, usize) {
    let sandbox = Sandbox::new();
    let mut out = String::new();
    let mut commands = 0;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        let Some(info) = line.strip_prefix("```").filter(|info| !info.is_empty()) else { continue };
        let mut body = Vec::new();
        while let Some(line) = lines.next_if(|l| !l.starts_with("```")) {
            body.push(line);
        }
        if let Some((_, file)) = info.split_once("file=") {
            sandbox.write(file.trim(), body.join("\n") + "\n");
        }
        match info.starts_with("console") {
            true => commands += session(&sandbox, &body, &mut out),
            false => body.iter().for_each(|l| out.push_str(&format!("{l}\n"))),
        }
        if let Some(end) = lines.next() {
            out.push_str(end);
            out.push('\n');
        }
    }
    (out, commands)
}

fn session(sandbox: &Sandbox, body: &[&str], out: &mut String) -> usize {
    let starts: Vec<usize> = (0..body.len()).filter(|&i| body[i].starts_with("$ ")).collect();
    for (number, &start) in starts.iter().enumerate() {
        let end = starts.get(number + 1).copied().unwrap_or(body.len());
        let printed: Vec<&str> = body[start + 1..end].to_vec();
        let answered = sandbox.shell(&body[start][2..]);
        let real: Vec<&str> = answered.stdout.trim_end().lines().map(str::trim_end).collect();
        out.push_str(&format!("{}\n", body[start]));
        let shown = if fits(&printed, &real) { printed } else { real };
        shown.iter().for_each(|l| out.push_str(&format!("{l}\n")));
    }
    starts.len()
}

/// Whether the real lines are those that are printed; `…` fits any number of lines.
fn fits(printed: &[&str], real: &[&str]) -> bool {
    let Some((first, rest)) = printed.split_first() else { return real.is_empty() };
    if first.trim() == "…" {
        return (0..=real.len()).any(|skip| fits(rest, &real[skip..]));
    }
    match real.split_first() {
        Some((line, others)) => alike(first, line) && fits(rest, others),
        None => first.is_empty() && fits(rest, real),
    }
}

fn alike(printed: &str, real: &str) -> bool {
    static VARYING: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"(?x) under\ 1\ ms | \b\d+\ ms\b | \b\d+(\.\d+)?\ s\b | \b\d+\ min\ \d+\ s\b | \b[\d.]+\ (bytes\b|[kMG]B\b)
            | (seconds|bytes_per_state|peak_memory_bytes)\x22:\ [\d.e-]+",
        )
        .expect("a regular expression")
    });
    printed == real || VARYING.replace_all(printed, "#") == VARYING.replace_all(real, "#")
}

fn difference(path: &Path, printed: &str, real: &str) -> String {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let differing = printed.lines().zip(real.lines()).enumerate().find(|(_, (a, b))| a != b);
    match differing {
        Some((i, (a, b))) => format!("{name}:{}: printed `{a}`, really `{b}`\n", i + 1),
        None => format!("{name}: the lengths differ\n"),
    }
}

#[test]
fn an_ellipsis_stands_for_any_lines_and_times_may_differ() {
    assert!(fits(&["a", "…", "d in 3 ms"], &["a", "b", "c", "d in 17 ms"]));
    assert!(fits(&["…"], &[]));
    assert!(!fits(&["a", "…", "d"], &["a", "b"]));
    assert!(!fits(&["3 states"], &["4 states"]));
}
