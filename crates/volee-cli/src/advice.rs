//! What to try next when a limit has left a question open, with the figures that speak for it. Engines give
//! limits as values; which flag moves which limit is known here.

use volee::Figures;
use volee::report::{bytes, count};
use volee::system::Limit;

/// The least memory that is worth a try.
const LEAST: u64 = 64 << 10;

/// One sentence, where there is something to try.
pub fn advice(limit: &Limit, figures: &Figures) -> Option<String> {
    let states = figures.states();
    let size = figures.0.get("bytes_per_state").and_then(serde_json::Value::as_f64).unwrap_or_default();
    let rate = (states as f64 / figures.seconds().max(1e-3)) as u64;
    // Workers elsewhere may not have told of any state by then.
    let known = |figures: String| if states > 0 { figures } else { String::new() };
    match limit {
        Limit::Memory { budget, .. } => Some(format!(
            "try --memory {} or more{}; or --approximate bitstate, which needs a few bits per state",
            megabytes(budget.saturating_mul(4).max(LEAST)),
            known(format!(": {} states took {size:.0} bytes each", count(states))),
        )),
        Limit::Time { milliseconds } => Some(format!(
            "try --time {}s{}; or --cluster, on several machines",
            milliseconds.saturating_mul(10).div_ceil(1000),
            known(format!(": {} states were seen, {} a second", count(states), count(rate))),
        )),
        Limit::Depth { bound } => Some(format!(
            "try --max-depth {}, or leave it out: {} states were seen",
            bound.saturating_mul(10),
            count(states)
        )),
        Limit::Cancelled if states > 0 => Some(format!(
            "{} states were seen, {} a second, {size:.0} bytes each ({})",
            count(states),
            count(rate),
            bytes((states as f64 * size) as u64),
        )),
        Limit::Approximation { .. } => Some(format!(
            "to be sure, leave --approximate out: {} states of some {:.0} bytes need about {}",
            count(states),
            size.max(16.0),
            bytes((states as f64 * size.max(16.0)) as u64),
        )),
        _ => None,
    }
}

/// A size as the command line reads it.
fn megabytes(bytes: u64) -> String {
    match bytes >> 20 {
        0 => format!("{}k", bytes.div_ceil(1 << 10)),
        m if m >= 4096 => format!("{}G", m.div_ceil(1024)),
        m => format!("{m}M"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_names_the_flag_and_the_figures() {
        let mut figures = Figures::default();
        figures.set("states", 1000);
        figures.set("seconds", 2.0);
        figures.set("bytes_per_state", 40.0);
        let time = advice(&Limit::Time { milliseconds: 2000 }, &figures).expect("there is advice");
        assert!(time.contains("--time 20s") && time.contains("500 a second"), "{time}");
        let memory = Limit::Memory { budget: 1 << 20, needed: String::new() };
        assert!(
            advice(&memory, &figures).is_some_and(|a| a.contains("--memory 4M") && a.contains("40 bytes"))
        );
        let none = Limit::Memory { budget: 0, needed: String::new() };
        assert!(advice(&none, &figures).is_some_and(|a| a.starts_with("try --memory 64k or more")));
        assert_eq!(advice(&Limit::Other { message: "no".into() }, &figures), None);
        let early = advice(&Limit::Time { milliseconds: 2000 }, &Figures::default());
        assert!(early.is_some_and(|early| early.starts_with("try --time 20s;")));
    }
}
