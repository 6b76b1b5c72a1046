//! The only source of chance.

/// 64 random bits, for an id.
pub fn bits() -> Result<u64, getrandom::Error> {
    getrandom::u64()
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
