//! Templates: Markdown files with YAML front matter over a prompt, from `.adjutant/templates/`, over
//! those that are built in. A broken file is reported and does not stop the others.

mod front;

use std::collections::BTreeMap;
use std::fs;

use engine::settings::Template;

use crate::crew::front_matter;
use crate::crew::roles::shown;
use crate::home::Home;
use crate::yaml::Problem;

/// The templates that there are without any file, by name.
const BUILT_IN: [(&str, &str); 5] = [
    ("run_tests", include_str!("templates/built_in/run_tests.md")),
    ("review_code", include_str!("templates/built_in/review_code.md")),
    ("analyze_deps", include_str!("templates/built_in/analyze_deps.md")),
    ("analyze-code", include_str!("templates/built_in/analyze-code.md")),
    ("run-tests", include_str!("templates/built_in/run-tests.md")),
];

/// Reads every template of a home, and says what is wrong with the files that are not used. A file stands in for the
/// built-in template of its name; a broken one leaves that in place.
pub(crate) fn load(home: &Home) -> (BTreeMap<String, Template>, Vec<Problem>) {
    let mut templates = BTreeMap::new();
    let mut problems = Vec::new();
    for (name, text) in BUILT_IN {
        match front::read(name, &format!("{name}.md"), text) {
            Ok(template) => drop(templates.insert(name.to_owned(), template)),
            Err(problem) => problems.push(*problem),
        }
    }
    let paths = front_matter::markdown_in(&home.templates()).unwrap_or_else(|problem| {
        problems.push(*problem);
        Vec::new()
    });
    for path in paths {
        let shown = shown(home, &path);
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let read = fs::read_to_string(&path)
            .map_err(|error| Problem::of(&shown, format!("cannot be read: {error}")))
            .and_then(|text| front::read(&name, &shown, &text));
        match read {
            Ok(template) => drop(templates.insert(template.name.clone(), template)),
            Err(problem) => problems.push(*problem),
        }
    }
    (templates, problems)
}

#[cfg(test)]
mod tests;
