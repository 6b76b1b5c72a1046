//! Ages: how long something is kept, as people write it: `30d`, `12h`, `90m`, `45s`, `2w`.

use std::fmt;
use std::str::FromStr;

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::{Serialize, Serializer};

use crate::Timestamp;

/// Longest age, a hundred years.
const MAX_SECONDS: i64 = 36_525 * 86_400;

/// Units by their letters, the longest first.
const SECONDS_PER_UNIT: [(char, i64); 5] =
    [('w', 7 * 86_400), ('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];

/// A length of time in whole seconds, at most a hundred years.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Age(i64);

/// Text that is not an age.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an age: write a number with s, m, h, d or w, such as `30d`, at most 36525d")]
pub struct InvalidAge(String);

impl Age {
    /// An age of so many days.
    pub const fn days(days: u16) -> Self {
        Self(days as i64 * 86_400)
    }

    /// Its seconds.
    pub const fn seconds(self) -> i64 {
        self.0
    }

    /// The point in time that is so long before `now`.
    #[must_use]
    pub const fn before(self, now: Timestamp) -> Timestamp {
        now.after_seconds(-self.0)
    }
}

impl FromStr for Age {
    type Err = InvalidAge;

    fn from_str(text: &str) -> Result<Self, InvalidAge> {
        let invalid = || InvalidAge(text.chars().take(40).collect());
        let trimmed = text.trim();
        let unit = trimmed.chars().last().ok_or_else(invalid)?;
        let (_, seconds) =
            SECONDS_PER_UNIT.iter().find(|(letter, _)| *letter == unit).ok_or_else(invalid)?;
        let digits = trimmed.strip_suffix(unit).unwrap_or_default().trim();
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(invalid());
        }
        let number: i64 = digits.parse().map_err(|_| invalid())?;
        let age = number.checked_mul(*seconds).filter(|age| *age <= MAX_SECONDS);
        age.map(Self).ok_or_else(invalid)
    }
}

impl fmt::Display for Age {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Weeks are read and never written: 30d and 28d are easier to compare than 4w.
        let mut units = SECONDS_PER_UNIT.iter().skip(1);
        let (letter, seconds) =
            units.find(|(_, seconds)| self.0 % seconds == 0).unwrap_or(&('s', 1));
        write!(f, "{}{letter}", self.0 / seconds)
    }
}

impl Serialize for Age {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Age {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_read_and_written_as_people_do() {
        for (text, seconds, shown) in [
            ("30d", 30 * 86_400, "30d"),
            (" 2w ", 14 * 86_400, "14d"),
            ("36h", 36 * 3600, "36h"),
            ("90m", 5400, "90m"),
            ("61s", 61, "61s"),
            ("0s", 0, "0d"),
        ] {
            let age: Age = text.parse().unwrap();
            assert_eq!((age.seconds(), age.to_string().as_str()), (seconds, shown), "{text}");
        }
    }

    #[test]
    fn what_is_no_age_is_refused_with_an_example() {
        for text in
            ["", "d", "30", "-3d", "1.5d", "30 days", "36526d", "99999999999999999999d", "3é"]
        {
            let error = text.parse::<Age>().unwrap_err().to_string();
            assert!(error.contains("as `30d`"), "{text}: {error}");
        }
    }
}
