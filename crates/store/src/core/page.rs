//! Lists in pages. The cursor is the number of the last row seen.

use crate::core::error::StoreError;

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The rows
    pub items: Vec<T>,
    /// Where the next page begins, if there is one
    pub next: Option<i64>,
}

impl<T> Page<T> {
    /// Makes a page of `limit` rows from a query that asked for one row more.
    pub(crate) fn cut(mut items: Vec<T>, limit: u32, number: impl Fn(&T) -> i64) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = items.len() > limit;
        items.truncate(limit);
        let next = if more { items.last().map(number) } else { None };
        Self { items, next }
    }

    /// Reads a list to its end, a page after the other.
    pub fn all(
        mut page: impl FnMut(i64) -> Result<Self, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let (mut found, mut after) = (Vec::new(), Some(0));
        while let Some(from) = after {
            let next = page(from)?;
            found.extend(next.items);
            after = next.next;
        }
        Ok(found)
    }

    /// The same page of something else.
    pub fn map<U>(self, f: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(f).collect(), next: self.next }
    }
}
