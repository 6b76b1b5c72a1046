//! Token prices, for models that do not report costs, and for all until they do.

use std::collections::{BTreeMap, BTreeSet};

use model::money::Usd;
use store::Tokens;

use crate::core::settings::Price;

/// Cost of a model's tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Priced<'p> {
    /// Cost
    pub(crate) cost: Usd,
    /// The other model whose price was taken, because this one has none
    pub(crate) price_of: Option<&'p str>,
}

/// Price of a model's tokens; `None` where no model of its maker has one.
///
/// An entry names a model by the beginning of its name; the longest that fits counts. Of another version, the nearest one's
/// price is taken.
pub(crate) fn price<'p>(
    prices: &'p BTreeMap<String, Price>,
    model: &str,
    tokens: Tokens,
) -> Option<Priced<'p>> {
    let fits = prices.iter().filter(|(name, _)| is_same(name, model));
    let known = fits.max_by_key(|(name, _)| name.len());
    let (name, price) = known.or_else(|| nearest(prices, model))?;
    let parts = [
        (tokens.input, price.input),
        (tokens.output, price.output),
        (tokens.cache_read, price.cache_read),
        (tokens.cache_write, price.cache_write),
    ];
    let cost = parts.into_iter().map(|(count, dollars)| Usd::of_tokens(count, dollars)).sum();
    Some(Priced { cost, price_of: known.is_none().then_some(name.as_str()) })
}

/// Returns whether an entry is meant for a model: `gpt-5` for `gpt-5-codex` and `gpt-5-2025-08-07`, not for `gpt-5.2`. An entry
/// without a version is meant for all of them.
fn is_same(entry: &str, model: &str) -> bool {
    let Some(rest) = model.strip_prefix(entry) else { return false };
    let has_version = entry.chars().any(|c| c.is_ascii_digit());
    let Some(rest) = rest.strip_prefix(['-', '.']).filter(|_| has_version) else { return true };
    let digits = rest.chars().take_while(char::is_ascii_digit).count();
    // More digits are a date.
    !(1..=2).contains(&digits)
}

/// The entry of the same maker that is most like a model: in its words first, then in its version. Of two that are equally near,
/// the dearer one, so that no budget is overrun.
fn nearest<'p>(
    prices: &'p BTreeMap<String, Price>,
    model: &str,
) -> Option<(&'p String, &'p Price)> {
    let wanted = ModelName::of(model);
    let alike = prices.iter().filter(|(name, _)| ModelName::of(name).maker == wanted.maker);
    let difference = |name: &str| {
        let name = ModelName::of(name);
        let words = name.words.symmetric_difference(&wanted.words).count();
        (words, name.version.abs_diff(wanted.version))
    };
    alike.min_by(|(one, price), (other, its_price)| {
        let nearer = difference(one).cmp(&difference(other));
        nearer.then(its_price.output.total_cmp(&price.output))
    })
}

/// Parts of a model's name, such as `claude-opus-5-5` or `gpt-6.1-sol`.
struct ModelName<'a> {
    maker: &'a str,
    words: BTreeSet<&'a str>,
    /// Version times a hundred
    version: u32,
}

impl<'a> ModelName<'a> {
    fn of(name: &'a str) -> Self {
        let mut parts = name.split(['-', '.', '@']);
        let maker = parts.next().unwrap_or_default();
        let (mut words, mut numbers) = (BTreeSet::new(), Vec::new());
        for part in parts {
            match part.parse::<u32>() {
                // A date.
                Ok(100..) => {}
                Ok(number) => numbers.push(number),
                Err(_) => drop(words.insert(part)),
            }
        }
        let part = |index: usize| numbers.get(index).copied().unwrap_or_default();
        Self { maker, words, version: part(0) * 100 + part(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(input: f64) -> Price {
        Price { input, output: input, cache_read: 0.5, cache_write: 0.0 }
    }

    fn priced(entries: &[(&str, f64)], model: &str) -> Option<(f64, Option<String>)> {
        let prices = entries.iter().map(|(name, input)| ((*name).to_owned(), flat(*input)));
        let prices: BTreeMap<String, Price> = prices.collect();
        let tokens = Tokens { input: 1_000_000, ..Tokens::default() };
        let priced = price(&prices, model, tokens)?;
        Some((priced.cost.dollars(), priced.price_of.map(str::to_owned)))
    }

    #[test]
    fn the_longest_name_that_fits_decides() {
        let prices = [("gpt-5", 1.0), ("gpt-5-mini", 0.25)];
        assert_eq!(priced(&prices, "gpt-5-codex"), Some((1.0, None)));
        assert_eq!(priced(&prices, "gpt-5-2025-08-07"), Some((1.0, None)));
        assert_eq!(priced(&prices, "gpt-5-mini-2026"), Some((0.25, None)));
        assert_eq!(priced(&[("claude-opus", 5.0)], "claude-opus-5-5"), Some((5.0, None)));
        assert_eq!(priced(&prices, "claude"), None);
        assert_eq!(priced(&[], "gpt-5"), None);
    }

    #[test]
    fn an_unknown_version_costs_what_the_nearest_of_its_family_does() {
        let prices = [
            ("claude-haiku-5-5", 0.1),
            ("claude-opus-4-5", 5.0),
            ("claude-opus-5-5", 4.0),
            ("claude-sonnet-5-5", 2.0),
            ("gpt-5", 1.0),
            ("gpt-5-mini", 0.25),
            ("gpt-6-sol", 3.0),
        ];
        let like = |model: &str| priced(&prices, model).unwrap().1.unwrap();
        assert_eq!(like("claude-opus-6"), "claude-opus-5-5");
        assert_eq!(like("claude-opus-4-4"), "claude-opus-4-5");
        assert_eq!(like("claude-opus-5-6-20261201"), "claude-opus-5-5");
        assert_eq!(like("claude-haiku-6"), "claude-haiku-5-5");
        assert_eq!(like("gpt-6.1-sol"), "gpt-6-sol");
        assert_eq!(like("gpt-5.2"), "gpt-5");
        assert_eq!(like("gpt-7-mini"), "gpt-5-mini");
        // Of a family that nobody knows, the nearest version, and the dearer one of two.
        assert_eq!(like("claude-saga-6"), "claude-opus-5-5");
        assert_eq!(priced(&prices, "llama-4"), None);
    }
}
