//! How the binary is linked, where the linker of the system is known to be able to: at a fixed place, and with
//! what unwinds a panic inside instead of in a library of its own.
//!
//! A program that may be loaded anywhere has some thirty thousand addresses corrected each time it starts, and
//! a library that is loaded asks the processor for all that it can do. Each is a tenth of the time that a small
//! model takes.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" && target("ARCH") == "x86_64" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
        if let Some(folder) = unwinder_inside() {
            println!("cargo::rustc-link-search=native={}", folder.display());
        }
    }
}

/// A folder in which the linker finds a `libgcc_s` that names the same code for linking. None where the compiler
/// has no such code or is not the one of this machine.
fn unwinder_inside() -> Option<PathBuf> {
    if std::env::var("HOST") != std::env::var("TARGET") {
        return None;
    }
    let asked = Command::new("cc").arg("-print-file-name=libgcc_eh.a").output().ok()?;
    let archive = String::from_utf8(asked.stdout).ok()?;
    // A compiler that knows no such file repeats its name.
    let archive = Path::new(archive.trim());
    if !archive.is_absolute() || !archive.is_file() {
        return None;
    }
    let folder = PathBuf::from(std::env::var_os("OUT_DIR")?).join("unwinder");
    std::fs::create_dir_all(&folder).ok()?;
    std::fs::write(folder.join("libgcc_s.so"), "INPUT(-l:libgcc_eh.a -l:libgcc.a)\n").ok()?;
    Some(folder)
}
