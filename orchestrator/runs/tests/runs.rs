//! Whole runs against a browser that is not there.

mod fake;

use std::num::NonZeroU32;

use agents::Kind;
use camino::{Utf8Path, Utf8PathBuf};
use fake::{Fake, Mood, SHORT, listener, suite};
use runs::results::{EpisodeId, Outcome, RunFolder, Times};
use runs::{Error, Limits, Options, Progress, Summary, compare, compare_repeats, fingerprint, pair};
use tasks::{GoalText, Interjection, PageCheck, Scorer, StopRules, Suite};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

type Tested = Result<(), Box<dyn std::error::Error>>;

fn folder() -> std::io::Result<(TempDir, Utf8PathBuf)> {
    let temporary = tempfile::tempdir()?;
    let path = Utf8PathBuf::from_path_buf(temporary.path().join("run"))
        .map_err(|_| std::io::ErrorKind::InvalidData)?;
    Ok((temporary, path))
}

fn into(out: &Utf8Path) -> Options {
    Options { out: Some(out.to_owned()), ..Options::default() }
}

async fn play(mood: &Mood, agent: &str, options: &Options) -> Result<Summary, Box<dyn std::error::Error>> {
    play_told(mood, agent, options, CancellationToken::new(), runs::silent()).await
}

async fn play_told(
    mood: &Mood,
    agent: &str,
    options: &Options,
    interrupt: CancellationToken,
    progress: Progress,
) -> Result<Summary, Box<dyn std::error::Error>> {
    let mood = mood.clone();
    let bring_up = move |_| Fake::bring_up(mood.clone());
    Ok(runs::run_in(bring_up, &suite()?, &agent.parse::<Kind>()?, options, interrupt, progress).await?)
}

fn outcome(out: &Utf8Path, task: &str, repeat: u32) -> Result<Outcome, Error> {
    Ok(RunFolder::open(out)?.episode(&EpisodeId { task: task.to_owned(), repeat }).record()?.outcome)
}

#[tokio::test]
async fn the_oracle_passes_and_two_repeats_have_one_fingerprint() -> Tested {
    let (_temporary, out) = folder()?;
    let (progress, heard) = listener();
    let options = Options { repeat: 2, ..into(&out) };
    let summary = play_told(&Mood::default(), "oracle", &options, CancellationToken::new(), progress).await?;
    assert_eq!((summary.passed, summary.episodes, summary.deterministic), (3, 6, Some(true)));
    assert!(compare_repeats(&out)?.is_same());
    assert!(fingerprint::verify(&out)?.is_empty());
    let heard = heard.lock().map_err(|_| "poisoned")?.clone();
    assert_eq!(
        heard[..6],
        [
            "planned 6, 0 done",
            "0: bringing up",
            "0: bike.one-1",
            "0: step 1 of 4",
            "0: step 2 of 4",
            "0: answered 1"
        ]
    );
    let mut summary = summary;
    summary.wall_ms = 12_345;
    summary.times =
        Times { opening_ms: 3_000, looking_ms: 4_500, agent_ms: 1_500, acting_ms: 5_400, ending_ms: 600 };
    summary.tasks.iter_mut().for_each(|task| task.wall_ms = 2_057);
    summary.fingerprints.iter_mut().for_each(|one| one.fingerprint = "0123456789abcdef".repeat(4));
    insta::assert_snapshot!(summary.to_string());
    Ok(())
}

#[tokio::test]
async fn what_is_on_disk_is_as_documented() -> Tested {
    let (_temporary, out) = folder()?;
    play(&Mood::default(), "oracle", &into(&out)).await?;
    let episode = out.join("episodes/bike%2Etwo-1");
    let mut names: Vec<_> = episode
        .read_dir_utf8()?
        .map(|entry| entry.map(|entry| entry.file_name().to_owned()))
        .collect::<Result<_, _>>()?;
    names.sort();
    assert_eq!(
        names,
        [
            "episode.json",
            "ledger.jsonl",
            "score_state.json",
            "step-01.png",
            "step-02.png",
            "step-03.png",
            "trace.jsonl"
        ]
    );
    let mut record: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(episode.join("episode.json"))?)?;
    record["started"] = "[time]".into();
    record["wall_ms"] = 0.into();
    record["times"] = "[times]".into();
    let mut text = format!("--- episode.json\n{record:#}");
    for name in ["trace.jsonl", "ledger.jsonl"] {
        text.push_str(&format!("\n--- {name}"));
        for line in std::fs::read_to_string(episode.join(name))?.lines() {
            let mut line: serde_json::Value = serde_json::from_str(line)?;
            for time in ["at_ms", "agent_ms", "acting_ms"] {
                if let Some(time) = line.get_mut(time) {
                    *time = 0.into();
                }
            }
            text.push_str(&format!("\n{line}"));
        }
    }
    insta::assert_snapshot!(text);
    Ok(())
}

#[tokio::test]
async fn doing_nothing_earns_nothing_and_ends_at_once() -> Tested {
    let (_temporary, out) = folder()?;
    let summary = play(&Mood::default(), "noop", &into(&out)).await?;
    assert_eq!((summary.score, summary.passed, summary.steps), (Some(0.0), 0, 0));
    assert_eq!(outcome(&out, "bike.one", 1)?, Outcome::Stopped);
    Ok(())
}

#[tokio::test]
async fn a_broken_episode_is_an_outcome_and_the_next_gets_a_new_browser() -> Tested {
    let (_temporary, out) = folder()?;
    let mood = Mood { dies_in: "bike.one", hangs_in: "bike.two", ..Mood::default() };
    let options = Options { limits: Limits { episode: SHORT, ..Limits::default() }, ..into(&out) };
    let summary = play(&mood, "oracle", &options).await?;
    assert_eq!((summary.errors, summary.timeouts, summary.passed), (1, 1, 1));
    let message = "failed to click: the browser is gone".to_owned();
    assert_eq!(outcome(&out, "bike.one", 1)?, Outcome::Error { message });
    assert_eq!(outcome(&out, "bike.two", 1)?, Outcome::TimedOut);
    assert_eq!(mood.brought_up.load(std::sync::atomic::Ordering::SeqCst), 3);
    // What was seen before the end is there.
    let episode = RunFolder::open(&out)?.episode(&EpisodeId { task: "bike.two".to_owned(), repeat: 1 });
    assert_eq!((episode.steps()?.len(), episode.requests()?.len()), (1, 1));
    Ok(())
}

#[tokio::test]
async fn a_world_that_never_comes_up_ends_the_run() -> Tested {
    let (_temporary, out) = folder()?;
    let mood = Mood { fails_to_come_up_from: Some(1), ..Mood::default() };
    let error = play(&mood, "oracle", &into(&out)).await.err().ok_or("no error")?;
    assert_eq!(error.to_string(), "bring up the world: start the browser: no such program");
    // Later on it costs the episode only, until it has failed three times in a row.
    let (_temporary, out) = folder()?;
    let mood = Mood { dies_in: "bike.one", fails_to_come_up_from: Some(2), ..Mood::default() };
    let summary = play(&mood, "oracle", &into(&out)).await?;
    assert_eq!(summary.errors, 3);
    let message = "failed to start the browser: no such program".to_owned();
    assert_eq!(outcome(&out, "bike.zero", 1)?, Outcome::Error { message });
    Ok(())
}

#[tokio::test]
async fn a_program_that_misbehaves_costs_its_episode_only() -> Tested {
    let (_temporary, out) = folder()?;
    // Crashes in one task, misspells an action and then goes on for ever in the others.
    let program = r#"program:read -r x; echo '{"protocol":1}'; read -r task; case $task in *bike.two*) echo oh >&2; exit 3;; esac
        read -r x; echo '{"action":"clik(1)"}'; while read -r x; do case $x in *'"end"'*) exit;; esac; echo '{"action":"noop()"}'; done"#;
    let summary = play(&Mood::default(), program, &into(&out)).await?;
    assert_eq!((summary.errors, summary.episodes), (1, 3));
    let Outcome::Error { message } = outcome(&out, "bike.two", 1)? else { return Err("no error".into()) };
    assert_eq!(
        message,
        r#"failed to get an answer to `observation` from the agent program: it left (exit status: 3); its standard error ends with "oh""#
    );
    assert_eq!(outcome(&out, "bike.one", 1)?, Outcome::MaxSteps);
    let episode = RunFolder::open(&out)?.episode(&EpisodeId { task: "bike.one".to_owned(), repeat: 1 });
    let steps = episode.steps()?;
    assert_eq!(steps.len(), 5);
    assert!(
        steps[0].error.as_deref().is_some_and(|error| error.starts_with("failed to ")),
        "{:?}",
        steps[0].error
    );
    assert_eq!(steps[4].action, None);
    assert!(episode.path().join("agent.stderr.txt").is_file());
    Ok(())
}

/// A program that goes through these replies, the same in every episode.
fn replying(replies: &[&str]) -> String {
    let mut program =
        "program:read -r hello; echo \"$hello\" >&2; echo '{\"protocol\":1}'; read -r task; ".to_owned();
    for reply in replies {
        program
            .push_str(&format!("read -r x; cat <<'END'\n{}\nEND\n", serde_json::json!({ "action": reply })));
    }
    program + "read -r end"
}

#[tokio::test]
async fn a_program_may_speak_another_dialect() -> Tested {
    let (_temporary, out) = folder()?;
    let program =
        replying(&["I see a link. ```click [1]```", "click('1')", "In summary, ```stop [a red bicycle]```"]);
    let options =
        Options { dialect: browser::Dialect::WebArena, tasks: vec!["bike.one".to_owned()], ..into(&out) };
    let summary = play(&Mood::default(), &program, &options).await?;
    assert_eq!((summary.passed, summary.episodes), (1, 1));
    let run = RunFolder::open(&out)?;
    assert_eq!(run.run()?.dialect, browser::Dialect::WebArena);
    let episode = run.episode(&EpisodeId { task: "bike.one".to_owned(), repeat: 1 });
    let steps = episode.steps()?;
    assert_eq!(steps[0].action.as_deref(), Some("I see a link. ```click [1]```"));
    assert_eq!(steps[1].url, "https://shop.test/2");
    let error = steps[1].error.as_deref().unwrap_or_default();
    assert!(error.starts_with("failed to read an action: there is none; put it between"), "{error}");
    let hello = std::fs::read_to_string(episode.path().join("agent.stderr.txt"))?;
    assert!(hello.contains(r#""dialect":"webarena","multiaction":false"#), "{hello}");
    // The same words are another experiment in another dialect.
    let other = Options { dialect: browser::Dialect::SeeAct, resume: true, ..options };
    let error = play(&Mood::default(), &program, &other).await.err().ok_or("no error")?;
    assert!(error.to_string().ends_with(r#"its dialect is "webarena", not "seeact""#), "{error}");
    Ok(())
}

#[tokio::test]
async fn several_actions_go_up_to_the_first_that_fails() -> Tested {
    let program =
        replying(&["click('1')\nclick('9')\nclick('1')", "click('1')\nsend_msg_to_user('a red bicycle')"]);
    let (_temporary, out) = folder()?;
    let options = Options { multiaction: true, tasks: vec!["bike.one".to_owned()], ..into(&out) };
    let summary = play(&Mood::default(), &program, &options).await?;
    assert_eq!((summary.passed, summary.episodes), (1, 1));
    let steps =
        RunFolder::open(&out)?.episode(&EpisodeId { task: "bike.one".to_owned(), repeat: 1 }).steps()?;
    assert_eq!(steps.len(), 2);
    assert_eq!(
        steps[0].error.as_deref(),
        Some("action 2 of 3, `click('9')`, and those after it: no element has id 9")
    );
    assert_eq!(steps[1].url, "https://shop.test/2", "the first was carried out, the third was not");
    // Without being told so, a reply of several is not read.
    let (_temporary, out) = folder()?;
    let options = Options { multiaction: false, out: Some(out.clone()), ..options };
    play(&Mood::default(), &program, &options).await?;
    let steps =
        RunFolder::open(&out)?.episode(&EpisodeId { task: "bike.one".to_owned(), repeat: 1 }).steps()?;
    assert_eq!(
        steps[0].error.as_deref(),
        Some("failed to read an action: expected the end of the action at character 12")
    );
    assert_eq!(steps[1].url, "https://shop.test/1");
    Ok(())
}

#[tokio::test]
async fn what_was_said_last_answers_for_who_stops() -> Tested {
    let (_temporary, out) = folder()?;
    let program = replying(&[
        "ACTION: SAY\nVALUE: I do not know yet",
        "ACTION: SAY\nVALUE: a red bicycle",
        "ACTION: TERMINATE\nVALUE: None",
    ]);
    let options =
        Options { dialect: browser::Dialect::SeeAct, tasks: vec!["bike.one".to_owned()], ..into(&out) };
    assert_eq!(play(&Mood::default(), &program, &options).await?.passed, 1);
    assert_eq!(outcome(&out, "bike.one", 1)?, Outcome::Answered);
    let (_temporary, out) = folder()?;
    let options = Options { out: Some(out.clone()), ..options };
    play(&Mood::default(), &replying(&["ACTION: TERMINATE"]), &options).await?;
    assert_eq!(outcome(&out, "bike.one", 1)?, Outcome::Stopped);
    Ok(())
}

#[tokio::test]
async fn resuming_plays_what_is_missing_and_refuses_another_run() -> Tested {
    let (_temporary, out) = folder()?;
    let mood = Mood { dies_in: "bike.one", ..Mood::default() };
    play(&mood, "oracle", &into(&out)).await?;
    assert!(matches!(
        play(&mood, "oracle", &into(&out))
            .await
            .err()
            .and_then(|error| error.downcast::<Error>().ok())
            .as_deref(),
        Some(Error::Occupied { .. })
    ));
    // As a kill in the middle leaves it: one episode half written, one not begun.
    std::fs::rename(out.join("episodes/bike%2Etwo-1"), out.join("episodes/.bike%2Etwo-1"))?;
    std::fs::remove_dir_all(out.join("episodes/bike%2Ezero-1"))?;
    let resume = Options { resume: true, ..into(&out) };
    let (progress, heard) = listener();
    let summary = play_told(&Mood::default(), "oracle", &resume, CancellationToken::new(), progress).await?;
    assert_eq!((summary.episodes, summary.errors, summary.passed), (3, 1, 2));
    assert_eq!(heard.lock().map_err(|_| "poisoned")?[0], "planned 3, 1 done");
    let retry = Options { retry_errors: true, ..resume.clone() };
    assert_eq!(play(&Mood::default(), "oracle", &retry).await?.passed, 3);
    // More repeats may be asked for, another agent may not.
    let more = Options { repeat: 2, ..resume.clone() };
    assert_eq!(play(&Mood::default(), "oracle", &more).await?.deterministic, Some(true));
    let error = play(&Mood::default(), "noop", &resume).await.err().ok_or("no error")?;
    assert!(error.to_string().ends_with(r#"its agent is "oracle", not "noop""#), "{error}");
    let fewer = Options { tasks: vec!["bike.one".to_owned()], ..resume };
    let error = play(&Mood::default(), "oracle", &fewer).await.err().ok_or("no error")?;
    assert!(error.to_string().contains("its suite digest"), "{error}");
    Ok(())
}

#[tokio::test]
async fn an_interrupt_keeps_what_has_ended_and_leaves_no_half_episode() -> Tested {
    let (_temporary, out) = folder()?;
    let interrupt = CancellationToken::new();
    let raise = interrupt.clone();
    // The second task hangs; whoever hears that it has begun interrupts.
    let mood = Mood { hangs_in: "bike.two", ..Mood::default() };
    let progress: Progress = std::sync::Arc::new(move |event| {
        if matches!(event, runs::Event::Step { episode, .. } if episode.task == "bike.two") {
            raise.cancel();
        }
    });
    let summary = play_told(&mood, "oracle", &into(&out), interrupt, progress).await?;
    assert_eq!((summary.episodes, summary.planned, summary.is_complete()), (1, 3, false));
    assert_eq!(out.join("episodes").read_dir_utf8()?.count(), 1);
    let resume = Options { resume: true, ..into(&out) };
    assert!(play(&Mood::default(), "oracle", &resume).await?.is_complete());
    Ok(())
}

#[tokio::test]
async fn drift_is_named_by_episode_step_and_field() -> Tested {
    let (_temporary, out) = folder()?;
    let mood = Mood { drifts_in_episode: Some(5), ..Mood::default() };
    let summary = play(&mood, "oracle", &Options { repeat: 2, ..into(&out) }).await?;
    assert_eq!(summary.deterministic, Some(false));
    insta::assert_snapshot!(compare_repeats(&out)?, @r"
    bike.two-1 and bike.two-2, step 1, observation, line 1:
      - RootWebArea 'Page 1'
      + RootWebArea 'Page 1 of today'
    3 episodes compared, 1 differ
    ");
    let (_temporary, other) = folder()?;
    play(&Mood::default(), "noop", &into(&other)).await?;
    let found = compare(&out, &other)?;
    assert_eq!((found.compared, found.differences.len(), found.only_left.len()), (3, 3, 3));
    assert_eq!(found.differences[0].field, "action");
    let paired = pair(&other, &out)?;
    let difference = paired.difference.ok_or("nothing to compare")?;
    assert_eq!((paired.tasks, difference.mean, difference.p), (3, 1.0, 0.25));
    assert_eq!((paired.left.passed, paired.right.passed, paired.flips.len()), (0, 3, 3));
    assert!(!paired.different_suites && paired.left_out.is_empty());
    let told = paired.to_string();
    assert!(told.contains("difference +1.000") && told.contains("gained  0.00 to 1.00  bike.one"), "{told}");
    Ok(())
}

#[tokio::test]
async fn several_workers_share_the_queue_and_give_the_same_fingerprint() -> Tested {
    let (_one, alone) = folder()?;
    let (_two, shared) = folder()?;
    let one = play(&Mood::default(), "oracle", &Options { repeat: 4, ..into(&alone) }).await?;
    let three = play(&Mood::default(), "oracle", &Options { repeat: 4, workers: 3, ..into(&shared) }).await?;
    assert_eq!(one.fingerprints, three.fingerprints);
    assert_eq!(three.episodes, 12);
    Ok(())
}

#[tokio::test]
async fn a_newer_format_and_a_tampered_trace_are_noticed() -> Tested {
    let (_temporary, out) = folder()?;
    play(&Mood::default(), "oracle", &into(&out)).await?;
    let trace = out.join("episodes/bike%2Eone-1/trace.jsonl");
    let text = std::fs::read_to_string(&trace)?;
    std::fs::write(&trace, text.replace("Page 2", "Page 9"))?;
    let changed: Vec<String> = fingerprint::verify(&out)?.into_iter().map(|record| record.task).collect();
    assert_eq!(changed, ["bike.one"]);
    let run = out.join("run.json");
    std::fs::write(&run, std::fs::read_to_string(&run)?.replace("\"major\": 2", "\"major\": 3"))?;
    let error = Summary::read(&out).err().ok_or("no error")?;
    assert!(
        error.to_string().ends_with("it has format 3.1, and this version reads 2.x; use a newer sandbox"),
        "{error}"
    );
    std::fs::write(&run, "{\"format\"")?;
    assert!(matches!(Summary::read(&out), Err(Error::Malformed { line: 1, .. })));
    Ok(())
}

#[tokio::test]
async fn narrow_terminals_get_narrow_tables() -> Tested {
    let (_temporary, out) = folder()?;
    let summary = play(&Mood::default(), "oracle", &into(&out)).await?;
    for width in [20, 24, 31, 40, 60, 80, 200] {
        let table = summary.table(width);
        let widest = table.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(widest <= width.max(24), "{width}: {widest}\n{table}");
        assert!(table.contains("score"), "{table}");
    }
    let report = runs::report::write(&out)?;
    assert!(report.is_file());
    Ok(())
}

/// A task whose page makes up the goal and says when it is reached.
fn told_by_its_page(begin: &str, goal: &str) -> Result<Suite, Box<dyn std::error::Error>> {
    let mut suite = suite()?;
    suite.tasks.retain(|task| task.id == "bike.two");
    let task = &mut suite.tasks[0];
    task.begin = Some(begin.to_owned());
    task.goal = GoalText::Page(goal.to_owned());
    task.scorer = Scorer::Page(PageCheck {
        reward: "page / wanted".to_owned(),
        done: Some("page === wanted".to_owned()),
    });
    Ok(suite)
}

async fn play_suite(suite: &Suite, out: &Utf8Path) -> Result<Summary, Box<dyn std::error::Error>> {
    let bring_up = |_| Fake::bring_up(Mood::default());
    let (agent, interrupt) = ("oracle".parse::<Kind>()?, CancellationToken::new());
    Ok(runs::run_in(bring_up, suite, &agent, &into(out), interrupt, runs::silent()).await?)
}

#[tokio::test]
async fn a_page_gives_the_goal_ends_the_episode_and_says_what_it_is_worth() -> Tested {
    let (_temporary, out) = folder()?;
    let summary = play_suite(&told_by_its_page("wanted = 2", "goal")?, &out).await?;
    assert_eq!((summary.passed, summary.score), (1, Some(1.0)));
    let episode = RunFolder::open(&out)?.episode(&EpisodeId { task: "bike.two".to_owned(), repeat: 1 });
    let record = episode.record()?;
    // The oracle had two clicks and an answer in mind; the first click was enough, and what it led to is the last thing seen.
    assert_eq!((&record.outcome, record.steps, record.answer), (&Outcome::Done, 1, None));
    assert_eq!(record.goal.as_deref(), Some("Go to page 2."));
    assert_eq!(episode.steps()?.last().map(|step| step.url.clone()).as_deref(), Some("https://shop.test/2"));
    assert!(fingerprint::verify(&out)?.is_empty());

    let (_temporary, short) = folder()?;
    let summary = play_suite(&told_by_its_page("wanted = 4", "goal")?, &short).await?;
    assert_eq!((summary.passed, summary.score), (0, Some(0.75)));
    assert_eq!(outcome(&short, "bike.two", 1)?, Outcome::Answered);
    let found = compare(&out, &short)?;
    assert_eq!(found.differences.len(), 1);
    Ok(())
}

#[tokio::test]
async fn a_page_that_cannot_begin_or_gives_no_goal_is_an_error() -> Tested {
    for (begin, goal, message) in [
        ("lost()", "goal", "failed to begin the task in its page: ReferenceError: lost()"),
        ("wanted = 2", "page", "failed to read the goal from the page: `page` gives no text"),
        ("wanted = 2", "gaol", "failed to read the goal from the page: ReferenceError: gaol is not defined"),
    ] {
        let (_temporary, out) = folder()?;
        let summary = play_suite(&told_by_its_page(begin, goal)?, &out).await?;
        assert_eq!((summary.errors, summary.passed), (1, 0));
        let Outcome::Error { message: said } = outcome(&out, "bike.two", 1)? else {
            return Err("none".into());
        };
        assert!(said.starts_with(message), "{said}");
    }
    Ok(())
}

#[tokio::test]
async fn the_user_speaks_on_the_way_and_hears_what_the_agent_says() -> Tested {
    let (_temporary, out) = folder()?;
    let program = out.with_extension("sh");
    // Tells what it has heard, then answers with it.
    std::fs::write(
        &program,
        r#"read -r hello; echo '{"protocol":1}'; read -r task; read -r first
echo '{"action":"say(\"one moment\")"}'; read -r second
printf '{"action":"%s"}\n' "send_msg_to_user('$(printf %s "$second" | grep -o '"role":"[a-z]*","text":"[^"]*"' | sed 's/.*role":"\([a-z]*\)","text":"\(.*\)"/\1 \2/' | tr '\n' ';')')"
read -r end"#,
    )?;
    let mut suite = suite()?;
    suite.tasks.truncate(1);
    suite.tasks[0].user = vec![Interjection {
        step: std::num::NonZeroU32::new(2).ok_or("zero")?,
        says: "Rather a blue one.".to_owned(),
    }];
    let agent = format!("program:sh {program}");
    let (options, mood) = (Options { keep_storage: true, ..into(&out) }, Mood::default());
    let (bring_up, kind) = (move |_| Fake::bring_up(mood.clone()), agent.parse::<Kind>()?);
    runs::run_in(bring_up, &suite, &kind, &options, CancellationToken::new(), runs::silent()).await?;
    let episode = out.join("episodes/bike%2Eone-1");
    let record: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(episode.join("episode.json"))?)?;
    assert_eq!(
        record["answer"],
        "user Follow the link 1 times and say what you see.;assistant one moment;user Rather a blue one.;"
    );
    let kept = std::fs::read_to_string(episode.join("storage_state.json"))?;
    assert!(kept.contains("https://shop.test"), "{kept}");
    Ok(())
}

/// Plays the first task of a suite in which it is another one.
async fn play_changed(
    out: &Utf8Path,
    program: &str,
    change: impl FnOnce(&mut tasks::Task),
) -> Result<Outcome, Box<dyn std::error::Error>> {
    let mut suite = suite()?;
    suite.tasks.truncate(1);
    change(&mut suite.tasks[0]);
    let bring_up = |_| Fake::bring_up(Mood::default());
    let agent = program.parse::<Kind>()?;
    runs::run_in(bring_up, &suite, &agent, &into(out), CancellationToken::new(), runs::silent()).await?;
    Ok(outcome(out, "bike.one", 1)?)
}

#[tokio::test]
async fn an_agent_that_gets_nowhere_is_stopped_where_the_task_says_so() -> Tested {
    let program = replying(&["noop()", "noop()", "noop()", "send_msg_to_user('a red bicycle')"]);
    for (rules, expect, steps) in [
        (StopRules::default(), Outcome::Answered, 4),
        (StopRules { repeats: NonZeroU32::new(4), unreadable: NonZeroU32::new(1) }, Outcome::Answered, 4),
        // The third is carried out; what comes of it is still seen.
        (StopRules { repeats: NonZeroU32::new(3), unreadable: None }, Outcome::Stuck, 4),
        (StopRules { repeats: NonZeroU32::new(2), unreadable: None }, Outcome::Stuck, 3),
    ] {
        let (_temporary, out) = folder()?;
        assert_eq!(play_changed(&out, &program, |task| task.stop = rules).await?, expect, "{rules:?}");
        let episode = RunFolder::open(&out)?.episode(&EpisodeId { task: "bike.one".to_owned(), repeat: 1 });
        assert_eq!(episode.steps()?.len(), steps);
        assert_eq!(episode.record()?.success, expect == Outcome::Answered);
    }
    let (_temporary, out) = folder()?;
    let program = replying(&["clik('1')", "click('1'", "noop()"]);
    let rules = StopRules { repeats: None, unreadable: NonZeroU32::new(2) };
    assert_eq!(play_changed(&out, &program, |task| task.stop = rules).await?, Outcome::Stuck);
    Ok(())
}

#[tokio::test]
async fn pictures_of_a_goal_are_given_as_files() -> Tested {
    let (_temporary, out) = folder()?;
    let program = r#"program:read -r x; echo '{"protocol":1}'; read -r task; echo "$task" >&2; read -r x; echo '{"stop":true}'; read -r end"#;
    let with = |url: &str| {
        let url = url.to_owned();
        move |task: &mut tasks::Task| task.images = vec![url]
    };
    let url = "https://shop.test/bike.png?size=2";
    assert_eq!(play_changed(&out, program, with("https://shop.test/bike.png")).await?, Outcome::Stopped);
    let episode = RunFolder::open(&out)?.episode(&EpisodeId { task: "bike.one".to_owned(), repeat: 1 });
    assert_eq!(std::fs::read(episode.path().join("goal-1.png"))?, b"a picture");
    let told = std::fs::read_to_string(episode.path().join("agent.stderr.txt"))?;
    assert!(told.contains(r#""images":[{"url":"https://shop.test/bike.png","path":""#), "{told}");
    let (_temporary, out) = folder()?;
    let Outcome::Error { message } = play_changed(&out, program, with(url)).await? else {
        return Err("no error".into());
    };
    assert_eq!(
        message,
        format!("failed to get a picture that belongs to the goal: {url}: the answer has status 404")
    );
    Ok(())
}
