//! The prices of models, against the final costs in recorded conversations.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::*;

/// Adds up what the last line of each recorded conversation says of a model, at our price.
#[test]
fn recorded_costs_are_what_our_prices_come_to() {
    let config = Config::default();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/tests/transcripts/claude");
    let mut compared = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        let lines = text.lines().filter_map(|line| line.find('{').and_then(|at| line.get(at..)));
        for line in lines.filter(|line| line.contains("\"modelUsage\"")) {
            let Ok(value) = serde_json::from_str::<Value>(line) else { continue };
            for (model, used) in value["modelUsage"].as_object().into_iter().flatten() {
                let entries = config.prices.models.iter();
                let fitting = entries.filter(|(name, _)| model.starts_with(name.as_str()));
                let (name, price) = fitting.max_by_key(|(name, _)| name.len()).unwrap();
                let price = engine::settings::Price::from(*price);
                let count = |key: &str| used[key].as_f64().unwrap();
                let cost = count("inputTokens") * price.input
                    + count("outputTokens") * price.output
                    + count("cacheReadInputTokens") * price.cache_read
                    + count("cacheCreationInputTokens") * price.cache_write;
                let (ours, theirs) = (cost / 1e6, used["costUSD"].as_f64().unwrap());
                assert!((ours - theirs).abs() < 1e-9, "{model} at {name}: {ours}, not {theirs}");
                compared += 1;
            }
        }
    }
    assert!(compared > 5, "{compared}");
}
