//! Names and signatures: vague names of types and constants, and tuple parameters.
//!
//! There are none of either. Tests may call their types as they like, and have no tuple parameters either.

use anyhow::Result;

use crate::tidy::Findings;
use crate::tree::Tree;

/// Type names that could mean anything.
const VAGUE_TYPES: [&str; 14] = [
    "Wish", "Told", "Seen", "Came", "Found", "Place", "Standing", "Said", "Heard", "Who", "Which",
    "Desk", "Setback", "Sending",
];

/// Beginnings and ends of type names that could mean anything: `WhichCrew`, `WholeTask`, `CrewWish`.
const VAGUE_BEGINNINGS: [&str; 2] = ["Which", "Whole"];
const VAGUE_ENDS: [&str; 1] = ["Wish"];

/// Names of constants that do not say their quantity.
const VAGUE_CONSTANTS: [&str; 25] = [
    "AGAIN", "AHEAD", "BEAT", "BEYOND", "BREATH", "CROWD", "EVERY", "FAR", "LEAST", "LIFE",
    "LINGER", "LONGEST", "LOOK", "LOOKED", "LULL", "MANY", "MOST", "OFTEN", "PATIENCE", "PAUSE",
    "PORTION", "RARELY", "SELDOM", "SOON", "TAKEN",
];
/// Beginnings of names of limits, which are called `MAX_…` and `MIN_…`.
const VAGUE_LIMITS: [&str; 3] = ["LEAST_", "LONGEST_", "MOST_"];

pub(super) fn check(tree: &Tree, findings: &mut Findings) -> Result<()> {
    for file in tree.rust() {
        let path = file.to_string_lossy();
        let inside = path.strip_prefix("crates/").and_then(|inside| inside.split_once('/'));
        let Some((_, inside)) = inside else { continue };
        let code = code_of(&tree.text(file)?.unwrap_or_default());
        for wrong in wrongs(inside, &code) {
            findings.wrong(format!("{path}:{wrong}"));
        }
    }
    Ok(())
}

/// The findings in a file of a crate, as `line: what is wrong`.
fn wrongs(file: &str, code: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if file.starts_with("src/") {
        let told = |(line, name)| format!("{line}: `{name}` could mean anything: say what it is");
        wrong.extend(vague_names(code).into_iter().map(told));
    }
    if file.starts_with("src/") || file.starts_with("tests/") {
        let told =
            |(line, name)| format!("{line}: {name}, a tuple: give it a struct with named fields");
        wrong.extend(tuple_parameters(code).into_iter().map(told));
    }
    wrong
}

/// Types and constants with vague names: the line and the name.
fn vague_names(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in (1..).zip(code.lines()) {
        let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub"));
        let keyword = words.next().unwrap_or_default();
        let name = words.next().unwrap_or_default();
        let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
        let name = name.get(..end).unwrap_or_default();
        let is_vague = match keyword {
            "struct" | "enum" | "trait" | "type" | "union" => is_vague_type(name),
            "const" | "static" => is_vague_constant(name),
            _ => false,
        };
        if is_vague {
            found.push((number, name.to_owned()));
        }
    }
    found
}

fn is_vague_constant(name: &str) -> bool {
    VAGUE_CONSTANTS.contains(&name) || VAGUE_LIMITS.iter().any(|word| name.starts_with(word))
}

fn is_vague_type(name: &str) -> bool {
    VAGUE_TYPES.contains(&name)
        || VAGUE_BEGINNINGS.iter().any(|word| name.starts_with(word))
        || VAGUE_ENDS.iter().any(|word| name.ends_with(word))
}

/// Parameters of functions that are tuples: the line of the function, and its name with the parameter.
fn tuple_parameters(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        let (before, rest) = code.split_at(at);
        if before.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let Some(rest) = rest.strip_prefix("fn ") else { continue };
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (name, rest) = rest.split_at(end);
        let rest = if rest.starts_with('<') { after_bracket(rest) } else { rest };
        if name.is_empty() || !rest.starts_with('(') {
            continue;
        }
        let length = rest.len() - after_bracket(rest).len();
        let parameters = rest.get(1..length.saturating_sub(1)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        for parameter in split_at_commas(parameters).into_iter().filter(|one| is_tuple(one)) {
            let parameter = parameter.split_whitespace().collect::<Vec<_>>().join(" ");
            found.push((line, format!("`{name}` has the parameter `{parameter}`")));
        }
    }
    found
}

/// True for `(a, b): Pair` and `pair: (A, B)`; not for `()` or `&(dyn A + B)`.
fn is_tuple(parameter: &str) -> bool {
    let parameter = parameter.trim();
    let type_at = parameter.find(": ").map_or(parameter.len(), |at| at + 2);
    let named = parameter.get(type_at..).unwrap_or_default();
    let named = named.trim_start_matches('&').trim_start_matches("mut ");
    [parameter, named].iter().any(|one| {
        let length = one.len() - after_bracket(one).len();
        let inside = one.get(1..length.saturating_sub(1)).unwrap_or_default();
        one.starts_with('(') && split_at_commas(inside).len() > 1
    })
}

/// The parts between commas that stand in no bracket.
fn split_at_commas(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut last, mut parts) = (0_i32, 0, ' ', Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '>' if last != '-' && last != '=' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            _ => {}
        }
        last = c;
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// The text after the bracket that it begins with; the whole text if it begins with none.
fn after_bracket(text: &str) -> &str {
    let (mut depth, mut last) = (0_i32, ' ');
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '>' if last != '-' && last != '=' => depth -= 1,
            _ => {}
        }
        last = c;
        if depth == 0 {
            return text.get(at + usize::from(at > 0)..).unwrap_or_default();
        }
    }
    ""
}

/// A file without its comments and the contents of its strings; lines stay where they are.
fn code_of(text: &str) -> String {
    let text = without_strings(text);
    let code = |line: &str| line.split("//").next().unwrap_or_default().to_owned();
    text.split('\n').map(code).collect::<Vec<_>>().join("\n")
}

/// A file without the contents of its strings; lines stay where they are.
pub(super) fn without_strings(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            let (comment, after) = rest.split_at(rest.find('\n').unwrap_or(rest.len()));
            code.push_str(comment);
            rest = after;
            continue;
        } else if let Some(raw) = raw_string(rest).filter(|_| !code.ends_with(is_of_name)) {
            raw
        } else if first == '"' {
            string(rest)
        } else if rest.starts_with("'\"'") || rest.starts_with("'('") || rest.starts_with("')'") {
            3
        } else {
            code.push(first);
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
            continue;
        };
        let (inside, after) = rest.split_at(skipped);
        code.extend(inside.chars().filter(|c| *c == '\n'));
        rest = after;
    }
    code
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of the raw string that a text begins with.
fn raw_string(text: &str) -> Option<usize> {
    let hashes = text.strip_prefix('r')?;
    let count = hashes.len() - hashes.trim_start_matches('#').len();
    let inside = hashes.get(count..)?.strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(count));
    let end = inside.find(&close).unwrap_or(inside.len());
    Some((1 + count + 1 + end + close.len()).min(text.len()))
}

/// The length of the string that a text begins with.
fn string(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vague_names_of_types_and_constants_are_found() {
        let code = "pub struct Found;\nenum Wish<T> { Found(T) }\npub(crate) struct WhichCrew {}\n\
                    struct CrewWish;\npub struct FoundTasks;\nconst PATIENCE: u8 = 1;\n\
                    pub const READ_TIMEOUT: u8 = 2;\nlet found = Found;\n";
        let names: Vec<String> = vague_names(code).into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, ["Found", "Wish", "WhichCrew", "CrewWish", "PATIENCE"]);
        assert_eq!(vague_names("\n\nstruct Told {\n")[0].0, 3);
    }

    #[test]
    fn tuples_in_signatures_are_found_and_nothing_else() {
        for (code, count) in [
            ("fn f(a: u8, b: (u8, u8)) {}", 1),
            ("fn f((a, b): (u8, u8), (c, d): Pair) {}", 2),
            (
                "pub(crate) async fn f<T: Into<(u8, u8)>>(\n    &mut self,\n    (a, b): (T, T),\n) {}",
                1,
            ),
            ("fn f(a: &(u8, u8)) {}", 1),
            ("fn f(a: &(dyn A + B), b: ()) {}", 0),
            ("fn f(each: impl Fn(u8, (u8, u8)) -> (u8, u8)) -> (u8, u8) {}", 0),
            ("fn f(list: &[(u8, u8)], map: Vec<(u8, u8)>) {}", 0),
            ("let f = |(a, b): (u8, u8)| a;", 0),
            ("fn f(Args { a, b }: Args) {}", 0),
            ("type F = fn(u8, u8);", 0),
        ] {
            assert_eq!(tuple_parameters(code).len(), count, "{code}");
        }
        let found = tuple_parameters("\nfn two(\n    (a, b): Pair,\n) {}");
        assert_eq!(found, [(2, "`two` has the parameter `(a, b): Pair`".to_owned())]);
    }

    #[test]
    fn comments_and_strings_are_no_code() {
        let text = "// fn f((a, b): P)\nlet x = \"fn g((a, b): P) \\\" {\";\nlet y = r#\"fn h((a, b): P)\"#;\n";
        let code = code_of(text);
        assert_eq!(tuple_parameters(&code), []);
        assert_eq!(code.lines().count(), 3);
    }

    #[test]
    fn tests_may_have_vague_names_and_no_tuple_parameters() {
        let code = "struct Found;\nfn f((a, b): Pair) {}\n";
        for (file, count) in
            [("src/lib.rs", 2), ("src/a/tests.rs", 2), ("tests/it/a.rs", 1), ("build.rs", 0)]
        {
            assert_eq!(wrongs(file, code).len(), count, "{file}");
        }
    }
}
