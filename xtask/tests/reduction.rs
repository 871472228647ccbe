//! Reduced searches against full ones on the corpus: the same verdicts, and hardly more states than SPIN
//! needs. Random programs are compared by `volee-testkit`.

#[test]
fn at_most_the_states_that_spin_needs_on_three_models_in_four() {
    let Some(corpus) = volee_testkit::corpus::corpus("promela") else { return };
    let all = xtask::reduction::compare(&corpus, 100_000, 20, |_| {}).expect("SPIN's answers");
    for compared in &all {
        assert!(compared.same_verdicts, "{}", compared.model);
        assert!(compared.reduced <= compared.full, "{}", compared.model);
    }
    let (gains, small) = xtask::reduction::score(&all);
    assert!(gains >= 30 && small * 4 >= gains * 3, "{small} of {gains}");
}
