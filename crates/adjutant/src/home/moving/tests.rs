//! State that lies in the wrong place, moved and interrupted at every step.

use super::*;
use crate::environment::Environment;

fn at(cwd: &Path) -> Environment {
    Environment::from_vars(cwd, [("XDG_STATE_HOME", cwd.join("xdg"))])
}

/// A project with a repository, whose state is where an older Adjutant kept it, or in `state/`.
fn project(inside: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    fs::create_dir_all(root.join(".git")).unwrap();
    fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let old = root.join(".adjutant").join(inside);
    fs::create_dir_all(old.join("runs/sp_1/1")).unwrap();
    fs::write(root.join(".adjutant/config.yaml"), "").unwrap();
    for name in ["state.db", "state.db-wal", "server.log", "server.json", "runs/sp_1/1/exit.json"] {
        fs::write(old.join(name), name).unwrap();
    }
    (dir, root)
}

fn check(root: &Path, inside: &str) {
    let home = Home::find(None, &at(root)).unwrap();
    assert_eq!(home.wanted_state_dir(), None);
    assert!(home.state_dir().starts_with(root.join(".git/adjutant")), "{home:?}");
    for name in ["state.db", "state.db-wal", "server.log", "server.json", "runs/sp_1/1/exit.json"] {
        assert_eq!(fs::read_to_string(home.state_dir().join(name)).unwrap(), name);
        assert!(!root.join(".adjutant").join(inside).join(name).exists(), "`{name}`");
    }
    assert!(root.join(".adjutant/config.yaml").is_file());
    assert!(!root.join(".adjutant").join(inside).join("server.lock").exists());
    assert!(!home.state_dir().join(state::MOVING).exists());
}

#[test]
fn existing_state_is_used_where_it_lies_and_moved_by_a_start() {
    for inside in ["", "state"] {
        let (_dir, root) = project(inside);
        let home = Home::find(None, &at(&root)).unwrap();
        let old = root.join(".adjutant").join(inside);
        assert_eq!(home.state_dir(), old.components().as_path());
        let _lock = host::owner::lock(&home.lock()).unwrap().unwrap();
        let Moved::Done(moved, _held) = begin(&home, "state.db").unwrap() else { panic!() };
        assert_eq!(Some(moved.state_dir()), home.wanted_state_dir());
        check(&root, inside);
    }
}

#[test]
fn a_move_that_was_interrupted_anywhere_is_finished_by_the_next_start() {
    for inside in ["", "state"] {
        let old = |root: &Path| root.join(".adjutant").join(inside);
        let (_dir, root) = project(inside);
        let steps = entries(&old(&root), "state.db").unwrap();
        assert_eq!(steps.len(), 5);
        for done in 0..=steps.len() {
            let (_dir, root) = project(inside);
            let to = Home::find(None, &at(&root)).unwrap().wanted_state_dir().unwrap().to_owned();
            make_folder(&to).unwrap();
            fs::write(to.join(state::MOVING), inside).unwrap();
            for name in &steps[..done] {
                move_entry(&old(&root).join(name), &to.join(name)).unwrap();
            }
            let home = Home::find(None, &at(&root)).unwrap();
            assert_eq!(home.state_dir(), to, "after {done} steps");
            let _lock = host::owner::lock(&home.lock()).unwrap().unwrap();
            finish(&home, "state.db").unwrap();
            check(&root, inside);
        }
    }
}

#[test]
fn a_folder_on_another_file_system_is_copied_whole() {
    let dir = tempfile::tempdir().unwrap();
    let (from, to) = (dir.path().join("runs"), dir.path().join("new"));
    fs::create_dir_all(from.join("sp_1/1")).unwrap();
    fs::write(from.join("sp_1/1/exit.json"), "{}").unwrap();
    std::os::unix::fs::symlink("1", from.join("sp_1/last")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(from.join("sp_1/control")).unwrap();
    copy(&from, &to).unwrap();
    assert_eq!(fs::read_to_string(to.join("sp_1/last/exit.json")).unwrap(), "{}");
    assert!(!to.join("sp_1/control").exists());
}

#[test]
fn two_states_are_refused_with_both_paths() {
    let (_dir, root) = project("");
    let wanted = Home::find(None, &at(&root)).unwrap().wanted_state_dir().unwrap().to_owned();
    fs::create_dir_all(wanted.join("runs")).unwrap();
    let error = Home::find(None, &at(&root)).unwrap_err();
    let said = error.to_string();
    for path in [&wanted, &root.join(".adjutant")] {
        assert!(said.contains(&format!("`{}`", path.display())), "{said}");
    }
    // Named, one of them counts.
    let env = Environment { state: Some(root.join(".adjutant")), ..at(&root) };
    assert_eq!(Home::find(None, &env).unwrap().state_dir(), root.join(".adjutant"));
}

#[test]
fn nothing_is_moved_while_an_agent_runs_from_the_old_folder() {
    let (_dir, root) = project("");
    let home = Home::find(None, &at(&root)).unwrap();
    let run = home.runs().join("sp_2/1");
    fs::create_dir_all(&run).unwrap();
    fs::write(run.join("claim"), "4711").unwrap();
    let alive = files::lock(&run.join("lock")).unwrap().unwrap();
    assert!(matches!(begin(&home, "state.db").unwrap(), Moved::Later));
    assert_eq!(Home::find(None, &at(&root)).unwrap(), home, "it is used where it lies");
    drop(alive);
    assert!(matches!(begin(&home, "state.db").unwrap(), Moved::Done(..)));
}
