//! Static files of the pages: style, script and images.

use crate::forum::picture;
use crate::web::{Failure, Reply, Visit};

pub(in crate::forum) fn style(_: &Visit<'_>) -> Result<Reply, Failure> {
    Ok(Reply::File {
        kind: "text/css; charset=UTF-8",
        bytes: include_bytes!("../forum.css").to_vec(),
    })
}

pub(in crate::forum) fn script(_: &Visit<'_>) -> Result<Reply, Failure> {
    Ok(Reply::File {
        kind: "text/javascript; charset=UTF-8",
        bytes: include_bytes!("../forum.js").to_vec(),
    })
}

/// `/submission_images/<name>`: an image, drawn from its name.
pub(in crate::forum) fn image(visit: &Visit<'_>) -> Result<Reply, Failure> {
    let drawn = picture::draw(visit.path.text("name")).ok_or(Failure::NotFound)?;
    Ok(Reply::File { kind: "image/svg+xml", bytes: drawn.into_bytes() })
}

/// A URL without a page.
pub(in crate::forum) fn nothing(_: &Visit<'_>) -> Result<Reply, Failure> {
    Err(Failure::NotFound)
}
