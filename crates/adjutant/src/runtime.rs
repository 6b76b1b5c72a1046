//! Asynchronous runtimes: a small one for commands, a larger one for the server.

use std::io;

use tokio::runtime::{Builder, Runtime};

/// Upper bound on worker threads: more do not make the server faster.
const MAX_THREADS: usize = 4;

/// A runtime for a command: it only waits for answers.
pub(crate) fn one_thread() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// A runtime for a server.
pub(crate) fn threads() -> io::Result<Runtime> {
    let many = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    Builder::new_multi_thread().worker_threads(many.clamp(2, MAX_THREADS)).enable_all().build()
}
