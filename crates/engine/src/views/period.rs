//! Periods of time that people ask about.

use model::Timestamp;

/// Period of time, from the beginning up to and without the end.
#[derive(Debug, Clone, Copy, Default)]
pub struct Period {
    /// Beginning; where absent, a default before the end
    pub since: Option<Timestamp>,
    /// End; where absent, now
    pub until: Option<Timestamp>,
}
