//! The only source of chance.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::clock::Clock;

/// Number of random low bits of an id; the bits above are the time in milliseconds.
const RANDOM_BITS: u32 = 22;

/// 64 bits for an id: new ones are greater than all before them, so that an index grows at its end
/// instead of everywhere, and no two of one process are ever the same.
pub fn bits() -> Result<u64, getrandom::Error> {
    static LAST_ID: AtomicU64 = AtomicU64::new(0);
    let now = Clock::System.now().as_millis().unsigned_abs();
    let wanted = (now << RANDOM_BITS) | (getrandom::u64()? >> (64 - RANDOM_BITS));
    let next = |last: u64| Some(wanted.max(last + 1));
    let last = LAST_ID.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
    Ok(wanted.max(last.unwrap_or_default() + 1))
}

/// A secret of 256 random bits in hex, recognisable by its prefix so that it can be redacted.
pub fn secret(prefix: &str) -> Result<String, getrandom::Error> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().fold(prefix.to_owned(), |mut text, byte| {
        use std::fmt::Write as _;
        // Writing to a String cannot fail.
        _ = write!(text, "{byte:02x}");
        text
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_grow_and_never_repeat() {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                std::thread::spawn(|| (0..20_000).map(|_| bits().unwrap()).collect::<Vec<_>>())
            })
            .collect();
        let mut all = Vec::new();
        for thread in threads {
            let made = thread.join().unwrap();
            assert!(made.is_sorted(), "each is greater than the one before");
            all.extend(made);
        }
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 80_000);
    }

    #[test]
    fn secrets_are_long_and_differ() {
        let (one, other) = (secret("adjag_").unwrap(), secret("adjag_").unwrap());
        assert_eq!(one.len(), "adjag_".len() + 64);
        assert_ne!(one, other);
    }
}
