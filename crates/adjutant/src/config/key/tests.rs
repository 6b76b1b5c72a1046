//! Names of keys.

use serde_json::json;

use super::*;

fn priced() -> Config {
    Config::parse(
        "c",
        "prices: {models: {gpt-5: {input: 1, output: 2}, gpt-5.1: {input: 3, output: 4}}}",
    )
    .unwrap()
}

#[test]
fn a_name_may_have_dots_in_it() {
    let names = |key: &str| path(&priced(), key);
    assert_eq!(names("limits.depth"), ["limits", "depth"]);
    assert_eq!(names("prices.models.gpt-5.1.input"), ["prices", "models", "gpt-5.1", "input"]);
    assert_eq!(names("prices.models.gpt-5.input"), ["prices", "models", "gpt-5", "input"]);
    assert_eq!(names("prices.models.\"o.3\".input"), ["prices", "models", "o.3", "input"]);
    assert_eq!(names("a..\"b"), ["a", "", "\"b"]);
    assert_eq!(names(""), [""]);
    let whole = serde_json::to_value(priced()).unwrap();
    assert_eq!(at(&whole, &names("prices.models.gpt-5.1.input")), Some(&json!(3.0)));
    assert_eq!(at(&whole, &names("context.files.0.path")), Some(&json!("CLAUDE.md")));
}

#[test]
fn what_may_be_set_is_known_and_nothing_else() {
    let known = |key: &str, value: Value| {
        let config = Config::default();
        is_known(&config, &path(&config, key), &value)
    };
    assert!(known("limits.depth", json!(1)) && known("limits", json!({})));
    assert!(known("limits.depth", json!("much")), "a wrong value is another matter");
    assert!(known("models.overrides.planning", json!("opus")));
    assert!(known("prices.models.gpt-5.cacheRead", json!(1)), "though it is not shown");
    assert!(known("categories.research.reach", json!("self")));
    for unknown in
        ["limits.dpeth", "limts.depth", "mirror.x", "webhooks.url", "", "categories.worker.x"]
    {
        assert!(!known(unknown, json!(1)), "{unknown}");
    }
}

#[test]
fn what_is_read_at_the_start_is_named() {
    let key = |key: &str| is_read_at_start(&path(&Config::default(), key));
    assert!(key("server.port") && key("server") && key("database") && key("mcp"));
    assert!(!key("mcp.toolTimeout") && !key("review.max_iterations") && !key("serverless"));
    for known in AT_START {
        assert!(
            at(&serde_json::to_value(Config::default()).unwrap(), &path(&Config::default(), known))
                .is_some()
        );
    }
}
