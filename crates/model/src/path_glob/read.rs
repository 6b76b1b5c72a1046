//! From a pattern to its automaton.

use super::BadPathGlob;
use super::walk::{Automaton, Node, Set};

/// An element of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Slash,
    /// This character
    One(char),
    /// `?`
    Any,
    /// `*`
    Star,
    /// `**`
    Deep,
    /// `[…]`, and how it reads
    Class {
        set: Set,
        reads: String,
    },
    /// `{`
    Open,
    /// `,` within braces
    Comma,
    /// `}`
    Close,
}

/// Compiles a normalised pattern to its literal prefix and its automaton.
pub(super) fn read(text: &str) -> Result<(String, Automaton), BadPathGlob> {
    let tokens = tokens(text)?;
    for (at, token) in tokens.iter().enumerate() {
        if *token == Token::Deep && !(begins_part(&tokens, at) && ends_part(&tokens, at)) {
            return Err(BadPathGlob::Deep);
        }
    }
    let plain = tokens.iter().map_while(|token| match token {
        Token::Slash => Some('/'),
        Token::One(c) => Some(*c),
        Token::Any
        | Token::Star
        | Token::Deep
        | Token::Class { .. }
        | Token::Open
        | Token::Comma
        | Token::Close => None,
    });
    let prefix = plain.collect();
    let mut builder = Builder { nodes: vec![Node::End] };
    let end = if names_its_last_part(&tokens) { builder.perhaps_below(0) } else { 0 };
    let start = builder.sequence(&tokens, end);
    Ok((prefix, Automaton::new(builder.nodes, start)))
}

fn tokens(text: &str) -> Result<Vec<Token>, BadPathGlob> {
    let mut tokens = Vec::new();
    // Where each open brace is, and whether it has a comma yet.
    let mut open: Vec<(usize, bool)> = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let token = match c {
            '/' => Token::Slash,
            '?' => Token::Any,
            '*' => {
                let mut stars = Token::Star;
                while rest.next_if_eq(&'*').is_some() {
                    stars = Token::Deep;
                }
                stars
            }
            '[' => class(&mut rest)?,
            '\\' => Token::One(escaped(rest.next())?),
            '{' => {
                open.push((tokens.len(), false));
                Token::Open
            }
            ',' => match open.last_mut() {
                Some((_, has_comma)) => {
                    *has_comma = true;
                    Token::Comma
                }
                None => Token::One(','),
            },
            '}' => match open.pop() {
                Some((_, true)) => Token::Close,
                // Without a choice they are characters, as to a shell.
                Some((at, false)) => {
                    if let Some(brace) = tokens.get_mut(at) {
                        *brace = Token::One('{');
                    }
                    Token::One('}')
                }
                None => Token::One('}'),
            },
            other => Token::One(other),
        };
        tokens.push(token);
    }
    if open.is_empty() { Ok(tokens) } else { Err(BadPathGlob::Open('{')) }
}

fn escaped(next: Option<char>) -> Result<char, BadPathGlob> {
    let special = |c: &char| matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | ',' | '\\');
    next.filter(special).ok_or(BadPathGlob::Escape)
}

/// Reads a class, whose bracket is open.
fn class(rest: &mut impl Iterator<Item = char>) -> Result<Token, BadPathGlob> {
    let mut reads = String::from("[");
    // Each character, and whether it was taken for itself.
    let mut inner: Vec<(char, bool)> = Vec::new();
    loop {
        let c = rest.next().ok_or(BadPathGlob::Open('['))?;
        if c == '\\' {
            let c = escaped(rest.next())?;
            reads.push(c);
            inner.push((c, true));
            continue;
        }
        reads.push(c);
        if c == ']' {
            break;
        }
        inner.push((c, false));
    }
    let negated = matches!(inner.first(), Some(('!' | '^', false)));
    let mut ranges = Vec::new();
    let mut left = inner.get(usize::from(negated)..).unwrap_or_default();
    while let Some((&(first, _), after)) = left.split_first() {
        let mut last = first;
        left = after;
        if let [('-', false), (end, _), after @ ..] = after {
            (last, left) = (*end, after);
        }
        if first == '/' || last == '/' || first > last {
            return Err(BadPathGlob::Class(reads));
        }
        ranges.push((u32::from(first), u32::from(last)));
    }
    if ranges.is_empty() {
        return Err(BadPathGlob::Class(reads));
    }
    let set = Set::of(ranges);
    Ok(Token::Class { set: if negated { set.others() } else { set }, reads })
}

/// True if a path segment begins at a token.
fn begins_part(tokens: &[Token], at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else { return true };
    match tokens.get(before) {
        Some(Token::Slash) | None => true,
        Some(Token::Open) => begins_part(tokens, before),
        Some(Token::Comma) => begins_part(tokens, opened(tokens, before)),
        Some(
            Token::One(_)
            | Token::Any
            | Token::Star
            | Token::Deep
            | Token::Class { .. }
            | Token::Close,
        ) => false,
    }
}

/// True if a token is followed by a slash or by the end of the pattern.
fn ends_part(tokens: &[Token], at: usize) -> bool {
    match tokens.get(at + 1) {
        Some(Token::Slash) | None => true,
        // The slash behind a brace belongs to every choice in it, and cannot vanish with this one.
        Some(Token::Comma | Token::Close) => closes_at_the_end(tokens, at + 1),
        Some(
            Token::One(_)
            | Token::Any
            | Token::Star
            | Token::Deep
            | Token::Class { .. }
            | Token::Open,
        ) => false,
    }
}

/// True if the braces around a token close at the end of the pattern.
fn closes_at_the_end(tokens: &[Token], at: usize) -> bool {
    let end = closed(tokens, at);
    match tokens.get(end + 1) {
        None => true,
        Some(Token::Comma | Token::Close) => closes_at_the_end(tokens, end + 1),
        Some(_) => false,
    }
}

/// Where the brace around a comma was opened.
fn opened(tokens: &[Token], at: usize) -> usize {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().take(at).rev() {
        match token {
            Token::Close => depth += 1,
            Token::Open if depth == 0 => return index,
            Token::Open => depth -= 1,
            Token::Slash
            | Token::One(_)
            | Token::Any
            | Token::Star
            | Token::Deep
            | Token::Class { .. }
            | Token::Comma => {}
        }
    }
    0
}

/// Where the brace around a token is closed; at the token itself, if it is that.
fn closed(tokens: &[Token], at: usize) -> usize {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(at) {
        match token {
            Token::Open => depth += 1,
            Token::Close if depth == 0 => return index,
            Token::Close => depth -= 1,
            Token::Slash
            | Token::One(_)
            | Token::Any
            | Token::Star
            | Token::Deep
            | Token::Class { .. }
            | Token::Comma => {}
        }
    }
    tokens.len()
}

/// True if the last segment is a name, which may be a folder's.
fn names_its_last_part(tokens: &[Token]) -> bool {
    let mut depth = 0_usize;
    for token in tokens.iter().rev() {
        match token {
            Token::Any | Token::Star | Token::Deep => return false,
            Token::Slash if depth == 0 => return true,
            Token::Close => depth += 1,
            Token::Open => depth = depth.saturating_sub(1),
            Token::Slash | Token::One(_) | Token::Class { .. } | Token::Comma => {}
        }
    }
    true
}

/// Builds an automaton from its end to its beginning.
struct Builder {
    nodes: Vec<Node>,
}

impl Builder {
    fn add(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn take(&mut self, set: Set, then: usize) -> usize {
        self.add(Node::Take { set, then })
    }

    /// A place whose way on is not known yet.
    fn place(&mut self) -> usize {
        self.add(Node::End)
    }

    fn set(&mut self, place: usize, node: Node) {
        if let Some(found) = self.nodes.get_mut(place) {
            *found = node;
        }
    }

    /// The beginning of a sequence that goes on at `then`.
    fn sequence(&mut self, tokens: &[Token], mut then: usize) -> usize {
        let mut left = tokens;
        while let Some((last, before)) = left.split_last() {
            left = before;
            then = match last {
                Token::Slash => match before.split_last() {
                    // The slash goes with the folders: there may be none.
                    Some((Token::Deep, before)) => {
                        left = before;
                        self.folders(then)
                    }
                    _ => self.take(Set::one('/'), then),
                },
                Token::One(c) => self.take(Set::one(*c), then),
                Token::Any => self.take(Set::name(), then),
                Token::Star => self.repeat(Set::name(), then),
                Token::Deep => self.repeat(Set::anything(), then),
                Token::Class { set, reads } => {
                    let one = self.take(set.clone(), then);
                    // Some give files such names, and mean them.
                    let itself =
                        reads.chars().rev().fold(then, |then, c| self.take(Set::one(c), then));
                    self.add(Node::Fork(one, itself))
                }
                Token::Close => {
                    let open = opened(before, before.len());
                    left = before.get(..open).unwrap_or_default();
                    self.choice(before.get(open + 1..).unwrap_or_default(), then)
                }
                // They stand within braces, which are taken out whole.
                Token::Open | Token::Comma => then,
            };
        }
        then
    }

    /// One of several sequences, between commas.
    fn choice(&mut self, tokens: &[Token], then: usize) -> usize {
        let (mut depth, mut from) = (0_usize, 0);
        let mut ways = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            match token {
                Token::Open => depth += 1,
                Token::Close => depth = depth.saturating_sub(1),
                Token::Comma if depth == 0 => {
                    ways.push(tokens.get(from..at).unwrap_or_default());
                    from = at + 1;
                }
                Token::Slash
                | Token::One(_)
                | Token::Any
                | Token::Star
                | Token::Deep
                | Token::Class { .. }
                | Token::Comma => {}
            }
        }
        let mut entry = self.sequence(tokens.get(from..).unwrap_or_default(), then);
        for way in ways {
            let other = self.sequence(way, then);
            entry = self.add(Node::Fork(entry, other));
        }
        entry
    }

    /// Any number of such characters.
    fn repeat(&mut self, set: Set, then: usize) -> usize {
        let entry = self.place();
        let again = self.take(set, entry);
        self.set(entry, Node::Fork(then, again));
        entry
    }

    /// Any number of folders, each with the slash behind it.
    fn folders(&mut self, then: usize) -> usize {
        let (entry, within) = (self.place(), self.place());
        let name = self.take(Set::name(), within);
        let slash = self.take(Set::one('/'), entry);
        self.set(within, Node::Fork(name, slash));
        self.set(entry, Node::Fork(then, name));
        entry
    }

    /// Perhaps something below what was named.
    fn perhaps_below(&mut self, then: usize) -> usize {
        let anything = self.repeat(Set::anything(), then);
        let below = self.take(Set::one('/'), anything);
        self.add(Node::Fork(then, below))
    }
}
