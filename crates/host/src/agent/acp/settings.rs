//! Session settings: the model and the mode. Agents offer them as
//! options of the session, as older lists with methods of their own, or as both.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A setting to be made.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Setting {
    pub(super) method: String,
    pub(super) params: Value,
    pub(super) value: String,
    /// The model that it has then, if this is what is set
    pub(super) model: Option<String>,
}

/// An older list: where it is, what names an entry, and the method that chooses one.
struct List {
    place: [&'static str; 2],
    current: &'static str,
    id: &'static str,
    method: &'static str,
    param: &'static str,
}

const MODELS: List = List {
    place: ["models", "availableModels"],
    current: "currentModelId",
    id: "modelId",
    method: "session/set_model",
    param: "modelId",
};

const MODES: List = List {
    place: ["modes", "availableModes"],
    current: "currentModeId",
    id: "id",
    method: "session/set_mode",
    param: "modeId",
};

/// State of a requested setting.
pub(super) enum SettingState {
    /// It is so already
    Granted,
    /// It can be
    Possible(Setting),
    /// It is not offered
    Unknown,
}

/// The model of that name.
pub(super) fn model(opened: &Value, session: &str, wanted: &str) -> SettingState {
    find_setting(opened, session, "model", wanted, &MODELS)
}

/// The mode of that name.
pub(super) fn mode(opened: &Value, session: &str, wanted: &str) -> SettingState {
    find_setting(opened, session, "mode", wanted, &MODES)
}

/// The model that the session says it has.
pub(super) fn current_model(opened: &Value) -> Option<&str> {
    let option = option(opened, "model").and_then(|option| option["currentValue"].as_str());
    option.or_else(|| opened["models"]["currentModelId"].as_str())
}

fn find_setting(
    opened: &Value,
    session: &str,
    category: &str,
    wanted: &str,
    list: &List,
) -> SettingState {
    let setting = |method: &str, params: Value| {
        let (method, value) = (method.to_owned(), wanted.to_owned());
        let model = (category == "model").then(|| value.clone());
        SettingState::Possible(Setting { method, params, value, model })
    };
    if let Some(option) = option(opened, category)
        && values(option).any(|value| value == wanted)
    {
        if option["currentValue"] == wanted {
            return SettingState::Granted;
        }
        let params = json!({ "sessionId": session, "configId": option["id"], "value": wanted });
        return setting("session/set_config_option", params);
    }
    let [place, entries] = list.place;
    let entries = opened[place][entries].as_array().map_or(&[][..], Vec::as_slice);
    if opened[place][list.current] == wanted {
        SettingState::Granted
    } else if entries.iter().any(|entry| entry[list.id] == wanted) {
        let mut params = json!({ "sessionId": session });
        params[list.param] = json!(wanted);
        setting(list.method, params)
    } else {
        SettingState::Unknown
    }
}

fn option<'a>(opened: &'a Value, category: &str) -> Option<&'a Value> {
    let options = opened["configOptions"].as_array()?;
    let is_it = |option: &&Value| option["category"] == category;
    options.iter().find(is_it).or_else(|| options.iter().find(|option| option["id"] == category))
}

/// The values of an option, which may be in groups.
fn values(option: &Value) -> impl Iterator<Item = &str> {
    let options = option["options"].as_array().map_or(&[][..], Vec::as_slice);
    options.iter().flat_map(|entry| {
        let group = entry["options"].as_array().map_or(&[][..], Vec::as_slice);
        std::iter::once(entry).chain(group).filter_map(|value| value["value"].as_str())
    })
}
