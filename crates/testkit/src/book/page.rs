//! Reads a page: its blocks, and the comments that say how to take them.

use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};

/// A page, as far as it can be done.
#[derive(Debug)]
pub struct Page {
    /// Its path in the tree
    pub name: String,
    pub(super) items: Vec<PageItem>,
}

/// What a page has, in its order.
#[derive(Debug)]
pub(super) enum PageItem {
    Block(Block),
    /// Lines of shell that readers do not see
    Setup {
        line: usize,
        text: String,
    },
    /// An example in the page, and the variable that it stands for
    Stands {
        example: String,
        variable: String,
    },
    Needs(Vec<String>),
}

/// A fenced block.
#[derive(Debug)]
pub(super) struct Block {
    /// Where its fence is, counted from 1
    pub(super) line: usize,
    pub(super) language: String,
    pub(super) text: String,
    pub(super) notes: BlockNotes,
}

/// What the comments before a block say of it.
#[derive(Debug, Default)]
pub(super) struct BlockNotes {
    pub(super) place: Option<BlockUse>,
    pub(super) not_run: Option<String>,
    pub(super) endless: Vec<String>,
    pub(super) on_screen: Vec<String>,
}

/// Where a block belongs.
#[derive(Debug)]
pub(super) enum BlockUse {
    File(String),
    AddTo(String),
}

impl Page {
    /// Reads the page at this path of the tree.
    pub fn read(root: &Path, name: &str) -> Result<Self> {
        let text = std::fs::read_to_string(root.join(name)).with_context(|| name.to_owned())?;
        Self::parse(name, &text)
    }

    /// Reads a page from its text.
    pub fn parse(name: &str, text: &str) -> Result<Self> {
        let mut items = Vec::new();
        let mut notes = BlockNotes::default();
        let mut lines = text.lines().zip(1..);
        while let Some((content, line)) = lines.next() {
            let bare = content.trim_start();
            if let Some(language) = bare.strip_prefix("```") {
                let indent = content.len() - bare.len();
                let language = language.trim().to_owned();
                let text = fenced(&mut lines, indent)
                    .with_context(|| format!("{name}:{line}: the block does not end"))?;
                items.push(PageItem::Block(Block {
                    line,
                    language,
                    text,
                    notes: std::mem::take(&mut notes),
                }));
            } else if let Some(begun) = bare.strip_prefix("<!--") {
                let comment = comment(begun, &mut lines)
                    .with_context(|| format!("{name}:{line}: the comment does not end"))?;
                take(&comment, line, &mut notes, &mut items)
                    .with_context(|| format!("{name}:{line}: `<!-- {} -->`", comment.trim()))?;
            }
        }
        let BlockNotes { place, not_run, endless, on_screen } = notes;
        ensure!(
            place.is_none() && not_run.is_none() && endless.is_empty() && on_screen.is_empty(),
            "{name}: the last comment speaks of a block, and none follows"
        );
        Ok(Self { name: name.to_owned(), items })
    }

    /// The blocks that say of themselves that they are not run: where, and why.
    pub fn not_run(&self) -> Vec<(usize, String)> {
        let blocks = self.blocks();
        blocks.filter_map(|block| Some((block.line, block.notes.not_run.clone()?))).collect()
    }

    /// The lines at which a picture begins: output and drawings that nothing is held against.
    pub fn pictures(&self) -> Vec<usize> {
        self.blocks().filter(|block| block.is_picture()).map(|block| block.line).collect()
    }

    fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.items.iter().filter_map(|item| match item {
            PageItem::Block(block) => Some(block),
            _ => None,
        })
    }
}

impl Block {
    pub(super) fn is_picture(&self) -> bool {
        self.notes.place.is_none() && matches!(self.language.as_str(), "text" | "http")
    }
}

/// The lines up to the closing fence, without the indentation that the fence has.
fn fenced<'a>(lines: &mut impl Iterator<Item = (&'a str, usize)>, indent: usize) -> Option<String> {
    let mut text = String::new();
    loop {
        let (line, _) = lines.next()?;
        if line.trim() == "```" {
            return Some(text);
        }
        let blank = line.len() - line.trim_start().len();
        text.push_str(line.get(indent.min(blank)..).unwrap_or_default());
        text.push('\n');
    }
}

/// A comment's text, up to its end.
fn comment<'a>(begun: &str, lines: &mut impl Iterator<Item = (&'a str, usize)>) -> Option<String> {
    let mut text = String::new();
    let mut line = begun;
    loop {
        if let Some((last, _)) = line.split_once("-->") {
            text.push_str(last);
            return Some(text);
        }
        text.push_str(line);
        text.push('\n');
        (line, _) = lines.next()?;
    }
}

/// Obeys a comment.
fn take(
    comment: &str,
    line: usize,
    notes: &mut BlockNotes,
    items: &mut Vec<PageItem>,
) -> Result<()> {
    let text = comment.trim();
    if let Some(shell) = text.strip_prefix("setup\n") {
        items.push(PageItem::Setup { line, text: shell.to_owned() });
    } else if let Some(path) = text.strip_prefix("file: ") {
        notes.place = Some(BlockUse::File(path.to_owned()));
    } else if let Some(path) = text.strip_prefix("add to: ") {
        notes.place = Some(BlockUse::AddTo(path.to_owned()));
    } else if let Some(reason) = text.strip_prefix("not run: ") {
        notes.not_run = Some(reason.to_owned());
    } else if let Some(command) = text.strip_prefix("endless: ") {
        notes.endless.push(command.to_owned());
    } else if let Some(command) = text.strip_prefix("on a screen: ") {
        notes.on_screen.push(command.to_owned());
    } else if let Some(what) = text.strip_prefix("needs: ") {
        items.push(PageItem::Needs(what.split(", ").map(str::to_owned).collect()));
    } else if let Some((example, variable)) = text.split_once(" is $") {
        items.push(PageItem::Stands { example: example.to_owned(), variable: variable.to_owned() });
    } else if text.starts_with("generated by ") || text == "end of what is generated" {
        // Another test compares what is between these with what makes it.
    } else {
        bail!("such a comment is not known; see the first lines of crates/testkit/src/book.rs");
    }
    Ok(())
}
