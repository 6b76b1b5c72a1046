//! The machine: clock, randomness, files, processes, git. Nothing else touches the operating system.
//!
//! See ARCHITECTURE.md, “host”.

pub mod clock;
pub mod files;
pub mod git;
pub mod process;
pub mod random;
