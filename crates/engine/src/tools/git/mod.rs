//! `git`: what agents changed, and how it is put on top of what others did.

pub(super) mod commit;
pub(super) mod get_diff;
pub(super) mod rebase;
mod whose;
