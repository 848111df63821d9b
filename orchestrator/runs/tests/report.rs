//! The report of a run that was written by hand.

mod written;

use camino::Utf8PathBuf;
use runs::report;
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
