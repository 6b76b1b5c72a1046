//! The suite's prompts.

use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, ContentBlock, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    ListPromptsResult, Prompt, PromptArgument, PromptMessage, ResourceContents, Role,
};

use super::Answer;
use super::content::PIXEL_PNG;
use super::rounds::{ask, given, need};

/// Names, descriptions and required arguments.
const PROMPTS: &[(&str, &str, &[&str])] = &[
    ("test_simple_prompt", "A prompt without arguments", &[]),
    ("test_prompt_with_arguments", "A prompt with two arguments", &["arg1", "arg2"]),
    ("test_prompt_with_embedded_resource", "A prompt with a resource", &["resourceUri"]),
    ("test_prompt_with_image", "A prompt with an image", &[]),
    ("test_input_required_result_prompt", "A prompt that needs the user", &[]),
];

pub(super) fn list() -> ListPromptsResult {
    let describe = |&(name, description, arguments): &(&str, &str, &[&str])| {
        let arguments: Vec<_> = arguments
            .iter()
            .map(|name| PromptArgument::new(*name).with_description("Any text").with_required(true))
            .collect();
        Prompt::new(name, Some(description), (!arguments.is_empty()).then_some(arguments))
    };
    ListPromptsResult::with_all_items(PROMPTS.iter().map(describe).collect())
        .with_ttl_ms(1_000)
        .with_cache_scope(CacheScope::Private)
}

pub(super) fn get(request: &GetPromptRequestParams) -> Answer<GetPromptResponse> {
    let argument = |name: &str| {
        request.arguments.as_ref().and_then(|all| all.get(name)?.as_str()).unwrap_or_default()
    };
    let contents = match request.name.as_str() {
        "test_simple_prompt" => vec![ContentBlock::text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => vec![ContentBlock::text(format!(
            "Prompt with arguments: arg1='{}', arg2='{}'",
            argument("arg1"),
            argument("arg2"),
        ))],
        "test_prompt_with_embedded_resource" => vec![
            ContentBlock::resource(ResourceContents::text(
                "Embedded resource content for testing.",
                argument("resourceUri"),
            )),
            ContentBlock::text("Please process the embedded resource above."),
        ],
        "test_prompt_with_image" => vec![
            ContentBlock::image(PIXEL_PNG, "image/png"),
            ContentBlock::text("Please analyze the image above."),
        ],
        "test_input_required_result_prompt" => {
            let responses = request.input_responses.as_ref();
            let Some(context) = given(responses, "user_context", "/content/context") else {
                let question = "What context should the prompt use?";
                return Ok(need([("user_context", ask(question, "context", "string")?)]));
            };
            vec![ContentBlock::text(format!("Consider {context}."))]
        }
        name => {
            return Err(ErrorData::invalid_params(format!("there is no prompt `{name}`"), None));
        }
    };
    let messages =
        contents.into_iter().map(|content| PromptMessage::new(Role::User, content)).collect();
    Ok(GetPromptResult::new(messages).into())
}
