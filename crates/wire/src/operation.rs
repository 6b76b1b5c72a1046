//! Operations of the HTTP API: a method, a path, and the shapes that go in and come out.
//!
//! [`describe`] turns a list of operations into the paths and components of an `OpenAPI` document. Every schema
//! comes from `JsonSchema`: answers as they are serialized, bodies and queries as they are read. Types that are
//! nested in others become components of their own.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform as _};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::error::ErrorBody;
use crate::event::EventData;

type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// A shape of a request or an answer.
#[derive(Debug, Clone, Copy)]
enum Shape {
    /// Of a type.
    Typed(SchemaOf),
    /// Any JSON object.
    Object,
}

impl Shape {
    fn of<T: JsonSchema>() -> Self {
        Self::Typed(SchemaGenerator::subschema_for::<T>)
    }

    fn schema(self, generator: &mut SchemaGenerator) -> Value {
        match self {
            Self::Typed(schema) => schema(generator).to_value(),
            Self::Object => json!({ "type": "object" }),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Response {
    status: &'static str,
    description: &'static str,
    shape: Option<Shape>,
    is_stream: bool,
}

/// An operation, as programs call it.
#[derive(Debug, Clone)]
pub struct Operation {
    method: &'static str,
    path: &'static str,
    tag: &'static str,
    summary: &'static str,
    description: &'static str,
    is_public: bool,
    parameters: Vec<Value>,
    query: Option<SchemaOf>,
    body: Option<(Shape, &'static str)>,
    responses: Vec<Response>,
}

impl Operation {
    /// An operation that only looks.
    pub const fn get(tag: &'static str, path: &'static str, summary: &'static str) -> Self {
        Self::new("get", tag, path, summary)
    }

    /// An operation that acts.
    pub const fn post(tag: &'static str, path: &'static str, summary: &'static str) -> Self {
        Self::new("post", tag, path, summary)
    }

    const fn new(
        method: &'static str,
        tag: &'static str,
        path: &'static str,
        summary: &'static str,
    ) -> Self {
        Self {
            method,
            path,
            tag,
            summary,
            description: "",
            is_public: false,
            parameters: Vec::new(),
            query: None,
            body: None,
            responses: Vec::new(),
        }
    }

    /// Details beside the summary.
    #[must_use]
    pub const fn about(mut self, description: &'static str) -> Self {
        self.description = description;
        self
    }

    /// Needs no token.
    #[must_use]
    pub const fn public(mut self) -> Self {
        self.is_public = true;
        self
    }

    /// Describes a part of the path.
    #[must_use]
    pub fn part(self, name: &str, description: &str) -> Self {
        self.parameter("path", name, description)
    }

    /// Describes a header that must be there.
    #[must_use]
    pub fn header(self, name: &str, description: &str) -> Self {
        self.parameter("header", name, description)
    }

    /// Describes a header that may be there.
    #[must_use]
    pub fn optional_header(self, name: &str, description: &str) -> Self {
        let mut described = self.parameter("header", name, description);
        if let Some(parameter) = described.parameters.last_mut() {
            parameter["required"] = false.into();
        }
        described
    }

    fn parameter(mut self, place: &str, name: &str, description: &str) -> Self {
        self.parameters.push(json!({
            "name": name,
            "in": place,
            "description": description,
            "required": true,
            "schema": { "type": "string" },
        }));
        self
    }

    /// Takes the fields of a type as parameters behind the question mark.
    #[must_use]
    pub fn query<T: JsonSchema>(mut self) -> Self {
        self.query = Some(T::json_schema);
        self
    }

    /// Takes a body of a type.
    #[must_use]
    pub fn body<T: JsonSchema>(mut self) -> Self {
        self.body = Some((Shape::of::<T>(), ""));
        self
    }

    /// Takes a body that another party defines.
    #[must_use]
    pub const fn foreign_body(mut self, description: &'static str) -> Self {
        self.body = Some((Shape::Object, description));
        self
    }

    /// Answers 200 with a type, or 4XX with an error.
    #[must_use]
    pub fn answers<T: JsonSchema>(self) -> Self {
        self.responds("200", "", Some(Shape::of::<T>())).fails::<ErrorBody>("4XX", "")
    }

    /// Answers 201 with a type, or 4XX with an error.
    #[must_use]
    pub fn creates<T: JsonSchema>(self) -> Self {
        self.responds("201", "", Some(Shape::of::<T>())).fails::<ErrorBody>("4XX", "")
    }

    /// Answers a status with no body.
    #[must_use]
    pub fn ends(self, status: &'static str, description: &'static str) -> Self {
        self.responds(status, description, None)
    }

    /// Answers a status with a type.
    #[must_use]
    pub fn fails<T: JsonSchema>(self, status: &'static str, description: &'static str) -> Self {
        self.responds(status, description, Some(Shape::of::<T>()))
    }

    /// Answers 200 as server-sent events, too.
    #[must_use]
    pub fn streams(mut self) -> Self {
        if let Some(first) = self.responses.first_mut() {
            first.is_stream = true;
        }
        self
    }

    fn responds(
        mut self,
        status: &'static str,
        description: &'static str,
        shape: Option<Shape>,
    ) -> Self {
        self.responses.push(Response { status, description, shape, is_stream: false });
        self
    }

    /// A name that no other operation has, made of what it does and where: `getApiAgentsId`.
    fn id(&self) -> String {
        let mut id = self.method.to_owned();
        for word in self.path.split(|c: char| !c.is_ascii_alphanumeric()) {
            let mut letters = word.chars();
            id.extend(letters.next().map(|first| first.to_ascii_uppercase()));
            id.push_str(letters.as_str());
        }
        id
    }

    fn describe(&self, shapes: &mut Shapes) -> Value {
        let mut described = json!({
            "operationId": self.id(),
            "tags": [self.tag],
            "summary": self.summary,
            "responses": self.responses(&mut shapes.answers),
        });
        if !self.description.is_empty() {
            described["description"] = self.description.into();
        }
        if self.is_public {
            described["security"] = json!([{}]);
        }
        let mut parameters = self.parameters.clone();
        if let Some(query) = self.query {
            parameters.extend(query_parameters(query(&mut shapes.requests)));
        }
        if !parameters.is_empty() {
            described["parameters"] = parameters.into();
        }
        if let Some((shape, description)) = self.body {
            let schema = shape.schema(&mut shapes.requests);
            described["requestBody"] = json!({ "content": { "application/json": { "schema": schema } }, "required": true });
            if !description.is_empty() {
                described["requestBody"]["description"] = description.into();
            }
        }
        described
    }

    fn responses(&self, generator: &mut SchemaGenerator) -> Value {
        let mut described = Map::new();
        for response in &self.responses {
            let mut one = json!({ "description": response.description });
            if let Some(shape) = response.shape {
                one["content"]["application/json"]["schema"] = shape.schema(generator);
            }
            if response.is_stream {
                one["content"]["text/event-stream"]["schema"] = json!({ "type": "string" });
            }
            described.insert(response.status.to_owned(), one);
        }
        described.into()
    }
}

/// The fields of a query's schema, as parameters.
fn query_parameters(mut schema: Schema) -> Vec<Value> {
    without_foreign_formats(&mut schema);
    let required = schema.get("required").cloned().unwrap_or_default();
    let is_required = |name: &str| {
        required.as_array().is_some_and(|all| all.iter().any(|one| one.as_str() == Some(name)))
    };
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Vec::new();
    };
    let parameter = |(name, field): (&String, &Value)| {
        let mut field = field.clone();
        let description = field.as_object_mut().and_then(|field| field.remove("description"));
        json!({
            "name": name,
            "in": "query",
            "description": description.unwrap_or_default(),
            "required": is_required(name),
            "schema": field,
        })
    };
    properties.iter().map(parameter).collect()
}

/// Removes formats such as `uint32`: they are Rust's own, and strict clients warn about what they do not know.
fn without_foreign_formats(schema: &mut Schema) {
    let foreign = |schema: &mut Schema| {
        let is_foreign = schema
            .get("format")
            .and_then(Value::as_str)
            .is_some_and(|format| format.starts_with("uint") || format.starts_with("int"));
        if is_foreign {
            schema.remove("format");
        }
    };
    RecursiveTransform(foreign).transform(schema);
}

/// The schemas that were met, by the direction in which they cross.
struct Shapes {
    answers: SchemaGenerator,
    requests: SchemaGenerator,
}

impl Shapes {
    fn new() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        });
        Self {
            answers: settings.clone().for_serialize().into_generator(),
            requests: settings.for_deserialize().into_generator(),
        }
    }
}

/// Paths and components of an `OpenAPI` document.
#[derive(Debug, Clone, Default)]
pub struct Description {
    /// The operations, by path and method.
    pub paths: Map<String, Value>,
    /// The schemas of answers, by name.
    pub answers: Map<String, Value>,
    /// The schemas of bodies and of what queries name.
    pub requests: Map<String, Value>,
}

impl Description {
    /// All schemas by name. If an input and an answer share a name, the answer's schema is used.
    pub fn components(&self) -> Map<String, Value> {
        let mut all = self.requests.clone();
        all.extend(self.answers.clone());
        all
    }
}

/// Schema of `kind` and `data` of an event: one variant per kind, with the fields of its payload in place, because names
/// of payloads may be those of answers.
pub fn event_data() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<EventData>();
    without_foreign_formats(&mut schema);
    schema
}

/// Describes operations, and the shapes they name.
pub fn describe(operations: &[Operation]) -> Description {
    let mut shapes = Shapes::new();
    let mut paths = Map::new();
    for operation in operations {
        let methods = paths.entry(operation.path).or_insert_with(|| json!({}));
        methods[operation.method] = operation.describe(&mut shapes);
    }
    Description {
        paths,
        answers: definitions(&mut shapes.answers),
        requests: definitions(&mut shapes.requests),
    }
}

fn definitions(generator: &mut SchemaGenerator) -> Map<String, Value> {
    let mut definitions = generator.take_definitions(true);
    for schema in definitions.values_mut() {
        if let Ok(schema) = <&mut Schema>::try_from(schema) {
            without_foreign_formats(schema);
        }
    }
    definitions
}
