//! Programs as agents: those that misbehave, other notations, several actions at once, several
//! words.

use super::*;

#[tokio::test]
async fn a_program_that_misbehaves_costs_its_episode_only() -> Tested {
    let (_temporary, out) = folder()?;
    // Crashes in one task, misspells an action and then goes on for ever in the others.
    let program = r#"program:read -r x; echo '{"protocol":1}'; read -r task; case $task in *bike.two*) echo oh >&2; exit 3;; esac
        read -r x; echo '{"action":"clik(1)"}'; while read -r x; do case $x in *'"end"'*) exit;; esac; echo '{"action":"noop()"}'; done"#;
    let summary = play(&Mood::default(), program, &into(&out)).await?;
    assert_eq!((summary.errors, summary.agent_failures, summary.episodes), (0, 1, 3));
    let Outcome::AgentFailed { message, .. } = outcome(&out, "bike.two", 1)? else {
        return Err("no failure".into());
    };
    assert_eq!(
        message,
        "failed to get an answer to `observation` from the agent program: it left (exit status: 3); its standard error ends with: oh"
    );
    assert_eq!(outcome(&out, "bike.one", 1)?, Outcome::MaxSteps);
    let episode =
        RunFolder::open(&out)?.episode(&EpisodeId { task: "bike.one".to_owned(), repeat: 1 });
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

#[tokio::test]
async fn a_program_that_asks_for_screenshots_of_a_run_without_any_is_an_error() -> Tested {
    let asking = |observe: &str| {
        format!(
            r#"program:read -r x; echo '{{"protocol":1,"observe":{observe}}}'; read -r x; read -r x; echo "$x" >&2; echo '{{"stop":true}}'; read -r x"#
        )
    };
    let (_temporary, out) = folder()?;
    let options = Options {
        screenshots: false,
        tasks: vec!["bike.one".to_owned()],
        ..into(&out.join("asked"))
    };
    play(&Mood::default(), &asking(r#"{"screenshot":{"full_page":true}}"#), &options).await?;
    let Outcome::AgentFailed { message, .. } = outcome(&out.join("asked"), "bike.one", 1)? else {
        return Err("no failure".into());
    };
    assert_eq!(
        message,
        "failed to give the agent the screenshots that it asked for: the run takes none"
    );

    let unasked = out.join("unasked");
    play(&Mood::default(), &asking("{}"), &Options { out: Some(unasked.clone()), ..options })
        .await?;
    let folder = RunFolder::open(&unasked)?;
    assert!(folder.run()?.no_screenshots);
    let episode = folder.episode(&EpisodeId { task: "bike.one".to_owned(), repeat: 1 });
    let heard = std::fs::read_to_string(episode.path().join("agent.stderr.txt"))?;
    assert!(heard.contains(r#""screenshot":null"#), "{heard}");
    assert!(episode.steps()?.iter().all(|step| step.screenshot.is_none()));
    // A run with them is another run.
    let resumed =
        Options { resume: true, out: Some(unasked), tasks: Vec::new(), ..Options::default() };
    let refused = play(&Mood::default(), &asking("{}"), &resumed).await.unwrap_err().to_string();
    assert!(refused.contains(r#"its screenshot setting is "none", not "each step""#), "{refused}");
    Ok(())
}

#[tokio::test]
async fn a_program_may_speak_another_dialect() -> Tested {
    let (_temporary, out) = folder()?;
    let program = replying(&[
        "I see a link. ```click [1]```",
        "click('1')",
        "In summary, ```stop [a red bicycle]```",
    ]);
    let options = Options {
        dialect: actions::Dialect::WebArena,
        tasks: vec!["bike.one".to_owned()],
        ..into(&out)
    };
    let summary = play(&Mood::default(), &program, &options).await?;
    assert_eq!((summary.passed, summary.episodes), (1, 1));
    let run = RunFolder::open(&out)?;
    assert_eq!(run.run()?.dialect, actions::Dialect::WebArena);
    let episode = run.episode(&EpisodeId { task: "bike.one".to_owned(), repeat: 1 });
    let steps = episode.steps()?;
    assert_eq!(steps[0].action.as_deref(), Some("I see a link. ```click [1]```"));
    assert_eq!(steps[1].url, "https://shop.test/2");
    let error = steps[1].error.as_deref().unwrap_or_default();
    assert!(
        error.starts_with("failed to read an action: there is none; put it between"),
        "{error}"
    );
    let hello = std::fs::read_to_string(episode.path().join("agent.stderr.txt"))?;
    assert!(hello.contains(r#""dialect":"webarena","multiaction":false"#), "{hello}");
    // The same words are another experiment in another dialect.
    let other = Options { dialect: actions::Dialect::SeeAct, resume: true, ..options };
    let error = play(&Mood::default(), &program, &other).await.err().ok_or("no error")?;
    assert!(error.to_string().ends_with(r#"its dialect is "webarena", not "seeact""#), "{error}");
    Ok(())
}

#[tokio::test]
async fn several_actions_go_up_to_the_first_that_fails() -> Tested {
    let program = replying(&[
        "click('1')\nclick('9')\nclick('1')",
        "click('1')\nsend_msg_to_user('a red bicycle')",
    ]);
    let (_temporary, out) = folder()?;
    let options = Options { multiaction: true, tasks: vec!["bike.one".to_owned()], ..into(&out) };
    let summary = play(&Mood::default(), &program, &options).await?;
    assert_eq!((summary.passed, summary.episodes), (1, 1));
    let steps = RunFolder::open(&out)?
        .episode(&EpisodeId { task: "bike.one".to_owned(), repeat: 1 })
        .steps()?;
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
    let steps = RunFolder::open(&out)?
        .episode(&EpisodeId { task: "bike.one".to_owned(), repeat: 1 })
        .steps()?;
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
    let options = Options {
        dialect: actions::Dialect::SeeAct,
        tasks: vec!["bike.one".to_owned()],
        ..into(&out)
    };
    assert_eq!(play(&Mood::default(), &program, &options).await?.passed, 1);
    assert_eq!(outcome(&out, "bike.one", 1)?, Outcome::Answered);
    let (_temporary, out) = folder()?;
    let options = Options { out: Some(out.clone()), ..options };
    play(&Mood::default(), &replying(&["ACTION: TERMINATE"]), &options).await?;
    assert_eq!(outcome(&out, "bike.one", 1)?, Outcome::Stopped);
    Ok(())
}
