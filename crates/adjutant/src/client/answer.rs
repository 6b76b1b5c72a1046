//! Answers of the server: decoded into the shapes of `wire`, each beside the document as it was received.

use std::ops::Deref;

use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// A decoded answer.
///
/// It dereferences to the decoded value and serialises as the document that was received, so that `--json` also
/// prints fields of a newer server that this version does not know.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer<T> {
    json: Value,
    value: T,
}

impl<T: DeserializeOwned> Answer<T> {
    /// Decodes a document.
    pub(crate) fn decode(json: Value) -> Result<Self, serde_json::Error> {
        let value = T::deserialize(&json)?;
        Ok(Self { json, value })
    }

    /// Replaces fields of the document, and decodes it again.
    pub(crate) fn with_fields(
        mut self,
        fields: Map<String, Value>,
    ) -> Result<Self, serde_json::Error> {
        if let Value::Object(object) = &mut self.json {
            object.extend(fields);
        }
        Self::decode(self.json)
    }
}

impl<T> Answer<T> {
    /// Returns the decoded value.
    pub(crate) fn into_value(self) -> T {
        self.value
    }

    /// Takes a list out of the answer, each item with its own document: the list in the field `key`, which `take`
    /// takes out of the decoded value.
    pub(crate) fn take_list<R>(
        &mut self,
        key: &str,
        take: impl FnOnce(&mut T) -> Vec<R>,
    ) -> Vec<Answer<R>> {
        let json = match self.json.get_mut(key).map(Value::take) {
            Some(Value::Array(rows)) => rows,
            _ => Vec::new(),
        };
        let rows = json.into_iter().zip(take(&mut self.value));
        rows.map(|(json, value)| Answer { json, value }).collect()
    }
}

impl<P: ListPage> Answer<P> {
    /// Splits a page into its rows and the position of the next page.
    pub(crate) fn into_rows(mut self) -> (Vec<Answer<P::Row>>, Option<String>) {
        let next = self.value.next_page();
        (self.take_list(P::ROWS, P::take_rows), next)
    }
}

impl<T> Deref for Answer<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> Serialize for Answer<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(serializer)
    }
}

/// A list that is answered page by page.
pub(crate) trait ListPage: DeserializeOwned {
    /// Type of a row.
    type Row;
    /// Field of the document that holds the rows.
    const ROWS: &'static str;

    /// Returns the position of the next page, to be passed as `after` or `cursor`.
    fn next_page(&self) -> Option<String>;

    /// Takes the rows out of the page.
    fn take_rows(&mut self) -> Vec<Self::Row>;
}

/// Implements [`ListPage`] for pages of `wire`: the page, its field with the rows, and their type.
macro_rules! list_pages {
    ($($page:path: $rows:ident of $row:path;)*) => {$(
        impl ListPage for $page {
            type Row = $row;
            const ROWS: &'static str = stringify!($rows);
            fn next_page(&self) -> Option<String> {
                self.next_cursor.as_ref().map(ToString::to_string)
            }
            fn take_rows(&mut self) -> Vec<$row> {
                std::mem::take(&mut self.$rows)
            }
        }
    )*};
}

list_pages! {
    wire::agent_details::AgentList: agents of wire::agent_details::AgentView;
    wire::audit::AuditCalls: rows of wire::audit::AuditCallView;
    wire::crew::Crew: rows of wire::crew::CrewRow;
    wire::decisions::DecisionLog: decisions of wire::decisions::Decision;
    wire::epics::Epics: epics of wire::epics::EpicRow;
    wire::files::Reservations: reservations of wire::files::ReservationView;
    wire::login::LinkList: links of wire::login::LinkView;
    wire::loops::LoopList: loops of wire::loops::LoopView;
    wire::mail::InboxAnswer: mails of wire::mail::MailView;
    wire::merges::Merges: merges of wire::merges::MergeView;
    wire::merges::ReviewDesk: tasks of wire::merges::ReviewDeskTask;
    wire::plans::Plans: plans of wire::plans::PlanRow;
    wire::reviews::Reviews: reviews of wire::reviews::ReviewView;
    wire::slack::SlackThreads: threads of wire::slack::SlackThreadView;
    wire::supervisors::PendingEpics: epics of wire::supervisors::PendingEpic;
    wire::supervisors::Supervisors: supervisors of wire::supervisors::SupervisorRow;
    wire::tasks::TasksAnswer: tasks of wire::tasks::TaskView;
    wire::webhooks::Deliveries: deliveries of wire::webhooks::DeliveryView;
    wire::worktrees::Worktrees: worktrees of wire::worktrees::WorktreeView;
}

/// Collects the rows of all pages. `fetch` receives the position of the page, which is absent for the first.
pub(crate) async fn all_rows<P: ListPage, E>(
    mut fetch: impl AsyncFnMut(Option<String>) -> Result<Answer<P>, E>,
) -> Result<Vec<Answer<P::Row>>, E> {
    let (mut all, mut position) = (Vec::new(), None);
    loop {
        let (rows, next) = fetch(position).await?.into_rows();
        all.extend(rows);
        if next.is_none() {
            return Ok(all);
        }
        position = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use wire::files::{ReleasedFiles, Reservations};

    #[test]
    fn an_answer_prints_what_it_does_not_know() {
        let json = json!({ "released": 2, "newer": { "field": true } });
        let answer = Answer::<ReleasedFiles>::decode(json.clone()).unwrap();
        assert_eq!(answer.released, 2);
        assert_eq!(serde_json::to_value(&answer).unwrap(), json);
        assert!(Answer::<ReleasedFiles>::decode(json!({ "released": "two" })).is_err());
    }

    #[tokio::test]
    async fn rows_of_all_pages_keep_their_documents() {
        let row = |pattern: &str| {
            json!({
                "id": "res_0123456789abcdef", "pattern": pattern, "agentId": "sp_0123456789abcdef",
                "role": "coder", "expiresAt": "2026-01-01T00:00:00.000Z", "newer": pattern,
            })
        };
        let mut asked = Vec::new();
        let rows = all_rows(async |position: Option<String>| {
            asked.push(position.clone());
            let page = match position {
                None => json!({ "reservations": [row("a"), row("b")], "nextCursor": "c2" }),
                Some(_) => json!({ "reservations": [row("c")] }),
            };
            Ok::<_, std::convert::Infallible>(Answer::<Reservations>::decode(page).unwrap())
        })
        .await
        .unwrap();
        assert_eq!(asked, [None, Some("c2".to_owned())]);
        let patterns: Vec<&str> = rows.iter().map(|row| row.pattern.as_str()).collect();
        assert_eq!(patterns, ["a", "b", "c"]);
        let printed = serde_json::to_value(&rows).unwrap();
        assert_eq!(printed, json!([row("a"), row("b"), row("c")]));
    }
}
