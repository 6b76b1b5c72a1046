//! Patterns against a slow and simple way to say the same.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;

fn glob(pattern: &str) -> PathGlob {
    PathGlob::new(pattern).unwrap()
}

fn overlap(one: &str, two: &str) -> bool {
    let (one, two) = (glob(one), glob(two));
    let found = one.overlaps(&two, &mut WorkBudget::unbounded()).unwrap();
    assert_eq!(two.overlaps(&one, &mut WorkBudget::unbounded()).unwrap(), found, "{one} and {two}");
    found
}

#[test]
fn a_pattern_names_what_it_says() {
    let fits = [
        ("src/lib.rs", "src/lib.rs"),
        ("src/*.rs", "src/lib.rs"),
        ("src/*", "src/lib.rs"),
        ("src/**", "src/a/b/c.rs"),
        ("src/", "src/a/b/c.rs"),
        ("./src/lib.rs", "src/lib.rs"),
        ("**", "a/b"),
        ("**/*.rs", "lib.rs"),
        ("**/*.rs", "a/b/lib.rs"),
        ("a/**/z", "a/z"),
        ("a/**/z", "a/b/c/z"),
        ("a/**/z/**", "a/z/y"),
        ("?.rs", "ä.rs"),
        ("[a-c]x", "bx"),
        ("[!a-c]x", "dx"),
        ("[a-]x", "-x"),
        ("{src,tests}/**/*.{rs,toml}", "tests/a/b.toml"),
        ("{a,b/{c,d}}/e", "b/d/e"),
        ("foo{,.bak}", "foo"),
        ("{**/a,b}", "x/y/a"),
        ("{a/**,b}", "a/x/y"),
    ];
    for (pattern, path) in fits {
        assert!(glob(pattern).matches(path), "{pattern} and {path}");
    }
    let does_not = [
        ("src/*.rs", "src/a/lib.rs"),
        ("src/*", "src/a/lib.rs"),
        ("src/**", "src"),
        ("src/**", "srcs/a"),
        ("*.rs", "a/lib.rs"),
        ("a/**/z", "a/bz"),
        ("[!a-c]", "/"),
        ("{src,tests}/*", "docs/a"),
        ("Src/lib.rs", "src/lib.rs"),
        ("**", ""),
        ("a?b", "a/b"),
    ];
    for (pattern, path) in does_not {
        assert!(!glob(pattern).matches(path), "{pattern} and {path}");
    }
}

#[test]
fn a_name_at_the_end_stands_for_a_folder_too() {
    assert!(glob("src").matches("src/a/b.rs"));
    assert!(glob("{src,tests}").matches("tests/a.rs"));
    assert!(!glob("src").matches("srcs/a.rs"));
    assert!(!glob("*").matches("src/a.rs"), "a star does not leave its part");
    assert!(overlap("src", "src/lib.rs"));
}

#[test]
fn names_with_brackets_and_braces_are_names() {
    assert!(glob("app/[id]/page.tsx").matches("app/[id]/page.tsx"));
    assert!(glob("app/[[...slug]]/**").matches("app/[[...slug]]/page.tsx"));
    assert!(glob("{{name}}/main.py").matches("{{name}}/main.py"));
    assert!(glob(r"a\*b\[\]\{\},").matches("a*b[]{},"));
    assert!(!glob(r"a\*b").matches("axb"));
    assert!(glob(r"[\]x]").matches("]"));
    let odd = "app/[id]/*?{a,b}\\";
    assert!(PathGlob::of_file(odd).unwrap().matches(odd));
    assert!(!PathGlob::of_file(odd).unwrap().matches("app/i/xya\\"));
}

#[test]
fn what_is_no_pattern_is_refused_with_the_reason() {
    let refused = |pattern: &str| PathGlob::new(pattern).unwrap_err().to_string();
    for (pattern, says) in [
        ("", "must not be empty"),
        ("  ", "must not be empty"),
        ("./", "must not be empty"),
        ("/etc/passwd", "is absolute"),
        ("/", "is absolute"),
        ("a/../b", "`..`"),
        ("..", "`..`"),
        ("a//b", "an empty part"),
        ("a/./b", "`.`"),
        ("a\nb", "U+000A"),
        ("src/{a,b", "`{` is not closed; write `\\{`"),
        ("src/[ab", "`[` is not closed"),
        ("[]", "`[]` is not a character class"),
        ("[z-a]", "is not a character class"),
        ("[a/b]", "is not a character class"),
        ("src\\lib.rs", "folders are separated by `/`"),
        ("a\\", "folders are separated by `/`"),
        ("src/**.rs", "`**` must stand alone"),
        ("a**", "`**` must stand alone"),
        ("{a,**}/b", "`**` must stand alone"),
        ("x{**,b}", "`**` must stand alone"),
        ("{,}", "`{,}` is not a valid file name"),
    ] {
        assert!(refused(pattern).contains(says), "{pattern}: {}", refused(pattern));
    }
    assert_eq!(refused(&"ä".repeat(501)), "is 501 characters long; the limit is 500");
    assert!(PathGlob::new(&"ä".repeat(500)).is_ok());
    assert!(PathGlob::of_file("../x").is_err() && PathGlob::of_file("").is_err());
}

#[test]
fn patterns_overlap_where_a_file_can_have_both() {
    for (one, two) in [
        ("src/*.rs", "src/lib.*"),
        ("**/*.rs", "src/**"),
        ("a*b", "*ab"),
        ("*a/b", "x*/?"),
        ("[a-m]x", "[!a-l]x"),
        ("{a,b}/c", "b/*"),
        ("**/z", "a/**"),
        ("????", "[ab]"),
    ] {
        assert!(overlap(one, two), "{one} and {two}");
    }
    for (one, two) in [
        ("src/*.rs", "src/*.toml"),
        ("src/*", "src/a/b"),
        ("src/**", "tests/**"),
        ("[a-m]x", "[!a-m]x"),
        ("{a,b}/c", "{c,d}/c"),
        ("a*b", "a*c"),
        ("**/x/*", "**/y/?"),
        ("?", "??"),
    ] {
        assert!(!overlap(one, two), "{one} and {two}");
    }
}

#[test]
fn the_worst_patterns_are_compared_in_bounded_work() {
    let stars = "*a".repeat(250);
    let braces = "{a,b}".repeat(100);
    let nested = format!("{}a{}", "{a,".repeat(120), "}".repeat(120));
    let long = format!("*{}", "a".repeat(498));
    for one in [&stars, &braces, &nested, &long] {
        for two in [&stars, &braces, &nested, &long] {
            // A pattern has at most some four places a character, and a pair two states.
            let mut effort = WorkBudget::steps(2 * 2000 * 2000);
            glob(one).overlaps(&glob(two), &mut effort).unwrap();
        }
    }
    let mut little = WorkBudget::steps(100);
    let error = glob(&stars).overlaps(&glob(&format!("{}b", "*a".repeat(249))), &mut little);
    assert_eq!(error.unwrap_err(), WorkLimitExceeded);
}

/// A pattern whose braces are written out.
type Plain = Vec<String>;

/// Placeholder for `**`: two adjacent stars can come from two choices and mean one star.
const DEEP: &str = "\u{1}";

/// All that a pattern stands for: a list of choices, one after the other.
fn written_out(choices: &[Vec<String>]) -> Plain {
    choices.iter().fold(vec![String::new()], |done, ways| {
        done.iter().flat_map(|head| ways.iter().map(move |way| format!("{head}{way}"))).collect()
    })
}

fn written(choices: &[Vec<String>]) -> String {
    let one = |ways: &Vec<String>| match &ways[..] {
        [way] => way.replace(DEEP, "**"),
        ways => format!("{{{}}}", ways.join(",")),
    };
    choices.iter().map(one).collect()
}

fn slow_part(pattern: &[u8], name: &[u8]) -> bool {
    let Some((first, rest)) = pattern.split_first() else { return name.is_empty() };
    let one = |fits: &dyn Fn(u8) -> bool, rest: &[u8]| {
        name.split_first().is_some_and(|(n, tail)| fits(*n) && slow_part(rest, tail))
    };
    match first {
        b'*' => (0..=name.len()).any(|skip| slow_part(rest, &name[skip..])),
        b'?' => one(&|_| true, rest),
        b'[' => {
            let end = rest.iter().position(|c| *c == b']').unwrap();
            let (inner, rest) = (&rest[..end], &rest[end + 1..]);
            let reads = &pattern[..end + 2];
            let class = |n| match inner.split_first() {
                Some((b'!', inner)) => !inner.contains(&n),
                _ => inner.contains(&n),
            };
            one(&class, rest) || name.strip_prefix(reads).is_some_and(|tail| slow_part(rest, tail))
        }
        c => one(&|n| n == *c, rest),
    }
}

fn slow_parts(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], []) | ([DEEP], [_, ..]) => true,
        ([DEEP, rest @ ..], path) if !rest.is_empty() => {
            (0..=path.len()).any(|skip| slow_parts(rest, &path[skip..]))
        }
        ([last], [name, below @ ..]) => {
            slow_part(last.as_bytes(), name.as_bytes())
                && (below.is_empty() || !last.contains(['*', '?']))
        }
        ([part, rest @ ..], [name, below @ ..]) => {
            slow_part(part.as_bytes(), name.as_bytes()) && slow_parts(rest, below)
        }
        _ => false,
    }
}

fn slow(plain: &Plain, path: &str) -> bool {
    let path: Vec<&str> = path.split('/').collect();
    if path.contains(&"") {
        return false;
    }
    plain.iter().any(|pattern| {
        let parts: Vec<&str> = pattern.split('/').collect();
        // The empty part of a choice of nothing fits no name.
        !parts.contains(&"") && slow_parts(&parts, &path)
    })
}

/// A part of a pattern: choices, one after the other.
fn part(tokens: &'static str, most: usize) -> impl Strategy<Value = Vec<Vec<String>>> {
    let token = proptest::sample::select(tokens.split(' ').map(str::to_owned).collect::<Vec<_>>());
    let plain = token.clone().prop_map(|token| vec![token]);
    let either = prop::collection::vec(token, 2..=3);
    prop::collection::vec(prop_oneof![6 => plain, 1 => either], 1..=most)
}

/// A pattern as choices. The last part is all plain or has no braces, so that what is said of plain
/// names at the end can be said of each choice.
fn pattern(
    tokens: &'static str,
    most: usize,
    parts: usize,
) -> impl Strategy<Value = Vec<Vec<String>>> {
    let deep = Just(vec![vec![DEEP.to_owned()]]);
    let parts = prop::collection::vec(prop_oneof![3 => part(tokens, most), 1 => deep], 1..=parts);
    let whole = parts.prop_map(|parts| {
        let mut whole: Vec<Vec<String>> = Vec::new();
        for part in parts {
            if !whole.is_empty() {
                whole.push(vec!["/".to_owned()]);
            }
            whole.extend(part);
        }
        // Two stars beside each other would be something else.
        let mut previous = String::new();
        whole.retain(|ways| {
            let twice = ways.iter().any(|way| way == "*") && previous == "*";
            ways.last().unwrap_or(&String::new()).clone_into(&mut previous);
            !twice
        });
        whole
    });
    whole.prop_filter("the rule for its end differs between choices", |whole| {
        is_simple_at_its_end(whole)
    })
}

fn is_simple_at_its_end(choices: &[Vec<String>]) -> bool {
    let last = choices.iter().rev().take_while(|ways| **ways != ["/"]);
    let wild = |way: &String| way.contains(['*', '?', '\u{1}']);
    last.clone().all(|ways| ways.len() == 1)
        || last.clone().all(|ways| !ways.iter().any(wild))
        || last.clone().any(|ways| ways.iter().all(wild))
}

/// Every path of up to eight characters of three kinds.
static PATHS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut all = Vec::new();
    let mut longest = vec![String::new()];
    for _ in 0..8 {
        longest = longest
            .iter()
            .flat_map(|path| ["a", "b", "/"].map(|c| format!("{path}{c}")))
            .filter(|path| !path.starts_with('/') && !path.contains("//"))
            .collect();
        all.extend(longest.iter().filter(|path| !path.ends_with('/')).cloned());
    }
    all
});

proptest! {
    #[test]
    fn it_agrees_with_the_slow_way(
        choices in pattern("a b ab * ? [ab] [!a]", 4, 4),
        paths in prop::collection::vec(r"(a|b|ab|/|\[ab\]|\[!a\]){1,8}", 10)
    ) {
        let text = written(&choices);
        if let Ok(glob) = PathGlob::new(&text) {
            let plain = written_out(&choices);
            for path in paths {
                prop_assert_eq!(glob.matches(&path), slow(&plain, &path), "{} and {}", text, path);
            }
        }
    }

    /// Patterns of up to five tokens that have a path in common have one of up to eight characters.
    #[test]
    fn overlap_is_a_path_in_common(
        one in pattern("a b * ?", 2, 2),
        two in pattern("a b * ?", 2, 2),
    ) {
        let (plain, other) = (written_out(&one), written_out(&two));
        let (one, two) = (written(&one), written(&two));
        if let (Ok(first), Ok(second)) = (PathGlob::new(&one), PathGlob::new(&two)) {
            let common = PATHS.iter().find(|path| slow(&plain, path) && slow(&other, path));
            let mut effort = WorkBudget::unbounded();
            let found = first.overlaps(&second, &mut effort).unwrap();
            prop_assert_eq!(found, common.is_some(), "{} and {}: {:?}", one, two, common);
        }
    }

    /// Larger ones, and classes: what is in common is never overlooked.
    #[test]
    fn no_common_path_is_overlooked(
        one in pattern("a b ab * ? [ab] [!a]", 4, 4),
        two in pattern("a b ab * ? [ab] [!a]", 4, 4),
        paths in prop::collection::vec("(a|b|ab|/){1,8}", 10)
    ) {
        let (one, two) = (PathGlob::new(&written(&one)), PathGlob::new(&written(&two)));
        if let (Ok(one), Ok(two)) = (one, two) {
            let common = paths.iter().find(|path| one.matches(path) && two.matches(path));
            let found = one.overlaps(&two, &mut WorkBudget::unbounded()).unwrap();
            prop_assert!(found || common.is_none(), "{} and {}: {:?}", one, two, common);
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in r"[ab/*?\[\]{},!^\\-]{0,40}") {
        if let Ok(glob) = PathGlob::new(&text) {
            prop_assert_eq!(PathGlob::new(glob.as_str()).unwrap(), glob);
        }
    }
}
