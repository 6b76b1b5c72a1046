//! Real command lines: Claude Code, Codex and an ACP adapter as `tools/setup-clis` installs them, run by the
//! real binary against a scripted model. Only `make test-clis` runs this.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod crew;
mod crowd;
mod denied;
mod looping;
mod mail;
mod mcp_install;
mod newcomer;
mod project_servers;
mod refused;
mod restart;
mod resume;
mod review;
