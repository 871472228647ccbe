//! The clocks of measurements: CPU time of this thread, which other work on the machine disturbs least, and
//! of all threads that this process has had.

/// Nanoseconds of CPU time so far; 0 where the system does not tell.
pub fn cpu_nanoseconds() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or(0)
}

/// Seconds of CPU time so far.
pub fn cpu_seconds() -> f64 {
    cpu_nanoseconds() as f64 / 1e9
}

/// What the kernel counts CPU time of processes in: `USER_HZ`, the same on all machines.
const TICKS_PER_SECOND: f64 = 100.0;

/// Seconds of CPU time of the whole process so far, threads that have ended included; 0 where the system does
/// not tell.
pub fn process_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    ticks(&text).map_or(0.0, |ticks| ticks as f64 / TICKS_PER_SECOND)
}

/// User and system time in ticks: the 14th and 15th fields, of which the second may hold blanks and
/// parentheses.
fn ticks(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<u64>().ok();
    Some(next()? + next()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_process_is_read_past_any_name() {
        let stat = "42 (a ) b) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0";
        assert_eq!(ticks(stat), Some(300));
        assert_eq!(ticks("42 (a"), None);
    }
}
