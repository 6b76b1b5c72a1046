//! Stories of the engine, told through its door.
#![expect(clippy::unwrap_used, reason = "tests")]

mod asking;
mod board;
mod budgets;
mod clean;
mod context;
mod crew;
mod damaged;
mod door;
mod epics;
mod files;
mod git;
mod heads;
mod keys;
mod letters;
mod mails;
mod merging;
mod mirror;
mod needs;
mod notes;
mod office;
mod overview;
mod passes;
mod paths;
mod registry;
mod roles;
mod secrets;
mod session;
mod starting;
mod support;
mod tasks;
mod watching;
mod webhooks;

#[test]
fn every_file_is_listed() {
    let listed = include_str!("main.rs");
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    for entry in folder.read_dir().unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(module) = name.strip_suffix(".rs").filter(|module| *module != "main") {
            assert!(listed.contains(&format!("\nmod {module};\n")), "`{name}` is not listed");
        }
    }
}
