//! Actors over every kind of network: what can arrive, how it is told, and how it is drawn.

use volee::report::run_svg;
use volee::system::EventKind;
use volee_models::{Actor, Actors, ActorsState, Delivery, Id, Loss, Model, Outbox, Pack, Property};

use crate::twins::naive;

/// The first sends numbers, the second writes them down.
struct Counting {
    numbers: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Pack)]
struct Written {
    sent: u8,
    got: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Speak;

impl Actor for Counting {
    type State = Written;
    type Message = u8;
    type Act = Speak;

    fn start(&self, _: Id, _: &mut Outbox<'_, u8>) -> Written {
        Written { sent: 0, got: Vec::new() }
    }

    fn receive(&self, _: Id, written: &mut Written, _: Id, number: &u8, _: &mut Outbox<'_, u8>) {
        written.got.push(*number);
    }

    fn acts(&self, id: Id, written: &Written, can: &mut dyn FnMut(Speak)) {
        if id == Id(0) && written.sent < self.numbers {
            can(Speak);
        }
    }

    fn act(&self, _: Id, written: &mut Written, _: &Speak, out: &mut Outbox<'_, u8>) {
        written.sent += 1;
        out.send(Id(1), written.sent);
    }

    fn name(&self, id: Id) -> String {
        if id == Id(0) { "speaker".into() } else { "writer".into() }
    }
}

type State = ActorsState<Written, u8>;

fn counting(delivery: Delivery, loss: Loss) -> Actors<Counting> {
    Actors::new("counting", 2, Counting { numbers: 3 })
        .delivery(delivery)
        .loss(loss)
        .within(|state: &State| state.actors[1].got.len() <= 4)
        .may_end(|_| true)
        .property(Property::always("in order", |_, state: &State| state.actors[1].got.is_sorted()))
        .property(Property::always("once", |_, state: &State| {
            let got = &state.actors[1].got;
            got.iter().enumerate().all(|(at, n)| !got[..at].contains(n))
        }))
        .property(Property::eventually("all", |_, state: &State| state.actors[1].got.len() >= 3))
}

#[test]
fn order_duplicates_and_losses_are_those_of_the_network() {
    for (delivery, loss, in_order, once, all) in [
        (Delivery::Ordered, Loss::Reliable, true, true, true),
        (Delivery::Ordered, Loss::Lossy, true, true, false),
        (Delivery::Unordered, Loss::Reliable, false, true, true),
        (Delivery::Unordered, Loss::Lossy, false, true, false),
        (Delivery::Duplicating, Loss::Reliable, false, false, true),
        (Delivery::Duplicating, Loss::Lossy, false, false, false),
    ] {
        for (property, holds) in [("in order", in_order), ("once", once), ("all", all)] {
            let checked = counting(delivery, loss).check().property(property).run();
            assert_eq!(checked.holds(), holds, "{delivery:?} {loss:?}: {}", checked.text());
        }
        let (states, _) = naive(&counting(delivery, loss));
        let checked = counting(delivery, loss).check().property("deadlock").run();
        assert_eq!(checked.states(), states, "{delivery:?} {loss:?}");
    }
}

#[test]
fn a_run_is_told_with_who_receives_and_sends_and_drawn_as_a_chart() {
    let unordered = counting(Delivery::Unordered, Loss::Reliable);
    let run = unordered.check().breadth_first().assert_violated("in order").expect("a run shows it");
    let actions: Vec<_> = run.steps.iter().flat_map(|step| &step.actions).collect();
    let told: Vec<String> = actions.iter().map(|a| format!("{}({}) {}", a.process, a.pid, a.text)).collect();
    assert_eq!(told[0], "speaker(0) 0 Speak");
    assert_eq!(told[1], "speaker(0) send 0->1 1");
    assert_eq!(told.last().map(String::as_str), Some("writer(1) deliver 0->1 1"));
    let kinds = |kind| actions.iter().filter(|a| a.event.as_ref().is_some_and(|e| e.kind == kind)).count();
    assert_eq!((kinds(EventKind::Send), kinds(EventKind::Receive)), (2, 2));
    let chart = run_svg(&run, "order", 100);
    assert!(chart.contains("speaker") && chart.contains("writer"));
}
