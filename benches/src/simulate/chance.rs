//! Repeatable chance: `SplitMix64`.

/// A source of numbers that looks like chance and repeats itself for the same seed.
#[derive(Debug, Clone)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to 1, and never 1.
    pub(super) fn unit(&mut self) -> f64 {
        // The upper half always fits.
        f64::from(u32::try_from(self.next() >> 32).unwrap_or_default()) / f64::from(u32::MAX)
    }

    /// A number between two others.
    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// The time until something happens that happens once in that time on average.
    pub(super) fn time_until(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).max(f64::MIN_POSITIVE).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers_and_they_are_spread() {
        let numbers = |seed| {
            let mut chance = Chance::new(seed);
            (0..1_000).map(|_| chance.unit()).collect::<Vec<_>>()
        };
        assert_eq!(numbers(1), numbers(1));
        assert_ne!(numbers(1), numbers(2));
        let mean = numbers(3).iter().sum::<f64>() / 1_000.0;
        assert!((0.45..0.55).contains(&mean), "{mean}");
        let mut chance = Chance::new(4);
        let mean = (0..10_000).map(|_| chance.time_until(90.0)).sum::<f64>() / 10_000.0;
        assert!((85.0..95.0).contains(&mean), "{mean}");
    }
}
