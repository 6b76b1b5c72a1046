//! `prompts/*`: the templates with their arguments filled in.

use engine::settings::{Settings, Template};
use engine::templates::{self, PROMPTS};
use engine::{Caller, ToolError};
use rmcp::model::{
    CacheScope, GetPromptRequestParams, GetPromptResult, ListPromptsResult, Prompt, PromptArgument,
    PromptMessage, Role,
};

use crate::mcp::listing::FRESH_MILLIS;
use crate::mcp::visit::Visit;
use crate::shared::Shared;

pub(super) fn list(shared: &Shared, visit: &Visit) -> Result<ListPromptsResult, ToolError> {
    let caller = shared.app.engine.caller(visit.principal, None)?;
    let settings = shared.app.engine.settings();
    let all = shown(&settings, &caller, visit).map(described).collect();
    Ok(ListPromptsResult::with_all_items(all)
        .with_ttl_ms(FRESH_MILLIS)
        .with_cache_scope(CacheScope::Private))
}

pub(super) fn get(
    shared: &Shared,
    visit: &Visit,
    request: GetPromptRequestParams,
) -> Result<GetPromptResult, ToolError> {
    let caller = shared.app.engine.caller(visit.principal, None)?;
    let settings = shared.app.engine.settings();
    let mut shown = shown(&settings, &caller, visit);
    let Some(template) = shown.find(|template| template.name == request.name) else {
        return Err(no_prompt(&request.name, self::shown(&settings, &caller, visit)));
    };
    let text = templates::render(template, &request.arguments.unwrap_or_default())?;
    let message = PromptMessage::new_text(Role::User, text);
    Ok(GetPromptResult::new(vec![message]).with_description(template.description.as_str()))
}

/// The prompts for a caller: those that are no tools are for everybody, the others for callers that may use tools of
/// their toolset.
fn shown<'a>(
    settings: &'a Settings,
    caller: &Caller,
    visit: &Visit,
) -> impl Iterator<Item = &'a Template> + use<'a> {
    let here = visit.mount.has_templates();
    let of_crew = here
        && engine::tools_of(settings)
            .iter()
            .any(|tool| tool.toolset() == templates::TOOLSET && caller.may(settings, tool.name));
    let common = PROMPTS.iter().filter_map(|name| settings.templates.get(*name));
    let tools = settings.templates.values().filter(|template| templates::is_tool(template));
    common.filter(move |_| here).chain(tools.filter(move |_| of_crew))
}

fn described(template: &Template) -> Prompt {
    let arguments: Vec<PromptArgument> = template
        .arguments
        .iter()
        .map(|argument| {
            let described = PromptArgument::new(&argument.name).with_required(argument.required);
            match argument.description.as_str() {
                "" => described,
                text => described.with_description(text),
            }
        })
        .collect();
    let arguments = (!arguments.is_empty()).then_some(arguments);
    Prompt::new(&template.name, Some(&template.description), arguments)
}

fn no_prompt<'a>(name: &str, known: impl Iterator<Item = &'a Template>) -> ToolError {
    let shown: String = name.chars().take(200).collect();
    let error = ToolError::invalid(format!("there is no prompt `{shown}`")).detail("field", "name");
    match model::nearest::nearest(name, known.map(|template| template.name.as_str())) {
        Some(near) => error.hint(format!("did you mean `{near}`?")).detail("nearest", near),
        None => error.hint("`prompts/list` lists them"),
    }
}
