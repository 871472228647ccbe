//! The worked examples: right as they are, with the numbers of states that others publish, and wrong where
//! they are made wrong.

use volee_models::{Delivery, Loss, Model};

use crate::bounded_buffer::{BoundedBuffer, Wakes};
use crate::election::{Servers, cluster, election};
use crate::german::German;
use crate::queue::LockFreeQueue;
use crate::two_phase::TwoPhase;

#[test]
fn two_phase_commit_has_the_states_that_stateright_publishes() {
    for (managers, states) in [(3, 288), (5, 8_832), (7, 296_448)] {
        let checked = TwoPhase::new(managers).check().assert_holds();
        assert_eq!(checked.states(), states, "{managers} resource managers");
    }
}

#[test]
fn a_coordinator_that_does_not_wait_for_everybody_is_found_out() {
    let hasty = TwoPhase { managers: 3, hasty: true };
    let run = hasty.check().breadth_first().assert_violated("consistent").expect("a run shows it");
    let last = &run.steps.last().expect("it has steps").actions;
    assert!(
        last[0].text.starts_with("ReceiveCommit") || last[0].text.starts_with("ChooseToAbort"),
        "{last:?}"
    );
}

#[test]
fn a_buffer_that_wakes_the_others_has_the_states_that_tlc_reports() {
    let buffer = BoundedBuffer { producers: 4, consumers: 3, capacity: 3, wakes: Wakes::TheOthers };
    assert_eq!(buffer.check().assert_holds().states(), 1_600);
}

#[test]
fn a_buffer_that_wakes_anybody_deadlocks_exactly_where_it_is_less_than_half_the_threads() {
    for (producers, consumers, capacity) in
        (1..=3).flat_map(|p| (1..=3).flat_map(move |c| (1..=3).map(move |b| (p, c, b))))
    {
        let buffer = BoundedBuffer { producers, consumers, capacity, wakes: Wakes::Anybody };
        let right = 2 * capacity >= usize::from(producers + consumers);
        let checked = buffer.check().property("deadlock").run();
        assert_eq!(checked.holds(), right, "{producers} producers, {consumers} consumers, {capacity} places");
    }
}

#[test]
fn an_election_has_one_leader_in_a_term_whatever_the_network_does() {
    for delivery in [Delivery::Unordered, Delivery::Ordered, Delivery::Duplicating] {
        for loss in [Loss::Reliable, Loss::Lossy] {
            election(2, 1).delivery(delivery).loss(loss).check().assert_holds();
        }
    }
    election(2, 2).check().assert_holds();
    election(3, 1).loss(Loss::Lossy).check().assert_holds();
}

#[test]
fn a_server_that_forgets_its_vote_elects_two_leaders() {
    let forgetful = cluster(Servers { number: 3, terms: 1, forgets: true });
    let run =
        forgetful.check().breadth_first().assert_violated("one leader in a term").expect("a run shows it");
    let told: Vec<&str> = run.steps.iter().flat_map(|s| &s.actions).map(|a| a.text.as_str()).collect();
    assert!(told.iter().any(|text| text.contains("Vote { term: 1, granted: true }")), "{told:?}");
}

#[test]
fn german_is_coherent_and_without_waiting_is_not() {
    for clients in [2, 3] {
        German { clients, hasty: false }.check().assert_holds();
        German { clients, hasty: true }.check().assert_violated("coherent");
    }
}

#[test]
fn a_lock_free_queue_needs_the_counters_of_its_pointers() {
    LockFreeQueue::reuse(true).check().assert_holds();
    let run = LockFreeQueue::reuse(false).check().breadth_first().assert_violated("assertions");
    let run = run.expect("a run shows it");
    assert_eq!(run.steps.last().expect("it has steps").actions[0].text, "DequeueSwingHead");
}
