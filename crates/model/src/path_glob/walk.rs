//! Automata over paths, and whether two of them can end together.

/// A set of characters that may stand in the name of a file, and perhaps the slash between names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Set {
    /// First and last of each range, in order, none touching another
    ranges: Vec<(u32, u32)>,
    slash: bool,
}

const SLASH: u32 = '/' as u32;
/// Every character but the slash and NUL. Numbers between the second and the third are no characters.
const NAMES: [(u32, u32); 3] = [(1, SLASH - 1), (SLASH + 1, 0xD7FF), (0xE000, 0x10_FFFF)];

impl Set {
    pub(super) fn one(c: char) -> Self {
        let number = u32::from(c);
        let slash = number == SLASH;
        Self { ranges: if slash { Vec::new() } else { vec![(number, number)] }, slash }
    }

    /// Whatever may stand in a name.
    pub(super) fn name() -> Self {
        Self { ranges: NAMES.to_vec(), slash: false }
    }

    /// Whatever may stand in a path.
    pub(super) fn anything() -> Self {
        Self { ranges: NAMES.to_vec(), slash: true }
    }

    /// These characters, as far as they may stand in a name.
    pub(super) fn of(mut given: Vec<(u32, u32)>) -> Self {
        given.sort_unstable();
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for (first, last) in given {
            for (least, most) in NAMES {
                let (first, last) = (first.max(least), last.min(most));
                match ranges.last_mut() {
                    _ if first > last => {}
                    Some(before) if before.1 >= first => before.1 = before.1.max(last),
                    _ => ranges.push((first, last)),
                }
            }
        }
        Self { ranges, slash: false }
    }

    /// Every character of a name that is not in the set.
    pub(super) fn others(&self) -> Self {
        let mut left = Vec::new();
        for (least, most) in NAMES {
            let mut from = least;
            for &(first, last) in self.ranges.iter().filter(|range| range.1 >= least) {
                if first > most {
                    break;
                }
                if first > from {
                    left.push((from, first - 1));
                }
                from = last + 1;
            }
            if from <= most {
                left.push((from, most));
            }
        }
        Self { ranges: left, slash: false }
    }

    fn shares_a_name_with(&self, other: &Self) -> bool {
        let (mut ours, mut theirs) = (self.ranges.iter(), other.ranges.iter());
        let (mut one, mut two) = (ours.next(), theirs.next());
        while let (Some(&(first, last)), Some(&(least, most))) = (one, two) {
            if last < least {
                one = ours.next();
            } else if most < first {
                two = theirs.next();
            } else {
                return true;
            }
        }
        false
    }
}

/// A place in an automaton.
#[derive(Debug, Clone)]
pub(super) enum Node {
    /// The path may end here
    End,
    /// Takes a character
    Take { set: Set, then: usize },
    /// Goes either way
    Fork(usize, usize),
}

/// A compiled pattern. It does not check that the input is a well-formed path with a name in each
/// segment.
#[derive(Debug, Clone)]
pub(super) struct Automaton {
    nodes: Vec<Node>,
    start: usize,
}

/// Work budget for comparing patterns.
#[derive(Debug)]
pub struct WorkBudget(u64);

/// The work was more than allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("these patterns are too many or too complex to compare")]
pub struct WorkLimitExceeded;

impl WorkBudget {
    /// Enough for whatever two patterns can ask for.
    pub(super) const fn unbounded() -> Self {
        Self(u64::MAX)
    }

    /// A budget of this many steps; one step visits one pair of states of two patterns.
    pub const fn steps(steps: u64) -> Self {
        Self(steps)
    }

    fn spend(&mut self) -> Result<(), WorkLimitExceeded> {
        self.0 = self.0.checked_sub(1).ok_or(WorkLimitExceeded)?;
        Ok(())
    }
}

/// Where a path stands: a part that has begun must get a name.
#[derive(Debug, Clone, Copy)]
enum Part {
    Begins = 0,
    Goes = 1,
}

/// Pairs of places that were met, each once.
struct VisitedPairs {
    bits: Vec<u64>,
    width: usize,
    open: Vec<(usize, usize, Part)>,
}

impl VisitedPairs {
    fn meet(&mut self, one: usize, two: usize, part: Part) {
        let place = (one * self.width + two) * 2 + part as usize;
        if let Some(word) = self.bits.get_mut(place / 64) {
            let bit = 1 << (place % 64);
            if *word & bit == 0 {
                *word |= bit;
                self.open.push((one, two, part));
            }
        }
    }
}

impl Automaton {
    pub(super) const fn new(nodes: Vec<Node>, start: usize) -> Self {
        Self { nodes, start }
    }

    /// The one that reads this path and no other.
    pub(super) fn of_path(path: &str) -> Self {
        let mut nodes: Vec<Node> = path
            .chars()
            .enumerate()
            .map(|(at, c)| Node::Take { set: Set::one(c), then: at + 1 })
            .collect();
        nodes.push(Node::End);
        Self::new(nodes, 0)
    }

    /// True if some path matches.
    pub(super) fn fits_something(&self) -> bool {
        let whatever =
            vec![Node::Fork(1, 2), Node::End, Node::Take { set: Set::anything(), then: 0 }];
        self.meets(&Self::new(whatever, 0), &mut WorkBudget::unbounded()).is_ok_and(|meets| meets)
    }

    /// True if some path matches both. Visits each pair of states once.
    pub(super) fn meets(
        &self,
        other: &Self,
        effort: &mut WorkBudget,
    ) -> Result<bool, WorkLimitExceeded> {
        let pairs = self.nodes.len() * other.nodes.len();
        let mut seen = VisitedPairs {
            bits: vec![0; (pairs * 2).div_ceil(64)],
            width: other.nodes.len(),
            open: Vec::new(),
        };
        seen.meet(self.start, other.start, Part::Begins);
        while let Some((one, two, part)) = seen.open.pop() {
            effort.spend()?;
            let (Some(ours), Some(theirs)) = (self.nodes.get(one), other.nodes.get(two)) else {
                continue;
            };
            match (ours, theirs) {
                (&Node::Fork(left, right), _) => {
                    seen.meet(left, two, part);
                    seen.meet(right, two, part);
                }
                (_, &Node::Fork(left, right)) => {
                    seen.meet(one, left, part);
                    seen.meet(one, right, part);
                }
                (Node::End, Node::End) => {
                    if matches!(part, Part::Goes) {
                        return Ok(true);
                    }
                }
                (Node::Take { set, then }, Node::Take { set: their_set, then: their_then }) => {
                    if set.shares_a_name_with(their_set) {
                        seen.meet(*then, *their_then, Part::Goes);
                    }
                    if set.slash && their_set.slash && matches!(part, Part::Goes) {
                        seen.meet(*then, *their_then, Part::Begins);
                    }
                }
                (Node::End, Node::Take { .. }) | (Node::Take { .. }, Node::End) => {}
            }
        }
        Ok(false)
    }
}
