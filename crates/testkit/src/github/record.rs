//! What the server keeps: repositories, pull requests, issues, labels.

use std::collections::{BTreeMap, BTreeSet};

use model::Timestamp;
use model::review::PullState;

/// A pull request as the server keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pull {
    /// Its repository, as `owner/name`
    pub repository: String,
    /// Its number
    pub number: u64,
    /// Its title
    pub title: String,
    /// What it says
    pub body: String,
    /// The branch with the work
    pub head: String,
    /// The branch it is meant for
    pub base: String,
    /// How it stands
    pub state: PullState,
    /// When it was opened
    pub created_at: Timestamp,
    /// When it came to stand as it does
    pub changed_at: Timestamp,
}

/// An issue as the server keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// Its repository, as `owner/name`
    pub repository: String,
    /// Its number
    pub number: u64,
    /// Its title
    pub title: String,
    /// What it says
    pub body: String,
    /// Its labels
    pub labels: Vec<String>,
    /// When it was opened
    pub created_at: Timestamp,
    /// When somebody last had a word about it
    pub changed_at: Timestamp,
}

/// How a branch stands to all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Branch {
    /// It has commits that no other has.
    Ahead,
    /// It has none of its own.
    Even,
}

/// To GitHub a pull request is an issue as well; they share their numbers.
#[derive(Debug, Clone)]
pub(super) enum IssueOrPull {
    Pull(Pull),
    Issue(Issue),
}

impl IssueOrPull {
    pub(super) fn repository(&self) -> &str {
        match self {
            Self::Pull(pull) => &pull.repository,
            Self::Issue(issue) => &issue.repository,
        }
    }

    pub(super) fn is_open(&self) -> bool {
        match self {
            Self::Pull(pull) => pull.state == PullState::Open,
            Self::Issue(_) => true,
        }
    }

    pub(super) const fn changed_at(&self) -> Timestamp {
        match self {
            Self::Pull(pull) => pull.changed_at,
            Self::Issue(issue) => issue.changed_at,
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Repository {
    pub(super) full_name: String,
    pub(super) default_branch: String,
    branches: BTreeMap<String, Branch>,
    labels: BTreeSet<String>,
}

impl Repository {
    /// How a branch stands, if it exists. Where no branch was named, any may.
    pub(super) fn branch(&self, name: &str) -> Option<Branch> {
        if self.branches.is_empty() {
            Some(Branch::Ahead)
        } else {
            self.branches.get(name).copied()
        }
    }
}

/// Everything there is.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// By `owner/name` in small letters: GitHub makes no difference
    repositories: BTreeMap<String, Repository>,
    /// Oldest first
    things: Vec<IssueOrPull>,
}

fn key(owner: &str, name: &str) -> String {
    format!("{owner}/{name}").to_lowercase()
}

impl Record {
    pub(super) fn add_repository(&mut self, owner: &str, name: &str, default_branch: &str) {
        let repository = Repository {
            full_name: format!("{owner}/{name}"),
            default_branch: default_branch.to_owned(),
            branches: BTreeMap::new(),
            labels: BTreeSet::from(["bug".to_owned()]),
        };
        self.repositories.insert(key(owner, name), repository);
    }

    pub(super) fn set_branch(&mut self, owner: &str, name: &str, branch: &str, stands: Branch) {
        let repository = self.repositories.get_mut(&key(owner, name));
        assert!(repository.is_some(), "there is no repository `{owner}/{name}`");
        if let Some(repository) = repository {
            repository.branches.insert(branch.to_owned(), stands);
        }
    }

    pub(super) fn repository(&self, owner: &str, name: &str) -> Option<&Repository> {
        self.repositories.get(&key(owner, name))
    }

    pub(super) fn labels(&self, owner: &str, name: &str) -> Vec<String> {
        self.repository(owner, name)
            .into_iter()
            .flat_map(|one| one.labels.iter().cloned())
            .collect()
    }

    pub(super) fn things(&self) -> &[IssueOrPull] {
        &self.things
    }

    pub(super) fn pulls(&self) -> impl Iterator<Item = &Pull> {
        self.things.iter().filter_map(|thing| match thing {
            IssueOrPull::Pull(pull) => Some(pull),
            IssueOrPull::Issue(_) => None,
        })
    }

    pub(super) fn issues(&self) -> impl Iterator<Item = &Issue> {
        self.things.iter().filter_map(|thing| match thing {
            IssueOrPull::Issue(issue) => Some(issue),
            IssueOrPull::Pull(_) => None,
        })
    }

    /// The number of what comes next; no two things have the same, whatever their repository.
    pub(super) fn next_number(&self) -> u64 {
        self.things.len() as u64 + 1
    }

    pub(super) fn add_pull(&mut self, pull: Pull) {
        self.things.push(IssueOrPull::Pull(pull));
    }

    /// Adds an issue; labels that its repository does not have are made.
    pub(super) fn add_issue(&mut self, issue: Issue) {
        if let Some(repository) = self.repositories.get_mut(&issue.repository.to_lowercase()) {
            repository.labels.extend(issue.labels.iter().cloned());
        }
        self.things.push(IssueOrPull::Issue(issue));
    }

    /// Somebody has a word about every issue there is.
    pub(super) fn touch_issues(&mut self, now: Timestamp) {
        for thing in &mut self.things {
            if let IssueOrPull::Issue(issue) = thing {
                issue.changed_at = now;
            }
        }
    }

    pub(super) fn set_pull_state(&mut self, number: u64, state: PullState, now: Timestamp) {
        let found = self.things.iter_mut().find_map(|thing| match thing {
            IssueOrPull::Pull(pull) if pull.number == number => Some(pull),
            _ => None,
        });
        assert!(found.is_some(), "there is no pull request {number}");
        if let Some(pull) = found {
            (pull.state, pull.changed_at) = (state, now);
        }
    }
}
