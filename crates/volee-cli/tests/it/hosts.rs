//! Workers on several hosts, in network namespaces: the same answers as one, and faults between them.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::workers::{FORMULAS, Worker, all_of, ask, calls, compare, hosts, json, sandbox};

/// Three hosts in network namespaces, joined by a bridge. Names and addresses are this process's own: several
/// runs of the tests on one machine must not meet each other's workers.
struct Hosts {
    prefix: String,
    network: String,
}

impl Hosts {
    fn make() -> Result<Hosts, String> {
        remove_leftovers();
        let id = std::process::id();
        let network = format!("10.{}.{}", 100 + id / 250 % 100, id % 250);
        let hosts = Hosts { prefix: format!("vo{id}"), network };
        let (p, network) = (&hosts.prefix, &hosts.network);
        ip(&format!("link add {p}br type bridge"))?;
        ip(&format!("addr add {network}.1/24 dev {p}br"))?;
        ip(&format!("link set {p}br up"))?;
        for n in 1..=3 {
            ip(&format!("netns add {p}n{n}"))?;
            ip(&format!("link add {p}v{n} type veth peer name {p}e{n}"))?;
            ip(&format!("link set {p}e{n} netns {p}n{n}"))?;
            ip(&format!("link set {p}v{n} master {p}br"))?;
            ip(&format!("link set {p}v{n} up"))?;
            ip(&format!("-n {p}n{n} addr add {network}.{}/24 dev {p}e{n}", n + 1))?;
            ip(&format!("-n {p}n{n} link set {p}e{n} up"))?;
            ip(&format!("-n {p}n{n} link set lo up"))?;
        }
        Ok(hosts)
    }

    fn worker(&self, n: u32, secret: &str) -> Worker {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &format!("{}n{n}", self.prefix), env!("CARGO_BIN_EXE_volee")]);
        Worker::start(command, &format!("{}.{}:0", self.network, n + 1), &["--secret-file", secret])
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        remove(&self.prefix);
    }
}

fn remove(prefix: &str) {
    for n in 1..=3 {
        let _ = ip(&format!("link del {prefix}v{n}"));
        let _ = ip(&format!("netns del {prefix}n{n}"));
    }
    let _ = ip(&format!("link del {prefix}br"));
}

/// A run that was killed could not clean up.
fn remove_leftovers() {
    let links = std::fs::read_dir("/sys/class/net").into_iter().flatten().flatten();
    for name in links.map(|link| link.file_name().to_string_lossy().into_owned()) {
        let id = name
            .strip_prefix("vo")
            .and_then(|rest| rest.strip_suffix("br"))
            .filter(|id| id.parse::<u32>().is_ok());
        if let Some(id) = id.filter(|id| !Path::new("/proc").join(id).exists()) {
            remove(&format!("vo{id}"));
        }
    }
}

fn ip(line: &str) -> Result<(), String> {
    let output = Command::new("ip").args(line.split(' ')).output().map_err(|e| format!("ip: {e}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("ip {line}: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

#[test]
fn three_hosts_answer_as_one_and_a_host_that_is_killed_cut_off_or_slow_hangs_nobody() {
    let network = match Hosts::make() {
        Ok(network) => network,
        Err(why) => {
            println!("skipped: no network namespaces here ({why})");
            return;
        }
    };
    let sandbox = sandbox();
    let folder = tempfile::tempdir().expect("a folder");
    let secret = folder.path().join("secret.txt");
    std::fs::write(&secret, "three hosts and a bridge\n").expect("it can be written");
    let secret = secret.display().to_string();
    let workers: Vec<Worker> = (1..=3).map(|n| network.worker(n, &secret)).collect();
    sandbox.write("hosts.toml", hosts(&workers));
    let more = ["--cluster", "hosts.toml", "--secret-file", &secret];
    for call in calls() {
        compare(&sandbox, &call, &more);
    }
    let call: Vec<String> = ["check", "large.family", "--mu", FORMULAS[0]].map(String::from).to_vec();
    let disturbed = |more: &[&str], disturb: &dyn Fn()| {
        std::thread::scope(|scope| {
            let asked = scope.spawn(|| ask(&sandbox, &call, more));
            disturb();
            asked.join().expect("it ends")
        })
    };
    // Slow for a while: no harm, the time limit ends it.
    let slow = disturbed(&[&more[..], &["--time", "4s"]].concat(), &|| {
        workers[0].signal_job("-STOP");
        std::thread::sleep(Duration::from_millis(1500));
        workers[0].jobs().iter().for_each(|job| drop(Command::new("kill").args(["-CONT", job]).status()));
    });
    let reason = json(&slow)["results"][0]["reason"]["kind"].clone();
    assert!(slow.code == 0 || reason == "time", "{}", all_of(&slow));
    // Killed.
    let killed = disturbed(&more, &|| workers[1].signal_job("-KILL"));
    assert_eq!(killed.code, 3, "{}", all_of(&killed));
    assert!(killed.stdout.contains(&format!("worker 2 ({})", workers[1].address)), "{}", all_of(&killed));
    // Cut off.
    let cut = disturbed(&more, &|| {
        workers[2].signal_job("-0");
        ip(&format!("link set {}v3 down", network.prefix)).expect("it can be cut");
    });
    assert_eq!(cut.code, 3, "{}", all_of(&cut));
    assert!(cut.stdout.contains(&format!("worker 3 ({})", workers[2].address)), "{}", all_of(&cut));
}
