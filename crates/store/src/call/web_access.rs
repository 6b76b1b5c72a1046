//! Ways into the page: links that people open, and the tokens that tabs got for them. Of both only the
//! hash is kept.

use model::{PassId, Timestamp};
use rusqlite::{Row, params};

use crate::core::error::StoreError;
use crate::core::row::RowReader;
use crate::core::tx::Tx;

/// Kind of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PassKind {
    /// A link, which is exchanged for tabs' tokens
    Link,
    /// A tab's token
    Tab,
}

impl PassKind {
    const fn name(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Tab => "tab",
        }
    }

    fn by_name(name: &str) -> Option<Self> {
        [Self::Link, Self::Tab].into_iter().find(|kind| kind.name() == name)
    }
}

/// Rights of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rights {
    /// Everything
    Operator,
    /// Look at everything
    Viewer,
}

impl Rights {
    const fn name(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Viewer => "viewer",
        }
    }

    fn by_name(name: &str) -> Option<Self> {
        [Self::Operator, Self::Viewer].into_iter().find(|rights| rights.name() == name)
    }
}

/// A pass to be.
#[derive(Debug, Clone)]
pub struct NewPass {
    /// Its id
    pub id: PassId,
    /// The hash of its code or token
    pub hash: String,
    /// Type
    pub kind: PassKind,
    /// Rights of the holder
    pub rights: Rights,
    /// Number of uses; `None` is unlimited
    pub uses_left: Option<u32>,
    /// The link that a tab came by
    pub link: Option<PassId>,
    /// Until when it is good
    pub expires_at: Timestamp,
}

/// A way into the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pass {
    /// Its id
    pub id: PassId,
    /// Type
    pub kind: PassKind,
    /// Rights of the holder
    pub rights: Rights,
    /// Remaining uses; `None` is unlimited
    pub uses_left: Option<u32>,
    /// The link that a tab came by
    pub link: Option<PassId>,
    /// Since when
    pub created_at: Timestamp,
    /// Until when it is good
    pub expires_at: Timestamp,
}

const SELECT: &str =
    "SELECT id, kind, rights, uses_left, link_id, created_at, expires_at FROM pass";

fn read(row: &Row<'_>) -> Result<Pass, StoreError> {
    let mut cells = RowReader::of(row);
    Ok(Pass {
        id: cells.parse()?,
        kind: cells.named(PassKind::by_name)?,
        rights: cells.named(Rights::by_name)?,
        uses_left: cells.get()?,
        link: cells.parse_opt()?,
        created_at: cells.time()?,
        expires_at: cells.time()?,
    })
}

impl Tx<'_> {
    /// Keeps a pass.
    pub fn pass_insert(&mut self, new: &NewPass, now: Timestamp) -> Result<(), StoreError> {
        self.execute(
            "INSERT INTO pass (id, hash, kind, rights, uses_left, link_id, created_at, expires_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            params![
                new.id.to_string(),
                new.hash,
                new.kind.name(),
                new.rights.name(),
                new.uses_left,
                new.link.map(|link| link.to_string()),
                now.as_millis(),
                new.expires_at.as_millis()
            ],
        )?;
        Ok(())
    }

    /// The pass whose code or token has that hash, also one that has ended.
    pub fn pass_by_hash(&self, hash: &str) -> Result<Option<Pass>, StoreError> {
        self.one(&format!("{SELECT} WHERE hash = $1"), params![hash], read)
    }

    /// The pass of that id.
    pub fn pass_get(&self, id: PassId) -> Result<Option<Pass>, StoreError> {
        self.one(&format!("{SELECT} WHERE id = $1"), params![id.to_string()], read)
    }

    /// Notes that a link was used; one that may be used as often as wanted stays as it is.
    pub fn pass_used(&mut self, id: PassId) -> Result<(), StoreError> {
        self.execute(
            "UPDATE pass SET uses_left = uses_left - 1 WHERE id = $1 AND uses_left > 0",
            params![id.to_string()],
        )?;
        Ok(())
    }

    /// Links after an id, in order: those that may be used, and those that have live tabs.
    /// Each comes with how many tabs that are.
    pub fn link_page(
        &self,
        now: Timestamp,
        after: Option<PassId>,
        limit: u32,
    ) -> Result<Vec<(Pass, u32)>, StoreError> {
        self.all(
            "SELECT id, kind, rights, uses_left, link_id, created_at, expires_at,
                 (SELECT count(*) FROM pass AS tab WHERE tab.link_id = pass.id AND tab.expires_at > $1) AS tabs
             FROM pass WHERE kind = 'link' AND id > $2
                 AND ((expires_at > $1 AND COALESCE(uses_left, 1) > 0)
                     OR EXISTS (SELECT 1 FROM pass AS tab WHERE tab.link_id = pass.id AND tab.expires_at > $1))
             ORDER BY id LIMIT $3",
            params![now.as_millis(), after.map_or_else(String::new, |id| id.to_string()), limit],
            |row| Ok((read(row)?, row.get(7)?)),
        )
    }

    /// Voids a tab's token.
    pub fn pass_delete(&mut self, id: PassId) -> Result<(), StoreError> {
        self.execute("DELETE FROM pass WHERE id = $1", params![id.to_string()])?;
        Ok(())
    }

    /// Voids a link and the tabs that came by it, or all there are. Answers with how many tabs that were.
    pub fn link_revoke(&mut self, link: Option<PassId>) -> Result<usize, StoreError> {
        let Some(link) = link.map(|link| link.to_string()) else {
            let tabs = self.execute("DELETE FROM pass WHERE kind = 'tab'", &[])?;
            self.execute("DELETE FROM pass", &[])?;
            return Ok(tabs);
        };
        let tabs = self.execute("DELETE FROM pass WHERE link_id = $1", params![link])?;
        self.execute("DELETE FROM pass WHERE id = $1", params![link])?;
        Ok(tabs)
    }

    /// Forgets tabs that ended before `now`, and links that ended before `links` and that nobody is in by.
    pub fn pass_prune(&mut self, now: Timestamp, links: Timestamp) -> Result<(), StoreError> {
        self.execute(
            "DELETE FROM pass WHERE expires_at <= $1 AND kind = 'tab'",
            params![now.as_millis()],
        )?;
        self.execute(
            "DELETE FROM pass WHERE expires_at <= $1 AND kind = 'link'
                 AND NOT EXISTS (SELECT 1 FROM pass AS tab WHERE tab.link_id = pass.id)",
            params![links.as_millis()],
        )?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;

    fn new(n: u64, kind: PassKind, link: Option<u64>, until: i64) -> NewPass {
        NewPass {
            id: PassId::from_bits(n),
            hash: format!("hash {n}"),
            kind,
            rights: Rights::Viewer,
            uses_left: (kind == PassKind::Link).then_some(1),
            link: link.map(PassId::from_bits),
            expires_at: Timestamp::from_millis(until),
        }
    }

    async fn filled() -> (tempfile::TempDir, Store) {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("state.db")).unwrap();
        let insert = |tx: &mut Tx<'_>| {
            let now = Timestamp::from_millis(1);
            tx.pass_insert(&new(1, PassKind::Link, None, 10), now)?;
            tx.pass_insert(&new(2, PassKind::Link, None, 10), now)?;
            tx.pass_insert(&new(3, PassKind::Tab, Some(1), 100), now)?;
            tx.pass_insert(&new(4, PassKind::Tab, Some(1), 20), now)
        };
        store.write(insert).await.unwrap();
        (dir, store)
    }

    fn listed(store: &Store, now: i64) -> Vec<(PassId, u32)> {
        let page = store.read(|tx| tx.link_page(Timestamp::from_millis(now), None, 10));
        let page: Vec<(Pass, u32)> = page.unwrap();
        page.into_iter().map(|(link, tabs)| (link.id, tabs)).collect()
    }

    #[tokio::test]
    async fn a_link_is_listed_while_it_can_be_used_or_somebody_is_in_by_it() {
        let (_dir, store) = filled().await;
        let [one, two] = [1, 2].map(PassId::from_bits);
        assert_eq!(listed(&store, 5), [(one, 2), (two, 0)]);
        store.write(move |tx| tx.pass_used(two)).await.unwrap();
        store.write(move |tx| tx.pass_used(two)).await.unwrap();
        let used = store.read(|tx| tx.pass_get(two)).unwrap().unwrap();
        assert_eq!(used.uses_left, Some(0), "never less than none");
        assert_eq!(listed(&store, 5), [(one, 2)]);
        assert_eq!(listed(&store, 50), [(one, 1)]);
        assert_eq!(listed(&store, 100), []);
    }

    #[tokio::test]
    async fn a_list_goes_on_behind_a_link() {
        let (_dir, store) = filled().await;
        let (now, one) = (Timestamp::from_millis(5), PassId::from_bits(1));
        let first: Vec<(Pass, u32)> = store.read(|tx| tx.link_page(now, None, 1)).unwrap();
        assert_eq!((first.len(), first[0].0.id), (1, one));
        let rest: Vec<(Pass, u32)> = store.read(|tx| tx.link_page(now, Some(one), 10)).unwrap();
        assert_eq!((rest.len(), rest[0].0.id), (1, PassId::from_bits(2)));
    }

    #[tokio::test]
    async fn what_has_ended_is_forgotten_but_not_a_link_that_somebody_is_in_by() {
        let (_dir, store) = filled().await;
        let at = Timestamp::from_millis;
        store.write(move |tx| tx.pass_prune(at(20), at(20))).await.unwrap();
        let left = [1, 2, 3, 4].map(|n| {
            let found: Option<Pass> = store.read(|tx| tx.pass_get(PassId::from_bits(n))).unwrap();
            found.is_some()
        });
        assert_eq!(left, [true, false, true, false]);
    }

    #[tokio::test]
    async fn a_revoked_link_takes_its_tabs_along_and_no_others() {
        let (_dir, store) = filled().await;
        let voided = store.write(|tx| tx.link_revoke(Some(PassId::from_bits(1)))).await;
        assert_eq!(voided.unwrap(), 2);
        let tab: Option<Pass> = store.read(|tx| tx.pass_by_hash("hash 3")).unwrap();
        assert_eq!(tab, None);
        assert_eq!(listed(&store, 5), [(PassId::from_bits(2), 0)]);
        assert_eq!(store.write(|tx| tx.link_revoke(None)).await.unwrap(), 0);
        assert_eq!(listed(&store, 5), []);
    }
}
