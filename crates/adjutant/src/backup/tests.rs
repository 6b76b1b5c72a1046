//! Backups are whole or refused.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;
use store::Store;
use tempfile::TempDir;

use super::*;

/// Opens a record, and closes it whole: its last connection takes its log away.
fn use_store(path: &Path, act: impl FnOnce(&Store)) {
    let store = Store::open(path).unwrap();
    act(&store);
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(store.close());
}

/// A home with a record and one of everything, and a backup of it.
struct Stage {
    dir: TempDir,
    home: Home,
    env: Environment,
}

impl Stage {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::unplaced(dir.path().to_owned(), dir.path().join(".adjutant"));
        for (name, text) in [
            ("config.yaml", "mirror: false\n"),
            ("roles/deep/coder.md", "a role"),
            ("templates/ask.md", "a template"),
            ("archive/audit-1-2.jsonl", "{}\n"),
            ("runs/sp_1/1/claim", "supervisor\n"),
            ("runs/sp_1/1/exit.json", "{}"),
            ("runs/sp_1/1/output.jsonl", "said"),
            ("runs/sp_1/1/output.1.jsonl", "more"),
            ("runs/sp_1/1/spec.json", "secret"),
            ("runs/address", "http://127.0.0.1:1\n"),
            ("server.json", "{}"),
            ("tasks/one/task.json", "{}"),
        ] {
            let is_state =
                ["archive/", "runs/", "server."].iter().any(|kept| name.starts_with(kept));
            let path = if is_state { home.database(name) } else { home.dir.join(name) };
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        use_store(&home.database("state.db"), |_| {});
        Self { env: Environment::from_vars(dir.path(), [("X", "y")]), dir, home }
    }

    fn places(&self) -> Places {
        Places::of(&self.home, &Config::load(&self.home, &self.env, &[]).unwrap().config)
    }

    fn backup(&self) -> PathBuf {
        self.backup_as(|backup| backup)
    }

    fn backup_as(&self, change: impl FnOnce(Backup<'_>) -> Backup<'_>) -> PathBuf {
        let snapshot = self.dir.path().join("snapshot.db");
        let record = self.home.database("state.db");
        use_store(&record, |store| store.snapshot(&snapshot).unwrap());
        let file = self.dir.path().join("backup.tar");
        let places = self.places();
        let (places, snapshot_file) = (&places, &snapshot);
        let plain = Backup { places, snapshot: snapshot_file, with_output: false, env: &self.env };
        change(plain).write(&file).unwrap();
        fs::remove_file(snapshot).unwrap();
        file
    }

    fn unpacked(&self, file: &Path) -> Result<PathBuf, CliError> {
        let into = self.dir.path().join("into");
        if into.exists() {
            fs::remove_dir_all(&into).unwrap();
        }
        fs::create_dir(&into).unwrap();
        unpack(file, &into).map(|_| into)
    }
}

fn names_below(dir: &Path) -> Vec<String> {
    let mut names = Vec::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                names.push(path.strip_prefix(dir).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    names.sort();
    names
}

#[test]
fn a_backup_holds_what_makes_up_a_home_and_no_secret() {
    let stage = Stage::new();
    let file = stage.backup();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let mut expected = vec![
        "archive/audit-1-2.jsonl",
        "config.yaml",
        "roles/deep/coder.md",
        "runs/sp_1/1/claim",
        "runs/sp_1/1/exit.json",
        "state.db",
        "templates/ask.md",
    ];
    assert_eq!(names_below(&stage.unpacked(&file).unwrap()), expected);
    let file = stage.backup_as(|backup| Backup { with_output: true, ..backup });
    expected.extend(["runs/sp_1/1/output.1.jsonl", "runs/sp_1/1/output.jsonl"]);
    expected.sort_unstable();
    assert_eq!(names_below(&stage.unpacked(&file).unwrap()), expected);
}

#[test]
fn a_backup_with_one_wrong_byte_or_without_its_end_is_refused() {
    let stage = Stage::new();
    let good = fs::read(stage.backup()).unwrap();
    let file = stage.dir.path().join("bad.tar");
    // Only what is not text of ours may change unseen: padding, and the time in a header has a sum.
    let mut refused = 0;
    for at in (0..good.len()).step_by(977) {
        let mut bad = good.clone();
        bad[at] ^= 1;
        fs::write(&file, &bad).unwrap();
        match stage.unpacked(&file) {
            Err(_) => refused += 1,
            Ok(into) => {
                assert_eq!(fs::read(into.join("config.yaml")).unwrap(), b"mirror: false\n");
                let record = into.join("state.db");
                assert!(store::check_database(&record).is_ok(), "byte {at}");
            }
        }
    }
    assert!(refused > 10, "{refused}");
    for length in [0, 1, 511, 512, 2000, good.len() / 2, good.len() - 1500] {
        fs::write(&file, &good[..length]).unwrap();
        assert!(stage.unpacked(&file).is_err(), "{length} bytes");
    }
    assert!(stage.unpacked(Path::new("/etc/hostname")).is_err());
}

#[test]
fn a_backup_with_a_path_that_leads_elsewhere_is_refused() {
    for name in [
        "../evil",
        "/etc/evil",
        "roles/../../evil",
        "roles",
        "runs/",
        "server.lock",
        "operator.token",
        "roles/a\nb",
        "roles//x",
    ] {
        assert!(!is_ours(name), "{name}");
    }
    for name in ["state.db", "config.yaml", "roles/a/b.md", "runs/sp_1/1/claim"] {
        assert!(is_ours(name), "{name}");
    }
    let stage = Stage::new();
    let good = stage.backup();
    // The same entries, and one more that no sum names.
    let mut tar = tar::Builder::new(Vec::new());
    let mut source = tar::Archive::new(fs::File::open(&good).unwrap());
    for entry in source.entries().unwrap() {
        let entry = entry.unwrap();
        let (mut header, path) = (entry.header().clone(), entry.path().unwrap().into_owned());
        tar.append_data(&mut header, path, entry).unwrap();
    }
    let mut header = tar::Header::new_gnu();
    header.set_size(0);
    tar.append_data(&mut header, "roles/extra.md", &b""[..]).unwrap();
    let file = stage.dir.path().join("extra.tar");
    fs::write(&file, tar.into_inner().unwrap()).unwrap();
    let cli_error = stage.unpacked(&file).unwrap_err();
    assert!(
        cli_error.message().contains("`roles/extra.md` does not belong"),
        "{}",
        cli_error.message()
    );
}

#[test]
fn a_restore_that_was_killed_anywhere_is_finished_by_the_next_start() {
    let stage = Stage::new();
    let file = stage.backup();
    fs::write(stage.home.config(), "mirror: true\n").unwrap();
    fs::write(stage.home.dir.join("roles/new.md"), "came later").unwrap();
    fs::write(stage.home.database("state.db-wal"), "a log of the old record").unwrap();
    let staging = staging_dir(&stage.home);
    fs::create_dir(&staging).unwrap();
    unpack(&file, &staging).unwrap();
    assert!(!finish_restore(&stage.home, &stage.env).unwrap(), "it is not decided on yet");
    let places = staged_places(&stage.home, &stage.env, &staging).unwrap();
    let swap = Swap::new(&places, &staging, &stage.env);
    let aside = swap.decide(Timestamp::from_millis(0)).unwrap();
    // As if it had been killed after some of the moves.
    fs::create_dir_all(&aside).unwrap();
    fs::rename(stage.home.config(), aside.join("config.yaml")).unwrap();
    assert!(finish_restore(&stage.home, &stage.env).unwrap());
    assert!(!finish_restore(&stage.home, &stage.env).unwrap());
    assert!(!staging.exists());
    assert_eq!(fs::read_to_string(stage.home.config()).unwrap(), "mirror: false\n");
    assert!(!stage.home.dir.join("roles/new.md").exists());
    assert!(
        !stage.home.database("state.db-wal").exists() && !stage.home.dir.join("tasks").exists()
    );
    assert!(aside.join("roles/new.md").exists() && aside.join("state.db-wal").exists());
    assert!(Store::open(&stage.home.database("state.db")).is_ok());
}

/// The golden file is a manifest as the first version wrote it. It must be read for ever; what is added gets a default,
/// and is added to the file.
#[test]
fn the_manifest_of_an_earlier_version_is_read_whole() {
    let golden = include_str!("../../tests/golden/backup_manifest.json");
    let manifest: Manifest = serde_json::from_str(golden).unwrap();
    assert_eq!((manifest.format, manifest.schema), (1, 40));
    let value: Value = serde_json::from_str(golden).unwrap();
    assert_eq!(serde_json::to_value(&manifest).unwrap(), value);
}

#[test]
fn the_sums_in_a_backup_are_those_that_others_compute() {
    let stage = Stage::new();
    let mut tar = tar::Archive::new(fs::File::open(stage.backup()).unwrap());
    let mut texts = tar.entries().unwrap().map(|entry| {
        let mut text = Vec::new();
        std::io::Read::read_to_end(&mut entry.unwrap(), &mut text).unwrap();
        text
    });
    let manifest: Value = serde_json::from_slice(&texts.next().unwrap()).unwrap();
    assert_eq!(manifest["format"], 1);
    let sums = String::from_utf8(texts.next().unwrap()).unwrap();
    let config = format!("{}  config.yaml", sha256(b"mirror: false\n"));
    assert!(sums.lines().any(|line| line == config), "{sums}");
}
