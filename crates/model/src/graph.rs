//! Dependencies between tasks: a graph without cycles.

use std::collections::HashMap;
use std::hash::Hash;

/// Returns the cycle that the edge `from → to` would close, as the path from `to` back to itself.
///
/// `edges` answers what a node depends on already.
pub fn cycle<N: Copy + Eq + Hash, E>(
    from: N,
    to: N,
    mut edges: impl FnMut(N) -> Result<Vec<N>, E>,
) -> Result<Option<Vec<N>>, E> {
    if from == to {
        return Ok(Some(vec![from, from]));
    }
    // Depth first from `to`; if `from` can be reached, the new edge would close the ring.
    let mut came_from: HashMap<N, Option<N>> = HashMap::from([(to, None)]);
    let mut open = vec![to];
    while let Some(node) = open.pop() {
        for next in edges(node)? {
            if came_from.contains_key(&next) {
                continue;
            }
            came_from.insert(next, Some(node));
            if next == from {
                let mut path = vec![from];
                let mut at = from;
                while let Some(&Some(before)) = came_from.get(&at) {
                    path.push(before);
                    at = before;
                }
                path.reverse();
                path.insert(0, from);
                return Ok(Some(path));
            }
            open.push(next);
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::convert::Infallible;

    fn find(edges: &[(u8, u8)], from: u8, to: u8) -> Option<Vec<u8>> {
        let outgoing =
            |n| Ok::<_, Infallible>(edges.iter().filter(|e| e.0 == n).map(|e| e.1).collect());
        cycle(from, to, outgoing).unwrap()
    }

    #[test]
    fn the_cycle_is_named_in_order() {
        assert_eq!(find(&[(2, 3), (3, 1)], 1, 2), Some(vec![1, 2, 3, 1]));
        assert_eq!(find(&[(2, 3)], 1, 2), None);
        assert_eq!(find(&[], 1, 1), Some(vec![1, 1]));
    }

    proptest! {
        /// Adding only what is not refused never makes a graph in which a node reaches itself.
        #[test]
        fn what_is_accepted_stays_acyclic(wanted in prop::collection::vec((0..12_u8, 0..12_u8), 0..60)) {
            let mut edges = Vec::new();
            for (from, to) in wanted {
                match find(&edges, from, to) {
                    None => edges.push((from, to)),
                    Some(path) => {
                        prop_assert_eq!(path.first(), path.last());
                        for pair in path.windows(2).skip(1) {
                            prop_assert!(edges.contains(&(pair[0], pair[1])));
                        }
                    }
                }
            }
            for node in 0..12 {
                let mut seen = [false; 12];
                let mut open: Vec<u8> = edges.iter().filter(|e| e.0 == node).map(|e| e.1).collect();
                while let Some(at) = open.pop() {
                    prop_assert_ne!(at, node);
                    if !std::mem::replace(&mut seen[usize::from(at)], true) {
                        open.extend(edges.iter().filter(|e| e.0 == at).map(|e| e.1));
                    }
                }
            }
        }
    }
}
