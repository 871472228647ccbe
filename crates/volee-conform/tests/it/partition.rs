//! Several parts make the graph of one worker, node by node, whoever owns what.

use volee_conform::random::{Shape, purpose, specification};
use volee_conform::{
    ConformError, Determinised, Interface, Livelock, Matcher, Partition, Purpose, Specification, TestGraph,
    direct, join,
};
use volee_lts::Lts;
use volee_lts::generate::AlternatingBit;
use volee_system::part::{Outbox, Part, Work};
use volee_system::{Budget, Meter, Quiet, Random, System};

/// Packets on their way: from whom, to whom, of which kind, with which bytes.
type Sent = (usize, usize, u8, Vec<u8>);

/// Runs parts in turn until none has work and nothing is on its way.
fn drive(parts: &mut [Partition<'_>], rng: &mut Random) {
    let peers = parts.len();
    let mut outboxes: Vec<Outbox> = (0..peers).map(|me| Outbox::new(me, peers)).collect();
    let mut travelling: Vec<Sent> = Vec::new();
    let mut idle = vec![false; peers];
    while idle.contains(&false) || !travelling.is_empty() {
        let me = rng.part_of(peers as u64) as usize;
        if rng.part_of(2) == 0 && !travelling.is_empty() {
            let at = rng.part_of(travelling.len() as u64) as usize;
            let (from, to, kind, bytes) = travelling.remove(at);
            parts[to].receive(from, kind, &bytes).expect("packets make sense");
            idle[to] = false;
            continue;
        }
        idle[me] =
            parts[me].work(1 + rng.part_of(40) as usize, &mut outboxes[me]).expect("no limit") == Work::Idle;
        travelling.extend(outboxes[me].take().map(|p| (me, usize::from(p.to), p.kind, p.bytes)));
    }
}

/// The graph, or `None` where there is no test.
fn shared(
    peers: usize,
    system: &(impl System + Clone),
    interface: &Interface,
    goal: impl Fn() -> Purpose,
    livelock: Livelock,
    seed: u64,
) -> Option<TestGraph> {
    let meter = Meter::start(Budget::default());
    let mut systems = vec![system.clone(); peers];
    let mut quiet = vec![Quiet; peers];
    let mut parts: Vec<Partition<'_>> = systems
        .iter_mut()
        .zip(&mut quiet)
        .enumerate()
        .map(|(me, (system, quiet))| {
            let seen = Specification::new(system, interface.clone(), livelock, &meter, quiet);
            Partition::new(Determinised::new(seen, goal()), me, peers).expect("it makes sense")
        })
        .collect();
    drive(&mut parts, &mut Random::new(seed));
    let made: Vec<_> = parts.into_iter().map(Partition::finish).collect();
    match join(&made) {
        Ok(selected) => Some(selected.graph),
        Err(ConformError::NoTest) => None,
        Err(error) => panic!("{error}"),
    }
}

/// The graph of one worker, who knows nothing of parts.
fn alone(
    system: &(impl System + Clone),
    interface: &Interface,
    goal: Purpose,
    livelock: Livelock,
) -> Result<Option<TestGraph>, ConformError> {
    let meter = Meter::start(Budget::default());
    let (mut system, mut quiet) = (system.clone(), Quiet);
    let seen = Specification::new(&mut system, interface.clone(), livelock, &meter, &mut quiet);
    match direct(&mut Determinised::new(seen, goal)) {
        Ok(selected) => Ok(Some(selected.graph.in_order())),
        Err(ConformError::NoTest) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Nodes, actions and steps as text: what two graphs that are the same share.
fn told(graph: &TestGraph) -> String {
    let mut text = String::new();
    for node in graph.nodes() {
        for edge in graph.edges(node) {
            let action = graph.actions().get(edge.action);
            text.push_str(&format!(
                "{} {:?} {} {:?} {}\n",
                node.0, edge.action, action.name, action.kind, edge.target.0
            ));
        }
    }
    text
}

#[test]
fn random_specifications_have_the_same_graph_on_1_to_4_workers_node_by_node() {
    let shape = Shape { states: 12, inputs: 2, outputs: 3, internal: 35 };
    let (mut graphs, mut shared_nodes) = (0, 0);
    for seed in 0..1500 {
        let mut rng = Random::new(seed);
        let lts: Lts = specification(shape, &mut rng).expect("small");
        let automaton = purpose(shape, &mut rng).expect("small");
        let goal = || Purpose::automaton(&automaton).expect("a purpose");
        let livelock = if seed % 2 == 0 { Livelock::Quiescent } else { Livelock::Ignored };
        let interface = Interface::default();
        let Ok(expected) = alone(&&lts, &interface, goal(), livelock) else { continue };
        for peers in 1..=4 {
            let found = shared(peers, &&lts, &interface, goal, livelock, seed);
            let (found, expected) = (found.as_ref().map(told), expected.as_ref().map(told));
            assert_eq!(found, expected, "seed {seed}, {peers} workers");
        }
        graphs += usize::from(expected.is_some());
        shared_nodes += expected.map_or(0, |graph| graph.node_count());
    }
    assert!(graphs > 200 && shared_nodes > 1000, "{graphs} graphs, {shared_nodes} nodes");
}

#[test]
fn the_alternating_bit_protocol_has_the_same_graph_on_3_workers() {
    let protocol = AlternatingBit::new(3, 2);
    let list = |text: &str| Matcher::parse_list(text).expect("a pattern");
    let interface = Interface { inputs: list("PUT*"), outputs: list("GET*"), ..Interface::default() };
    let goal = || Purpose::after(6).expect("a number");
    let expected = alone(&protocol, &interface, goal(), Livelock::Quiescent).expect("a graph");
    let found = shared(3, &protocol, &interface, goal, Livelock::Quiescent, 7);
    assert_eq!(found.as_ref().map(told), expected.as_ref().map(told));
    assert!(expected.is_some_and(|graph| graph.node_count() > 20));
}
