//! Odd files, edited and put back.

use proptest::prelude::*;
use serde_json::json;

use super::super::record::Change;
use super::*;

fn entry() -> Entry {
    Entry(vec![
        ("type", "stdio".into()),
        ("command", "adjutant".into()),
        ("args", json!(["mcp", "--as", "a \"b\" \\ c"])),
        ("timeout", 600.into()),
    ])
}

const JSON: EntryPlace<'_> = EntryPlace { keys: &["mcpServers"], name: "adjutant" };
const TOML: EntryPlace<'_> = EntryPlace { keys: &["mcp_servers"], name: "adjutant" };

#[track_caller]
fn put(language: Language, before: &str, at: EntryPlace<'_>) -> String {
    language.put(before, at, &entry()).unwrap()
}

#[test]
fn an_entry_is_written_as_people_write_it() {
    let text = put(Language::Json, "", JSON);
    insta::assert_snapshot!(text, @r#"
    {
      "mcpServers": {
        "adjutant": {
          "type": "stdio",
          "command": "adjutant",
          "args": ["mcp", "--as", "a \"b\" \\ c"],
          "timeout": 600
        }
      }
    }
    "#);
    let text = put(Language::Toml, "model = \"x\" # mine\n", TOML);
    insta::assert_snapshot!(text, @r#"
    model = "x" # mine

    [mcp_servers.adjutant]
    type = "stdio"
    command = "adjutant"
    args = ["mcp", "--as", 'a "b" \ c']
    timeout = 600
    "#);
}

#[test]
fn comments_order_and_indentation_stay() {
    let before = "{\r\n\t// of all things\r\n\t\"z\": 1, /* last */\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {}, // other\r\n\t},\r\n}\r\n";
    let text = put(Language::JsonWithComments, before, JSON);
    for line in before.lines() {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(!text.replace("\r\n", "").contains('\n'), "line ends are the file's own: {text:?}");
    assert!(text.contains("\r\n\t\t\"adjutant\": {\r\n\t\t\t\"type\""), "{text}");
    assert_eq!(Language::JsonWithComments.take(&text, JSON).unwrap(), before);
}

#[test]
fn a_broken_file_is_refused_at_its_place() {
    let flaw = |language: Language, text: &str| language.put(text, JSON, &entry()).unwrap_err();
    assert_eq!(flaw(Language::Json, "{\n  \"a\": 1,\n  b\n}").byte, 14);
    assert_eq!(flaw(Language::JsonWithComments, "{\n  \"a\" 1}").byte, 8);
    assert!(flaw(Language::Json, "// c\n{}").why.contains("omments are not allowed"));
    assert!(flaw(Language::Json, "{\"a\": 1,}").why.contains("railing commas"));
    assert_eq!(flaw(Language::Json, "[]").why, "this file has no settings in it, but one value");
    let other = flaw(Language::Json, "{\"mcpServers\": []}");
    assert_eq!(other.why, "`mcpServers` is not a map of servers here");
    assert_eq!(Language::Toml.put("a = 1\nb = \n", TOML, &entry()).unwrap_err().byte, 10);
    assert_eq!(Language::Toml.read("\u{feff}a = 1\nb = \n").unwrap_err().byte, 13);
}

#[test]
fn toml_is_edited_however_its_servers_are_written() {
    for before in [
        "",
        "model = 'x'",
        "[mcp_servers.a]\ncommand = 'a'\n",
        "[mcp_servers]\n[mcp_servers.a]\ncommand = 'a'\n\n# of z\n[z]\nmulti = \"\"\"\n[mcp_servers.x]\n\"\"\"\n",
        "mcp_servers.a.command = 'a' # dotted\nmodel = 'x'\n[z]\n",
        "mcp_servers = { a = { command = 'a' } }\n[z]\n",
        "mcp_servers = {}\n",
        "\u{feff}a = 1\r\n[b]\r\nc = 2\r\n",
        "[[hooks]]\nx = 1\n[[hooks]]\nx = 2",
    ] {
        let text = put(Language::Toml, before, TOML);
        let says = Language::Toml.read(&text).unwrap();
        assert_eq!(says["mcp_servers"]["adjutant"], entry().value(), "{text}");
        assert!(before.lines().all(|line| line.contains('{') || text.contains(line)), "{text}");
        assert_eq!(Change::between(before, &text).undone(&text).unwrap(), before);
    }
}

#[test]
fn an_entry_is_taken_out_of_toml_that_was_changed_since() {
    let text = put(Language::Toml, "model = 'x'\n", TOML);
    let text = format!("{text}\n# of z\n[z]\na = 1\n");
    let left = Language::Toml.take(&text, TOML).unwrap();
    assert_eq!(left, "model = 'x'\n\n# of z\n[z]\na = 1\n");
    let dotted = "mcp_servers.a.command = 'a'\nmcp_servers.adjutant = { command = 'b' }\n";
    assert_eq!(Language::Toml.take(dotted, TOML).unwrap(), "mcp_servers.a.command = 'a'\n");
}

#[test]
fn an_entry_that_is_there_is_replaced_in_its_place() {
    let before = "{\n  \"mcpServers\": {\n    \"adjutant\": {\n      \"command\": \"old\"\n    },\n    \"z\": {}\n  }\n}\n";
    let text = put(Language::Json, before, JSON);
    assert!(text.find("adjutant").unwrap() < text.find("\"z\"").unwrap(), "{text}");
    let before = "[mcp_servers.adjutant]\ncommand = \"old\"\n\n[z]\na = 1\n";
    let text = put(Language::Toml, before, TOML);
    assert!(text.find("adjutant").unwrap() < text.find("[z]").unwrap(), "{text}");
    assert!(!text.contains("old"), "{text}");
}

fn gap() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just(" "),
        Just("\t"),
        Just("\n"),
        Just("\r\n"),
        Just("\n\n  "),
        Just("// c: {\"x\n"),
        Just("/* } , */"),
        Just("//\r\n"),
    ];
    prop::collection::vec(piece, 0..3).prop_map(|pieces| pieces.concat())
}

/// An object with odd spaces, comments and commas; `depth` says how many may be in it.
fn object(depth: u32) -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        Just("1".to_owned()),
        Just("\"ä \\\" , }\"".to_owned()),
        Just("[1, 2,]".to_owned()),
        Just("null".to_owned()),
        Just("{}".to_owned()),
    ];
    let value =
        if depth == 0 { leaf.boxed() } else { prop_oneof![leaf, object(depth - 1)].boxed() };
    let key = prop_oneof![Just("a"), Just("b"), Just("mcpServer"), Just("mcp servers"), Just("ö")];
    let pair = (gap(), key, gap(), value, gap());
    (prop::collection::vec(pair, 0..4), any::<bool>(), gap())
        .prop_map(|(pairs, trailing, end)| {
            let mut seen = std::collections::HashSet::new();
            let pairs: Vec<String> = pairs
                .into_iter()
                .filter(|(_, key, ..)| seen.insert(*key))
                .map(|(a, key, b, value, c)| format!("{a}\"{key}\"{b}:{value}{c}"))
                .collect();
            let comma = if trailing && !pairs.is_empty() { "," } else { "" };
            format!("{{{}{comma}{end}}}", pairs.join(","))
        })
        .boxed()
}

/// A whole file, with our map of servers in it or not.
fn file() -> impl Strategy<Value = String> {
    let mark = prop_oneof![Just(""), Just("\u{feff}")];
    let servers = prop_oneof![
        Just(String::new()),
        object(1).prop_map(|servers| format!("\"mcpServers\": {servers},")),
    ];
    (mark, gap(), servers, object(2), gap()).prop_map(|(mark, a, servers, object, b)| {
        let object = object.replacen('{', &format!("{{{servers}"), 1);
        format!("{mark}{a}{object}{b}")
    })
}

fn comments(text: &str) -> usize {
    // Two block comments side by side are not the beginning of a line comment.
    let text = text.replace("*/", " ");
    text.matches("//").count() + text.matches("/*").count()
}

proptest! {
    #[test]
    fn whatever_was_there_is_there_again_byte_for_byte(before in file()) {
        let language = Language::JsonWithComments;
        let text = language.put(&before, JSON, &entry()).unwrap();
        prop_assert_eq!(&language.read(&text).unwrap()["mcpServers"]["adjutant"], &entry().value());
        prop_assert_eq!(comments(&text), comments(&before));
        let undone = Change::between(&before, &text).undone(&text).unwrap();
        prop_assert_eq!(undone.as_str(), before.as_str());
        // Also without a memory of what was done nothing else is lost.
        let left = language.take(&text, JSON).unwrap();
        prop_assert_eq!(comments(&left), comments(&before));
        prop_assert_eq!(pruned(&language.read(&left).unwrap()), pruned(&language.read(&before).unwrap()));
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,40}", toml in any::<bool>()) {
        let (language, at) = if toml { (Language::Toml, TOML) } else { (Language::Json, JSON) };
        if let Ok(put) = language.put(&text, at, &entry()) {
            prop_assert_eq!(Change::between(&text, &put).undone(&put).unwrap(), text);
        }
    }

    #[test]
    fn toml_is_put_back_too(
        lines in prop::collection::vec(prop_oneof![
            Just("# c"), Just(""), Just("  "), Just("[a]"), Just("[mcp_servers.x]"), Just("[[h]]"), Just("[a.'b c']"),
        ], 0..6),
        end in prop_oneof![Just("\n"), Just("\r\n")],
        last in any::<bool>(),
    ) {
        let mut before = lines.join(end);
        if last { before.push_str(end); }
        prop_assume!(Language::Toml.read(&before).is_ok());
        let text = Language::Toml.put(&before, TOML, &entry()).unwrap();
        let undone = Change::between(&before, &text).undone(&text).unwrap();
        prop_assert_eq!(undone.as_str(), before.as_str());
        let left = Language::Toml.take(&text, TOML).unwrap();
        prop_assert_eq!(pruned(&Language::Toml.read(&left).unwrap()), pruned(&Language::Toml.read(&before).unwrap()));
    }
}
