//! The explorer in a real browser: `cargo xtask browser install|test|measure|screenshots`.
//!
//! A browser (Chromium) is driven by playwright-core from Node; both are kept out of the project, under
//! `target/browser`, and the test suite uses them where they are. The scripts themselves are in
//! `crates/volee-page/browser`.

use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::outside::{called, root};

const USAGE: &str = "usage: cargo xtask browser install | test | measure | screenshots";
const BROWSERS: &[&str] = &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Installs what is needed, or runs one of the scripts.
pub fn run(arguments: &[String]) -> Result<(), String> {
    match arguments.first().map(String::as_str) {
        Some("install") => install(),
        Some("test") => script(&["--test", "tests.mjs"], &built()?, &[]),
        Some("measure") => measure(),
        Some("screenshots") => {
            let target = root().join("book/src/explorer");
            std::fs::create_dir_all(&target).map_err(|e| format!("{}: {e}", target.display()))?;
            let models = root().join("models/bugs");
            let places = [("VOLEE_SCREENSHOTS", target.as_path()), ("VOLEE_MODELS", &models)];
            script(&["screenshots.mjs"], &built()?, &places)
        }
        _ => Err(USAGE.into()),
    }
}

fn scripts() -> PathBuf {
    root().join("crates/volee-page/browser")
}

fn kept() -> PathBuf {
    root().join("target/browser")
}

/// playwright-core by npm, and Chromium by the system's packages or else by playwright.
fn install() -> Result<(), String> {
    let package = std::fs::read_to_string(scripts().join("package.json")).map_err(|e| e.to_string())?;
    std::fs::create_dir_all(kept()).map_err(|e| format!("{}: {e}", kept().display()))?;
    std::fs::write(kept().join("package.json"), package).map_err(|e| e.to_string())?;
    called(Command::new("npm").args(["install", "--no-audit", "--no-fund"]).current_dir(kept()))?;
    if chromium().is_some() {
        return Ok(());
    }
    // A fresh machine knows no packages before it has asked; where there is no apt-get, playwright has a
    // browser of its own.
    let _ = called(Command::new("apt-get").arg("update"));
    let packaged = called(Command::new("apt-get").args(["install", "-y", "chromium"]));
    if packaged.is_ok() && chromium().is_some() {
        return Ok(());
    }
    let own = kept().join("node_modules/playwright-core/cli.js");
    called(Command::new("node").arg(own).args(["install", "chromium"]))
}

/// The first browser on the path.
fn chromium() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    BROWSERS.iter().flat_map(|name| folders.iter().map(move |f| f.join(name))).find(|file| file.is_file())
}

/// The binary that tests use.
fn built() -> Result<PathBuf, String> {
    called(Command::new("cargo").args(["build", "-p", "volee-cli"]).current_dir(root()))?;
    Ok(root().join("target/debug/volee"))
}

/// Measures what people use, if it was built (`cargo build --release`); else what the tests use, which is
/// slower.
fn measure() -> Result<(), String> {
    let release = root().join("target/release/volee");
    let (volee, profile) = if release.is_file() { (release, "release") } else { (built()?, "dev") };
    println!("measured with the {profile} build, {}", volee.display());
    let figures = root().join("bench/page.csv");
    script(
        &["measure.mjs"],
        &volee,
        &[("VOLEE_FIGURES", figures.as_path()), ("VOLEE_PROFILE", Path::new(profile))],
    )
}

/// Runs a script with this binary, and more variables of the environment.
fn script(words: &[&str], volee: &Path, more: &[(&str, &Path)]) -> Result<(), String> {
    let modules = kept().join("node_modules");
    if !modules.is_dir() {
        return Err("there is no playwright-core yet: run `cargo xtask browser install`".into());
    }
    let volee = volee.canonicalize().map_err(|e| format!("{}: {e}", volee.display()))?;
    let mut node = Command::new("node");
    node.args(words).current_dir(scripts()).env("VOLEE", volee);
    node.env("VOLEE_BROWSER_MODULES", modules.canonicalize().map_err(|e| e.to_string())?);
    if let Some(browser) = chromium() {
        node.env("CHROMIUM", browser);
    }
    called(node.envs(more.iter().copied()))
}
