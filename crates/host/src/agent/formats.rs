//! State of conversations, as the record keeps it: each line of a kind's golden file is a state as an earlier version
//! wrote it. It must be read for ever. A field may be added, with a default; then a line with it is added.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{Brief, KINDS, Kind, Runner, replay};

fn golden(kind: &dyn Kind) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/talks");
    let text = fs::read_to_string(folder.join(format!("{}.jsonl", kind.name())));
    let text = text.unwrap_or_else(|error| panic!("the states of {}: {error}", kind.name()));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Every field of a value, with the fields that it is in.
fn fields(value: &Value, within: &str, found: &mut BTreeSet<String>) {
    let Value::Object(members) = value else { return };
    for (name, member) in members {
        let path = format!("{within}.{name}");
        fields(member, &path, found);
        found.insert(path);
    }
}

#[test]
fn every_state_of_a_conversation_is_read_as_it_was_written() {
    for kind in KINDS {
        for state in golden(*kind) {
            let talk = kind.restore(&state.to_string()).unwrap_or_else(|error| {
                panic!("{}: {state}: {:?}", kind.name(), error.0.to_string())
            });
            assert_eq!(serde_json::from_str::<Value>(&talk.snapshot()).unwrap(), state);
        }
    }
}

#[test]
fn every_field_of_a_conversation_is_in_a_golden_file() {
    for kind in KINDS {
        let mut known = BTreeSet::new();
        for state in golden(*kind) {
            fields(&state, "", &mut known);
        }
        for steer in [true, false] {
            let runner = Runner { steer, ..Runner::default() };
            let command = vec!["worker".to_owned()];
            let talk = kind.conversation(&Brief { runner, command, ..replay::brief() });
            let mut written = BTreeSet::new();
            fields(&serde_json::from_str(&talk.snapshot()).unwrap(), "", &mut written);
            let missing: Vec<_> = written.difference(&known).collect();
            assert!(missing.is_empty(), "{}: add a state with {missing:?}", kind.name());
        }
    }
}

#[test]
fn a_state_that_cannot_be_read_is_an_error() {
    for kind in KINDS {
        for damaged in ["", "{}", "[]", "{\"phase\":\"dreaming\"}"] {
            assert!(kind.restore(damaged).is_err(), "{}: `{damaged}`", kind.name());
        }
    }
}
