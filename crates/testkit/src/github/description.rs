//! GitHub's own description of its API: what may be asked, and what may be answered.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result};
use axum::extract::Query;
use hyper::{Method, StatusCode, Uri};
use jsonschema::Validator;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::field;
use super::schema::{convert, strict, typed};
use crate::programs::installed;

/// Where `tools/setup` puts it.
const FILE: &str = ".tools/openapi/node_modules/@octokit/openapi/generated/api.github.com.json";

/// What the server knows of: the rest of the description is not even parsed.
const PATHS: [&str; 4] = [
    "/repos/{owner}/{repo}",
    "/repos/{owner}/{repo}/issues",
    "/repos/{owner}/{repo}/pulls",
    "/repos/{owner}/{repo}/pulls/{pull_number}",
];

/// Webhooks that can be delivered.
const WEBHOOKS: [&str; 2] = ["pull-request-closed", "pull-request-reopened"];

/// What answers without a schema of their own look like.
const PLAIN_ERROR: &str = "#/components/schemas/basic-error";

/// The part of the description that is used.
pub(super) struct Description {
    paths: BTreeMap<String, Value>,
    webhooks: BTreeMap<String, Value>,
    /// By reference, as it stands in the description
    parts: BTreeMap<String, Value>,
    /// The schemas among them, converted, as references look for them
    schemas: Value,
    /// A schema is made ready when it is needed first.
    ready: Mutex<HashMap<String, Arc<Validator>>>,
}

impl std::fmt::Debug for Description {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Description").field("paths", &PATHS).finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct ApiDescription<'a> {
    #[serde(borrow)]
    paths: HashMap<String, &'a RawValue>,
    #[serde(borrow, rename = "x-webhooks")]
    webhooks: HashMap<String, &'a RawValue>,
    #[serde(borrow)]
    components: HashMap<String, HashMap<String, &'a RawValue>>,
}

/// An operation that a request asks for.
#[derive(Debug, Clone)]
pub(super) struct RequestedOperation {
    /// The path as the description has it
    pub(super) template: &'static str,
    pub(super) method: String,
    /// What stands in the path's gaps
    pub(super) path: HashMap<String, String>,
    pub(super) query: Vec<(String, String)>,
}

impl RequestedOperation {
    pub(super) fn in_query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(one, _)| one == name).map(|(_, value)| value.as_str())
    }

    fn name(&self) -> String {
        format!("{} {}", self.method.to_uppercase(), self.template)
    }
}

impl Description {
    pub(super) fn load() -> Result<Self> {
        let text = fs::read_to_string(installed(FILE)?)?;
        let whole: ApiDescription<'_> =
            serde_json::from_str(&text).context("GitHub's description cannot be read")?;
        let pick = |names: &[&str], from: &HashMap<String, &RawValue>| {
            let parse = |name: &&str| {
                let raw = from.get(*name).with_context(|| format!("`{name}` is not described"))?;
                Ok(((*name).to_owned(), serde_json::from_str::<Value>(raw.get())?))
            };
            names.iter().map(parse).collect::<Result<BTreeMap<_, _>>>()
        };
        let paths = pick(&PATHS, &whole.paths)?;
        let webhooks = pick(&WEBHOOKS, &whole.webhooks)?;
        let mut parts = BTreeMap::new();
        let mut open = vec![PLAIN_ERROR.to_owned()];
        for value in paths.values().chain(webhooks.values()) {
            references(value, &mut open);
        }
        while let Some(reference) = open.pop() {
            if parts.contains_key(&reference) {
                continue;
            }
            let mut steps = reference.trim_start_matches("#/components/").split('/');
            let kind = steps.next().and_then(|kind| whole.components.get(kind));
            let raw = kind.zip(steps.next()).and_then(|(kind, name)| kind.get(name));
            let raw = raw.with_context(|| format!("`{reference}` leads nowhere"))?;
            let value: Value = serde_json::from_str(raw.get())?;
            references(&value, &mut open);
            parts.insert(reference, value);
        }
        let named = parts.iter().filter_map(|(reference, part)| {
            let name = reference.strip_prefix("#/components/schemas/")?;
            Some((name.to_owned(), convert(part)))
        });
        let schemas = named.collect();
        Ok(Self { paths, webhooks, parts, schemas, ready: Mutex::default() })
    }

    /// What a request asks for, and what is wrong with it. There is nothing to do for one that asks for nothing.
    pub(super) fn ask(
        &self,
        method: &Method,
        path: &str,
        uri: &Uri,
        body: &[u8],
    ) -> (Option<RequestedOperation>, Vec<String>) {
        let method = method.as_str().to_lowercase();
        let known = |template: &&&str| self.paths[**template].get(&method).is_some();
        let found = PATHS.iter().filter(known).find_map(|one| Some((*one, gaps(one, path)?)));
        let Some((template, gaps)) = found else {
            return (None, vec![format!("{method} {path} is not described")]);
        };
        let Ok(Query(query)) = Query::<Vec<(String, String)>>::try_from_uri(uri) else {
            return (None, vec![format!("the query of {uri} cannot be read")]);
        };
        let asked = RequestedOperation { template, method, path: gaps, query };
        let mut problems = self.check_parameters(&asked);
        problems.extend(self.check_body(&asked, body));
        (Some(asked), problems)
    }

    fn operation(&self, asked: &RequestedOperation) -> &Value {
        &self.paths[asked.template][&asked.method]
    }

    fn check_parameters(&self, asked: &RequestedOperation) -> Vec<String> {
        let mut problems = Vec::new();
        let described = self.operation(asked)["parameters"].as_array();
        let described: Vec<&Value> =
            described.into_iter().flatten().map(|one| self.resolved(one)).collect();
        let of_path = asked.path.iter().map(|(name, value)| ("path", name, value));
        let of_query = asked.query.iter().map(|(name, value)| ("query", name, value));
        for (place, name, value) in of_path.chain(of_query) {
            let same = |one: &&&Value| one["in"] == place && one["name"] == name.as_str();
            let Some(parameter) = described.iter().find(same) else {
                problems.push(format!("{}: `{name}` is no {place} parameter", asked.name()));
                continue;
            };
            let schema = self.resolved(&parameter["schema"]);
            let key = format!("{} {place} {name}", asked.name());
            let value = typed(value, schema);
            problems.extend(self.problems(&key, || convert(schema), &value));
        }
        for parameter in described.iter().filter(|one| one["required"] == true) {
            let name = parameter["name"].as_str().unwrap_or_default();
            if !asked.path.contains_key(name) && asked.in_query(name).is_none() {
                problems.push(format!("{}: `{name}` is missing", asked.name()));
            }
        }
        problems
    }

    fn check_body(&self, asked: &RequestedOperation, body: &[u8]) -> Vec<String> {
        let key = format!("{} body", asked.name());
        let described = &self.operation(asked)["requestBody"];
        let schema = &described["content"]["application/json"]["schema"];
        match (schema.is_null(), body) {
            (true, []) => Vec::new(),
            (true, _) => vec![format!("{key}: there must be none")],
            (false, []) if described["required"] != true => Vec::new(),
            (false, _) => match serde_json::from_slice(body) {
                Ok(value) => self.problems(&key, || strict(convert(schema)), &value),
                Err(error) => vec![format!("{key}: {error}")],
            },
        }
    }

    /// What is wrong with an answer. A refusal that is not described looks like every other.
    pub(super) fn check_answer(
        &self,
        asked: &RequestedOperation,
        status: StatusCode,
        body: &Value,
    ) -> Vec<String> {
        let key = format!("{} answered {status}", asked.name());
        let described = self.operation(asked)["responses"].get(status.as_str());
        let schema =
            described.map(|one| &self.resolved(one)["content"]["application/json"]["schema"]);
        match schema {
            Some(schema) if !schema.is_null() => self.problems(&key, || convert(schema), body),
            None if status.is_success() => vec![format!("{key}: it is not described")],
            _ => self.problems(&key, || json!({ "$ref": PLAIN_ERROR }), body),
        }
    }

    /// What is wrong with what a webhook delivers.
    pub(super) fn check_webhook(&self, name: &str, body: &Value) -> Result<Vec<String>> {
        let hook = self.webhooks.get(name).with_context(|| format!("no webhook `{name}`"))?;
        let schema = field(hook, "/post/requestBody/content/application~1json/schema")?;
        Ok(self.problems(&format!("webhook {name}"), || convert(schema), body))
    }

    /// GitHub's example of an answer, or the first of a list.
    pub(super) fn example(&self, template: &str, method: &str, status: &str) -> Result<Value> {
        let content = &self.paths[template][method]["responses"][status]["content"];
        let examples = field(content, "/application~1json/examples")?;
        let first = examples.as_object().and_then(|examples| examples.values().next());
        let value = field(self.resolved(first.context("there is no example")?), "/value")?;
        Ok(value.as_array().and_then(|items| items.first()).unwrap_or(value).clone())
    }

    fn resolved<'a>(&'a self, value: &'a Value) -> &'a Value {
        let reference = value["$ref"].as_str();
        reference.and_then(|reference| self.parts.get(reference)).unwrap_or(value)
    }

    fn problems(&self, key: &str, schema: impl FnOnce() -> Value, value: &Value) -> Vec<String> {
        let validator = match self.validator(key, schema) {
            Ok(validator) => validator,
            Err(problem) => return vec![format!("{key}: {problem}")],
        };
        let tell = |error: jsonschema::ValidationError<'_>| {
            format!("{key}: at `{}`: {error}", error.instance_path())
        };
        validator.iter_errors(value).map(tell).collect()
    }

    fn validator(
        &self,
        key: &str,
        schema: impl FnOnce() -> Value,
    ) -> Result<Arc<Validator>, String> {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(validator) = ready.get(key) {
            return Ok(Arc::clone(validator));
        }
        let whole = json!({ "allOf": [schema()], "components": { "schemas": self.schemas } });
        let built = jsonschema::options()
            .offline()
            .should_validate_formats(true)
            .should_ignore_unknown_formats(true)
            .build(&whole)
            .map_err(|error| error.to_string())?;
        Ok(Arc::clone(ready.entry(key.to_owned()).or_insert(Arc::new(built))))
    }
}

/// What stands in the gaps of a path, if the path fits.
fn gaps(template: &str, path: &str) -> Option<HashMap<String, String>> {
    let (template, path): (Vec<_>, Vec<_>) =
        (template.split('/').collect(), path.split('/').collect());
    if template.len() != path.len() {
        return None;
    }
    let mut gaps = HashMap::new();
    for (wanted, given) in template.into_iter().zip(path) {
        match wanted.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            Some(name) => drop(gaps.insert(name.to_owned(), given.to_owned())),
            None if wanted == given => {}
            None => return None,
        }
    }
    Some(gaps)
}

/// Every reference in a value, except inside of examples.
fn references(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| references(item, into)),
        Value::Object(fields) => {
            if let Some(Value::String(reference)) = fields.get("$ref") {
                into.push(reference.clone());
            }
            fields.values().for_each(|field| references(field, into));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_github_would_not_give_is_caught() {
        let description = Description::load().unwrap();
        let uri = Uri::from_static("http://github.test/repos/octo/hello/pulls/1");
        let (asked, problems) = description.ask(&Method::GET, uri.path(), &uri, b"");
        assert_eq!(problems, [""; 0]);
        let asked = asked.unwrap();
        let wrong = |status: StatusCode, body: &Value| {
            description.check_answer(&asked, status, body).join("\n")
        };
        let mut pull = description.example(asked.template, "get", "200").unwrap();
        pull["requested_teams"] = json!([]);
        assert_eq!(wrong(StatusCode::OK, &pull), "");
        pull["number"] = "1".into();
        assert!(wrong(StatusCode::OK, &pull).contains("`/number`"));
        assert!(wrong(StatusCode::OK, &json!({})).contains("is a required property"));
        assert!(wrong(StatusCode::CREATED, &pull).contains("not described"));
        assert_eq!(wrong(StatusCode::UNAUTHORIZED, &json!({ "message": "m" })), "");
        assert!(wrong(StatusCode::UNAUTHORIZED, &json!({ "message": 7 })).contains("`/message`"));
        let hook = description.check_webhook("pull-request-closed", &json!({ "action": "closed" }));
        assert!(hook.unwrap().join("\n").contains("is a required property"));
    }
}
