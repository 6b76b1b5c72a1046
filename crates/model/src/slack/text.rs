//! Between Slack's writing and everybody else's.

/// Plain text of a message, without Slack's markup and without our own mention.
pub fn plain(text: &str, me: &str) -> String {
    let (mut plain, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('<') {
        unescape(before, &mut plain);
        let Some((mark, behind)) = after.split_once('>') else {
            plain.push('<');
            rest = after;
            continue;
        };
        plain.push_str(&meant(mark, me));
        rest = behind;
    }
    unescape(rest, &mut plain);
    plain.trim().to_owned()
}

/// Plain text of one `<…>` mark: a user, a channel, a broadcast or a link.
fn meant(mark: &str, me: &str) -> String {
    let (what, label) = mark.split_once('|').map_or((mark, None), |(a, b)| (a, Some(b)));
    if let Some(user) = what.strip_prefix('@') {
        return if user == me { String::new() } else { format!("@{}", label.unwrap_or(user)) };
    }
    if let Some(channel) = what.strip_prefix('#') {
        return format!("#{}", label.unwrap_or(channel));
    }
    if let Some(all) = what.strip_prefix('!') {
        let name = all.split_once('^').map_or(all, |(name, _)| name);
        return label.map_or_else(|| format!("@{name}"), str::to_owned);
    }
    let mut link = String::new();
    unescape(what, &mut link);
    match label.filter(|label| *label != what && !what.ends_with(label)) {
        Some(label) => format!("{label} ({link})"),
        None => link,
    }
}

fn unescape(text: &str, into: &mut String) {
    into.push_str(&text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"));
}

/// Escapes Slack's control characters.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// An agent's Markdown as Slack writes it. Nothing in it notifies users: everything that could is escaped.
pub fn mrkdwn(markdown: &str) -> String {
    let mut fenced = false;
    let mut lines = Vec::new();
    for line in markdown.lines() {
        if line.trim_start().starts_with("```") {
            // What language it is would stand there as code.
            let whole = line.trim_start().trim_start_matches('`').contains("```");
            if whole {
                lines.push(escape(line));
            } else {
                fenced = !fenced;
                lines.push("```".to_owned());
            }
        } else if fenced {
            lines.push(escape(line));
        } else {
            lines.push(prose(line));
        }
    }
    if fenced {
        lines.push("```".to_owned());
    }
    lines.join("\n").trim().to_owned()
}

/// A line outside of code.
fn prose(line: &str) -> String {
    let text = line.trim_start();
    let indent: String = line.chars().take_while(|c| c.is_whitespace()).collect();
    let heading = text.trim_start_matches('#');
    let level = text.len() - heading.len();
    if (1..=6).contains(&level) && heading.starts_with(' ') {
        return format!("*{}*", escape(heading.trim()).replace("**", "").replace('*', ""));
    }
    if let Some(item) = text.strip_prefix("- ").or_else(|| text.strip_prefix("* ")) {
        return format!("{indent}• {}", spans(item));
    }
    format!("{indent}{}", spans(text))
}

/// Bold, struck out and links, outside of `code`.
fn spans(text: &str) -> String {
    let mut pieces: Vec<String> = text.split('`').map(escape).collect();
    let last = pieces.len() - 1;
    for (at, piece) in pieces.iter_mut().enumerate() {
        // Every second piece is code, but for one that nobody closes.
        if at % 2 == 0 || at == last {
            *piece = links(&paired(&paired(piece, "**", "*"), "~~", "~"));
        }
    }
    pieces.join("`")
}

fn paired(text: &str, mark: &str, by: &str) -> String {
    if text.matches(mark).count().is_multiple_of(2) {
        text.replace(mark, by)
    } else {
        text.to_owned()
    }
}

/// `[label](address)` becomes `label (address)`: Slack makes a link of the address by itself.
fn links(text: &str) -> String {
    let (mut found, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('[') {
        found.push_str(before);
        let link = after.split_once("](").and_then(|(label, more)| {
            let (address, behind) = more.split_once(')')?;
            let fits = address.starts_with("http") && !label.contains('[');
            fits.then(|| (format!("{label} ({address})"), behind))
        });
        if let Some((link, behind)) = link {
            found.push_str(&link);
            rest = behind;
        } else {
            found.push('[');
            rest = after;
        }
    }
    found.push_str(rest);
    found
}
