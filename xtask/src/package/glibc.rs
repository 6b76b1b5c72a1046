//! The version of glibc that a binary needs: the newest among the versions of the symbols it imports.

/// Beginning of the name of a version, as it stands in a binary.
const PREFIX: &[u8] = b"GLIBC_2.";

/// Minor number of the newest glibc 2 that a binary asks for; none for a binary without glibc.
pub(super) fn newest_minor(binary: &[u8]) -> Option<u32> {
    let found = binary.windows(PREFIX.len()).enumerate().filter(|(_, part)| *part == PREFIX);
    found.filter_map(|(at, _)| minor_of(binary.get(at + PREFIX.len()..)?)).max()
}

/// The number at the beginning of `17\0` or `2.5\0`; text that goes on otherwise is no version.
fn minor_of(rest: &[u8]) -> Option<u32> {
    let end = rest.iter().position(|byte| *byte == 0)?;
    let version = std::str::from_utf8(rest.get(..end)?).ok()?;
    let (minor, patch) = version.split_once('.').unwrap_or((version, "0"));
    patch.parse::<u32>().ok()?;
    minor.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_counts_and_text_does_not() {
        for (binary, expected) in [
            (&b"\0GLIBC_2.2.5\0GLIBC_2.17\0GLIBC_2.9\0"[..], Some(17)),
            (b"\0GLIBC_2.2.5\0", Some(2)),
            (b"needs GLIBC_2.99 or newer\0GLIBC_2.4\0", Some(4)),
            (b"GLIBC_2.\0GLIBC_PRIVATE\0", None),
            (b"", None),
        ] {
            assert_eq!(newest_minor(binary), expected, "{}", String::from_utf8_lossy(binary));
        }
    }
}
