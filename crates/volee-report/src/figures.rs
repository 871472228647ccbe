//! Numbers and names as people read them.

/// `1234567` as `1,234,567`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 step`, `2 steps`: for nouns whose plural ends in s.
pub fn counted(n: usize, noun: &str) -> String {
    match n {
        1 => format!("1 {noun}"),
        n => format!("{} {noun}s", count(n as u64)),
    }
}

/// A text that a user gave, cut to a length that a message can carry.
pub fn brief(text: &str) -> String {
    const MOST: usize = 160;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

/// A size in the largest unit that keeps it above one.
pub fn bytes(n: u64) -> String {
    let units = ["bytes", "kB", "MB", "GB", "TB"];
    let mut size = n as f64;
    let mut unit = 0;
    while size >= 1024.0 && unit + 1 < units.len() {
        size /= 1024.0;
        unit += 1;
    }
    match unit {
        0 => format!("{n} bytes"),
        _ => format!("{size:.1} {}", units[unit]),
    }
}

/// A time with the digits that matter: `3 ms`, `1.24 s`, `2 min 05 s`.
pub fn seconds(s: f64) -> String {
    match s {
        s if s < 0.0005 => "under 1 ms".to_string(),
        s if s < 0.9995 => format!("{:.0} ms", s * 1000.0),
        s if s < 60.0 => format!("{s:.2} s"),
        s => {
            let whole = s.round() as u64;
            format!("{} min {:02} s", whole / 60, whole % 60)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_grouped_by_three() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1000), "1,000");
        assert_eq!(count(31_725_921), "31,725,921");
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(brief("short"), "short");
        assert_eq!(brief(&"é".repeat(1000)).chars().count(), 161);
    }

    #[test]
    fn sizes_and_times_keep_the_digits_that_matter() {
        assert_eq!(bytes(17), "17 bytes");
        assert_eq!(bytes(64 << 20), "64.0 MB");
        assert_eq!(seconds(0.0031), "3 ms");
        assert_eq!(seconds(1.2), "1.20 s");
        assert_eq!(seconds(125.2), "2 min 05 s");
    }
}
