//! Parses JSON without changing its scalars: numbers and strings keep their bytes. Two bodies that
//! differ in the thirtieth digit of an identifier stay different. Only white space and the order of
//! keys are lost.

/// The maximum nesting depth. Deeper documents are compared as bytes.
const MAX_DEPTH: usize = 96;

/// A JSON value over the bytes of its document.
pub(crate) enum Node<'a> {
    /// A string, number, `true`, `false` or `null`, as written.
    Scalar(&'a [u8]),
    Array(Vec<Node<'a>>),
    /// Keys as written, with quotes, in their order. Duplicate keys are possible.
    Object(Vec<(&'a [u8], Node<'a>)>),
}

/// Parses a whole document; `None` if it is not JSON.
pub(crate) fn parse(bytes: &[u8]) -> Option<Node<'_>> {
    let mut parser = Parser { bytes, at: 0 };
    let node = parser.value(0)?;
    parser.space();
    (parser.at == bytes.len()).then_some(node)
}

impl<'a> Node<'a> {
    /// The document without white space and with sorted keys. Equal keys keep their order.
    pub(super) fn canonical(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Node::Scalar(text) => out.extend_from_slice(text),
            Node::Array(items) => {
                out.push(b'[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(b',');
                    }
                    item.write(out);
                }
                out.push(b']');
            }
            Node::Object(members) => {
                // The order of members has no meaning in JSON.
                let mut sorted: Vec<&(&[u8], Node<'_>)> = members.iter().collect();
                sorted.sort_by_key(|(key, _)| *key);
                out.push(b'{');
                for (at, (key, value)) in sorted.into_iter().enumerate() {
                    if at > 0 {
                        out.push(b',');
                    }
                    out.extend_from_slice(key);
                    out.push(b':');
                    value.write(out);
                }
                out.push(b'}');
            }
        }
    }

    /// Calls `see` with the path and the text of every scalar. Empty arrays and objects count as
    /// scalars.
    pub(super) fn each_leaf(&self, path: &mut String, see: &mut dyn FnMut(&str, &'a [u8])) {
        let length = path.len();
        match self {
            Node::Scalar(text) => see(path, text),
            Node::Array(items) if items.is_empty() => see(path, b"[]"),
            Node::Object(members) if members.is_empty() => see(path, b"{}"),
            Node::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    path.push_str(&format!("[{at}]"));
                    item.each_leaf(path, see);
                    path.truncate(length);
                }
            }
            Node::Object(members) => {
                for (key, value) in members {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(String::from_utf8_lossy(key).trim_matches('"'));
                    value.each_leaf(path, see);
                    path.truncate(length);
                }
            }
        }
    }
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Parser<'a> {
    fn value(&mut self, depth: usize) -> Option<Node<'a>> {
        // A body is a stranger's, so recursion has a limit.
        if depth > MAX_DEPTH {
            return None;
        }
        self.space();
        match self.peek()? {
            b'{' => self.object(depth),
            b'[' => self.array(depth),
            b'"' => self.string().map(Node::Scalar),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            _ => self.number(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Node<'a>> {
        self.at += 1;
        let mut members = Vec::new();
        self.space();
        if self.take(b'}') {
            return Some(Node::Object(members));
        }
        loop {
            self.space();
            let key = self.string()?;
            self.space();
            self.take(b':').then_some(())?;
            members.push((key, self.value(depth + 1)?));
            self.space();
            if self.take(b'}') {
                return Some(Node::Object(members));
            }
            self.take(b',').then_some(())?;
        }
    }

    fn array(&mut self, depth: usize) -> Option<Node<'a>> {
        self.at += 1;
        let mut items = Vec::new();
        self.space();
        if self.take(b']') {
            return Some(Node::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.space();
            if self.take(b']') {
                return Some(Node::Array(items));
            }
            self.take(b',').then_some(())?;
        }
    }

    /// A string with its quotes. Escapes are only checked as needed to find the end.
    fn string(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        self.take(b'"').then_some(())?;
        loop {
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Some(&self.bytes[start..self.at]);
                }
                b'\\' => {
                    self.at += 1;
                    self.peek()?;
                    self.at += 1;
                }
                0..0x20 => return None,
                _ => self.at += 1,
            }
        }
    }

    fn number(&mut self) -> Option<Node<'a>> {
        let start = self.at;
        self.take(b'-');
        self.digits()?;
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _ = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        Some(Node::Scalar(&self.bytes[start..self.at]))
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    fn word(&mut self, word: &'static [u8]) -> Option<Node<'a>> {
        let found = self.bytes[self.at..]
            .starts_with(word)
            .then(|| &self.bytes[self.at..self.at + word.len()])?;
        self.at += word.len();
        Some(Node::Scalar(found))
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let here = self.peek() == Some(byte);
        self.at += usize::from(here);
        here
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }
}
