//! Comma-separated values as pandas' tokenizer splits them.
//!
//! Quotes count only where a cell begins with one, and are doubled inside; what follows the closing quote belongs to the cell. Lines end in LF, CR or
//! both. A line of nothing but spaces and tabs is none.

/// A line that was read: the number of the line that it begins on, from 1, and its cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) number: usize,
    pub(crate) cells: Vec<String>,
}

/// All lines that hold something. A quote that is never closed takes in all that is left, and its line's number is the error.
pub(crate) fn read(text: &str) -> Result<Vec<Line>, usize> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut chars = text.chars().peekable();
    let (mut lines, mut number) = (Vec::new(), 1);
    while chars.peek().is_some() {
        let begins = number;
        let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
        // Whether the cell that is being read has not begun yet, and whether a quote is open.
        let (mut fresh, mut open) = (true, false);
        loop {
            let Some(c) = chars.next() else {
                if open {
                    return Err(begins);
                }
                break;
            };
            let is_end = matches!(c, '\n' | '\r');
            if is_end && !(c == '\r' && chars.peek() == Some(&'\n')) {
                number += 1;
            }
            match c {
                '"' if open && chars.peek() == Some(&'"') => {
                    chars.next();
                    cell.push('"');
                }
                '"' if open => open = false,
                _ if open => cell.push(c),
                '"' if fresh => (open, quoted) = (true, true),
                ',' => {
                    cells.push(std::mem::take(&mut cell));
                    fresh = true;
                    continue;
                }
                '\r' if chars.peek() == Some(&'\n') => continue,
                _ if is_end => break,
                _ => cell.push(c),
            }
            fresh = false;
        }
        if !cells.is_empty() || quoted || !cell.chars().all(|c| matches!(c, ' ' | '\t')) {
            cells.push(cell);
            lines.push(Line { number: begins, cells });
        }
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cells(text: &str) -> Vec<Vec<String>> {
        read(text).expect("closed quotes").into_iter().map(|line| line.cells).collect()
    }

    #[test]
    fn quotes_count_at_the_beginning_of_a_cell() {
        assert_eq!(cells("a,b\r\n\"x, \"\"y\"\"\nz\",2"), [["a", "b"], ["x, \"y\"\nz", "2"]]);
        assert_eq!(cells("5\" nails,\"a\"b"), [["5\" nails", "ab"]]);
        assert_eq!(cells("a,\n,b\n"), [["a", ""], ["", "b"]]);
        assert_eq!(cells("\u{feff}a\n\n \t\n\"\"\nb\rc"), [["a"], [""], ["b"], ["c"]]);
        assert_eq!(read("a\n\"b\nc"), Err(2));
    }

    #[test]
    fn lines_are_numbered_by_where_they_begin() {
        let numbers: Vec<usize> =
            read("a\r\n\"b\nb\"\n\nc").expect("a table").iter().map(|line| line.number).collect();
        assert_eq!(numbers, [1, 2, 5]);
    }

    proptest! {
        #[test]
        fn what_is_quoted_comes_back(table in prop::collection::vec(prop::collection::vec("[a\",\n\r é]{0,6}", 1..4), 0..5)) {
            let quoted = |cell: &String| format!("\"{}\"", cell.replace('"', "\"\""));
            let line = |cells: &Vec<String>| cells.iter().map(quoted).collect::<Vec<_>>().join(",") + "\r\n";
            prop_assert_eq!(cells(&table.iter().map(line).collect::<String>()), table);
        }
    }
}
