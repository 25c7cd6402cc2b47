//! What is near to a word that nothing has: for messages about misspelt names and keys.

/// The word that a misspelt one was probably meant to be: the nearest, if few letters differ.
pub fn nearest<'a>(wrong: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = 1 + wrong.chars().count() / 4;
    let near = words.into_iter().map(|word| (distance(wrong, word), word)).min()?;
    (near.0 <= limit).then_some(near.1)
}

/// Words in a row, each as code.
pub fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// That there is no such word, which one was probably meant, and which there are.
pub fn unknown<'a>(what: &str, wrong: &str, allowed: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match nearest(wrong, allowed.clone()) {
        Some(word) => format!("unknown {what} `{wrong}`: did you mean `{word}`? Allowed: {}", listed(allowed)),
        None => format!("unknown {what} `{wrong}`. Allowed: {}", listed(allowed)),
    }
}

/// How many letters must be put in, left out or changed to come from one word to the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (at, from) in a.chars().enumerate() {
        let mut left = at + 1;
        let mut diagonal = at;
        let mut next = vec![left];
        for (to, above) in b.iter().zip(row.iter().skip(1)) {
            left = (left + 1).min(above + 1).min(diagonal + usize::from(from != *to));
            diagonal = *above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_levenshtein() {
        for (a, b, wanted) in [("kitten", "sitting", 3), ("", "abc", 3), ("abc", "", 3), ("flaw", "lawn", 2)] {
            assert_eq!(distance(a, b), wanted, "{a} {b}");
        }
        assert_eq!(distance("same", "same"), 0);
    }

    #[test]
    fn near_words_only_are_suggested() {
        let words = ["request", "retry", "status"];
        assert_eq!(nearest("reqest", words), Some("request"));
        assert_eq!(nearest("zebra-crossing", words), None);
        assert_eq!(
            unknown("kind", "retri", ["retry", "set"]),
            "unknown kind `retri`: did you mean `retry`? Allowed: `retry`, `set`"
        );
        assert_eq!(unknown("kind", "zebra", ["retry"]), "unknown kind `zebra`. Allowed: `retry`");
    }
}
