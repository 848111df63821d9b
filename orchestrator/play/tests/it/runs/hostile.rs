//! Agents that would rather make an error than lose. Whatever a program sends or does, its episode
//! is lost and is not played again.

use results::AgentFailure;

use super::*;

/// A program that says hello, hears the task and the first page, and then does this.
fn then(does: &str) -> String {
    format!("program:read -r x; echo '{{\"protocol\":1}}'; read -r x; read -r x; {does}")
}

/// A program that replies to each page with this line.
fn always(line: &str) -> String {
    then(&format!("while :; do echo '{line}'; read -r x || exit; done"))
}

/// Plays the task `bike.one` with this agent; gives its outcome, and whether it is played again.
async fn played(agent: &str, mood: &Mood) -> Result<(Outcome, bool), Box<dyn std::error::Error>> {
    let (_temporary, out) = folder()?;
    let limits = Limits {
        answer: Duration::from_secs(2),
        step: Duration::from_secs(2),
        ..Limits::default()
    };
    let options = Options { tasks: vec!["bike.one".to_owned()], limits, ..into(&out) };
    play(mood, agent, &options).await?;
    let (progress, heard) = listener();
    let again = Options { resume: true, retry_errors: true, ..options };
    play_with_progress(&Mood::default(), agent, &again, CancellationToken::new(), progress).await?;
    let planned = heard.lock().map_err(|_| "poisoned")?[0].clone();
    Ok((outcome(&out, "bike.one", 1)?, planned != "planned 1, 1 done"))
}

#[tokio::test]
async fn nothing_that_a_program_does_is_an_error_to_try_again() -> Tested {
    let click = always(r#"{"action":"click(\"1\")"}"#);
    let dies = Mood { dies_in: "bike.one", ..Mood::default() };
    let hangs = Mood { hangs_in: "bike.one", ..Mood::default() };
    let well = Mood::default();
    let cases = [
        ("program:exit 0".to_owned(), &well, Some(AgentFailure::Left)),
        ("program:kill -9 $$".to_owned(), &well, Some(AgentFailure::Left)),
        ("program:exec 1>&-; sleep 60".to_owned(), &well, Some(AgentFailure::Left)),
        ("program:sleep 60".to_owned(), &well, Some(AgentFailure::Late)),
        (
            r#"program:read -r x; echo '{"protocol":2}'"#.to_owned(),
            &well,
            Some(AgentFailure::Unsupported),
        ),
        ("program:echo hello; sleep 60".to_owned(), &well, Some(AgentFailure::Unreadable)),
        (then("exit 3"), &well, Some(AgentFailure::Left)),
        (then("exec 1>&-; sleep 60"), &well, Some(AgentFailure::Left)),
        (then("exec 0<&-; sleep 60"), &well, Some(AgentFailure::Late)),
        (then("sleep 60"), &well, Some(AgentFailure::Late)),
        (then("printf '\\377\\376\\n'; sleep 60"), &well, Some(AgentFailure::Unreadable)),
        (then("echo; sleep 60"), &well, Some(AgentFailure::Unreadable)),
        (then("echo null; sleep 60"), &well, Some(AgentFailure::Unreadable)),
        (then("echo '{\"action\":1e999}'; sleep 60"), &well, Some(AgentFailure::Unreadable)),
        (
            then("echo '{\"action\":\"noop()\",\"stop\":true}'; sleep 60"),
            &well,
            Some(AgentFailure::Unreadable),
        ),
        (then("printf '{\"action\":\"noop'; exit"), &well, Some(AgentFailure::Left)),
        (
            then("head -c 3000000 /dev/zero | tr '\\0' '['; echo; sleep 60"),
            &well,
            Some(AgentFailure::TooLong),
        ),
        (
            then("yes '[' | head -c 1000000 | tr -d '\\n'; echo; sleep 60"),
            &well,
            Some(AgentFailure::Unreadable),
        ),
        (click.clone(), &dies, Some(AgentFailure::BrowserFailed)),
        (click, &hangs, Some(AgentFailure::PageHung)),
        (always(r#"{"action":"mouse_click(1e308, -1e308)"}"#), &well, None),
        (always(r#"{"action":"mouse_click(NaN, Infinity)"}"#), &well, None),
        (always(r#"{"action":"goto(\"file:///etc/passwd\")"}"#), &well, None),
        (always(r#"{"action":"tab_close()"}"#), &well, None),
        (always(r#"{"action":""}"#), &well, None),
    ];
    for (agent, mood, expected) in cases {
        let (ended, again) = played(&agent, mood).await?;
        let reason = match &ended {
            Outcome::AgentFailed { reason, .. } => Some(*reason),
            Outcome::MaxSteps => None,
            other => return Err(format!("{agent}: {other:?}").into()),
        };
        assert_eq!((reason, again), (expected, false), "{agent}: {ended:?}");
    }
    Ok(())
}

#[tokio::test]
async fn an_attempt_that_is_repeated_counts_and_says_why() -> Tested {
    let (_temporary, out) = folder()?;
    let mood = Mood { dies_in: "bike.one", ..Mood::default() };
    let options = Options { tasks: vec!["bike.one".to_owned()], ..into(&out) };
    assert_eq!(play(&mood, "oracle", &options).await?.errors, 1);
    let again = Options { resume: true, retry_errors: true, ..options };
    play(&mood, "oracle", &again).await?;
    let summary = play(&Mood::default(), "oracle", &again).await?;
    assert_eq!((summary.passed, summary.retried), (1, 1));
    let id = EpisodeId { task: "bike.one".to_owned(), repeat: 1 };
    let record = RunFolder::open(&out)?.episode(&id).record()?;
    assert_eq!(record.earlier.len(), 2);
    assert!(
        record.earlier.iter().all(|one| one.reason.contains("the browser")),
        "{:?}",
        record.earlier
    );
    Ok(())
}
