//! Amounts of tokens and money as they are stored: bounded, so that adding them up cannot overflow.
//!
//! SQLite turns an integer sum that overflows into a floating-point number (`+`) or refuses it (`SUM`). Either
//! would make a row unreadable, so no statement of this crate adds amounts in any other way than by these
//! fragments.

use model::money::Usd;

/// The largest amount that a column holds. Several of them add up without overflow.
pub(crate) const MAX_AMOUNT: i64 = 1_000_000_000_000_000_000;

/// A count as it is stored, at most [`MAX_AMOUNT`].
pub(crate) fn stored(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(MAX_AMOUNT).min(MAX_AMOUNT)
}

/// Money as it is stored, at most [`MAX_AMOUNT`] billionths of a dollar in either direction.
pub(crate) fn stored_money(money: Usd) -> i64 {
    money.nanos().clamp(-MAX_AMOUNT, MAX_AMOUNT)
}

/// The SQL for the sum of two amounts, which stays within [`MAX_AMOUNT`].
pub(crate) fn added(left: &str, right: &str) -> String {
    format!(
        "CASE WHEN {left} + {right} > {MAX_AMOUNT} THEN {MAX_AMOUNT}
              WHEN {left} + {right} < -{MAX_AMOUNT} THEN -{MAX_AMOUNT}
              ELSE {left} + {right} END"
    )
}

/// The SQL for the sum of an amount over rows. It is exact below 2^53 and saturates instead of failing.
pub(crate) fn sum(amount: &str) -> String {
    format!("CAST(SUM(CAST({amount} AS DOUBLE PRECISION)) AS BIGINT)")
}
