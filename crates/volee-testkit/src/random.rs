//! Where the seeds of tests come from.

/// The seed of a run whose seeds rotate: that of the environment variable `VOLEE_SEED`, or else the day. It
/// is printed, so that a failure can be had again.
pub fn seed_of_the_day() -> u64 {
    let named = std::env::var("VOLEE_SEED").ok().and_then(|text| text.parse().ok());
    let seed = named.unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.map_or(0, |passed| passed.as_secs() / 86_400 * 1_000_000)
    });
    println!("seed {seed} (VOLEE_SEED={seed} repeats this run)");
    seed
}
