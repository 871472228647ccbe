//! The explorer in a real browser, where there is one: see `cargo xtask browser install`.

use std::path::{Path, PathBuf};
use std::process::Command;

fn on_path(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    names.iter().flat_map(|name| folders.iter().map(move |f| f.join(name))).find(|file| file.is_file())
}

#[test]
fn the_explorer_works_in_a_real_browser() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let modules = root.join("target/browser/node_modules");
    let node = on_path(&["node"]);
    let browser = on_path(&["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]);
    let (Some(node), Some(browser), true) = (node, browser, modules.join("playwright-core").is_dir()) else {
        println!("skipped: no browser to drive (cargo xtask browser install)");
        return;
    };
    let output = Command::new(node)
        .args(["--test", "tests.mjs"])
        .current_dir(root.join("crates/volee-page/browser"))
        .env("VOLEE", env!("CARGO_BIN_EXE_volee"))
        .env("CHROMIUM", browser)
        .env("VOLEE_BROWSER_MODULES", modules.canonicalize().expect("it is there"))
        .output()
        .expect("node runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
