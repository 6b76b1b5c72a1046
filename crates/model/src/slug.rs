//! Slugs: names of tasks that people can type.

use crate::time::Timestamp;

const STOP_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "for", "from", "in", "is", "it", "of",
    "on", "or", "please", "so", "that", "the", "this", "to", "we", "with", "you",
];

/// Makes a slug from a title: its first five telling words, at most 30 characters, and the time.
pub fn slug(title: &str, now: Timestamp) -> String {
    let mut words = String::new();
    let telling = title
        .split(|c: char| !c.is_alphanumeric())
        .map(str::to_lowercase)
        .map(|word| word.chars().filter(char::is_ascii_alphanumeric).collect::<String>())
        .filter(|word| !word.is_empty() && !STOP_WORDS.contains(&word.as_str()))
        .take(5);
    for word in telling {
        let room = 30_usize.saturating_sub(words.len() + usize::from(!words.is_empty()));
        if room == 0 {
            break;
        }
        if !words.is_empty() {
            words.push('-');
        }
        words.extend(word.chars().take(room));
    }
    if words.is_empty() {
        words.push_str("task");
    }
    format!("{words}-{}", now.slug_suffix())
}

/// True if `text` is a valid slug: lower-case letters, digits and inner hyphens.
pub fn is_slug(text: &str) -> bool {
    (1..=80).contains(&text.len())
        && text.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.'))
        && text.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric())
        && text.bytes().last().is_some_and(|b| b.is_ascii_alphanumeric())
        && !text.contains("..")
        // These two forms mean a number and an id.
        && !text.starts_with("task_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn telling_words_only() {
        let now = Timestamp::from_millis(1_763_208_309_042);
        assert_eq!(
            slug("Add the JWT login to the API, please!", now),
            "add-jwt-login-api-1115-1205"
        );
        assert_eq!(slug("???", now), "task-1115-1205");
    }

    proptest! {
        #[test]
        fn every_title_makes_a_slug(title in any::<String>(), millis in 0_i64..4_000_000_000_000) {
            let slug = slug(&title, Timestamp::from_millis(millis));
            prop_assert!(is_slug(&slug), "{}", slug);
            prop_assert!(slug.len() <= 40);
        }
    }
}
