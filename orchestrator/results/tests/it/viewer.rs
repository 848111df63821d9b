//! The viewers of a run that was written by hand.

use camino::{Utf8Path, Utf8PathBuf};
use results::{report, viewer};
use tempfile::TempDir;

use crate::many::write_many;
use crate::written::{HOSTILE, Tested, write_run};

/// A run with as many repeats as there are fingerprints.
fn run(fingerprints: &[&str]) -> Result<(TempDir, Utf8PathBuf), Box<dyn std::error::Error>> {
    let temporary = tempfile::tempdir()?;
    let path = Utf8PathBuf::try_from(temporary.path().join("run"))?;
    write_run(&path, fingerprints)?;
    Ok((temporary, path))
}

fn read(path: &Utf8Path) -> std::io::Result<String> {
    std::fs::read_to_string(path)
}

#[test]
fn what_pages_and_agents_say_stays_text() -> Tested {
    let (_temporary, path) = run(&["a"])?;
    let pages = [viewer::write(&path)?, viewer::write_episode(&path, "shop.1")?];
    for html in [read(&pages[0])?, read(&pages[1])?] {
        assert_eq!(html.matches("<script").count(), 1, "the page's own: {html}");
        assert!(!html.contains(HOSTILE) && !html.contains("\" onload"), "{html}");
        assert!(html.contains("&lt;script&gt;"), "{html}");
    }
    Ok(())
}

#[test]
fn nothing_but_the_screenshots_beside_it_is_asked_for() -> Tested {
    let (_temporary, path) = run(&["a"])?;
    let html = read(&viewer::write_episode(&path, "shop.1-1")?)?;
    for outside in ["<link", "<iframe", "@import", "src=\"http", "src=\"/", "url("] {
        assert!(!html.contains(outside), "{outside}");
    }
    let pictures: Vec<&str> =
        html.split("src=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    // Once in the strip, and once in the step.
    assert_eq!(pictures, [1, 2, 3, 1, 2, 3].map(|step| format!("step-{step:02}.png")));
    assert!(
        html.contains("default-src &#x27;none&#x27;") && !html.contains("unsafe-eval"),
        "{html}"
    );
    Ok(())
}

#[test]
fn links_in_a_run_from_somebody_else_lead_nowhere() -> Tested {
    use std::os::unix::fs::symlink;
    let (temporary, path) = run(&["a"])?;
    let outside = Utf8PathBuf::try_from(temporary.path().join("outside"))?;
    std::fs::create_dir(&outside)?;
    let episode = path.join("episodes/shop%2E1-1");
    let (picture, secret) = (outside.join("picture.png"), outside.join("secret"));
    std::fs::rename(episode.join("step-01.png"), &picture)?;
    std::fs::write(&secret, "the owner's")?;
    symlink(&picture, episode.join("step-01.png"))?;
    for name in ["trace.html.new", "episode.json.new"] {
        symlink(&secret, episode.join(name))?;
    }
    for name in ["report.html.new", "trace.html.new", "traces.html.new", "index.html.new"] {
        symlink(&secret, path.join(name))?;
    }
    symlink(&outside, path.join("episodes/other-1"))?;

    let html = read(&viewer::write_episode(&path, "shop.1")?)?;
    assert!(!html.contains("step-01.png") && html.contains("step-02.png"), "{html}");
    viewer::write(&path)?;
    report::write(&path)?;
    assert_eq!(read(&secret)?, "the owner's");
    assert_eq!(std::fs::read_dir(&outside)?.count(), 2, "files were written outside");
    Ok(())
}

#[test]
fn places_scores_files_and_models_are_told() -> Tested {
    let (_temporary, path) = run(&["a"])?;
    let html = read(&viewer::write_episode(&path, "shop.1")?)?;
    // The pictures have 2 by 1 pixels.
    assert!(
        html.contains("class=\"mark\" style=\"left:25.0%;top:0.0%;width:50.0%;height:25.0%\""),
        "{html}"
    );
    assert!(html.contains("class=\"point\" style=\"left:50.0%;top:50.0%\""), "{html}");
    assert!(html.contains("href=\"downloads&#x2f;100%20%25%3F%2Epdf\">100 %?.pdf</a>"), "{html}");
    assert!(
        html.contains("Models: small-1: 2 calls, 1234 tokens asked and 56 replied, $0.2500"),
        "{html}"
    );
    assert!(html.contains("Score 0.25 → 0.50") && html.contains("<dd>1:05.4</dd>"), "{html}");
    Ok(())
}

#[test]
fn an_episode_is_found_by_every_spelling_of_its_name() -> Tested {
    let (_temporary, path) = run(&["a", "b"])?;
    let folder = |name: &str| {
        let written = viewer::write_episode(&path, name)?;
        Ok::<_, results::Error>(
            written.parent().and_then(Utf8Path::file_name).unwrap_or_default().to_owned(),
        )
    };
    assert_eq!(folder("shop.1")?, "shop%2E1-1");
    assert_eq!(folder("shop.1-2")?, "shop%2E1-2");
    assert_eq!(folder("shop%2E1-2")?, "shop%2E1-2");
    let error = folder("shop.1-3").err().ok_or("there is no third attempt")?;
    assert_eq!(
        error.to_string(),
        format!("find episode \"shop.1-3\": {path} has shop.1-1, shop.1-2")
    );
    Ok(())
}

#[test]
fn the_report_leads_to_viewers_and_draws_those_that_are_out_of_date() -> Tested {
    let (_temporary, path) = run(&["a", "a"])?;
    // The template engine writes slashes so.
    let html = read(&report::write(&path)?)?.replace("&#x2f;", "/");
    let viewers = ["shop%2E1-1", "shop%2E1-2"]
        .map(|name| path.join("episodes").join(name).join("trace.html"));
    for (number, viewer) in viewers.iter().enumerate() {
        assert!(
            html.contains(&format!("href=\"episodes/shop%252E1-{}/trace.html\"", number + 1)),
            "{html}"
        );
        assert!(viewer.is_file(), "{viewer}");
    }
    // One is newer than its episode, the other is older.
    for viewer in &viewers {
        std::fs::write(viewer, "kept")?;
    }
    let long_ago = std::time::SystemTime::UNIX_EPOCH;
    std::fs::File::options().write(true).open(&viewers[1])?.set_modified(long_ago)?;
    let episode = path.join("episodes/shop%2E1-1/episode.json");
    std::fs::File::options().write(true).open(episode)?.set_modified(long_ago)?;
    report::write(&path)?;
    assert_eq!(read(&viewers[0])?, "kept");
    assert!(read(&viewers[1])?.contains("</html>"));
    Ok(())
}

#[test]
fn a_step_without_a_screenshot_has_no_empty_card_for_it() -> Tested {
    let (_temporary, path) = run(&["a"])?;
    std::fs::remove_file(path.join("episodes/shop%2E1-1/step-02.png"))?;
    let html = read(&viewer::write_episode(&path, "shop.1")?)?;
    assert_eq!(html.matches("class=\"shot none\"").count(), 1, "{html}");
    assert!(!html.contains("aspect-ratio: 16/9"), "{html}");
    Ok(())
}

#[test]
fn requests_and_messages_stand_at_their_steps() -> Tested {
    let (_temporary, path) = run(&["a"])?;
    let html = read(&viewer::write_episode(&path, "shop.1")?)?;
    let part = |from: &str| html.split(from).nth(1).map(|rest| &rest[..rest.len().min(900)]);
    let request = part("id=\"network-1\"").ok_or("no requests of step 1")?;
    for words in [
        "data-only",
        "<span class=\"level miss\">miss</span>",
        "<b>GET</b>",
        "404",
        "12.3 kB",
        "7 ms",
    ] {
        assert!(request.contains(words), "{words}: {request}");
    }
    let thrown = part("id=\"console-2\"").ok_or("no messages of step 2")?;
    assert!(
        thrown.contains("<span class=\"kind\">uncaught</span>") && thrown.contains(":12</span>"),
        "{thrown}"
    );
    for counted in
        ["data-requests=\"1\" data-unanswered=\"1\"", "data-messages=\"1\" data-thrown=\"1\""]
    {
        assert_eq!(html.matches(counted).count(), 1, "{counted}: {html}");
    }
    assert!(html.contains("class=\"failed thrown scored noticed\""), "{html}");
    // Runs of format 2.1 have no such file.
    std::fs::remove_file(path.join("episodes/shop%2E1-1/console.jsonl"))?;
    let html = read(&viewer::write_episode(&path, "shop.1")?)?;
    assert!(
        html.contains("Nothing was recorded of the console") && !html.contains("console.jsonl"),
        "{html}"
    );
    Ok(())
}

#[test]
fn a_trace_of_a_hundred_steps_is_small() -> Tested {
    let temporary = tempfile::tempdir()?;
    let path = Utf8PathBuf::try_from(temporary.path().join("run"))?;
    write_many(&path, 1, 1, 100)?;
    let html = read(&viewer::write_episode(&path, "webarena-0000")?)?;
    eprintln!("100 steps: {} bytes", html.len());
    // What the agent saw is most of it: 100 times 200 lines.
    assert!(html.len() < 1_500_000, "{} bytes", html.len());
    Ok(())
}
