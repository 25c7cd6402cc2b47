//! Spans of time as people write them: seconds as a number, or a text with a unit.

/// What a span of time may look like.
pub(super) const FORM: &str =
    "seconds as a number (0.5), or a text with a unit (\"500 ms\", \"1.5 s\", \"2 min\", \"1 h\")";

/// The seconds of a text such as `10 ms`.
pub(super) fn seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(end);
    let number: f64 = number.parse().ok()?;
    let unit = match unit.trim_start() {
        "ms" => 1e-3,
        "s" => 1.0,
        "min" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    Some(number * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_a_unit() {
        let cases = [("10 ms", 0.01), ("10ms", 0.01), (" 1.5 s ", 1.5), ("5 min", 300.0), ("1 h", 3600.0), ("0s", 0.0)];
        for (text, wanted) in cases {
            assert!(seconds(text).is_some_and(|found| (found - wanted).abs() < 1e-12), "{text}");
        }
        for wrong in ["", "10", "s", "1 m", "-1 s", "1e3 s", "1.2.3 s", "10 ms ms", "1 fortnight", "é"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }
}
