//! Where the log goes, and how much of it: stderr, which in the background is `server.log`.

use std::io::IsTerminal as _;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// A command says only what went wrong, unless it is asked for more.
pub(crate) fn for_command(verbose: u8) {
    begin(match verbose {
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    });
}

/// A server says what its configuration wants to hear; `-v` may want more.
pub(crate) fn for_server(level: &str, verbose: u8) {
    let level = level.parse().unwrap_or(LevelFilter::INFO);
    begin(match verbose {
        0 => level,
        1 => level.max(LevelFilter::DEBUG),
        _ => LevelFilter::TRACE,
    });
}

fn begin(level: LevelFilter) {
    // Libraries tell their own stories, and headers with them: ours is enough.
    let others = level.min(LevelFilter::WARN);
    let ours = ["adjutant", "engine", "server", "store", "host"].map(|name| (name, level));
    let targets = Targets::new()
        .with_default(others)
        .with_targets(ours)
        // That a client left before its answer came is no error of anybody's.
        .with_target("rmcp::service", LevelFilter::OFF);
    let colour = std::io::stderr().is_terminal()
        && anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never;
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(colour);
    // A second beginning, as in a demo that serves, changes nothing.
    drop(tracing_subscriber::registry().with(layer).with(targets).try_init());
}
