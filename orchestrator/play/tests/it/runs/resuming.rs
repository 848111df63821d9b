//! Runs that were broken off, and go on.

use super::*;

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
        Some(Error::Results(results::Error::Occupied { .. }))
    ));
    // As a kill in the middle leaves it: one episode half written, one not begun.
    std::fs::rename(out.join("episodes/bike%2Etwo-1"), out.join("episodes/.bike%2Etwo-1"))?;
    std::fs::remove_dir_all(out.join("episodes/bike%2Ezero-1"))?;
    let resume = Options { resume: true, ..into(&out) };
    let (progress, heard) = listener();
    let summary =
        play_with_progress(&Mood::default(), "oracle", &resume, CancellationToken::new(), progress)
            .await?;
    assert_eq!((summary.episodes, summary.errors, summary.passed), (3, 1, 2));
    assert_eq!(heard.lock().map_err(|_| "poisoned")?[0], "planned 3, 1 done");
    {
        let folder = RunFolder::open(&out)?;
        let _held = RunFolder::resume(&out, &folder.run()?)?;
        let error = play(&mood, "oracle", &resume).await.err().ok_or("no error")?;
        assert!(error.to_string().contains("another process does so"), "{error}");
    }
    let part = Options { shard: Some("1/2".parse()?), ..resume.clone() };
    let error = play(&mood, "oracle", &part).await.err().ok_or("no error")?;
    assert!(
        error.to_string().ends_with("its part of the run (--shard) is \"all of it\", not \"1/2\""),
        "{error}"
    );
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
        if matches!(event, play::Event::Step { episode, .. } if episode.task == "bike.two") {
            raise.cancel();
        }
    });
    let summary = play_with_progress(&mood, "oracle", &into(&out), interrupt, progress).await?;
    assert_eq!((summary.episodes, summary.planned, summary.is_complete()), (1, 3, false));
    assert_eq!(out.join("episodes").read_dir_utf8()?.count(), 1);
    let resume = Options { resume: true, ..into(&out) };
    assert!(play(&Mood::default(), "oracle", &resume).await?.is_complete());
    Ok(())
}
