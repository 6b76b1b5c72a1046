//! Which part of a list is asked for.

/// Part of a list: what is still going on, or everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListScope {
    /// Only what is live, open or still there
    Open,
    /// Also what is over
    All,
}

impl From<bool> for ListScope {
    /// The scope of a query with an `all` flag.
    fn from(all: bool) -> Self {
        if all { Self::All } else { Self::Open }
    }
}

impl ListScope {
    /// One of two values, by scope.
    pub(crate) fn choose<T>(self, open: T, all: T) -> T {
        match self {
            Self::Open => open,
            Self::All => all,
        }
    }
}
