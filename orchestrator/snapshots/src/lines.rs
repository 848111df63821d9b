//! Lines of files that somebody else may have made.

use std::io::{BufRead, Read as _};

/// The next line with its end, or `None` after the last one. It must be shorter than `limit`.
pub(crate) fn read_line(reader: &mut impl BufRead, limit: u64) -> Result<Option<Vec<u8>>, String> {
    let mut line = Vec::new();
    reader.take(limit).read_until(b'\n', &mut line).map_err(|error| error.to_string())?;
    if line.len() as u64 == limit {
        return Err(format!("it is longer than {limit} bytes"));
    }
    Ok((!line.is_empty()).then_some(line))
}
