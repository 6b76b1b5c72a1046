//! Rooms: the folders of a crate stand in an order, and a module uses only its own room and those below it. Modules
//! that use each other in a ring cannot be read one after the other, so rings stay small.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Result;

use crate::tidy::Findings;
use crate::tree::Tree;

/// Crates whose rooms stand in an order, each with its rooms from the lowest to the highest. Two that are joined by `+`
/// may use each other.
const ROOMS: &[(&str, &[&str])] = &[
    (
        "store",
        &[
            "core+ledger",
            "mail",
            "call",
            "tasks",
            "crew",
            "delivery",
            "automation",
            "notify",
            "views",
            "upkeep",
            "lib",
        ],
    ),
    (
        "engine",
        &[
            "core",
            "mail",
            "call",
            "tasks",
            "crew",
            "delivery",
            "automation",
            "tools",
            "notify",
            "views",
            "upkeep",
            "engine",
            "lib",
        ],
    ),
    (
        "adjutant",
        &[
            "environment",
            "logging",
            "runtime",
            "yaml",
            "remote_homes",
            "home",
            "client",
            "server_process",
            "bridge",
            "cli_error",
            "terminal",
            "init",
            "config",
            "crew",
            "serve",
            "cli",
            "app",
            "doctor",
            "backup",
            "scripted_agent",
            "commands",
            "demo",
            "run",
            "main",
        ],
    ),
];

/// Crates whose modules may form no ring larger than [`MAX_RING`], neither one by one nor as the children of a folder,
/// each taken with all that is in it.
const RINGED: &[&str] = &["model", "wire", "store", "host", "engine", "server", "adjutant"];

/// Modules that may use each other in a ring.
const MAX_RING: usize = 4;

/// Folders of the page, each with those it may import nothing from.
const PAGE: &[(&str, &[&str])] =
    &[("web/src/parts/", &["shell", "pages"]), ("web/src/api/", &["shell", "pages"])];

/// A module of a crate: the names from the crate's root to it.
pub(super) type Module = Vec<String>;

/// Modules, each with those that it uses.
pub(super) type Graph = BTreeMap<Module, BTreeSet<Module>>;

/// A file of a crate.
struct Source {
    file: String,
    module: Module,
    text: String,
}

/// A path that a module names: the line, and the names after `crate`.
#[derive(Debug, PartialEq, Eq)]
struct Use {
    line: usize,
    path: Vec<String>,
}

pub(super) fn check(tree: &Tree, findings: &mut Findings) -> Result<()> {
    let ordered = ROOMS.iter().map(|(name, _)| *name);
    let crates: BTreeSet<&str> = ordered.chain(RINGED.iter().copied()).collect();
    for name in crates {
        let sources = sources_of(tree, name)?;
        if let Some((_, rooms)) = ROOMS.iter().find(|(known, _)| *known == name) {
            for Source { file, module, text } in &sources {
                for wrong in upward(rooms, module, text) {
                    findings.wrong(format!("{file}:{wrong}"));
                }
            }
        }
        if RINGED.contains(&name) {
            let modules = sources.iter().map(|one| (one.module.clone(), one.text.as_str()));
            let modules = modules.collect();
            let mut rings = rings(&graph(&modules, ChildPaths::Ignored));
            let all = graph(&modules, ChildPaths::Read);
            for folder in folders(&all) {
                rings.extend(self::rings(&siblings(&all, &folder)));
            }
            for ring in rings {
                let names: Vec<String> = ring.iter().map(|module| module.join("::")).collect();
                findings.wrong(format!(
                    "crates/{name}: {} modules use each other in a ring, and {MAX_RING} are the most: {}",
                    names.len(),
                    names.join(", ")
                ));
            }
        }
    }
    check_page(tree, findings)
}

fn check_page(tree: &Tree, findings: &mut Findings) -> Result<()> {
    for file in &tree.files {
        let name = file.to_string_lossy();
        let Some((_, forbidden)) = PAGE.iter().find(|(folder, _)| name.starts_with(folder)) else {
            continue;
        };
        let text = tree.text(file)?.unwrap_or_default();
        for (line, imported) in imports(&text, forbidden) {
            findings.wrong(format!("{name}:{line}: it may not import from `{imported}`"));
        }
    }
    Ok(())
}

/// The modules of a crate, each with those that it uses.
pub(super) fn uses_of(tree: &Tree, name: &str) -> Result<Graph> {
    let sources = sources_of(tree, name)?;
    let modules = sources.iter().map(|one| (one.module.clone(), one.text.as_str()));
    Ok(graph(&modules.collect(), ChildPaths::Read))
}

/// The place of a module's room among the rooms of its crate, from the lowest; none in a crate without an order.
pub(super) fn place_of(name: &str, module: &[String]) -> Option<usize> {
    let (_, rooms) = ROOMS.iter().find(|(known, _)| *known == name)?;
    place_in(rooms, module.first()?)
}

/// The place of a room in an order of rooms.
fn place_in(rooms: &[&str], room: &str) -> Option<usize> {
    rooms.iter().position(|known| known.split('+').any(|known| known == room))
}

/// The product code of a crate.
fn sources_of(tree: &Tree, name: &str) -> Result<Vec<Source>> {
    let root = format!("crates/{name}/src/");
    let mut sources = Vec::new();
    for path in tree.rust() {
        let file = path.to_string_lossy().into_owned();
        let Some(inside) = file.strip_prefix(&root) else { continue };
        if inside.contains("tests") {
            continue;
        }
        let (module, text) = (module_of(Path::new(inside)), tree.text(path)?.unwrap_or_default());
        sources.push(Source { file, module, text });
    }
    Ok(sources)
}

/// The module that a file is, relative to `src`.
pub(super) fn module_of(file: &Path) -> Module {
    let whole = file.with_extension("");
    let mut names: Module = whole.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    if names.last().is_some_and(|name| name == "mod") {
        names.pop();
    }
    names
}

/// Uses of rooms that stand above a module's own, as `line: what is wrong`.
fn upward(rooms: &[&str], module: &[String], text: &str) -> Vec<String> {
    let place = |room: &str| place_in(rooms, room);
    let own = module.first().map(String::as_str).unwrap_or_default();
    let Some(from) = place(own) else {
        return vec![format!("1: room `{own}` has no place in `xtask/src/tidy/rooms.rs`")];
    };
    let mut wrong = Vec::new();
    for Use { line, path } in uses(module, text, &[]) {
        let Some(room) = path.first() else { continue };
        if place(room).is_some_and(|to| to > from) {
            let path = path.join("::");
            wrong.push(format!("{line}: `{own}` may not use `{path}`: `{room}` stands above it"));
        }
    }
    wrong
}

/// Every path into the crate that a module names outside of its tests. `children` are those of its own modules that it
/// names without `self::`.
fn uses(module: &[String], text: &str, children: &[&str]) -> Vec<Use> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let plain: Vec<&str> =
        code.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let plain = plain.join("\n");
    let mut found = Vec::new();
    let starts = ["crate", "super", "self"].iter().chain(children).map(|name| format!("{name}::"));
    for start in starts {
        for (at, _) in plain.match_indices(&start) {
            let before = plain.get(..at).unwrap_or_default();
            if before.ends_with(|c: char| c.is_alphanumeric() || "_:$".contains(c)) {
                continue;
            }
            let line = before.matches('\n').count() + 1;
            let mut paths = Vec::new();
            expand(plain.get(at..).unwrap_or_default(), &[], &mut paths);
            found.extend(paths.iter().map(|path| Use { line, path: absolute(module, path) }));
        }
    }
    found
}

/// Reads one path, which may branch in braces, and returns what follows it.
fn expand<'a>(text: &'a str, before: &[String], paths: &mut Vec<Vec<String>>) -> &'a str {
    let text = text.trim_start();
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let mut path = before.to_vec();
    if !name.is_empty() {
        path.push(name.to_owned());
    }
    let Some(branch) = rest.strip_prefix("::") else {
        paths.push(path);
        return rest;
    };
    let Some(mut inside) = branch.strip_prefix('{') else { return expand(branch, &path, paths) };
    loop {
        inside = inside.trim_start();
        if inside.is_empty() || inside.starts_with('}') {
            return inside.strip_prefix('}').unwrap_or_default();
        }
        let after = expand(inside, &path, paths);
        // An `as` says only how the module calls it.
        let next = after.find([',', '}']).unwrap_or(after.len());
        let (_, after) = after.split_at(next);
        inside = after.strip_prefix(',').unwrap_or(after);
    }
}

/// A path as the crate's root would write it.
fn absolute(module: &[String], path: &[String]) -> Vec<String> {
    let is_from_root = path.first().is_some_and(|name| name == "crate");
    let mut base = if is_from_root { Vec::new() } else { module.to_vec() };
    for name in path {
        match name.as_str() {
            "crate" | "self" => {}
            "super" => {
                base.pop();
            }
            _ => base.push(name.clone()),
        }
    }
    base
}

/// Whether paths that begin with the name of a child are read: with them a module and its children are easily a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChildPaths {
    Read,
    Ignored,
}

/// The modules, each with those that it uses.
fn graph(modules: &BTreeMap<Module, &str>, child_paths: ChildPaths) -> Graph {
    let known = |path: &[String]| {
        let lengths = (1..=path.len()).rev();
        lengths.filter_map(|length| path.get(..length)).find_map(|path| {
            let (module, _) = modules.get_key_value(path)?;
            Some(module)
        })
    };
    let mut graph = Graph::new();
    for (module, text) in modules {
        let is_child = |other: &&Module| {
            child_paths == ChildPaths::Read
                && other.split_last().is_some_and(|(_, parent)| parent == module.as_slice())
        };
        let children: Vec<&str> = modules
            .keys()
            .filter(is_child)
            .filter_map(|child| Some(child.last()?.as_str()))
            .collect();
        let used = uses(module, text, &children);
        let targets = used.iter().filter_map(|one| known(&one.path));
        graph.insert(module.clone(), targets.filter(|target| *target != module).cloned().collect());
    }
    graph
}

/// The folders of a crate that have modules, its root among them.
fn folders(graph: &Graph) -> BTreeSet<Module> {
    let above =
        |module: &Module| (0..module.len()).map(|length| module[..length].to_vec()).collect();
    graph.keys().flat_map(|module| -> Vec<Module> { above(module) }).collect()
}

/// The children of a folder, each with all that is in it, and those of them that they use.
fn siblings(graph: &Graph, folder: &[String]) -> Graph {
    let child = |module: &Module| {
        let is_inside = module.starts_with(folder);
        module.get(..=folder.len()).filter(|_| is_inside).map(<[String]>::to_vec)
    };
    let mut siblings = Graph::new();
    for (module, used) in graph {
        let Some(own) = child(module) else { continue };
        let others = used.iter().filter_map(child).filter(|other| *other != own);
        siblings.entry(own.clone()).or_default().extend(others);
    }
    siblings
}

/// Sets of more than [`MAX_RING`] modules that all use each other, directly or through others.
fn rings(direct: &Graph) -> BTreeSet<Vec<Module>> {
    let reached: BTreeMap<&Module, BTreeSet<&Module>> =
        direct.keys().map(|module| (module, reachable(direct, module))).collect();
    let ring_of = |module: &Module| -> Vec<Module> {
        let meets = |other: &&&Module| reached.get(**other).is_some_and(|all| all.contains(module));
        let all = reached.get(module).into_iter().flatten();
        all.filter(meets).map(|other| (*other).clone()).collect()
    };
    direct.keys().map(ring_of).filter(|ring| ring.len() > MAX_RING).collect()
}

/// Every module that one uses, directly or through others.
fn reachable<'a>(direct: &'a Graph, from: &'a Module) -> BTreeSet<&'a Module> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&Module> = vec![from];
    while let Some(module) = open.pop() {
        for target in direct.get(module).into_iter().flatten() {
            if found.insert(target) {
                open.push(target);
            }
        }
    }
    found
}

/// Imports from forbidden folders in a file of the page: the line and the folder.
fn imports<'a>(text: &str, forbidden: &[&'a str]) -> Vec<(usize, &'a str)> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let Some((_, named)) = line.split_once("from ").or_else(|| line.split_once("import("))
        else {
            continue;
        };
        let named = named.trim_start_matches(['"', '\'']);
        let path = named.split(['"', '\'']).next().unwrap_or_default();
        // Packages are named without a dot at the beginning.
        let is_ours = path.starts_with('.');
        let folder =
            forbidden.iter().find(|folder| is_ours && path.split('/').any(|name| name == **folder));
        found.extend(folder.map(|folder| (number + 1, *folder)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(name: &str) -> Module {
        name.split("::").map(str::to_owned).collect()
    }

    #[test]
    fn a_use_that_points_up_is_found_with_its_line() {
        let rooms = ["core", "call", "views"];
        let text = "//! See crate::views.\nuse crate::core::{a, b::{c, d}};\nuse crate::call::{x, y as z};\n";
        assert_eq!(upward(&rooms, &module("views::board"), text), Vec::<String>::new());
        let found = upward(&rooms, &module("core::deep"), text);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0], "3: `core` may not use `call::x`: `call` stands above it");
        assert_eq!(upward(&["core+deep"], &module("core::a"), "use crate::deep::b;"), [""; 0]);
        let inline = "fn f() {\n    super::super::call::go();\n}\n";
        assert!(upward(&rooms, &module("core::deep"), inline)[0].starts_with("2: "));
        assert!(upward(&rooms, &module("attic"), "")[0].contains("has no place"));
    }

    #[test]
    fn tests_may_use_every_room() {
        let text = "use crate::core::a;\n#[cfg(test)]\nmod tests {\n    use crate::views::b;\n}\n";
        assert_eq!(upward(&["core", "views"], &module("core::a"), text), Vec::<String>::new());
    }

    #[test]
    fn paths_are_read_as_the_root_would_write_them() {
        let paths = |text: &str| -> Vec<String> {
            uses(&module("a::b"), text, &["child"]).iter().map(|one| one.path.join("::")).collect()
        };
        assert_eq!(
            paths("use crate::x::{self, y, z::{p, q as r}};"),
            ["x", "x::y", "x::z::p", "x::z::q"]
        );
        assert_eq!(paths("use super::c;\nuse self::d::e;"), ["a::c", "a::b::d::e"]);
        assert_eq!(paths("child::f(a.child, other::child::g)"), ["a::b::child::f"]);
        assert_eq!(paths("pub(crate) fn f() -> store::x::Y {}"), Vec::<String>::new());
    }

    #[test]
    fn only_large_rings_are_found() {
        let ring = |count: usize| {
            let text = |at: usize| format!("use crate::m{};\n", (at + 1) % count);
            let texts: Vec<String> = (0..count).map(text).collect();
            let named = texts.iter().enumerate();
            let modules = named.map(|(at, text)| (module(&format!("m{at}")), text.as_str()));
            rings(&graph(&modules.collect(), ChildPaths::Ignored)).len()
        };
        assert_eq!(ring(MAX_RING), 0);
        assert_eq!(ring(MAX_RING + 1), 1);
    }

    /// Each child of `a` uses the next one in another of its files, so that no file is in a ring.
    #[test]
    fn a_ring_of_folders_is_found_though_no_file_is_in_it() {
        let ring = |count: usize| {
            let mut texts: Vec<(Module, String)> = Vec::new();
            for at in 0..count {
                let next = (at + 1) % count;
                texts.push((
                    module(&format!("a::m{at}")),
                    "pub(crate) use inner::Thing;".to_owned(),
                ));
                let inner = format!("fn f() {{\n    crate::a::m{next}::other::go();\n}}\n");
                texts.push((module(&format!("a::m{at}::inner")), inner));
                texts.push((module(&format!("a::m{at}::other")), String::new()));
            }
            let modules =
                texts.iter().map(|(module, text)| (module.clone(), text.as_str())).collect();
            let all = graph(&modules, ChildPaths::Read);
            assert_eq!(rings(&all).len(), 0);
            let folders = folders(&all);
            folders.iter().map(|folder| rings(&siblings(&all, folder)).len()).sum::<usize>()
        };
        assert_eq!(ring(MAX_RING), 0);
        assert_eq!(ring(MAX_RING + 1), 1);
    }

    #[test]
    fn a_module_that_names_its_child_uses_it() {
        let modules = BTreeMap::from([
            (module("a"), "use self::b::B;\nfn f() {\n    c::go();\n}\n"),
            (module("a::b"), "use super::c;\n"),
            (module("a::c"), ""),
        ]);
        let used = |paths| graph(&modules, paths)[&module("a")].len();
        assert_eq!((used(ChildPaths::Read), used(ChildPaths::Ignored)), (2, 1));
        let all = siblings(&graph(&modules, ChildPaths::Read), &module("a"));
        assert_eq!(all[&module("a::b")], BTreeSet::from([module("a::c")]));
    }

    #[test]
    fn the_page_imports_nothing_from_above() {
        let text = "import { a } from \"../api/get\";\nimport { b } from \"../shell/bar\";\nconst c = import('../../pages/x');\nimport { d } from 'colours/shell';\n";
        assert_eq!(imports(text, &["shell", "pages"]), [(2, "shell"), (3, "pages")]);
        assert_eq!(imports(text, &["attic"]), []);
    }
}
