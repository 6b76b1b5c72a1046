//! Markdown as far as plans are read from it: headings, code, marks of what is done, and lines that name something.

/// A line as far as it matters here.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// Text without its line ending
    pub(crate) text: &'a str,
    /// Byte offset of its start
    pub(crate) from: usize,
    /// The heading that it is: its rank, and what it says
    pub(crate) heading: Option<(usize, &'a str)>,
    /// True inside a code block, and for its fences
    pub(crate) is_code: bool,
}

/// The lines of a text, in their order.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let (mut from, mut fence) = (0, None);
    text.split_inclusive('\n').map(move |whole| {
        let at = from;
        from += whole.len();
        let line =
            whole.strip_suffix('\n').map_or(whole, |line| line.strip_suffix('\r').unwrap_or(line));
        let is_code = is_inside(line, &mut fence);
        Line { text: line, from: at, heading: heading(line).filter(|_| !is_code), is_code }
    })
}

/// True if a line is code or a code fence. `fence` is the open fence of the lines before.
fn is_inside(line: &str, fence: &mut Option<(u8, usize)>) -> bool {
    let line = line.trim();
    let first = line.bytes().next().unwrap_or_default();
    let length = line.bytes().take_while(|byte| *byte == first).count();
    let is_fence = matches!(first, b'`' | b'~') && length >= 3;
    match *fence {
        None if is_fence => *fence = Some((first, length)),
        None => return false,
        Some((own, least)) => {
            if is_fence && first == own && length >= least && length == line.len() {
                *fence = None;
            }
        }
    }
    true
}

/// The rank and the words of a heading.
fn heading(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start_matches(' ');
    // What stands further in is code.
    if line.len() - text.len() > 3 {
        return None;
    }
    let rank = text.bytes().take_while(|byte| *byte == b'#').count();
    let says = text.get(rank..)?;
    if !(1..=6).contains(&rank) || !(says.is_empty() || says.starts_with([' ', '\t'])) {
        return None;
    }
    let says = says.trim();
    // Some close a heading as they opened it.
    let bare = says.trim_end_matches('#');
    Some((
        rank,
        if bare.is_empty() || bare.ends_with([' ', '\t']) { bare.trim_end() } else { says },
    ))
}

/// True if a heading marks its section as done. A mark in the middle may belong to its subject.
pub(crate) fn is_done(says: &str) -> bool {
    let folded = says.to_lowercase();
    let marked = |mark: &str| folded.starts_with(mark) || folded.ends_with(mark);
    says.contains('✅') || marked("[x]") || marked("(done)")
}

/// Value of a field line such as `Labels: a, b`, perhaps in a list or in bold.
pub(crate) fn field<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let line = line.trim().trim_start_matches(['-', '*', '+', '_', ' ']);
    let (message, rest) = line.split_at_checked(word.len())?;
    let rest = rest.trim_start_matches(['*', '_']).strip_prefix(':')?;
    message.eq_ignore_ascii_case(word).then(|| rest.trim_start_matches(['*', '_']).trim())
}
