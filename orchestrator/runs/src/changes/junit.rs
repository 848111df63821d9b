//! The check of a suite as JUnit XML, which continuous integration servers show.

use std::fmt::Write as _;

use camino::Utf8Path;

use super::report::{SuiteChanges, TaskChanges};
use super::{PageChange, Verdict};
use crate::Error;
use crate::results::files;

/// Writes a test case for each task: it fails if one of its pages is not the same.
///
/// # Errors
/// When the file cannot be written.
pub fn write_junit(path: &Utf8Path, suite: &SuiteChanges<'_>) -> Result<(), Error> {
    let xml = draw(suite);
    files::write(path, xml.as_bytes()).map_err(|source| Error::Write { path: path.to_owned(), source })
}

fn draw(suite: &SuiteChanges<'_>) -> String {
    let failures = suite.tasks.iter().filter(|task| fails(suite, task)).count();
    let skipped = suite.tasks.iter().filter(|task| task.pages.is_empty()).count();
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let name = escape(suite.name);
    let counts = format!("tests=\"{}\" failures=\"{failures}\" skipped=\"{skipped}\"", suite.tasks.len());
    // Writing into a string never fails.
    let _ = writeln!(xml, "<testsuites {counts}>\n <testsuite name=\"{name}\" {counts}>");
    for task in &suite.tasks {
        let id = escape(&task.id);
        let _ = writeln!(xml, "  <testcase classname=\"{name}\" name=\"{id}\">");
        if task.pages.is_empty() {
            xml.push_str("   <skipped message=\"it names no page\"/>\n");
        } else if fails(suite, task) {
            let pages: Vec<&PageChange> =
                suite.pages_of(task).filter(|page| page.verdict != Verdict::Same).collect();
            let message = escape(&pages.iter().map(|page| line(page)).collect::<Vec<_>>().join("; "));
            let detail = pages.iter().map(|page| detail(page)).collect::<Vec<_>>().join("\n");
            let kind = task.verdict.word().replace(' ', "-");
            let _ = writeln!(
                xml,
                "   <failure type=\"{kind}\" message=\"{message}\">{}</failure>",
                escape(&detail)
            );
        }
        xml.push_str("  </testcase>\n");
    }
    xml.push_str(" </testsuite>\n</testsuites>\n");
    xml
}

fn fails(suite: &SuiteChanges<'_>, task: &TaskChanges) -> bool {
    suite.pages_of(task).any(|page| page.verdict != Verdict::Same)
}

fn line(page: &PageChange) -> String {
    format!("{} {}", page.verdict.word(), page.url)
}

fn detail(page: &PageChange) -> String {
    let why = page.why.iter().cloned();
    let title = page.title.iter().map(|(old, new)| format!("title: {old} -> {new}"));
    let text = page.text.sample.iter().cloned();
    std::iter::once(line(page)).chain(why).chain(title).chain(text).collect::<Vec<_>>().join("\n")
}

/// Text for an element or a value between double quotes. Characters that XML cannot hold are left
/// out.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' => escaped.push(c),
            '\u{FFFE}' | '\u{FFFF}' => {}
            c if c.is_control() => {}
            c => escaped.push(c),
        }
    }
    escaped
}
