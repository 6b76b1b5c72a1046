//! Byte positions of keys, values and comments in a YAML text.

use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, Span, StrInput, StructureStyle};

/// A text as its parser sees it.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// Root value, if any
    pub(super) root: Option<Node>,
    /// Its comments, without their line breaks
    pub(super) comments: Vec<Range<usize>>,
}

/// A value, and where it stands.
#[derive(Debug)]
pub(super) struct Node {
    /// Where it begins; a list of lines begins somewhere on its first line
    pub(super) start: usize,
    /// Where its last visible byte has ended
    pub(super) end: usize,
    /// Kind
    pub(super) shape: Shape,
    /// True if it has an anchor or a tag
    pub(super) marked: bool,
}

/// Shape of a value.
#[derive(Debug)]
pub(super) enum Shape {
    /// Nothing stands there, which means null
    Nothing,
    /// A word, a number, a text in quotes
    Scalar {
        /// Without quotes
        plain: bool,
    },
    /// A text on lines of its own, after `|` or `>`
    Lines,
    /// A reference to what stands elsewhere
    Alias,
    /// Keys and values
    Map {
        /// In braces
        flow: bool,
        /// Entries
        entries: Vec<Entry>,
    },
    /// Values
    List {
        /// In brackets
        flow: bool,
        /// Entries
        items: Vec<Node>,
    },
}

/// A key and its value.
#[derive(Debug)]
pub(super) struct Entry {
    /// The key
    pub(super) key: Node,
    /// Its text; a key that is no text has none
    pub(super) name: Option<String>,
    /// The value
    pub(super) value: Node,
    /// Behind the colon; none for a key that stands alone or after a `?`
    pub(super) after_colon: Option<usize>,
}

impl Entry {
    /// Where it ends.
    pub(super) fn end(&self) -> usize {
        match self.value.shape {
            Shape::Nothing => self.after_colon.unwrap_or(self.key.end),
            _ => self.value.end,
        }
    }
}

impl Tree {
    /// Reads a text, which must be one that the reader of YAML takes.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut builder =
            Builder { text, events: Parser::new_from_str(text), comments: Vec::new() };
        let root = builder.documents()?.pop();
        Some(Self { root, comments: builder.comments })
    }

    /// The first comment in a part of the text.
    pub(super) fn comment_in(&self, part: &Range<usize>) -> Option<usize> {
        self.comments.iter().map(|at| at.start).find(|at| part.contains(at))
    }
}

struct Builder<'a> {
    text: &'a str,
    events: Parser<'a, StrInput<'a>>,
    comments: Vec<Range<usize>>,
}

impl<'a> Builder<'a> {
    /// Documents; our YAML reader accepts one, which may be empty.
    fn documents(&mut self) -> Option<Vec<Node>> {
        let mut documents = Vec::new();
        loop {
            match self.next()? {
                (Event::StreamEnd, _) => return Some(documents),
                (Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd, _) => {}
                (event, span) => documents.push(self.node(&event, span)?),
            }
        }
    }

    /// The next event that is no comment.
    fn next(&mut self) -> Option<(Event<'a>, Span)> {
        loop {
            let (event, span) = self.events.next()?.ok()?;
            match event {
                Event::Comment(..) => self.comments.push(span.byte_range()?),
                other => return Some((other, span)),
            }
        }
    }

    fn node(&mut self, event: &Event<'a>, span: Span) -> Option<Node> {
        let Range { start, end } = span.byte_range()?;
        let (marked, shape, end) = match event {
            Event::Alias(_) => (false, Shape::Alias, end),
            Event::Scalar(_, style, anchor, tag) => {
                let shape = match style {
                    ScalarStyle::Literal | ScalarStyle::Folded => Shape::Lines,
                    ScalarStyle::Plain if start == end => Shape::Nothing,
                    style => Shape::Scalar { plain: *style == ScalarStyle::Plain },
                };
                let text = self.text.get(start..end)?;
                (*anchor != 0 || tag.is_some(), shape, start + text.trim_end().len())
            }
            Event::MappingStart(style, anchor, tag) => {
                let flow = *style == StructureStyle::Flow;
                let (entries, closed) = self.entries()?;
                let end = if flow { closed } else { entries.last().map_or(start, Entry::end) };
                (*anchor != 0 || tag.is_some(), Shape::Map { flow, entries }, end)
            }
            Event::SequenceStart(style, anchor, tag) => {
                let flow = *style == StructureStyle::Flow;
                let (items, closed) = self.items()?;
                let end = if flow { closed } else { items.last().map_or(start, |item| item.end) };
                (*anchor != 0 || tag.is_some(), Shape::List { flow, items }, end)
            }
            _ => return None,
        };
        Some(Node { start, end, shape, marked })
    }

    /// The entries of a map, and where it is closed.
    fn entries(&mut self) -> Option<(Vec<Entry>, usize)> {
        let mut entries = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::MappingEnd) {
                return Some((entries, span.byte_range()?.end));
            }
            let name = event.scalar().map(|(text, _)| text.to_owned());
            let key = self.node(&event, span)?;
            let (event, span) = self.next()?;
            let value = self.node(&event, span)?;
            let rest = self.text.get(key.end..)?;
            let spaces = rest.len() - rest.trim_start_matches([' ', '\t']).len();
            let colon = rest.get(spaces..)?.starts_with(':');
            let after_colon = colon.then_some(key.end + spaces + 1);
            entries.push(Entry { key, name, value, after_colon });
        }
    }

    /// The items of a list, and where it is closed.
    fn items(&mut self) -> Option<(Vec<Node>, usize)> {
        let mut items = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::SequenceEnd) {
                return Some((items, span.byte_range()?.end));
            }
            items.push(self.node(&event, span)?);
        }
    }
}
