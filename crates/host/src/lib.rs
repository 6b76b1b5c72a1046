//! The machine: clock, randomness, files, processes, git. Nothing else touches the operating system.
//!
//! See ARCHITECTURE.md, “host”.

pub mod agent;
pub mod atomic_file;
pub mod boot_clock;
pub mod clock;
pub mod files;
pub mod git;
pub mod github;
pub mod hooks;
pub mod inside;
pub mod owner;
pub mod ports;
pub mod post;
pub mod process;
pub mod program;
pub mod provision;
pub mod random;
pub mod run;
pub mod slack;
pub mod supervise;
pub mod tls;
