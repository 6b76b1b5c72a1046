//! Files of a run folder: each golden file is one as an earlier version wrote it, with every field. It must be read
//! for ever. A field may be added to a file, with a default; then it is added to its golden file as well.

use host::run::{ExitRecord, Spec, SupervisorRecord};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Decodes a golden file, and checks that every field of it was understood.
fn read<T: DeserializeOwned + Serialize>(golden: &str) -> T {
    let value: Value = serde_json::from_str(golden).unwrap();
    let decoded: T = serde_json::from_value(value.clone()).unwrap();
    assert_eq!(serde_json::to_value(&decoded).unwrap(), value);
    decoded
}

#[test]
fn every_file_of_a_run_folder_is_read_as_it_was_written() {
    let spec: Spec = read(include_str!("../golden/spec.json"));
    assert!(spec.environment.iter().all(|(_, value)| value.is_empty()), "names without values");
    let exit: ExitRecord = read(include_str!("../golden/exit.json"));
    assert_eq!((exit.last.segment, exit.last.offset), (1, 512));
    let supervisor: SupervisorRecord = read(include_str!("../golden/supervisor.json"));
    assert_eq!((supervisor.pid, supervisor.agent_pid), (4711, 4712));
}

#[test]
fn files_of_the_first_version_lack_later_fields_and_are_read() {
    let exit: ExitRecord = serde_json::from_str(
        r#"{"ended":"exited","code":0,"signal":null,"startedAt":1,"endedAt":2,"leftBehind":0,"lines":1,"bytes":2,
            "droppedLines":0,"droppedBytes":0,"last":{"segment":0,"offset":2}}"#,
    )
    .unwrap();
    assert_eq!((exit.why, exit.unwritten_bytes), (None, 0));
    let supervisor: SupervisorRecord = serde_json::from_str(
        r#"{"pid":1,"agentPid":2,"startedAt":3,"startTime":null,"bootId":null}"#,
    )
    .unwrap();
    assert_eq!((supervisor.cgroup, supervisor.socket), (None, None));
}
