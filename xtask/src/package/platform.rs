//! The platforms that packages are made for, as cargo, npm and Python name them.

use anyhow::{Context as _, Result, ensure};

use super::glibc;

/// Oldest glibc that Rust's own library works with.
const OLDEST_GLIBC: u32 = 17;

/// A platform.
#[derive(Debug)]
pub(crate) struct Platform {
    /// Name in Rust
    pub(super) triple: &'static str,
    /// Name in Node: `process.platform`
    pub(super) os: &'static str,
    /// Name in Node: `process.arch`
    pub(super) cpu: &'static str,
    /// Name in Python, without the version of glibc
    wheel: WheelPlatform,
}

#[derive(Debug)]
enum WheelPlatform {
    /// Linux with glibc, on this processor
    Glibc(&'static str),
    /// The whole tag: Rust's default for the oldest macOS
    MacOs(&'static str),
}

/// Every platform with packages.
pub(super) const PLATFORMS: [Platform; 4] = [
    Platform {
        triple: "x86_64-unknown-linux-gnu",
        os: "linux",
        cpu: "x64",
        wheel: WheelPlatform::Glibc("x86_64"),
    },
    Platform {
        triple: "aarch64-unknown-linux-gnu",
        os: "linux",
        cpu: "arm64",
        wheel: WheelPlatform::Glibc("aarch64"),
    },
    Platform {
        triple: "x86_64-apple-darwin",
        os: "darwin",
        cpu: "x64",
        wheel: WheelPlatform::MacOs("macosx_10_12_x86_64"),
    },
    Platform {
        triple: "aarch64-apple-darwin",
        os: "darwin",
        cpu: "arm64",
        wheel: WheelPlatform::MacOs("macosx_11_0_arm64"),
    },
];

impl Platform {
    /// `linux-x64`, as Node's packages are called.
    pub(super) fn node_name(&self) -> String {
        format!("{}-{}", self.os, self.cpu)
    }

    pub(super) const fn has_glibc(&self) -> bool {
        matches!(self.wheel, WheelPlatform::Glibc(_))
    }

    /// Tags of a wheel with a binary that needs this glibc.
    pub(super) fn wheel_tags(&self, glibc: Option<u32>) -> Vec<String> {
        match self.wheel {
            WheelPlatform::MacOs(tag) => vec![tag.to_owned()],
            WheelPlatform::Glibc(cpu) => {
                let minor = glibc.unwrap_or_default().max(OLDEST_GLIBC);
                // The name that older versions of pip know.
                let old = (minor == OLDEST_GLIBC).then(|| format!("manylinux2014_{cpu}"));
                std::iter::once(format!("manylinux_2_{minor}_{cpu}")).chain(old).collect()
            }
        }
    }
}

/// The platform of one binary, and the newest glibc that it may need.
#[derive(Debug)]
pub(crate) struct Target {
    pub(super) platform: &'static Platform,
    /// Minor number of glibc 2; none where any will do
    max_glibc: Option<u32>,
}

impl Target {
    /// Reads a target as cargo-zigbuild writes it: `x86_64-unknown-linux-gnu`, with `.2.17` where an older glibc is
    /// wanted.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let (triple, glibc) = text.split_once('.').map_or((text, None), |(a, b)| (a, Some(b)));
        let platform = PLATFORMS.iter().find(|platform| platform.triple == triple);
        let platform = platform.with_context(|| {
            let known = PLATFORMS.map(|platform| platform.triple).join(", ");
            format!("there are no packages for `{triple}`, only for {known}")
        })?;
        let minor = |text: &str| text.strip_prefix("2.").and_then(|minor| minor.parse().ok());
        let max_glibc = glibc
            .map(|text| minor(text).with_context(|| format!("`{text}` is no version of glibc 2")))
            .transpose()?;
        Ok(Self { platform, max_glibc })
    }

    /// The platform of this machine.
    pub(crate) fn here() -> Result<Self> {
        let system = match std::env::consts::OS {
            "macos" => "apple-darwin",
            _ => "unknown-linux-gnu",
        };
        Self::parse(&format!("{}-{system}", std::env::consts::ARCH))
    }

    /// Name of the platform in Rust.
    pub(crate) const fn triple(&self) -> &'static str {
        self.platform.triple
    }

    /// Refuses a binary that needs a newer glibc than it was to be built for.
    pub(super) fn check_glibc(&self, binary: &[u8]) -> Result<()> {
        if let (Some(max), Some(needed)) = (self.max_glibc, glibc::newest_minor(binary)) {
            ensure!(
                needed <= max,
                "the binary needs glibc 2.{needed}; the target is glibc 2.{max}"
            );
        }
        Ok(())
    }

    /// Tags of a wheel with this binary.
    pub(super) fn wheel_tags(&self, binary: &[u8]) -> Vec<String> {
        self.platform.wheel_tags(glibc::newest_minor(binary))
    }
}
