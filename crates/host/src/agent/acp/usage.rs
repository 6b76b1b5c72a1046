//! Token usage as agents report it. There are four forms, and none of them is standard:
//!
//! 1. the answer to a prompt has `usage`, of that prompt alone (claude-agent-acp, codex-acp);
//! 2. its `_meta.quota` has the same, and by model: that also counts calls on the side (both of them; gemini
//!    has only this, in `snake_case`);
//! 3. `usage_update` has what it cost in all, and how full the context is, which nobody is charged for;
//! 4. pieces of messages carry `_meta.usage` of the call that made them (qwen).

use serde_json::Value;

use crate::agent::notes::{self, Tokens};

/// Usage reported in the answer to a prompt.
pub(super) fn of_prompt(result: &Value) -> Tokens {
    let quota = &result["_meta"]["quota"];
    let by_model = quota["model_usage"].as_array().map_or(&[][..], Vec::as_slice);
    let by_model = by_model.iter().map(|model| tokens(&model["token_count"]));
    let by_model = by_model.fold(Tokens::default(), Tokens::plus);
    tokens(&result["usage"]).most(tokens(&quota["token_count"])).most(by_model)
}

/// The model that answered the prompt, where it says so.
pub(super) fn model(result: &Value) -> Option<&str> {
    result["_meta"]["quota"]["model_usage"][0]["model"].as_str()
}

/// One count of tokens. Whether the input has the cached ones in it, and the output the thoughts,
/// shows in the total.
pub(super) fn tokens(count: &Value) -> Tokens {
    let is_count = |value: &&Value| value.is_number();
    let number =
        |names: &[&str]| names.iter().map(|name| &count[*name]).find(is_count).map(notes::count);
    let mut input = number(&["inputTokens", "input_tokens"]).unwrap_or_default();
    let mut output = number(&["outputTokens", "output_tokens"]).unwrap_or_default();
    let cache_read = number(&["cachedReadTokens", "cachedInputTokens", "cached_tokens"]);
    let cache_read = cache_read.unwrap_or_default();
    let cache_write = number(&["cachedWriteTokens", "cacheWriteInputTokens"]).unwrap_or_default();
    let thoughts = number(&["thoughtTokens", "reasoningOutputTokens"]).unwrap_or_default();
    if let Some(total) = number(&["totalTokens", "total_tokens"]) {
        let plain = input.saturating_add(output);
        let cached = cache_read.saturating_add(cache_write);
        if cached > 0 && (total == plain || total == plain.saturating_add(thoughts)) {
            input = input.saturating_sub(cached);
        }
        if thoughts > 0 && total > plain && total >= plain.saturating_add(thoughts) {
            let all = input.saturating_add(output).saturating_add(cached);
            if all.saturating_add(thoughts) == total {
                output = output.saturating_add(thoughts);
            }
        }
    }
    Tokens { input, output, cache_read, cache_write }
}
