//! The faces, called as programs call them; most without a socket.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod api;
mod board;
mod clean;
mod conformance;
mod connections;
mod costs;
mod crew;
mod events;
mod execute;
mod extremes;
mod fuzz;
mod gate;
mod gateway;
mod keys;
mod login;
mod mail;
mod prompts;
mod proof;
mod record;
mod reviews;
mod runs;
mod sessions;
mod sockets;
mod subscriptions;
mod templates;
mod tools;
mod waiting;
mod watching;
mod world;

#[test]
fn every_file_is_listed() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let main = include_str!("main.rs");
    for file in std::fs::read_dir(here).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let module = name.trim_end_matches(".rs");
        assert!(
            module == "main" || main.contains(&format!("mod {module};")),
            "{name} is forgotten"
        );
    }
}
