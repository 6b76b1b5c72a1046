//! The base of every room: the handle, settings, errors and redaction.

pub(crate) mod durable;
pub(crate) mod error;
pub(crate) mod follow;
pub(crate) mod handed_on;
pub(crate) mod handle;
pub(crate) mod heads;
pub(crate) mod home_address;
pub(crate) mod home_admin;
pub(crate) mod home_files;
pub(crate) mod home_member;
pub(crate) mod last_good;
pub(crate) mod machine;
pub(crate) mod names;
pub(crate) mod options;
pub(crate) mod output;
pub(crate) mod point;
pub(crate) mod record;
pub(crate) mod record_file;
pub(crate) mod redact;
pub(crate) mod rights;
pub(crate) mod scope;
pub mod settings;
pub(crate) mod shared_home;
pub(crate) mod topics;
pub(crate) mod virtual_env;
pub(crate) mod visible;
