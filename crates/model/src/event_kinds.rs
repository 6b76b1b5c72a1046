//! Sets of kinds of events.

use crate::event::EventKind;

/// A set of kinds of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EventKinds(u128);

const _: () = assert!(EventKind::ALL.len() <= u128::BITS as usize, "each kind has a bit");

impl EventKinds {
    /// The empty set.
    pub const NONE: Self = Self(0);

    /// Every kind.
    pub const ALL: Self = Self::of(EventKind::ALL);

    /// The kinds of a list.
    pub const fn of(kinds: &[EventKind]) -> Self {
        let (mut set, mut at) = (Self::NONE, 0);
        while at < kinds.len() {
            set = set.with(Self(1 << kinds[at] as u32));
            at += 1;
        }
        set
    }

    /// The kinds whose names begin with a family's name and a dot, as `agent` for `agent.created`.
    ///
    /// # Panics
    /// If there is no such family; in a constant that is an error of the compiler.
    pub const fn family(family: &str) -> Self {
        let (mut set, mut at) = (Self::NONE, 0);
        while at < EventKind::ALL.len() {
            if is_of_family(EventKind::ALL[at].name().as_bytes(), family.as_bytes()) {
                set = set.with(Self::of(&[EventKind::ALL[at]]));
            }
            at += 1;
        }
        assert!(set.0 != 0, "no kind of event belongs to this family");
        set
    }

    /// The kinds of both sets.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// True if a kind belongs to the set.
    pub const fn contains(self, kind: EventKind) -> bool {
        self.0 & (1 << kind as u32) != 0
    }

    /// The kinds of the set, in the order of [`EventKind::ALL`].
    pub fn iter(self) -> impl Iterator<Item = EventKind> {
        EventKind::ALL.iter().copied().filter(move |kind| self.contains(*kind))
    }
}

impl FromIterator<EventKind> for EventKinds {
    fn from_iter<I: IntoIterator<Item = EventKind>>(kinds: I) -> Self {
        kinds.into_iter().fold(Self::NONE, |set, kind| set.with(Self::of(&[kind])))
    }
}

const fn is_of_family(name: &[u8], family: &[u8]) -> bool {
    if name.len() <= family.len() || name[family.len()] != b'.' {
        return false;
    }
    let mut at = 0;
    while at < family.len() {
        if name[at] != family[at] {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_contains_its_kinds_and_no_others() {
        let set = EventKinds::of(&[EventKind::MailSent, EventKind::WebhookDisabled]);
        assert!(set.iter().eq([EventKind::MailSent, EventKind::WebhookDisabled]));
        assert_eq!(set, [EventKind::WebhookDisabled, EventKind::MailSent].into_iter().collect());
        assert!(!set.contains(EventKind::MailRead));
        assert_eq!(EventKinds::NONE.iter().count(), 0);
        assert!(EventKinds::ALL.iter().eq(EventKind::ALL.iter().copied()));
    }

    #[test]
    fn a_family_is_what_its_filter_names() {
        for kind in EventKind::ALL {
            let family = kind.name().split_once('.').unwrap().0;
            let named = EventKind::named(&format!("{family}.*")).into_iter().collect();
            assert_eq!(EventKinds::family(family), named, "{family}");
        }
    }
}
