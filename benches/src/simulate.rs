//! `bench --simulate`: how many homes, servers and PostgreSQL instances serve so many agents, and what happens to their
//! homes in a year of failures.
//!
//! It computes from measured figures (`measured.rs`) and from what is assumed of the crews and the machines
//! (`assumed.rs`), and from nothing else. Its chance comes from a seed, so that it prints the same again.

mod assumed;
mod chance;
mod fleet;
mod measured;
mod page;
mod takeovers;

/// Seed of the figures in `docs/explanation/scale.md`.
pub(crate) const SEED: u64 = 16;

/// Numbers of agents that are looked at.
const SCALES: [u32; 3] = [1_000, 100_000, 10_000_000];

/// The generated block of the page.
pub(crate) fn block(seed: u64) -> String {
    page::block(seed)
}
