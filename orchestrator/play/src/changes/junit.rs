//! The check of a suite as JUnit XML, which continuous integration servers show.

use std::fmt::Write as _;

use camino::Utf8Path;
use results::{Error, files};

use super::report::{SuiteChanges, TaskChanges};
use super::{PageChange, Verdict};

/// Writes a test case for each task: it fails if one of its pages is not the same.
///
/// # Errors
/// When the file cannot be written.
pub fn write_junit(path: &Utf8Path, suite: &SuiteChanges<'_>) -> Result<(), Error> {
    let xml = draw(suite);
    files::write(path, xml.as_bytes())
        .map_err(|source| Error::Write { path: path.to_owned(), source })
}

fn draw(suite: &SuiteChanges<'_>) -> String {
    let failures = suite.tasks.iter().filter(|task| fails(suite, task)).count();
    let skipped =
        suite.tasks.iter().filter(|task| !fails(suite, task) && skip(task).is_some()).count();
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let name = escape(suite.name);
    let counts =
        format!("tests=\"{}\" failures=\"{failures}\" skipped=\"{skipped}\"", suite.tasks.len());
    // Writing into a string never fails.
    let _ = writeln!(xml, "<testsuites {counts}>\n <testsuite name=\"{name}\" {counts}>");
    for task in &suite.tasks {
        let id = escape(&task.id);
        let _ = writeln!(xml, "  <testcase classname=\"{name}\" name=\"{id}\">");
        if fails(suite, task) {
            let pages: Vec<&PageChange> =
                suite.pages_of(task).filter(|page| page.verdict != Verdict::Same).collect();
            let message =
                escape(&pages.iter().map(|page| line(page)).collect::<Vec<_>>().join("; "));
            let detail = pages.iter().map(|page| detail(page)).collect::<Vec<_>>().join("\n");
            let kind = task.verdict.word().replace(' ', "-");
            let _ = writeln!(
                xml,
                "   <failure type=\"{kind}\" message=\"{message}\">{}</failure>",
                escape(&detail)
            );
        } else if let Some(why) = skip(task) {
            let _ = writeln!(xml, "   <skipped message=\"{why}\"/>");
        }
        xml.push_str("  </testcase>\n");
    }
    xml.push_str(" </testsuite>\n</testsuites>\n");
    xml
}

/// Returns why a task has no result.
fn skip(task: &TaskChanges) -> Option<&'static str> {
    match (task.pages.len(), task.not_checked) {
        (_, 1..) => Some("the check was interrupted"),
        (0, 0) => Some("it names no page"),
        _ => None,
    }
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

#[cfg(test)]
mod tests {
    use super::super::Changes;
    use super::*;

    fn page(url: &str, verdict: Verdict) -> PageChange {
        PageChange {
            url: url.to_owned(),
            verdict,
            why: Some("status <404> & \u{1}gone".to_owned()),
            recorded: (None, None),
            title: None,
            text_share: 0.0,
            text: Default::default(),
            picture: None,
        }
    }

    #[test]
    fn a_task_fails_passes_or_says_why_it_says_nothing() {
        let pages =
            vec![page("https://a.test/", Verdict::Same), page("https://a.test/b", Verdict::Gone)];
        let changes = Changes { pages, interrupted: true };
        let task = |id: &str, urls: &[&str]| {
            let urls: Vec<String> = urls.iter().map(|url| (*url).to_owned()).collect();
            TaskChanges::new(id, "A goal.", &urls, &changes)
        };
        let tasks = vec![
            task("whole", &["https://a.test/"]),
            task("broken", &["https://a.test/", "https://a.test/b", "https://a.test/later"]),
            task("half", &["https://a.test/", "https://a.test/later"]),
            task("none", &[]),
        ];
        assert!(tasks[0].is_same() && !tasks[2].is_same());
        let suite = SuiteChanges {
            name: "s",
            old: String::new(),
            new: String::new(),
            tasks,
            changes: &changes,
        };
        let xml = draw(&suite);
        for expected in [
            "tests=\"4\" failures=\"1\" skipped=\"2\"",
            "name=\"whole\">\n  </testcase>",
            "<failure type=\"gone\" message=\"gone https://a.test/b\">",
            "status &lt;404&gt; &amp; gone",
            "name=\"half\">\n   <skipped message=\"the check was interrupted\"/>",
            "name=\"none\">\n   <skipped message=\"it names no page\"/>",
        ] {
            assert!(xml.contains(expected), "{expected}\n{xml}");
        }
    }
}
