//! Tasks whose page begins them, gives their goal and ends them; what users say; agents that get
//! nowhere; pictures of goals.

use super::*;

/// A task whose page makes up the goal and says when it is reached.
fn suite_with_page_goal(begin: &str, goal: &str) -> Result<Suite, Box<dyn std::error::Error>> {
    let mut suite = suite()?;
    suite.tasks.retain(|task| task.id == "bike.two");
    let task = &mut suite.tasks[0];
    task.setup_script = Some(begin.to_owned());
    task.goal = GoalText::Page(goal.to_owned());
    task.scorer = Scorer::Page(PageCheck {
        reward: "page / wanted".to_owned(),
        done: Some("page === wanted".to_owned()),
    });
    Ok(suite)
}

async fn play_suite(suite: &Suite, out: &Utf8Path) -> Result<Summary, Box<dyn std::error::Error>> {
    let bring_up = |_| Fake::bring_up(Mood::default());
    let (agent, interrupt) = ("oracle".parse::<AgentSpec>()?, CancellationToken::new());
    Ok(play::run_in(
        HostFacts::default(),
        bring_up,
        suite,
        &agent,
        &into(out),
        interrupt,
        play::silent(),
    )
    .await?)
}

#[tokio::test]
async fn a_page_gives_the_goal_ends_the_episode_and_says_what_it_is_worth() -> Tested {
    let (_temporary, out) = folder()?;
    let summary = play_suite(&suite_with_page_goal("wanted = 2", "goal")?, &out).await?;
    assert_eq!((summary.passed, summary.score), (1, Some(1.0)));
    let episode =
        RunFolder::open(&out)?.episode(&EpisodeId { task: "bike.two".to_owned(), repeat: 1 });
    let record = episode.record()?;
    // The oracle had two clicks and an answer in mind; the first click was enough, and what it led
    // to is the last thing seen.
    assert_eq!((&record.outcome, record.steps, record.answer), (&Outcome::Done, 1, None));
    assert_eq!(record.goal.as_deref(), Some("Go to page 2."));
    assert_eq!(
        episode.steps()?.last().map(|step| step.url.clone()).as_deref(),
        Some("https://shop.test/2")
    );
    assert!(fingerprint::verify(&out)?.is_empty());

    let (_temporary, short) = folder()?;
    let summary = play_suite(&suite_with_page_goal("wanted = 4", "goal")?, &short).await?;
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
        (
            "wanted = 2",
            "gaol",
            "failed to read the goal from the page: ReferenceError: gaol is not defined",
        ),
    ] {
        let (_temporary, out) = folder()?;
        let summary = play_suite(&suite_with_page_goal(begin, goal)?, &out).await?;
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
    suite.tasks[0].messages = vec![UserMessage {
        step: std::num::NonZeroU32::new(2).ok_or("zero")?,
        says: "Rather a blue one.".to_owned(),
    }];
    let agent = format!("program:sh {program}");
    let (options, mood) = (Options { keep_storage: true, ..into(&out) }, Mood::default());
    let (bring_up, kind) = (move |_| Fake::bring_up(mood.clone()), agent.parse::<AgentSpec>()?);
    play::run_in(
        HostFacts::default(),
        bring_up,
        &suite,
        &kind,
        &options,
        CancellationToken::new(),
        play::silent(),
    )
    .await?;
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
    let agent = program.parse::<AgentSpec>()?;
    play::run_in(
        HostFacts::default(),
        bring_up,
        &suite,
        &agent,
        &into(out),
        CancellationToken::new(),
        play::silent(),
    )
    .await?;
    Ok(outcome(out, "bike.one", 1)?)
}

#[tokio::test]
async fn an_agent_that_gets_nowhere_is_stopped_where_the_task_says_so() -> Tested {
    let program = replying(&["noop()", "noop()", "noop()", "send_msg_to_user('a red bicycle')"]);
    for (rules, expect, steps) in [
        (StopRules::default(), Outcome::Answered, 4),
        (
            StopRules { repeats: NonZeroU32::new(4), unreadable: NonZeroU32::new(1) },
            Outcome::Answered,
            4,
        ),
        // The third is carried out; what comes of it is still seen.
        (StopRules { repeats: NonZeroU32::new(3), unreadable: None }, Outcome::Stuck, 4),
        (StopRules { repeats: NonZeroU32::new(2), unreadable: None }, Outcome::Stuck, 3),
    ] {
        let (_temporary, out) = folder()?;
        assert_eq!(
            play_changed(&out, &program, |task| task.early_stop = rules).await?,
            expect,
            "{rules:?}"
        );
        let episode =
            RunFolder::open(&out)?.episode(&EpisodeId { task: "bike.one".to_owned(), repeat: 1 });
        assert_eq!(episode.steps()?.len(), steps);
        assert_eq!(episode.record()?.success, expect == Outcome::Answered);
    }
    let (_temporary, out) = folder()?;
    let program = replying(&["clik('1')", "click('1'", "noop()"]);
    let rules = StopRules { repeats: None, unreadable: NonZeroU32::new(2) };
    assert_eq!(play_changed(&out, &program, |task| task.early_stop = rules).await?, Outcome::Stuck);
    Ok(())
}

#[tokio::test]
async fn pictures_of_a_goal_are_given_as_files() -> Tested {
    let (_temporary, out) = folder()?;
    let program = r#"program:read -r x; echo '{"protocol":1}'; read -r task; echo "$task" >&2; read -r x; echo '{"stop":true}'; read -r end"#;
    let with = |url: &str| {
        let url = url.to_owned();
        move |task: &mut tasks::Task| task.goal_images = vec![url]
    };
    let url = "https://shop.test/bike.png?size=2";
    assert_eq!(
        play_changed(&out, program, with("https://shop.test/bike.png")).await?,
        Outcome::Stopped
    );
    let episode =
        RunFolder::open(&out)?.episode(&EpisodeId { task: "bike.one".to_owned(), repeat: 1 });
    assert_eq!(std::fs::read(episode.path().join("goal-1.png"))?, b"a picture");
    let stderr = std::fs::read_to_string(episode.path().join("agent.stderr.txt"))?;
    assert!(
        stderr.contains(r#""images":[{"url":"https://shop.test/bike.png","path":""#),
        "{stderr}"
    );
    let (_temporary, out) = folder()?;
    let Outcome::Error { message } = play_changed(&out, program, with(url)).await? else {
        return Err("no error".into());
    };
    assert_eq!(
        message,
        format!(
            "failed to get a picture that belongs to the goal: {url}: the answer has status 404"
        )
    );
    Ok(())
}
