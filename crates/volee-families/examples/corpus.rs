//! Scratch runner
use std::time::*;
use volee_families::*;
use volee_system::*;
fn main() {
    let mut args = std::env::args().skip(1);
    let secs: u64 = args.next().unwrap().parse().unwrap();
    for f in args {
        let text = String::from_utf8_lossy(&std::fs::read(&f).unwrap()).into_owned();
        let net = match read_spec(&f, &text) { Ok(n) => n, Err(e) => { println!("{f} ERR {}", e[0]); continue } };
        let relaxed = net.relaxed();
        let meter = Meter::start(Budget { time: Some(Duration::from_secs(secs)), memory: Some(6<<30), ..Budget::default() });
        let out = Backward::new(&relaxed).run(&meter, &mut Quiet);
        let t = meter.elapsed();
        let a = match &out.answer {
            Answer::Holds(c) => format!("safe  size {} check {:?}", c.size(), c.check(&relaxed)),
            Answer::Violated(c) => format!("unsafe steps {} replay {:?}", c.trace.len(), Instance::witness(&net, c).map(|w| w.steps.len())),
            Answer::Unknown(l) => format!("unknown {l}"),
        };
        println!("{:60} {:7.2}s  {a}  {:?} total {:.2}", f.rsplit("nets/").next().unwrap(), t.as_secs_f64(), out.statistics, meter.elapsed().as_secs_f64());
    }
}
