//! Messages to webhooks: wanted events, ordering, and retries.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::EventKind;
use crate::{AgentId, TaskId};

/// Delays after the first, second, … failed attempt, in seconds: the schedule that
/// the Standard Webhooks specification gives as its example. Later attempts wait a day each.
const RETRY_DELAYS_SECONDS: [i64; 9] = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];

/// Nobody may ask for a longer pause, in seconds.
const MAX_PAUSE_SECONDS: i64 = 86_400;

/// Default number of attempts per message.
pub const DEFAULT_ATTEMPTS: u32 = 10;

/// Delivery state of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum DeliveryState {
    /// It waits for its turn, or for its next try
    Pending,
    /// It was taken
    Delivered,
    /// It was given up
    Dead,
}

impl DeliveryState {
    /// Every state.
    pub const ALL: [Self; 3] = [Self::Pending, Self::Delivered, Self::Dead];

    /// Its name, as it is stored and sent.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Dead => "dead",
        }
    }

    /// The state of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// Response of a receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WebhookReply {
    /// It answered with this status, and perhaps wants to be left alone for so many seconds
    Status(u16, Option<i64>),
    /// It gave no answer
    None,
}

/// Consequence of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptVerdict {
    /// The message was taken
    Taken,
    /// It is tried again after so many seconds
    Again {
        /// Delay before the next attempt
        seconds: i64,
        /// True if the receiver asked for a pause of all messages
        quiet: bool,
    },
    /// It is given up
    Dead,
    /// The receiver wants nothing any more
    Gone,
}

/// Decides what follows the response to attempt number `tries` (from 1) of at most `most`.
pub fn judge(reply: WebhookReply, tries: u32, most: u32) -> AttemptVerdict {
    match reply {
        WebhookReply::Status(200..=299, _) => AttemptVerdict::Taken,
        WebhookReply::Status(410, _) => AttemptVerdict::Gone,
        WebhookReply::Status(..) | WebhookReply::None if tries >= most => AttemptVerdict::Dead,
        WebhookReply::Status(status, pause) => {
            let pause = pause.unwrap_or_default().clamp(0, MAX_PAUSE_SECONDS);
            AttemptVerdict::Again {
                seconds: wait_after(tries).max(pause),
                quiet: status == 429 && pause > 0,
            }
        }
        WebhookReply::None => AttemptVerdict::Again { seconds: wait_after(tries), quiet: false },
    }
}

/// Delay after this many attempts, in seconds.
fn wait_after(tries: u32) -> i64 {
    let index = usize::try_from(tries.saturating_sub(1)).unwrap_or(usize::MAX);
    RETRY_DELAYS_SECONDS.get(index).copied().unwrap_or(86_400)
}

/// Ordering key: messages with the same key are sent one after the other. Events about an agent itself
/// use the agent's key; all others use their task's, else their agent's, else a key of their own.
pub fn line(kind: EventKind, agent: Option<AgentId>, task: Option<TaskId>, number: i64) -> String {
    match (agent, task) {
        (Some(agent), _) if kind.name().starts_with("agent.") => agent.to_string(),
        (_, Some(task)) => task.to_string(),
        (Some(agent), None) => agent.to_string(),
        (None, None) => number.to_string(),
    }
}

/// True if the kind, by its name or an earlier one, matches a pattern such as `agent.*`; `*` matches any run of
/// characters.
pub fn fits(pattern: &str, kind: EventKind) -> bool {
    kind.names().any(|name| fits_name(pattern, name))
}

fn fits_name(pattern: &str, name: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut rest) = name.strip_prefix(head) else { return false };
    let mut parts: Vec<&str> = tail.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// The kinds that a pattern fits.
pub fn kinds_of(pattern: &str) -> Vec<EventKind> {
    EventKind::ALL.iter().copied().filter(|kind| fits(pattern, *kind)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAILED: WebhookReply = WebhookReply::Status(500, None);

    #[test]
    fn the_schedule_is_the_specifications() {
        let mut since_start = vec![0];
        for tries in 1..DEFAULT_ATTEMPTS {
            let AttemptVerdict::Again { seconds, quiet: false } =
                judge(FAILED, tries, DEFAULT_ATTEMPTS)
            else {
                panic!("{tries} tries are not too many");
            };
            since_start.push(since_start.last().unwrap() + seconds);
        }
        let clock = |(hours, minutes): (i64, i64)| hours * 3600 + minutes * 60 + 5;
        let table = [(0, 5), (0, 35), (2, 35), (7, 35), (17, 35), (31, 35), (51, 35), (75, 35)];
        let mut expected = vec![0, 5];
        expected.extend(table.map(clock));
        assert_eq!(since_start, expected);
        assert_eq!(judge(FAILED, DEFAULT_ATTEMPTS, DEFAULT_ATTEMPTS), AttemptVerdict::Dead);
        assert_eq!(
            judge(WebhookReply::None, 15, 20),
            AttemptVerdict::Again { seconds: 86_400, quiet: false }
        );
    }

    #[test]
    fn only_two_hundreds_are_a_success_and_gone_is_for_ever() {
        for status in 200..=299 {
            assert_eq!(judge(WebhookReply::Status(status, None), 1, 1), AttemptVerdict::Taken);
        }
        for status in (100..200).chain(300..600).filter(|status| *status != 410) {
            assert_eq!(
                judge(WebhookReply::Status(status, None), 1, 1),
                AttemptVerdict::Dead,
                "{status}"
            );
        }
        assert_eq!(judge(WebhookReply::Status(410, None), 1, 10), AttemptVerdict::Gone);
    }

    #[test]
    fn who_wants_a_pause_gets_it_but_no_longer_than_a_day() {
        let asked = |status, pause| judge(WebhookReply::Status(status, Some(pause)), 1, 10);
        assert_eq!(asked(503, 60), AttemptVerdict::Again { seconds: 60, quiet: false });
        assert_eq!(asked(503, 1), AttemptVerdict::Again { seconds: 5, quiet: false });
        assert_eq!(asked(429, 60), AttemptVerdict::Again { seconds: 60, quiet: true });
        assert_eq!(asked(429, i64::MAX), AttemptVerdict::Again { seconds: 86_400, quiet: true });
    }

    #[test]
    fn an_agents_life_is_one_line_and_a_tasks_another() {
        let (agent, task) = (AgentId::from_bits(1), TaskId::from_bits(2));
        let of = |kind, task| line(kind, Some(agent), task, 7);
        assert_eq!(of(EventKind::AgentStarted, None), agent.to_string());
        assert_eq!(of(EventKind::AgentFinished, Some(task)), agent.to_string());
        assert_eq!(of(EventKind::TaskUpdated, Some(task)), task.to_string());
        assert_eq!(line(EventKind::TaskUpdated, None, Some(task), 7), task.to_string());
        assert_eq!(of(EventKind::MailSent, None), agent.to_string());
        assert_eq!(line(EventKind::ConfigReloaded, None, None, 7), "7");
    }

    #[test]
    fn patterns_choose_kinds() {
        assert_eq!(kinds_of("*"), EventKind::ALL);
        assert!(kinds_of("agent.*").iter().all(|kind| kind.name().starts_with("agent.")));
        assert_eq!(kinds_of("agent.finished"), [EventKind::AgentFinished]);
        assert_eq!(kinds_of("*.created").len(), 5);
        assert_eq!(kinds_of("t*k.upd*d"), [EventKind::TaskUpdated]);
        assert!(kinds_of("agent").is_empty() && kinds_of("").is_empty());
    }
}
