//! Bounds on what an agent may claim to have used. Agents write these figures themselves, so that one of them
//! must neither break the sums above it nor pass for nothing.

use host::agent::Usage;
use model::money::Usd;
use store::Tokens;

/// The most tokens of one sort that a single report may claim.
pub(crate) const MAX_REPORTED_TOKENS: u64 = 1_000_000_000;
/// The most money that one attempt of an agent may claim to have cost: a million dollars.
pub(crate) const MAX_ATTEMPT_COST: Usd = Usd::from_nanos(1_000_000_000_000_000);
/// The longest name of a model that is kept, in characters.
pub(crate) const MAX_MODEL_NAME: usize = 200;

/// The tokens of one report, each count within its bound, and a warning where one was not.
pub(crate) fn bounded_tokens(usage: Usage) -> (Tokens, Option<String>) {
    let most = |count: u64| count.min(MAX_REPORTED_TOKENS);
    let tokens = Tokens {
        input: most(usage.input),
        output: most(usage.output),
        cache_read: most(usage.cache_read),
        cache_write: most(usage.cache_write),
    };
    let largest = usage.input.max(usage.output).max(usage.cache_read).max(usage.cache_write);
    let warning = (largest > MAX_REPORTED_TOKENS).then(|| {
        format!("it reported {largest} tokens at once; {MAX_REPORTED_TOKENS} of them are counted")
    });
    (tokens, warning)
}

/// Bounds the total cost that an attempt reports, and warns if it was out of bounds.
pub(crate) fn bounded_cost(total: Usd) -> (Usd, Option<String>) {
    let bounded = total.clamp(Usd::ZERO, MAX_ATTEMPT_COST);
    let warning =
        (bounded != total).then(|| format!("it reported a cost of {total}; {bounded} is counted"));
    (bounded, warning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absurd_figure_counts_as_the_most_that_may_be_claimed() {
        let usage = Usage { input: u64::MAX, output: 7, cache_read: 0, cache_write: 0 };
        let (tokens, warning) = bounded_tokens(usage);
        assert_eq!((tokens.input, tokens.output), (MAX_REPORTED_TOKENS, 7));
        assert!(warning.is_some_and(|warning| warning.contains("18446744073709551615")));
        let (cost, warning) = bounded_cost(Usd::from_dollars(1e30));
        assert_eq!((cost, warning.is_some()), (MAX_ATTEMPT_COST, true));
    }

    #[test]
    fn nobody_earns_money_by_a_negative_cost() {
        let (cost, warning) = bounded_cost(Usd::from_dollars(-100.0));
        assert_eq!((cost, warning.is_some()), (Usd::ZERO, true));
    }

    #[test]
    fn a_plausible_figure_stays_as_it_is() {
        let usage = Usage { input: 1200, output: 80, cache_read: 5, cache_write: 6 };
        let (tokens, warning) = bounded_tokens(usage);
        assert_eq!((tokens.all(), warning), (1291, None));
        assert_eq!(bounded_cost(Usd::from_dollars(0.004)), (Usd::from_dollars(0.004), None));
    }
}
