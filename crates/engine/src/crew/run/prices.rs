//! Token prices, for models that do not report costs.

use std::collections::BTreeMap;

use model::money::Usd;
use store::Tokens;

use crate::core::settings::Price;

/// Price of a model's tokens; `None` without an entry.
///
/// An entry names a model by the beginning of its name; the longest that fits counts.
pub(crate) fn price(prices: &BTreeMap<String, Price>, model: &str, tokens: Tokens) -> Option<Usd> {
    let fits = prices.iter().filter(|(name, _)| model.starts_with(name.as_str()));
    let (_, price) = fits.max_by_key(|(name, _)| name.len())?;
    let parts = [
        (tokens.input, price.input),
        (tokens.output, price.output),
        (tokens.cache_read, price.cache_read),
        (tokens.cache_write, price.cache_write),
    ];
    Some(parts.into_iter().map(|(count, dollars)| Usd::of_tokens(count, dollars)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_name_that_fits_decides() {
        let flat = |input| Price { input, output: 0.0, cache_read: 0.5, cache_write: 0.0 };
        let prices = BTreeMap::from([
            ("gpt-5".to_owned(), flat(1.0)),
            ("gpt-5-mini".to_owned(), flat(0.25)),
        ]);
        let tokens = Tokens { input: 1_000_000, cache_read: 1_000_000, ..Tokens::default() };
        let cost = |model: &str| price(&prices, model, tokens).map(Usd::dollars);
        assert_eq!(cost("gpt-5-codex"), Some(1.5));
        assert_eq!(cost("gpt-5-mini-2026"), Some(0.75));
        assert_eq!(cost("claude"), None);
    }
}
