//! A folder of its own for a test, with the binary to run in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

pub struct Sandbox {
    folder: TempDir,
}

/// What a call answered.
pub struct Answered {
    pub stdout: String,
    pub stderr: String,
    pub code: i32,
}

impl Sandbox {
    /// An empty folder, in which `models` and `examples` are the project's folders of these names.
    pub fn new() -> Sandbox {
        let folder = TempDir::new().expect("a temporary folder");
        #[cfg(unix)]
        for name in ["models", "examples"] {
            std::os::unix::fs::symlink(root().join(name), folder.path().join(name)).expect("a link");
        }
        Sandbox { folder }
    }

    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> &Self {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("it can be created");
        std::fs::write(path, contents).expect("it can be written");
        self
    }

    /// Where a file of this name is.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// Calls volee with the words of a line.
    pub fn volee(&self, line: &str) -> Answered {
        self.volee_with(&line.split_whitespace().collect::<Vec<_>>(), "")
    }

    /// Calls volee with arguments and an input.
    pub fn volee_with(&self, arguments: &[&str], input: &str) -> Answered {
        let mut command = Command::new(env!("CARGO_BIN_EXE_volee"));
        command.args(arguments);
        self.run(command, input)
    }

    /// Runs a line of shell in which `volee` is ours; both streams come as one.
    pub fn shell(&self, line: &str) -> Answered {
        let ours = Path::new(env!("CARGO_BIN_EXE_volee")).parent().expect("a folder").display().to_string();
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("{{ {line}\n}} 2>&1")).env("PATH", format!("{ours}:{path}"));
        self.run(command, "")
    }

    /// The most memory that a call used, as the system counts it, in kilobytes; and how it ended.
    #[cfg(target_os = "linux")]
    pub fn peak(&self, call: &str) -> (u64, i32) {
        let script = format!(
            "volee {call} >/dev/null 2>&1 & p=$!; m=0; \
             while n=$(sed -n 's/VmHWM:[^0-9]*\\([0-9]*\\).*/\\1/p' /proc/$p/status 2>/dev/null) && [ -n \"$n\" ]; \
             do m=$n; done; wait $p; echo $m $?"
        );
        let answered = self.shell(&script);
        let mut words = answered.stdout.split_whitespace().filter_map(|w| w.parse::<u64>().ok());
        let (peak, code) = (words.next().expect("a size"), words.next().expect("a code"));
        (peak, i32::try_from(code).expect("a code"))
    }

    fn run(&self, mut command: Command, input: &str) -> Answered {
        use std::io::Write as _;
        command
            .current_dir(self.folder.path())
            .env_remove("RUST_BACKTRACE")
            .env_remove("GITHUB_ACTIONS")
            .env("TMPDIR", self.folder.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it runs");
        // A program that does not read its input is not at fault.
        let _ = child.stdin.take().expect("it is piped").write_all(input.as_bytes());
        let Output { status, stdout, stderr } = child.wait_with_output().expect("it ends");
        Answered {
            stdout: String::from_utf8_lossy(&stdout).into_owned(),
            stderr: String::from_utf8_lossy(&stderr).into_owned(),
            code: status.code().unwrap_or(-1),
        }
    }
}

/// The root of the project.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Builds the servers of `examples/connection`, beside volee itself: tests of this crate alone would not.
pub fn example_servers() {
    static BUILT: std::sync::OnceLock<()> = std::sync::OnceLock::new();
    BUILT.get_or_init(|| {
        let ours = Path::new(env!("CARGO_BIN_EXE_volee"));
        let profile = ours.parent().expect("a folder");
        let mut build = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()));
        build.args(["build", "--offline", "--quiet", "-p", "connection-example"]).current_dir(root());
        build.env("CARGO_TARGET_DIR", profile.parent().expect("a folder"));
        if profile.ends_with("release") {
            build.arg("--release");
        }
        assert!(build.status().is_ok_and(|status| status.success()), "the servers are built");
    });
}
