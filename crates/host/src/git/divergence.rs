//! Commits between a branch and many heads, counted from one walk of git's: a process for each would be most of the time.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::branch::is_plain;
use super::command::text;
use super::{GitError, Repo, hash};

/// Heads that are asked about together; their hashes are arguments of one process.
const MAX_HEADS: usize = 1_000;

/// Commits that a head has and a target lacks, and the other way round.
type AheadBehind = (usize, usize);

/// Commits by their hash, with their parents.
type Graph = HashMap<String, Vec<String>>;

impl Repo {
    /// Counts for each head the commits that it has and `target` lacks, and the other way round. Where git cannot say it of
    /// all at once, it is asked one by one.
    pub fn ahead_behind_all(
        &self,
        target: &str,
        heads: &[&str],
    ) -> Vec<Result<(usize, usize), GitError>> {
        let mut counts = Vec::with_capacity(heads.len());
        for part in heads.chunks(MAX_HEADS) {
            let together = if part.len() > 1 { self.walk(target, part) } else { None };
            match together {
                Some(found) => counts.extend(found.into_iter().map(Ok)),
                None => counts.extend(part.iter().map(|head| self.ahead_behind(target, head))),
            }
        }
        counts
    }

    /// The counts of all heads; none where one of them is unknown or has no history in common with the target.
    fn walk(&self, target: &str, heads: &[&str]) -> Option<Vec<AheadBehind>> {
        if !is_plain(target) {
            return None;
        }
        let target = self.resolve(target).ok().flatten()?;
        let known: Option<BTreeSet<String>> = heads.iter().map(|head| hash(head)).collect();
        let known = known?;
        let base = self.git().ok()?.args(["merge-base", "--octopus", &target]).args(&known);
        let base = text(&base.ask_maybe().ok()??);
        let mut asked = format!("{target}\n");
        for head in &known {
            asked.push_str(head);
            asked.push('\n');
        }
        for base in base.lines() {
            asked.push('^');
            asked.push_str(base);
            asked.push('\n');
        }
        let listed = self.git().ok()?.args(["rev-list", "--parents", "--stdin"]).input(asked);
        let graph = graph_of(&text(&listed.ask().ok()?));
        let of_target = reachable(&graph, &target);
        let count = |head: &&str| {
            let of_head = reachable(&graph, head);
            let common = of_head.intersection(&of_target).count();
            (of_head.len() - common, of_target.len() - common)
        };
        Some(heads.iter().map(count).collect())
    }
}

/// Reads commits with their parents, one a line.
fn graph_of(listed: &str) -> Graph {
    let commit = |line: &str| {
        let mut hashes = line.split(' ').map(str::to_owned);
        Some((hashes.next()?, hashes.collect()))
    };
    listed.lines().filter_map(commit).collect()
}

/// The commits of a graph that one of them has, itself included.
fn reachable<'a>(graph: &'a Graph, from: &str) -> HashSet<&'a str> {
    let (mut found, mut open) = (HashSet::new(), vec![from]);
    while let Some(hash) = open.pop() {
        if let Some((commit, parents)) = graph.get_key_value(hash)
            && found.insert(commit.as_str())
        {
            open.extend(parents.iter().map(String::as_str));
        }
    }
    found
}

#[cfg(test)]
mod tests;
