//! A run in a folder of its own, under a real supervisor.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use host::process::{self, is_alive};
use host::run::{
    Control, ExitRecord, Handover, Notice, OutputLine, Position, RunFolder, RunStatus, Spec,
    StartedSupervisor, Stdin, Stream,
};
use tempfile::TempDir;

/// Longer than anything here takes on a machine that is busy.
const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// The supervisor as a program. `cargo test` and `cargo nextest` build it with the tests, beside them.
pub(crate) fn program() -> PathBuf {
    example("supervise")
}

/// A program of the `examples` folder.
pub(crate) fn example(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let built = tests.parent().and_then(Path::parent).unwrap().join("examples").join(name);
    assert!(built.exists(), "`{}` is not there: cargo build --examples", built.display());
    built
}

/// A shell script as an agent.
pub(crate) fn sh(script: &str) -> Spec {
    Spec {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), script.into()],
        environment: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
        directory: "/".into(),
        stdin: Stdin::Closed,
        time_limit_ms: None,
        grace_ms: 10_000,
        max_output_bytes: 256 * 1024 * 1024,
        lease: None,
    }
}

/// A run, and the folder that goes with it.
pub(crate) struct Run {
    pub(crate) dir: TempDir,
    pub(crate) folder: RunFolder,
    pub(crate) begun: StartedSupervisor,
}

/// A folder that is not begun. The agent works beside it.
pub(crate) fn prepared(mut spec: Spec) -> (TempDir, RunFolder) {
    let dir = tempfile::tempdir().unwrap();
    dir.path().clone_into(&mut spec.directory);
    let folder = RunFolder::create(dir.path().join("run"), &spec).unwrap();
    (dir, folder)
}

/// Starts a supervisor for a folder that was [prepared], with the environment of [`sh`].
pub(crate) fn started(folder: &RunFolder) -> Result<StartedSupervisor, process::StartError> {
    folder.start(&program(), &Handover::new(&sh("").environment))
}

/// Starts an agent; it runs when this returns.
pub(crate) async fn start(spec: Spec) -> Run {
    let handover = Handover::new(&spec.environment);
    start_with(spec, &handover).await
}

/// Starts an agent with what is handed over to its supervisor.
pub(crate) async fn start_with(spec: Spec, handover: &Handover) -> Run {
    let (dir, folder) = prepared(spec);
    let mut begun = folder.start(&program(), handover).unwrap();
    begun.ready().await.unwrap();
    Run { dir, folder, begun }
}

impl Run {
    pub(crate) async fn connect(&self) -> Control {
        self.folder.connect().await.unwrap()
    }

    pub(crate) fn lines(&self) -> Vec<OutputLine> {
        read_all(&self.folder)
    }

    /// Waits until the agent has written this line.
    pub(crate) async fn until_it_says(&self, text: &str) {
        let mut reader = self.folder.output(Position::default());
        until(text, || reader.next(1 << 20).unwrap().iter().any(|line| line.text == text)).await;
    }

    /// Waits for the end, as a server does that has not been there before.
    pub(crate) async fn exit(&mut self) -> ExitRecord {
        let over = async {
            let mut control = self.folder.connect().await.ok();
            while let Some(control) = &mut control
                && control.next().await.is_some_and(|notice| notice != Notice::Exit {})
            {
            }
            self.begun.ended().await.unwrap();
        };
        tokio::time::timeout(TEST_TIMEOUT, over).await.unwrap();
        match self.folder.standing().unwrap() {
            RunStatus::Ended(exit) => exit,
            other => panic!("it did not end: {other:?}"),
        }
    }

    pub(crate) fn supervisor(&self) -> u32 {
        self.folder.supervisor().unwrap().unwrap().pid
    }

    pub(crate) fn agent(&self) -> u32 {
        self.folder.supervisor().unwrap().unwrap().agent_pid
    }

    /// How much disk its output takes.
    pub(crate) fn output_bytes(&self) -> u64 {
        let files = fs::read_dir(self.folder.path()).unwrap().map(Result::unwrap);
        files
            .filter(|file| file.file_name().to_string_lossy().starts_with("output"))
            .map(|file| file.metadata().unwrap().size())
            .sum()
    }
}

impl Drop for Run {
    /// A test that fails leaves nothing running.
    fn drop(&mut self) {
        if let Some(pid) = self.begun.pid() {
            process::terminate(pid).unwrap();
        }
    }
}

/// Where a run's supervisor listens.
pub(crate) fn socket(folder: &RunFolder) -> PathBuf {
    let record = fs::read_to_string(folder.path().join("supervisor.json")).unwrap();
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    record["socket"].as_str().unwrap().into()
}

/// Everything that is kept of a run.
pub(crate) fn read_all(folder: &RunFolder) -> Vec<OutputLine> {
    let mut reader = folder.output(Position::default());
    let mut lines = Vec::new();
    loop {
        let more = reader.next(1 << 20).unwrap();
        if more.is_empty() {
            return lines;
        }
        lines.extend(more);
    }
}

/// What went that way.
pub(crate) fn texts(lines: &[OutputLine], stream: Stream) -> Vec<&str> {
    lines.iter().filter(|line| line.stream == stream).map(|line| line.text.as_str()).collect()
}

/// Waits until something is so.
pub(crate) async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let wait = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    assert!(tokio::time::timeout(TEST_TIMEOUT, wait).await.is_ok(), "in vain: {what}");
}

/// The living processes that have this in their environment or their command line.
pub(crate) fn living(mark: &Path) -> Vec<u32> {
    let mark = mark.as_os_str().as_encoded_bytes();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let has_mark = |file| {
            let bytes = fs::read(entry.path().join(file)).unwrap_or_default();
            bytes.windows(mark.len()).any(|part| part == mark)
        };
        if (has_mark("environ") || has_mark("cmdline")) && is_alive(pid) {
            found.push(pid);
        }
    }
    found
}

/// The children of a process, and whether each has ended and waits to be reaped.
pub(crate) fn children(pid: u32) -> Vec<(u32, bool)> {
    let mut found = Vec::new();
    for thread in fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten() {
        let list = fs::read_to_string(thread.path().join("children")).unwrap();
        let pids = list.split_whitespace().map(|pid| pid.parse().unwrap());
        found.extend(pids.map(|pid| (pid, !is_alive(pid))));
    }
    found
}

/// How much memory a process has had at most, in KiB, or has now.
pub(crate) fn memory(pid: u32, field: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
    line.trim_start_matches(':').trim().trim_end_matches(" kB").parse().unwrap()
}
