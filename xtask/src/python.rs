//! The Python package: `cargo xtask python test` builds its wheel and runs its tests on it in an environment
//! that has nothing else; `cargo xtask python wheel` builds the wheel that people install.
//!
//! maturin and pytest are fetched into `target/python`. Where there is no Python, or nothing can be fetched,
//! that is told as skipped and nothing fails: `.ci/run` counts such lines.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::outside::{called, root};

const USAGE: &str = "usage: cargo xtask python test | wheel";

pub fn run(arguments: &[String]) -> Result<(), String> {
    match arguments.first().map(String::as_str) {
        Some("test") => test(),
        Some("wheel") => {
            let made = wheel(&environment("tools", &["maturin"])?, &["--release"])?;
            println!("{}", made.display());
            Ok(())
        }
        _ => Err(USAGE.into()),
    }
}

fn test() -> Result<(), String> {
    let both = environment("tools", &["maturin"])
        .and_then(|tools| environment("clean", &["pytest"]).map(|clean| (tools, clean)));
    let (tools, clean) = match both {
        Ok(both) => both,
        Err(why) => return skip(&format!("the Python package: {why}")),
    };
    let made = wheel(&tools, &[])?;
    for optional in ["pandas", "tqdm"] {
        if pip(&clean, &[optional]).is_err() {
            skip(&format!("`{optional}` cannot be fetched for the tests of the Python package"))?;
        }
    }
    pip(&clean, &["--force-reinstall", "--no-deps", &made.display().to_string()])?;
    let mut pytest = Command::new(program(&clean, "python"));
    pytest
        .args(["-m", "pytest", "--quiet", "--color=no", "-p", "no:cacheprovider"])
        .arg(root().join("python/tests"));
    // Outside of the folder of sources, so that what is installed is what is tested.
    called(pytest.current_dir(kept()))
}

fn kept() -> PathBuf {
    root().join("target/python")
}

fn program(environment: &Path, name: &str) -> PathBuf {
    environment.join(if cfg!(windows) { "Scripts" } else { "bin" }).join(name)
}

/// A virtual environment with these packages.
fn environment(name: &str, packages: &[&str]) -> Result<PathBuf, String> {
    let place = kept().join(name);
    if !program(&place, "python").exists() {
        std::fs::create_dir_all(kept()).map_err(|e| format!("{}: {e}", kept().display()))?;
        let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
        called(Command::new(python).args(["-m", "venv"]).arg(&place))?;
    }
    pip(&place, packages)?;
    Ok(place)
}

fn pip(environment: &Path, arguments: &[&str]) -> Result<(), String> {
    let mut pip = Command::new(program(environment, "python"));
    pip.args([
        "-m",
        "pip",
        "--quiet",
        "--disable-pip-version-check",
        "--retries",
        "1",
        "--timeout",
        "20",
        "install",
    ])
    .args(arguments);
    called(&mut pip)
}

/// Builds the wheel with the folder of builds that the workspace has, so that what both need is built once.
fn wheel(tools: &Path, flags: &[&str]) -> Result<PathBuf, String> {
    let out = kept().join("wheels");
    let _ = std::fs::remove_dir_all(&out);
    let mut maturin = Command::new(program(tools, "maturin"));
    maturin.args(["build", "--quiet", "--out"]).arg(&out).args(flags);
    maturin
        .arg("--manifest-path")
        .arg(root().join("python/Cargo.toml"))
        .env("CARGO_TARGET_DIR", root().join("target"));
    called(&mut maturin)?;
    let made = std::fs::read_dir(&out).map_err(|e| e.to_string())?.flatten().map(|entry| entry.path());
    made.into_iter()
        .find(|path| path.extension().is_some_and(|e| e == "whl"))
        .ok_or("maturin made no wheel".into())
}

fn skip(what: &str) -> Result<(), String> {
    eprintln!("skipped: {what}");
    if let Some(list) = std::env::var_os("VOLEE_SKIPS") {
        let file = OpenOptions::new().append(true).create(true).open(list);
        file.and_then(|mut file| writeln!(file, "skipped: {what}")).map_err(|e| e.to_string())?;
    }
    match std::env::var("VOLEE_SKIP_IS_FAILURE").is_ok_and(|word| word == "all") {
        true => Err(format!("skipped: {what}")),
        false => Ok(()),
    }
}
