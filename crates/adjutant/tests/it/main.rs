//! The real binary, in worlds of its own: what people and scripts rely on.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod ancestry;
mod book;
mod budgets;
mod check_environment;
mod clients;
mod cluster;
mod completions;
mod config;
mod crash;
mod crew;
mod damaged;
mod demo;
mod deploy;
mod errors;
mod events;
mod exit_codes;
mod faces;
mod files;
mod first_hour;
mod floods;
mod going_on;
mod governance;
mod handed_on;
mod help;
mod house;
mod json_shapes;
mod kill;
mod life;
mod looping;
mod lost;
mod main_flow;
mod mcp;
mod mcp_install;
mod merge_setups;
mod merging;
mod newcomer;
mod office;
mod open;
mod output;
mod packages;
mod planning;
mod play;
mod progress;
mod project_servers;
mod provider_keys;
mod pulls;
mod release;
mod remote;
mod review_desk;
mod review_faces;
mod reviews;
mod roles;
mod runs;
mod secrets;
mod server_view;
mod settings;
mod slack;
mod state;
mod tables;
mod templates;
mod top;
mod tour;
mod two_agents;
mod unattended;
mod virtual_envs;
mod waits;
mod webhooks;
mod workload;
mod worktree_files;
mod worktrees;

use testkit::World;

const BINARY: &str = env!("CARGO_BIN_EXE_adjutant");

/// A project with a home.
async fn world() -> World {
    World::new(BINARY).await.unwrap()
}

#[test]
fn every_file_of_this_folder_is_listed() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let listed = include_str!("main.rs");
    for entry in std::fs::read_dir(here).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(module) = name.strip_suffix(".rs").filter(|module| *module != "main") {
            assert!(listed.contains(&format!("mod {module};")), "`{name}` is not listed");
        }
    }
}
