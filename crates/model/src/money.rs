//! Money, exact: dollars in billionths, so that a single token has a price.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};

/// An amount of dollars. It may be negative: a correction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Usd(i64);

impl Usd {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// From billionths of a dollar, as it is stored.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// In billionths of a dollar.
    pub const fn nanos(self) -> i64 {
        self.0
    }

    /// From dollars, as agents and people write them. What is no number is nothing.
    #[expect(clippy::cast_possible_truncation, reason = "a cast saturates, and NaN becomes 0")]
    pub fn from_dollars(dollars: f64) -> Self {
        Self((dollars * 1e9).round() as i64)
    }

    /// Largest amount of dollars that an input may have.
    pub const MAX_DOLLARS: f64 = 1e9;

    /// Checks an input in dollars: a finite number from 0 to
    /// [`Self::MAX_DOLLARS`].
    pub fn check_dollars(dollars: f64) -> Result<f64, InvalidDollars> {
        // Not a number is in no range.
        if (0.0..=Self::MAX_DOLLARS).contains(&dollars) {
            Ok(dollars)
        } else {
            Err(InvalidDollars(dollars))
        }
    }

    /// In dollars, for those who read JSON.
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    pub fn dollars(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The price of so many tokens at so many dollars a million.
    #[expect(clippy::cast_precision_loss, reason = "counts of tokens are far below 2^52")]
    pub fn of_tokens(tokens: u64, dollars_per_million: f64) -> Self {
        Self::from_dollars(tokens as f64 * dollars_per_million / 1e6)
    }
}

/// An amount that nobody can be given.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("{0} is not an amount of dollars: it must be a number from 0 to {max}", max = Usd::MAX_DOLLARS)]
pub struct InvalidDollars(f64);

impl Add for Usd {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Usd {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Usd {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Sum for Usd {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(f, "{sign}${:.4}", self.dollars().abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_add_up_exactly() {
        let tenth = Usd::from_dollars(0.1);
        assert_eq!((0..10).map(|_| tenth).sum::<Usd>(), Usd::from_dollars(1.0));
        assert_eq!(Usd::of_tokens(1_000_000, 3.0), Usd::from_dollars(3.0));
        assert_eq!(Usd::of_tokens(1, 0.25).nanos(), 250);
        assert_eq!(Usd::from_dollars(f64::NAN), Usd::ZERO);
        assert_eq!(Usd::from_dollars(0.0126).to_string(), "$0.0126");
        assert_eq!((Usd::ZERO - tenth).to_string(), "-$0.1000");
    }

    #[test]
    fn an_amount_is_a_finite_number_that_is_not_negative() {
        for dollars in [0.0, -0.0, 0.5, 1e9] {
            assert_eq!(Usd::check_dollars(dollars), Ok(dollars));
        }
        for dollars in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.01, -1e308, 1e308, 1.1e9] {
            let message = Usd::check_dollars(dollars).unwrap_err().to_string();
            assert!(message.ends_with("it must be a number from 0 to 1000000000"), "{message}");
        }
    }
}
