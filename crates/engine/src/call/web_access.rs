//! Access to the page: links that the operator makes, the sessions of tabs, and their end.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use model::{PassId, Timestamp};
use serde_json::json;
use store::{AuditDraft, NewPass, Pass, PassKind, Rights, Tx};
use wire::login::LinkView;

use crate::call::cx::fresh;
use crate::call::identity::{Tab, hash_token};
use crate::call::rate::Bucket;
use crate::call::service::Calls;
use crate::core::error::{Code, ToolError};

/// Lifetime of the operator's unopened link.
const OPERATOR_LINK_SECONDS: i64 = 10 * 60;
/// Lifetime of a tab; a read-only one ends with its link.
const TAB_SECONDS: i64 = 30 * DAY_SECONDS;
const DAY_SECONDS: i64 = 24 * 60 * 60;
/// A link for looking is good for so many days unless told otherwise,
const LOOK_DAYS: u32 = 7;
/// and never for more.
const MAX_DAYS: u32 = 365;
/// Time for which an ended link is kept, to tell its users why it does not work.
const REMEMBERED_SECONDS: i64 = DAY_SECONDS;
/// Wrong codes accepted per minute; more is guessing.
const GUESSES: u32 = 30;

/// For whom a link is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opened {
    /// For the operator: good once, and soon
    ToAct,
    /// Read-only, as often as wanted, for so many days
    ToLook {
        /// Number of days, if not seven
        days: Option<u32>,
    },
}

/// A link, as it is told to who made it, and never again.
#[derive(Debug, Clone)]
pub struct MadeLink {
    /// Its id
    pub id: PassId,
    /// The code in it; only its hash is kept
    pub code: String,
    /// Until when it can be used
    pub expires_at: Timestamp,
}

/// Session of a tab.
#[derive(Debug, Clone)]
pub struct LoggedIn {
    /// Its token; only its hash is kept
    pub token: String,
    /// True if it may only look
    pub read_only: bool,
    /// Until when the token is good
    pub expires_at: Timestamp,
}

/// Counter of recent wrong codes.
#[derive(Debug, Default)]
pub(crate) struct Guesses(Mutex<Option<Bucket>>);

impl Guesses {
    fn with<T>(&self, now: Duration, act: impl FnOnce(&mut Bucket) -> T) -> T {
        let mut bucket = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        act(bucket.get_or_insert_with(|| Bucket::full(GUESSES, now)))
    }
}

impl Calls {
    /// Makes a link into the page.
    pub async fn link_make(&self, opened: Opened) -> Result<MadeLink, ToolError> {
        let now = self.now();
        let (rights, uses_left, seconds) = match opened {
            Opened::ToAct => (Rights::Operator, Some(1), OPERATOR_LINK_SECONDS),
            Opened::ToLook { days } => (Rights::Viewer, None, look_seconds(days)?),
        };
        let code = host::random::secret("adjlink_").map_err(ToolError::internal)?;
        let (id, expires_at) = (fresh(PassId::from_bits)?, now.after_seconds(seconds));
        let (hash, kind) = (hash_token(&code), PassKind::Link);
        let new = NewPass { id, hash, kind, rights, uses_left, link: None, expires_at };
        let input = json!({ "readOnly": rights == Rights::Viewer, "expiresAt": expires_at });
        let output = json!({ "linkId": id });
        let row = self.operator_row("operator__link", None, input.to_string(), &output);
        self.store
            .write(move |tx| {
                prune(tx, now)?;
                tx.pass_insert(&new, now)?;
                tx.audit_append(&row)?;
                Ok::<_, ToolError>(())
            })
            .await?;
        Ok(MadeLink { id, code, expires_at })
    }

    /// Lets a tab in that shows a link's code.
    pub async fn log_in(&self, code: &str) -> Result<LoggedIn, ToolError> {
        let (now, elapsed) = (self.now(), self.options.clock.elapsed());
        if !self.guesses.with(elapsed, |bucket| bucket.fill(GUESSES, elapsed)) {
            let message = format!("more than {GUESSES} invalid codes in a minute");
            return Err(ToolError::new(Code::RateLimited, message).hint("wait a few seconds"));
        }
        let token = host::random::secret("adjtab_").map_err(ToolError::internal)?;
        let (id, code, hash) = (fresh(PassId::from_bits)?, hash_token(code), hash_token(&token));
        let engine = self.clone();
        let enter = move |tx: &mut Tx<'_>| enter(tx, &engine, &code, id, &hash, now);
        match self.store.write(enter).await {
            Ok((rights, expires_at)) => {
                Ok(LoggedIn { token, read_only: rights == Rights::Viewer, expires_at })
            }
            Err(error) => {
                if error.code == Code::Unauthenticated {
                    self.guesses.with(elapsed, |bucket| bucket.take(GUESSES, elapsed));
                }
                Err(error)
            }
        }
    }

    /// Voids a tab's own token.
    pub async fn log_out(&self, tab: &Tab) -> Result<(), ToolError> {
        let id = tab.id;
        self.store.write(move |tx| tx.pass_delete(id)).await?;
        self.tokens.forget_tabs(|tab| tab.id == id);
        Ok(())
    }

    /// The links that can be used or have live tabs: those after one, and where more
    /// begin, if there are more.
    pub fn links(
        &self,
        after: Option<PassId>,
        limit: u32,
    ) -> Result<(Vec<LinkView>, Option<PassId>), ToolError> {
        let now = self.now();
        let mut found = self.store.read(|tx| tx.link_page(now, after, limit.saturating_add(1)))?;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more).map(|(link, _)| link.id);
        Ok((found.into_iter().map(|(link, tabs)| view(&link, tabs)).collect(), next))
    }

    /// Voids a link and the tabs that came by it, or all of them. Answers with how many tabs that were.
    pub async fn link_revoke(&self, link: Option<PassId>) -> Result<usize, ToolError> {
        let input = json!({ "linkId": link }).to_string();
        let engine = self.clone();
        let revoke = move |tx: &mut Tx<'_>| {
            if let Some(id) = link {
                let found = tx.pass_get(id)?.filter(|pass| pass.kind == PassKind::Link);
                found.ok_or_else(|| {
                    ToolError::not_found(format!("there is no link `{id}`"))
                        .hint("`adjutant open --links` lists them")
                })?;
            }
            let tabs = tx.link_revoke(link)?;
            let output = json!({ "tabs": tabs });
            tx.audit_append(&engine.operator_row(
                "operator__revoke",
                None,
                input.clone(),
                &output,
            ))?;
            Ok::<_, ToolError>(tabs)
        };
        let tabs = self.store.write(revoke).await?;
        self.tokens.forget_tabs(|tab| link.is_none() || tab.link == link);
        Ok(tabs)
    }
}

fn look_seconds(days: Option<u32>) -> Result<i64, ToolError> {
    match days.unwrap_or(LOOK_DAYS) {
        days @ 1..=MAX_DAYS => Ok(i64::from(days) * DAY_SECONDS),
        _ => Err(ToolError::invalid(format!("`days` must be from 1 to {MAX_DAYS}"))
            .detail("field", "days")),
    }
}

fn view(link: &Pass, tabs: u32) -> LinkView {
    LinkView {
        id: link.id,
        read_only: link.rights == Rights::Viewer,
        uses_left: link.uses_left,
        tabs,
        created_at: link.created_at,
        expires_at: link.expires_at,
    }
}

fn prune(tx: &mut Tx<'_>, now: Timestamp) -> Result<(), ToolError> {
    tx.pass_prune(now, now.after_seconds(-REMEMBERED_SECONDS))?;
    Ok(())
}

/// Exchanges a code for a tab's pass, and says what it may and until when.
fn enter(
    tx: &mut Tx<'_>,
    engine: &Calls,
    code: &str,
    id: PassId,
    token: &str,
    now: Timestamp,
) -> Result<(Rights, Timestamp), ToolError> {
    let refused = |why: &str, words: &str| {
        Err(ToolError::new(Code::Unauthenticated, words)
            .detail("reason", why)
            .hint("run `adjutant open` for a new link"))
    };
    let link = tx.pass_by_hash(code)?.filter(|pass| pass.kind == PassKind::Link);
    let Some(link) = link else {
        return refused("unknown", "this link is unknown to this server, or was revoked");
    };
    if link.uses_left == Some(0) {
        return refused("used", "this link was already used; it works once");
    }
    if link.expires_at <= now {
        return refused("ended", "this link has expired");
    }
    let whole = now.after_seconds(TAB_SECONDS);
    let expires_at = match link.rights {
        Rights::Operator => whole,
        Rights::Viewer => whole.min(link.expires_at),
    };
    prune(tx, now)?;
    tx.pass_used(link.id)?;
    let new = NewPass {
        id,
        hash: token.to_owned(),
        kind: PassKind::Tab,
        rights: link.rights,
        uses_left: None,
        link: Some(link.id),
        expires_at,
    };
    tx.pass_insert(&new, now)?;
    let (input, output) = (json!({ "linkId": link.id }), json!({ "expiresAt": expires_at }));
    let row = engine.operator_row("operator__login", None, input.to_string(), &output);
    let by_operator = link.rights == Rights::Operator;
    tx.audit_append(&AuditDraft { by_operator, ..row })?;
    Ok((link.rights, expires_at))
}
