//! Packages: `cargo xtask package tree DIRECTORY` lays out what an installation has (the program, manual
//! pages, completions, licences), `cargo xtask package deb [DIRECTORY]` makes a Debian package of it,
//! `… tar [DIRECTORY]` the archive that `cargo binstall` looks for. Manual pages and completions are printed
//! by the program itself, so they are those of its version.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const USAGE: &str = "usage: cargo xtask package tree|deb|tar [DIRECTORY] [--binary FILE]";

pub fn run(arguments: &[String]) -> Result<(), String> {
    let mut words = arguments.iter().map(String::as_str);
    let what = words.next().ok_or(USAGE)?;
    let (mut directory, mut binary) = (PathBuf::from("target/package"), None);
    while let Some(word) = words.next() {
        match word {
            "--binary" => binary = Some(PathBuf::from(words.next().ok_or(USAGE)?)),
            word if word.starts_with('-') => return Err(USAGE.into()),
            word => directory = word.into(),
        }
    }
    let binary = match binary {
        Some(binary) => binary,
        None => build()?,
    };
    let package = Package { binary, version: env!("CARGO_PKG_VERSION") };
    let made = match what {
        "tree" => package.tree(&directory),
        "deb" => package.deb(&directory),
        "tar" => package.tar(&directory),
        _ => return Err(USAGE.into()),
    }?;
    println!("{}", made.display());
    Ok(())
}

fn build() -> Result<PathBuf, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    call(Command::new(cargo).args(["build", "--release", "--package", "volee-cli"]))?;
    Ok(PathBuf::from("target/release/volee"))
}

/// Runs a program to its end and returns what it printed.
fn call(command: &mut Command) -> Result<Vec<u8>, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{name}: {error}"))?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(format!("{name} failed:\n{}", String::from_utf8_lossy(&output.stderr))),
    }
}

struct Package {
    binary: PathBuf,
    version: &'static str,
}

impl Package {
    fn volee(&self, arguments: &[&str]) -> Result<Vec<u8>, String> {
        call(Command::new(&self.binary).args(arguments))
    }

    /// The verbs, as the program lists them.
    fn verbs(&self) -> Result<Vec<String>, String> {
        let help = String::from_utf8_lossy(&self.volee(&["--help"])?).into_owned();
        let listed = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
        let verbs = listed.take_while(|line| !line.trim().is_empty()).filter(|line| line.starts_with("  "));
        let names = verbs.filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
        Ok(names
            .filter_map(|line| line.split_whitespace().next())
            .filter(|v| *v != "help")
            .map(str::to_owned)
            .collect())
    }

    /// What an installation has below its root.
    fn tree(&self, root: &Path) -> Result<PathBuf, String> {
        let usr = root.join("usr");
        copy(&self.binary, &usr.join("bin/volee"))?;
        let manual = usr.join("share/man/man1");
        write(&manual.join("volee.1"), &self.volee(&["man"])?)?;
        for verb in self.verbs()? {
            write(&manual.join(format!("volee-{verb}.1")), &self.volee(&["man", &verb])?)?;
        }
        for (shell, place) in [
            ("bash", "share/bash-completion/completions/volee"),
            ("zsh", "share/zsh/vendor-completions/_volee"),
            ("fish", "share/fish/vendor_completions.d/volee.fish"),
        ] {
            write(&usr.join(place), &self.volee(&["completions", shell])?)?;
        }
        for licence in ["LICENSE", "LICENSE-MIT", "LICENSE-APACHE"] {
            copy(Path::new(licence), &usr.join("share/doc/volee").join(licence))?;
        }
        Ok(root.to_path_buf())
    }

    fn deb(&self, directory: &Path) -> Result<PathBuf, String> {
        let architecture = String::from_utf8_lossy(&call(Command::new("dpkg").arg("--print-architecture"))?)
            .trim()
            .to_owned();
        let name = format!("volee_{}_{architecture}", self.version);
        let root = directory.join(&name);
        let _ = fs::remove_dir_all(&root);
        self.tree(&root)?;
        let licences = root.join("usr/share/doc/volee");
        fs::rename(licences.join("LICENSE"), licences.join("copyright"))
            .map_err(|error| error.to_string())?;
        for page in
            fs::read_dir(root.join("usr/share/man/man1")).map_err(|error| error.to_string())?.flatten()
        {
            call(Command::new("gzip").args(["--best", "--no-name"]).arg(page.path()))?;
        }
        let control = format!(
            "Package: volee\nVersion: {}\nArchitecture: {architecture}\nMaintainer: the volee project <volee@localhost>\n\
             Section: science\nPriority: optional\nDepends: libc6, libgcc-s1\nInstalled-Size: {}\n\
             Description: verifier for concurrent systems and protocols\n \
             Explores models in Promela, labelled transition systems and Petri nets on the fly:\n \
             deadlocks, assertions, temporal formulas, equivalences, tests.\n",
            self.version,
            size(&root)? / 1024,
        );
        write(&root.join("DEBIAN/control"), control.as_bytes())?;
        let file = directory.join(format!("{name}.deb"));
        call(Command::new("dpkg-deb").args(["--build", "--root-owner-group"]).arg(&root).arg(&file))?;
        Ok(file)
    }

    fn tar(&self, directory: &Path) -> Result<PathBuf, String> {
        let said = String::from_utf8_lossy(&call(Command::new("rustc").arg("-vV"))?).into_owned();
        let host = said
            .lines()
            .find_map(|line| line.strip_prefix("host: "))
            .ok_or("rustc does not tell its host")?;
        let name = format!("volee-{}-{host}", self.version);
        let root = directory.join(&name);
        let _ = fs::remove_dir_all(&root);
        self.tree(&root)?;
        let file = directory.join(format!("{name}.tar.gz"));
        call(Command::new("tar").arg("-czf").arg(&file).arg("-C").arg(directory).arg(&name))?;
        Ok(file)
    }
}

fn write(path: &Path, contents: &[u8]) -> Result<(), String> {
    let said = |error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(path.parent().ok_or(USAGE)?).map_err(said)?;
    fs::write(path, contents).map_err(said)
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    fs::create_dir_all(to.parent().ok_or(USAGE)?).map_err(|error| format!("{}: {error}", to.display()))?;
    fs::copy(from, to).map(|_| ()).map_err(|error| format!("{}: {error}", from.display()))
}

/// The bytes of all files below a directory.
fn size(root: &Path) -> Result<u64, String> {
    let (mut total, mut left) = (0, vec![root.to_path_buf()]);
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(&directory).map_err(|error| error.to_string())?.flatten() {
            match entry.metadata() {
                Ok(data) if data.is_dir() => left.push(entry.path()),
                Ok(data) => total += data.len(),
                Err(_) => {}
            }
        }
    }
    Ok(total)
}
