//! One key changes, and nothing else does.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use super::*;
use crate::init::CONFIG;

fn path(key: &str) -> Vec<String> {
    key.split('.').map(str::to_owned).collect()
}

/// Sets a key as it would be typed; what is refused is told with its line.
fn with(text: &str, key: &str, typed: &str) -> String {
    let first = readings(typed, None).into_iter().next().unwrap();
    set(text, &path(key), &first).unwrap_or_else(|refusal| format!("{}: {refusal}", refusal.line))
}

fn without(text: &str, key: &str) -> String {
    unset(text, &path(key)).unwrap_or_else(|refusal| format!("{}: {refusal}", refusal.line))
}

#[test]
fn a_value_is_replaced_in_its_place() {
    let cases = [
        ("a: 1 # x\nb: 2\n", "a", "3", "a: 3 # x\nb: 2\n"),
        ("# c\n\na:   'x'\r\n", "a", "y", "# c\n\na:   y\r\n"),
        ("a:\n  b:\n    c: 1\nd: 2\n", "a.b.c", "9", "a:\n  b:\n    c: 9\nd: 2\n"),
        ("a: {x: 1, b: [1,\n 2]}\n", "a.b", "5", "a: {x: 1, b: 5}\n"),
        ("{a: 1, b: 2}", "b", "x, y", "{a: 1, b: \"x, y\"}"),
        ("a: # k\nb: 1\n", "a", "2", "a: 2 # k\nb: 1\n"),
        ("a: {b}\n", "a.b", "1", "a: {b: 1}\n"),
        ("a: |\n  x\n  y\n\nb: 1\n", "a", "z", "a: z\n\nb: 1\n"),
        ("a: &x 1\nb: *x\n", "b", "2", "a: &x 1\nb: 2\n"),
        ("? a\n: 1\n", "a", "2", "? a\n: 2\n"),
        ("\u{feff}a: 1\n", "a", "2", "\u{feff}a: 2\n"),
    ];
    for (text, key, typed, wanted) in cases {
        assert_eq!(with(text, key, typed), wanted, "{text:?} {key} {typed}");
    }
}

#[test]
fn a_list_keeps_its_lines() {
    let text = "a: # k\n  - 1\n  - 2 # last\nb: 1\n";
    assert_eq!(with(text, "a", "[x, 'y z']"), "a: # k\n  - x\n  - 'y z' # last\nb: 1\n");
    assert_eq!(with(text, "a", "[]"), "a: [] # k\nb: 1\n");
    assert_eq!(with("a:\n- 1\nb: 1\n", "a", "[4.50]"), "a:\n- 4.50\nb: 1\n");
    assert_eq!(with("a: [1]\n", "a", "[2, 3]"), "a: [2, 3]\n");
    assert_eq!(with("a:\n  b: 1\n  c: 2\nd: 1\n", "a", "{}"), "a: {}\nd: 1\n");
}

#[test]
fn a_key_that_is_not_there_gets_a_sensible_place() {
    let cases = [
        ("", "a.b", "a:\n  b: 3\n"),
        ("# c\n", "a.b.c", "# c\n\na:\n  b:\n    c: 3\n"),
        ("a: 1", "b", "a: 1\n\nb: 3\n"),
        ("---\n", "b", "---\n\nb: 3\n"),
        ("a:\n   x: 1 # one\n\nd: 1\n", "a.b", "a:\n   x: 1 # one\n   b: 3\n\nd: 1\n"),
        ("a:\nd: 1\n", "a.b", "a:\n  b: 3\nd: 1\n"),
        ("a: null # none\n", "a.b", "a: {b: 3} # none\n"),
        ("a: {}\n", "a.b.c", "a: {b: {c: 3}}\n"),
        ("a: {x: 1,}\n", "a.b", "a: {x: 1, b: 3,}\n"),
        ("a: 1\r\nb:\r\n  c: 2\r\n", "b.d", "a: 1\r\nb:\r\n  c: 2\r\n  d: 3\r\n"),
        ("a: 1\n...\n", "b", "a: 1\nb: 3\n...\n"),
    ];
    for (text, key, wanted) in cases {
        assert_eq!(with(text, key, "3"), wanted, "{text:?} {key}");
    }
}

#[test]
fn a_key_that_is_commented_out_is_written_below() {
    let cases = [
        ("a: 1\n# b: 4\nc: 2\n", "b", "a: 1\n# b: 4\nb: 3\nc: 2\n"),
        ("a: # c\n  # b: 4\n\n# d\nd: 1\n", "a.b", "a: # c\n  # b: 4\n  b: 3\n\n# d\nd: 1\n"),
        ("a:\n  x: 1\n  #b: 4\n\nd: 1\n", "a.b", "a:\n  x: 1\n  #b: 4\n  b: 3\n\nd: 1\n"),
        // Where that would end a section it is not done.
        ("a:\n# b: 4\n  c: 1\n", "b", "a:\n# b: 4\n  c: 1\n\nb: 3\n"),
        // A line of a text is no comment.
        ("a: |\n  # b: 4\nc: 1\n", "b", "a: |\n  # b: 4\nc: 1\n\nb: 3\n"),
    ];
    for (text, key, wanted) in cases {
        assert_eq!(with(text, key, "3"), wanted, "{text:?} {key}");
    }
}

#[test]
fn what_cannot_be_edited_safely_is_refused_with_its_line() {
    let cases = [
        (
            "a:\n  - 1\n  # k\n  - 2\n",
            "a",
            "3: the value has a comment in it; write `a: 3` by hand",
        ),
        ("a: &x 1\nb: *x\n", "a", "1: this cannot be edited safely; write `a: 3` by hand"),
        ("x: 1\na: !!str 3\n", "a", "2: this cannot be edited safely; write `a: 3` by hand"),
        ("x: &x {c: 1}\na: *x\n", "a.b", "2: this is a reference; write `b: 3` under `a` by hand"),
        ("x: 1\na: [1]\n", "a.b.c", "2: this is no section; write `c: 3` under `a.b` by hand"),
        ("a: 1\nb: [\n", "a", "2: cannot be read; mend it by hand first"),
    ];
    for (text, key, wanted) in cases {
        assert_eq!(with(text, key, "3"), wanted, "{text:?} {key}");
    }
    assert_eq!(
        without("a:\n  b:\n  - 1\n  # k\n  - 2\n", "a.b"),
        "4: the value has a comment in it; take `b` under `a` away by hand"
    );
}

#[test]
fn a_key_is_taken_away_with_its_line() {
    let cases = [
        ("# about a\na: 1 # x\nb: 2\n", "a", "# about a\nb: 2\n"),
        ("a:\n  b: 1\n# c\n", "a.b", "a:\n# c\n"),
        ("a: # k\n  - 1\n  - 2\nb: 1\n", "a", "b: 1\n"),
        ("a: {b: 1, c: 2, d: 3}\n", "a.b", "a: {c: 2, d: 3}\n"),
        ("a: {b: 1, c: 2, d: 3}\n", "a.c", "a: {b: 1, d: 3}\n"),
        ("a: {b: 1, c: 2, d: 3}\n", "a.d", "a: {b: 1, c: 2}\n"),
        ("a: {b: 1,}\n", "a.b", "a: {}\n"),
        ("a: 1", "a", ""),
        ("a: 1\n", "b.c", "a: 1\n"),
    ];
    for (text, key, wanted) in cases {
        assert_eq!(without(text, key), wanted, "{text:?} {key}");
    }
}

#[test]
fn what_is_typed_is_read_as_it_is_meant() {
    let read = |typed: &str, old: Value| -> Vec<(Value, String)> {
        let all = readings(typed, Some(&old)).into_iter();
        all.map(|written| (written.value, written.text)).collect()
    };
    let first = |typed: &str, old: Value| read(typed, old).swap_remove(0);
    let is = |value: Value, text: &str| (value, text.to_owned());
    assert_eq!(
        first("4.50", json!("x")),
        is(json!("4.50"), "\"4.50\""),
        "a text keeps its spelling"
    );
    assert_eq!(first("0x10", json!(1)), is(json!(16), "0x10"), "so does a number");
    assert_eq!(first("off", json!("info")), is(json!("off"), "\"off\""));
    assert_eq!(first("make test # all", json!("x")).0, json!("make test # all"));
    assert_eq!(first("a: b", json!("x")).0, json!("a: b"));
    assert_eq!(first("'4'", json!(1)), is(json!("4"), "'4'"));
    assert_eq!(first("https://x.y/z", json!(null)).1, "https://x.y/z");
    assert_eq!(first("", json!("x")), is(json!(""), "\"\""));
    assert_eq!(read("null", json!("x")), [is(json!(null), "null")]);
    assert_eq!(read("[a, {b: 1}]", json!([])), [is(json!(["a", {"b": 1}]), "[a, {b: 1}]")]);
    assert_eq!(read("a, b", json!([])).pop().unwrap(), is(json!(["a", "b"]), "[a, b]"));
    assert_eq!(read("- a\n- b", json!([])), [is(json!(["a", "b"]), "[a, b]")]);
    assert_eq!(read("[a", json!([])).swap_remove(0).0, json!("[a"), "which fits no list");
}

/// Every key of a text that holds a value.
fn leaves(text: &str) -> Vec<(Vec<String>, Value)> {
    fn walk(path: &[String], value: Value, into: &mut Vec<(Vec<String>, Value)>) {
        match value {
            Value::Object(fields) if !fields.is_empty() => {
                for (name, value) in fields {
                    walk(&[path, &[name]].concat(), value, into);
                }
            }
            leaf => into.push((path.to_owned(), leaf)),
        }
    }
    let mut all = Vec::new();
    walk(&[], plain(text).unwrap(), &mut all);
    all
}

fn comments(text: &str) -> Vec<&str> {
    let mut all: Vec<&str> =
        Tree::read(text).unwrap().comments.into_iter().map(|at| text.get(at).unwrap()).collect();
    all.sort_unstable();
    all
}

/// Something to set a key to.
fn some_value() -> impl Strategy<Value = Written> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,24}".prop_map(Value::from),
        "[a-z#: '\"\\[\\]{},\\n-]{0,12}".prop_map(Value::from),
    ];
    let list = proptest::collection::vec(leaf.clone(), 0..4).prop_map(Value::from);
    let map = proptest::collection::vec(("[a-z.]{1,6}", leaf.clone()), 1..3)
        .prop_map(|fields| Value::Object(fields.into_iter().collect()));
    prop_oneof![3 => leaf, 2 => list, 1 => map].prop_map(Written::of)
}

/// The file as it is shipped, and with other line ends.
fn shipped() -> impl Strategy<Value = String> {
    prop_oneof![Just(CONFIG.to_owned()), Just(CONFIG.replace('\n', "\r\n"))]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_other_line_and_value_of_the_shipped_file_stays(
        text in shipped(),
        key in select(leaves(CONFIG)),
        new in some_value(),
    ) {
        let (path, old) = key;
        let after = set(&text, &path, &new).unwrap();
        // Every other key.
        let mut wanted = plain(&text).unwrap();
        put(&mut wanted, &path, new.value);
        prop_assert!(same(&plain(&after).unwrap(), &wanted));
        prop_assert_eq!(comments(&after), comments(&text));
        // Every other line: what differs is one run of lines, as long as the old value.
        let (was, is): (Vec<&str>, Vec<&str>) = (text.split('\n').collect(), after.split('\n').collect());
        let head = was.iter().zip(&is).take_while(|(was, is)| was == is).count();
        let tail = was.iter().rev().zip(is.iter().rev()).take_while(|(was, is)| was == is).count();
        let gone = was.len().saturating_sub(head + tail);
        prop_assert!(gone <= 1 + old.as_array().map_or(0, Vec::len), "{gone} lines differ");
        // And back.
        let back = set(&after, &path, &Written::of(old)).unwrap();
        prop_assert_eq!(plain(&back).unwrap(), plain(&text).unwrap());
    }

    #[test]
    fn whatever_stands_there_is_edited_soundly_or_not_at_all(
        lines in proptest::collection::vec(
            "(a|b|  a|  b|    c|- |  - |# a|  # b|\\? a)(: ?(1|'x'|\\{\\}|\\{b: 1\\}|\\[1, 2\\]|&x 1|\\*x|\\||!!str 1|null|# c|x # c)?)?",
            0..8,
        ),
        key in select(vec!["a", "b", "a.b", "a.b.c", "b.a"]),
        new in some_value(),
    ) {
        let (text, path) = (lines.join("\n"), path(key));
        let Ok(before) = plain(&text) else { return Ok(()) };
        if let Ok(after) = set(&text, &path, &new) {
            let mut wanted = before.clone();
            put(&mut wanted, &path, new.value.clone());
            prop_assert!(same(&plain(&after).unwrap(), &wanted));
            prop_assert_eq!(comments(&after), comments(&text));
        }
        if let Ok(after) = unset(&text, &path) {
            let mut wanted = before;
            take(&mut wanted, &path);
            prop_assert!(same(&plain(&after).unwrap(), &wanted));
        }
    }
}

proptest! {
    // Each case is many edits.
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn what_was_taken_away_can_be_set_again(
        text in shipped(),
        gone in proptest::collection::vec(select(leaves(CONFIG)), 1..8),
    ) {
        let mut less = text.clone();
        for (path, _) in &gone {
            less = unset(&less, path).unwrap();
            prop_assert!(leaves(&less).iter().all(|(left, _)| left != path));
        }
        for (path, value) in &gone {
            less = set(&less, path, &Written::of(value.clone())).unwrap();
        }
        prop_assert_eq!(plain(&less).unwrap(), plain(&text).unwrap());
        let whole = |text: &str| text.lines().map(str::trim).filter(|line| line.starts_with('#')).count();
        prop_assert_eq!(whole(&less), whole(&text), "no comment is gone");
    }
}
