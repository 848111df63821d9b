//! The report of a run that was written by hand.

mod written;

use camino::Utf8PathBuf;
use runs::report;
use runs::results::{RunFolder, RunRecord, TaskRecord};
use written::{HOSTILE, Tested, write_run};

fn drawn(fingerprints: &[&str]) -> Result<String, Box<dyn std::error::Error>> {
    let temporary = tempfile::tempdir()?;
    let path = Utf8PathBuf::try_from(temporary.path().join("run"))?;
    write_run(&path, fingerprints)?;
    Ok(std::fs::read_to_string(report::write(&path)?)?)
}

#[test]
fn what_pages_and_agents_say_stays_text() -> Tested {
    let html = drawn(&["a"])?;
    assert_eq!(html.matches("<script").count(), 1, "the report's own: {html}");
    assert!(!html.contains(HOSTILE), "{html}");
    assert!(!html.contains("\" onload") && html.contains("&lt;script&gt;"), "{html}");
    Ok(())
}

#[test]
fn equal_repeats_are_drawn_once_and_equal_pictures_embedded_once() -> Tested {
    let html = drawn(&["a", "a", "a"])?;
    assert_eq!(html.matches("<article").count(), 1);
    assert_eq!(html.matches("data:image/png").count(), 2);
    assert!(html.contains("repeat 1–3"));
    let html = drawn(&["a", "b", "a"])?;
    assert_eq!(html.matches("<article").count(), 2);
    assert_eq!(html.matches("data:image/png").count(), 2);
    assert!(html.contains("repeat 1, 3") && html.contains("Where repeats part"));
    Ok(())
}

#[test]
fn nothing_is_loaded_from_elsewhere() -> Tested {
    let html = drawn(&["a"])?;
    for outside in ["<link", "<img", "<iframe", "@import", "src=", "url(http", "url('http"] {
        assert!(!html.contains(outside), "{outside}");
    }
    Ok(())
}

#[test]
fn an_error_is_no_failure_of_the_agent() -> Tested {
    let html = drawn(&["a"])?;
    assert!(
        html.matches("badge error").count() >= 2 && !html.contains("badge fail"),
        "row and episode: {html}"
    );
    assert!(html.contains(r#"data-verdict="error""#), "found by it: {html}");
    Ok(())
}

#[test]
fn runs_of_different_tasks_are_not_compared() -> Tested {
    let temporary = tempfile::tempdir()?;
    let path = |name: &str| Utf8PathBuf::try_from(temporary.path().join(name));
    let (one, other) = (path("one")?, path("other")?);
    write_run(&one, &["a"])?;
    let task = TaskRecord {
        id: "mail.1".to_owned(),
        goal: String::new(),
        sites: Vec::new(),
        tags: Vec::new(),
        reference_steps: None,
    };
    RunFolder::create(&other, &RunRecord::new("town", "e".to_owned(), "oracle".to_owned(), 1, vec![task]))?;
    let error = runs::pair(&one, &other).err().ok_or("nothing is to be compared")?.to_string();
    assert!(
        error.starts_with("find a task that is in both: ") && error.contains("is of the suite demo, "),
        "{error}"
    );
    Ok(())
}
