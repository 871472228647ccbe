//! How a run looks in every form, on one small run that has everything: messages through a channel, a
//! rendezvous, an indivisible sequence, a message nobody takes, an error, a cycle.

use volee_report::{Palette, TextLayout, run_itf, run_mermaid, run_svg, run_text};
use volee_system::{Action, Event, EventKind, Fault, FaultKind, Place, Run, RunState, RunStep, Variable};

fn state(sent: u32, queue: &str, lamp: &str) -> RunState {
    let pairs = [("sent", sent.to_string()), ("line", queue.to_string()), ("lamp", lamp.to_string())];
    RunState { variables: pairs.map(|(n, value)| Variable { name: n.into(), value }).to_vec() }
}

fn action(process: &str, pid: u32, line: u32, text: &str, event: Option<Event>) -> Action {
    Action {
        process: process.into(),
        pid,
        text: text.into(),
        place: Some(Place::new("lamp.pml", line, 3)),
        event,
        output: None,
        changed: Vec::new(),
    }
}

fn event(kind: EventKind, channel: &str, channel_id: u32, values: &[&str], partner: Option<&str>) -> Event {
    Event {
        kind,
        channel: channel.into(),
        channel_id,
        values: values.iter().map(|v| (*v).to_string()).collect(),
        partner: partner.map(|name| (name.to_string(), 2)),
    }
}

fn step(actions: Vec<Action>, fault: Option<&str>, state: RunState) -> RunStep {
    let fault = fault.map(|message| Fault {
        kind: FaultKind::Assertion,
        message: message.into(),
        place: Some(Place::new("lamp.pml", 23, 3)),
    });
    RunStep { ordinal: 0, label: actions[0].text.clone(), actions, fault, state }
}

fn example() -> Run {
    let send = |n: &str| event(EventKind::Send, "line", 1, &["switch", n], None);
    let receive = event(EventKind::Receive, "line", 1, &["switch", "1"], None);
    let meet = event(EventKind::Rendezvous, "wire", 2, &["on"], Some("Lamp"));
    let mut counted = action("Finger", 0, 9, "sent++", None);
    counted.output = Some("sent 1\n".into());
    counted.changed = vec![Variable { name: "sent".into(), value: "1".into() }];
    Run {
        skipped: 0,
        initial: state(0, "[]", "off"),
        steps: vec![
            step(
                vec![action("Finger", 0, 8, "line!switch(1)", Some(send("1"))), counted],
                None,
                state(1, "[switch(1)]", "off"),
            ),
            step(
                vec![action("Finger", 0, 8, "line!switch(2)", Some(send("2")))],
                None,
                state(1, "[switch(1), switch(2)]", "off"),
            ),
            step(
                vec![action("Switch", 1, 15, "line?switch(n)", Some(receive))],
                None,
                state(1, "[switch(2)]", "off"),
            ),
            step(vec![action("Switch", 1, 16, "wire!on", Some(meet))], None, state(1, "[switch(2)]", "on")),
            step(
                vec![action("Lamp", 2, 23, "assert(lamp == off)", None)],
                Some("assertion `lamp == off` failed"),
                state(1, "[switch(2)]", "on"),
            ),
        ],
        loop_start: None,
    }
}

fn lasso() -> Run {
    let mut run = example();
    run.steps[4].fault = None;
    run.steps[4].state = run.steps[2].state.clone();
    run.loop_start = Some(3);
    run
}

#[test]
fn text() {
    let layout = TextLayout { palette: Palette::Plain, model: "lamp.pml", longest: 100 };
    insta::assert_snapshot!("text", run_text(&example(), layout));
    insta::assert_snapshot!("text_lasso", run_text(&lasso(), layout));
}

#[test]
fn mermaid() {
    insta::assert_snapshot!("mermaid", run_mermaid(&example(), 100));
    insta::assert_snapshot!("mermaid_lasso", run_mermaid(&lasso(), 100));
}

#[test]
fn svg() {
    insta::assert_snapshot!("svg", run_svg(&example(), "lamp.pml: assertions", 100));
    insta::assert_snapshot!("svg_lasso", run_svg(&lasso(), "lamp.pml: progress", 100));
}

#[test]
fn itf() {
    insta::assert_snapshot!("itf", run_itf(&lasso(), "lamp.pml"));
}
