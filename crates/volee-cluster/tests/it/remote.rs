//! Workers as processes over loopback: the same answers as alone, and every fault is a message that names the
//! worker.
//!
//! A job's process is this test binary, called with the name of one test ([`job_process`]) that does nothing
//! otherwise.

use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::LazyLock;

use volee_bes::random::{Implicit, Shape, equations};
use volee_bes::{Solver, solve};
use volee_cluster::drive::{Driver, Stop};
use volee_cluster::equations::{JointAnswer, PartialAnswer, work};
use volee_cluster::remote::coordinator::{JobError, run};
use volee_cluster::remote::job;
use volee_cluster::remote::listener::Listener;
use volee_cluster::remote::{ClusterError, Secret};
use volee_cluster::threads::Failure;
use volee_system::part::PartError;
use volee_system::{Budget, Limit, Meter, Quiet};

const SIGN: &str = "VOLEE_TEST_JOB";

#[test]
fn job_process() {
    if std::env::var_os(SIGN).is_some() {
        job::run(&secret(), job::Room::default(), part);
    }
}

/// What a process does with a payload: `solve SEED`, or a fault in worker 1.
fn part(driver: &mut Driver<'_>, payload: &[u8]) -> Result<Vec<u8>, Stop> {
    let payload = String::from_utf8_lossy(payload).into_owned();
    let (what, rest) = payload.split_once(' ').unwrap_or((&payload, ""));
    let mine = driver.me() == 1;
    let answer = match what {
        "solve" => work(
            driver,
            &mut &equations(shape(rest.parse().expect("a seed")), rest.parse().expect("a seed")),
        )?,
        "panic" if mine => panic!("something impossible happened"),
        "exit" if mine => std::process::exit(7),
        "stop" if mine => {
            let me = std::process::id().to_string();
            // Nobody wakes it up again, so that it must be ended later.
            let _ = Command::new("sh").args(["-c", "sleep 9; kill -KILL $0", &me]).spawn();
            let _ = Command::new("kill").args(["-STOP", &me]).status();
            std::process::exit(8)
        }
        // Larger than any test waits for.
        _ => work(driver, &mut Implicit { variables: u32::MAX - 1, degree: 3, constants: 0 })?,
    };
    Ok(postcard::to_stdvec(&answer).expect("it can be written"))
}

fn shape(seed: u64) -> Shape {
    Shape {
        variables: 20 + (seed % 300) as u32,
        degree: 1 + (seed % 4) as u32,
        blocks: 1 + (seed % 4) as u16,
        conjunctions: [50, 10, 90, 30][(seed % 4) as usize],
        alternating: false,
    }
}

fn secret() -> Secret {
    static SECRET: LazyLock<Secret> = LazyLock::new(|| {
        let path = std::env::temp_dir().join(format!("volee-secret-{}", std::process::id()));
        std::fs::write(&path, "correct horse battery staple\n").expect("it can be written");
        let secret = Secret::read(&path).expect("it is one");
        let _ = std::fs::remove_file(path);
        secret
    });
    SECRET.clone()
}

/// So many listeners on loopback, each on a thread of its own for ever.
fn workers(count: usize) -> Vec<String> {
    let mut addresses = Vec::new();
    for _ in 0..count {
        let listener = Listener::bind("127.0.0.1:0", secret()).expect("loopback");
        addresses.push(listener.address().expect("it has one").to_string());
        std::thread::spawn(move || {
            let _ = listener.serve(
                || {
                    let mut command = Command::new(std::env::current_exe().expect("it is here"));
                    command.args(["--exact", "remote::job_process", "--nocapture"]).env(SIGN, "1");
                    command
                },
                |_| {},
            );
        });
    }
    addresses
}

fn ask(workers: &[String], payload: &str, memory: Option<u64>) -> Result<Vec<Vec<u8>>, JobError> {
    let meter = Meter::start(Budget { memory, ..Budget::default() });
    run(workers, &secret(), payload.as_bytes(), &meter, &mut |_| {}, None)
}

/// The failure of a job.
fn failure(payload: &str, memory: Option<u64>) -> (Failure, Vec<usize>) {
    match ask(&workers(3), payload, memory) {
        Err(JobError::Failed { failure, lost }) => (failure, lost),
        other => panic!("{payload}: {other:?}"),
    }
}

#[test]
fn processes_have_the_answers_of_the_sequential_solver() {
    let workers = workers(4);
    let meter = Meter::start(Budget::default());
    for seed in 0..crate::equations::cases(60) {
        let system = equations(shape(seed), seed);
        let expected = solve(&mut &system, Solver::DepthFirst, &meter, &mut Quiet).expect("small");
        let some = &workers[..1 + (seed / 2 % 4) as usize];
        let parts =
            ask(some, &format!("solve {seed}"), None).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let parts: Vec<PartialAnswer> =
            parts.iter().map(|bytes| postcard::from_bytes(bytes).expect("it can be read")).collect();
        let joint = JointAnswer::new(parts).expect("there is a value");
        assert_eq!(joint.value, expected.value, "seed {seed}");
        joint.check(&mut &system, &meter).expect("the certificate proves it");
    }
}

#[test]
fn a_worker_that_panics_is_named() {
    let (failure, lost) = failure("panic", None);
    assert!(failure.to_string().starts_with("worker 2 (127.0.0.1:"), "{failure}");
    assert!(failure.to_string().contains("something impossible happened"), "{failure}");
    assert_eq!(lost, [1]);
}

#[test]
fn a_worker_that_dies_is_named() {
    let (failure, lost) = failure("exit", None);
    assert!(failure.to_string().starts_with("worker 2 (127.0.0.1:"), "{failure}");
    assert_eq!(lost, [1], "{failure}");
}

#[test]
fn a_worker_that_hangs_is_named() {
    let (failure, lost) = failure("stop", None);
    assert!(failure.to_string().starts_with("worker 2 (127.0.0.1:"), "{failure}");
    assert_eq!(lost, [1], "{failure}");
}

#[test]
fn a_worker_whose_memory_is_full_is_named() {
    let (failure, lost) = failure("large", Some(6 << 20));
    let Failure::Part { who, error: PartError::Limit(Limit::Memory { .. }) } = &failure else {
        panic!("{failure}")
    };
    assert!(who.starts_with("worker "), "{failure}");
    assert_eq!(lost, [0usize; 0]);
}

fn refusal(workers: &[String]) -> String {
    match ask(workers, "solve 1", None) {
        Err(JobError::Cluster(error @ ClusterError::Worker { .. })) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_worker_with_another_secret_is_refused() {
    let listener = Listener::bind("127.0.0.1:0", Secret::default()).expect("loopback");
    let address = listener.address().expect("it has one").to_string();
    std::thread::spawn(move || listener.serve(|| Command::new("false"), |_| {}));
    let why = refusal(&[workers(1).remove(0), address]);
    assert!(why.starts_with("worker 2 (127.0.0.1:") && why.contains("does not know the secret"), "{why}");
}

#[test]
fn a_worker_that_is_lost_before_it_has_begun_is_no_error_of_the_call() {
    let listener = Listener::bind("127.0.0.1:0", secret()).expect("loopback");
    let address = listener.address().expect("it has one").to_string();
    std::thread::spawn(move || listener.serve(|| Command::new("false"), |_| {}));
    let Err(JobError::Failed { failure: Failure::Lost { who, message }, lost }) =
        ask(&[address], "solve 1", None)
    else {
        panic!("its process ends at once")
    };
    assert!(who.starts_with("worker 1 (") && message.contains("before it had begun"), "{who}: {message}");
    assert_eq!(lost, [0]);
}

#[test]
fn a_worker_takes_no_more_jobs_than_it_may() {
    let listener = Listener::bind("127.0.0.1:0", secret()).expect("loopback").with_most_jobs(0);
    let address = listener.address().expect("it has one").to_string();
    std::thread::spawn(move || listener.serve(|| Command::new("false"), |_| {}));
    let why = refusal(&[address]);
    assert!(why.contains("as many jobs as it takes"), "{why}");
}

#[test]
fn a_worker_that_is_not_there_or_never_answers_is_named_in_time() {
    let nobody = {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        listener.local_addr().expect("it has one").to_string()
    };
    assert!(refusal(&[nobody]).contains("nobody listens there"));
    let silent = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let address = silent.local_addr().expect("it has one").to_string();
    let why = refusal(&[address]);
    assert!(why.contains("no answer in time"), "{why}");
}

#[test]
fn without_a_secret_only_loopback_is_listened_on() {
    let wrong = Listener::bind("0.0.0.0:0", Secret::default()).map(|_| ()).expect_err("it is open to all");
    assert!(wrong.to_string().contains("loopback only"), "{wrong}");
}

#[test]
fn strangers_and_noise_do_not_disturb_a_worker() {
    let workers = workers(2);
    for worker in &workers {
        let mut noise = TcpStream::connect(worker).expect("it listens");
        let _ = noise.write_all(b"GET / HTTP/1.0\r\n\r\n");
        let _silent = TcpStream::connect(worker).expect("it listens");
    }
    assert!(ask(&workers, "solve 5", None).is_ok());
}
