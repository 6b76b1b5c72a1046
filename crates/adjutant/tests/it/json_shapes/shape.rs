//! What an answer looks like, whatever stands in it: the names of its fields and what they hold.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

/// What was seen at one place of answers.
#[derive(Debug, Clone, Default)]
pub(super) struct Shape {
    /// Nothing but names of types, and `null`
    plain: BTreeSet<&'static str>,
    /// How many objects there were, and their fields
    objects: usize,
    fields: BTreeMap<String, Field>,
    /// What the items of lists look like
    items: Option<Box<Self>>,
}

#[derive(Debug, Clone, Default)]
struct Field {
    /// In how many of the objects it was
    seen: usize,
    shape: Shape,
}

/// What cannot be seen from a few answers.
#[derive(Debug, Default)]
pub(super) struct Rules {
    /// Places of objects with other fields from one to the next
    pub(super) open: &'static [&'static str],
    /// Places where any value may stand
    pub(super) any: &'static [&'static str],
    /// Ends of places that may be null though the stories do not show it
    pub(super) nullable: &'static [&'static str],
}

fn is_at(place: &str, name: &str) -> bool {
    place.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

impl Shape {
    /// Looks at one more answer.
    pub(super) fn add(&mut self, value: &Value, place: &str, rules: &Rules) {
        if rules.nullable.iter().any(|name| is_at(place, name)) {
            self.plain.insert("null");
        }
        match value {
            _ if rules.any.contains(&place) => _ = self.plain.insert("any"),
            Value::Null => _ = self.plain.insert("null"),
            Value::Bool(_) => _ = self.plain.insert("boolean"),
            Value::Number(_) => _ = self.plain.insert("number"),
            Value::String(_) => _ = self.plain.insert("string"),
            _ if rules.open.contains(&place) => _ = self.plain.insert("object"),
            Value::Array(items) => {
                let below = self.items.get_or_insert_default();
                for item in items {
                    below.add(item, &format!("{place}[]"), rules);
                }
            }
            Value::Object(fields) => {
                self.objects += 1;
                for (name, value) in fields {
                    let field = self.fields.entry(name.clone()).or_default();
                    field.seen += 1;
                    let place = if place.is_empty() { name } else { &format!("{place}.{name}") };
                    field.shape.add(value, place, rules);
                }
            }
        }
    }

    /// Looks at all that another has seen.
    pub(super) fn merge(&mut self, other: &Self) {
        self.plain.extend(&other.plain);
        self.objects += other.objects;
        for (name, field) in &other.fields {
            let mine = self.fields.entry(name.clone()).or_default();
            mine.seen += field.seen;
            mine.shape.merge(&field.shape);
        }
        if let Some(items) = &other.items {
            self.items.get_or_insert_default().merge(items);
        }
    }

    /// It in words. `known` says what fields hold that were never seen with anything in them.
    pub(super) fn text(&self, known: &[(&str, &str)]) -> String {
        self.words("", 0, known)
    }

    fn words(&self, name: &str, depth: usize, known: &[(&str, &str)]) -> String {
        let mut choices = Vec::new();
        if self.objects > 0 {
            choices.push(self.object(depth, known));
        }
        if let Some(items) = &self.items {
            choices.push(format!("[{}]", items.words(name, depth, known)));
        }
        choices.extend(self.plain.iter().filter(|name| **name != "null").map(|&name| name.into()));
        if choices.is_empty() {
            let told = known.iter().find(|(field, _)| *field == name);
            choices.extend(told.map(|(_, holds)| (*holds).to_owned()));
        }
        choices.extend(self.plain.get("null").map(|&null| null.to_owned()));
        choices.join(" | ")
    }

    fn object(&self, depth: usize, known: &[(&str, &str)]) -> String {
        let margin = "  ".repeat(depth + 1);
        let mut fields = String::new();
        for (name, field) in &self.fields {
            let mark = if field.seen < self.objects { "?" } else { "" };
            let holds = field.shape.words(name, depth + 1, known);
            fields.extend([&margin, name, mark, ": ", &holds, "\n"]);
        }
        if fields.is_empty() {
            "{}".into()
        } else {
            format!("{{\n{fields}{}}}", "  ".repeat(depth))
        }
    }
}

#[test]
fn a_shape_has_names_and_types_and_no_values() {
    let (mut shape, mut other) = (Shape::default(), Shape::default());
    let seen = [&mut shape, &mut other];
    let answers = [
        json!({ "a": 1, "list": [{ "x": "y" }, { "x": null, "z": true }], "any": { "k": 1 } }),
        json!({ "a": null, "list": [], "any": {}, "never": null, "more": {} }),
    ];
    for (shape, answer) in seen.into_iter().zip(answers) {
        let rules = Rules { open: &["any"], nullable: &["x"], ..Rules::default() };
        shape.add(&answer, "", &rules);
    }
    shape.merge(&other);
    insta::assert_snapshot!(shape.text(&[("never", "string")]), @r"
    {
      a: number | null
      any: object
      list: [{
        x: string | null
        z?: boolean
      }]
      more?: {}
      never?: string | null
    }
    ");
}
