//! Parser of server-sent events. Pure: no connection, no clock.

use std::collections::VecDeque;
use std::time::Duration;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    /// Its `data:` lines, joined
    pub(super) data: String,
}

/// A reader of events, whatever the pieces they come in.
#[derive(Debug, Default)]
pub(super) struct Parser {
    /// A line that has not ended yet
    line: Vec<u8>,
    /// True if the last byte was a carriage return
    after_return: bool,
    /// True once a line was read; a byte order mark may only come before
    begun: bool,
    data: Option<String>,
    last_id: Option<String>,
    retry: Option<Duration>,
    ready: VecDeque<Event>,
}

impl Parser {
    /// Takes the next bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            match byte {
                b'\n' if self.after_return => self.after_return = false,
                b'\n' | b'\r' => {
                    self.after_return = byte == b'\r';
                    let line = std::mem::take(&mut self.line);
                    self.take_line(&String::from_utf8_lossy(&line));
                }
                _ => {
                    self.after_return = false;
                    self.line.push(byte);
                }
            }
        }
    }

    /// The next whole event.
    pub(super) fn pop(&mut self) -> Option<Event> {
        self.ready.pop_front()
    }

    /// The id of the last event that had one, to go on from.
    pub(super) fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// Reconnect delay requested by the server.
    pub(super) fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Bytes held of unfinished lines.
    pub(super) fn held(&self) -> usize {
        self.line.len() + self.data.as_ref().map_or(0, String::len)
    }

    fn take_line(&mut self, line: &str) {
        let line = if self.begun { line } else { line.strip_prefix('\u{feff}').unwrap_or(line) };
        self.begun = true;
        if line.is_empty() {
            // An event without data only carries its id.
            let data = self.data.take().filter(|data| !data.is_empty());
            self.ready.extend(data.map(|data| Event { data }));
            return;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            "id" if !value.contains('\0') => {
                self.last_id = Some(value.to_owned()).filter(|id| !id.is_empty());
            }
            "retry" => {
                self.retry = value.parse().ok().map(Duration::from_millis).or(self.retry);
            }
            // A comment keeps the connection alive; a name is of no use to us.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(parser: &mut Parser) -> Vec<String> {
        std::iter::from_fn(|| parser.pop()).map(|event| event.data).collect()
    }

    const STREAM: &str = "\u{feff}: hello\r\nid: 0\r\nretry: 3000\r\ndata:\r\n\r\nevent: message\n\
        id: 1/2\ndata: {\"a\":\ndata:  1}\n\nid\rdata:{\"b\":\"ü\"}\r\rdata: unfinished\n";

    #[test]
    fn lines_ids_comments_and_pauses_are_understood() {
        let mut parser = Parser::default();
        parser.push(STREAM.as_bytes());
        assert_eq!(read(&mut parser), ["{\"a\":\n 1}", "{\"b\":\"ü\"}"]);
        assert_eq!(parser.retry(), Some(Duration::from_secs(3)));
        assert_eq!(parser.last_id(), None, "an empty id forgets the last one");
        assert!(parser.held() > 0);
    }

    #[test]
    fn an_id_without_data_is_remembered() {
        let mut parser = Parser::default();
        parser.push(b"id: 7\nretry: soon\ndata: \n\n");
        assert_eq!(read(&mut parser), [""; 0]);
        assert_eq!((parser.last_id(), parser.retry()), (Some("7"), None));
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(cuts in proptest::collection::vec(0..STREAM.len(), 0..12)) {
            let mut cuts = cuts;
            cuts.extend([0, STREAM.len()]);
            cuts.sort_unstable();
            let mut parser = Parser::default();
            for pair in cuts.windows(2) {
                parser.push(&STREAM.as_bytes()[pair[0]..pair[1]]);
            }
            prop_assert_eq!(read(&mut parser), ["{\"a\":\n 1}", "{\"b\":\"ü\"}"]);
        }
    }
}
