//! Tests of agent programs, with small shell scripts, correct and incorrect.

use std::time::Duration;

use agents::program::Settings;

use super::*;

/// Completes the handshake and the task, clicks once, and stops.
const GOOD: &str = r#"
read -r hello; printf '{"type":"hello","protocol":1,"name":"good"}\n'
read -r task; echo "task: $task" >&2
read -r observation; printf '{"action":"click(%s)","reason":"first"}\n' "'3'"
read -r observation; printf '{"stop":true}\n'
read -r end; echo "end: $end" >&2
"#;

const HELLO: &str = r#"read -r x; echo '{"protocol":1}'; read -r x; read -r x; "#;

struct Played {
    replies: Vec<Result<Reply, Error>>,
    stderr: String,
}

async fn play(script: &str, settings: impl FnOnce(&mut Settings)) -> std::io::Result<Played> {
    let folder = tempfile::tempdir()?;
    let stderr = folder.path().join("agent.stderr.txt");
    let mut given = Settings::new(script, &stderr);
    settings(&mut given);
    let replies = play_through(Program::new(given)).await;
    Ok(Played { replies, stderr: std::fs::read_to_string(stderr)? })
}

async fn fails(
    script: &str,
    settings: impl FnOnce(&mut Settings),
) -> Result<Error, std::io::Error> {
    match play(script, settings).await?.replies.pop() {
        Some(Err(error)) => Ok(error),
        other => Err(std::io::Error::other(format!("no error but {other:?}"))),
    }
}

#[tokio::test]
async fn a_program_is_greeted_told_asked_and_dismissed() -> std::io::Result<()> {
    let played = play(GOOD, |_| {}).await?;
    let replies: Vec<Reply> = played.replies.into_iter().filter_map(Result::ok).collect();
    let click = Reply::act(Action::click("3"), Some("first".to_owned()));
    assert_eq!(replies, [click, Reply::Stop { reason: None }]);
    insta::assert_snapshot!(played.stderr, @r#"
    task: {"type":"task","task":"rail-01","goal":"When?","start_url":"https://rail.test/","max_steps":3}
    end: {"type":"end","outcome":"stopped"}
    "#);
    Ok(())
}

#[tokio::test]
async fn a_crash_is_told_with_status_and_standard_error() -> std::io::Result<()> {
    let error = fails("read -r x; echo 'no such model' >&2; exit 7", |_| {}).await?;
    insta::assert_snapshot!(error, @"get an answer to `hello` from the agent program: it left (exit status: 7); its standard error ends with: no such model");
    let error = fails("no-such-program-here --fast", |_| {}).await?;
    assert!(matches!(&error, Error::Start { .. }), "{error}");
    let error = error.to_string();
    assert!(
        error.starts_with("start the agent program `no-such-program-here --fast`: "),
        "{error}"
    );
    Ok(())
}

#[tokio::test]
async fn a_silent_program_runs_out_of_time_and_is_killed_with_its_children() -> std::io::Result<()>
{
    let folder = tempfile::tempdir()?;
    let mark = folder.path().join("pid");
    let script = format!("sleep 600 & echo $! > '{}'; wait", mark.display());
    let error =
        fails(&script, |settings| settings.hello_within = Duration::from_millis(300)).await?;
    assert_eq!(error.to_string(), "get an answer to `hello` from the agent program within 0.3 s");
    let pid: i32 = std::fs::read_to_string(mark)?.trim().parse().map_err(std::io::Error::other)?;
    let gone = || match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat.contains(") Z "),
        Err(_) => true,
    };
    let deadline = std::time::Instant::now() + Duration::from_secs(5);
    while !gone() && std::time::Instant::now() < deadline {
        tokio::task::yield_now().await;
    }
    assert!(gone(), "the program's child {pid} is still there");
    Ok(())
}

#[tokio::test]
async fn a_slow_answer_is_told_apart_from_a_slow_start() -> std::io::Result<()> {
    let error = fails(&format!("{HELLO} sleep 600"), |settings| {
        settings.answer_within = Duration::from_millis(300);
    })
    .await?;
    assert_eq!(
        error.to_string(),
        "get an answer to `observation` from the agent program within 0.3 s"
    );
    Ok(())
}

#[tokio::test]
async fn garbage_is_quoted() -> std::io::Result<()> {
    let error = fails(&format!("{HELLO} echo 'Loading model...'; read -r x"), |_| {}).await?;
    insta::assert_snapshot!(error, @r#"understand the agent program's answer to `observation`: expected value at line 1 column 1; it wrote "Loading model...""#);
    Ok(())
}

#[tokio::test]
async fn an_endless_line_is_not_read_to_its_end() -> std::io::Result<()> {
    let error = fails(&format!("{HELLO} tr '\\0' x < /dev/zero"), |_| {}).await?;
    assert_eq!(
        error.to_string(),
        "read the agent program's answer to `observation`: the line is longer than 1048576 bytes"
    );
    Ok(())
}

#[tokio::test]
async fn another_protocol_is_refused() -> std::io::Result<()> {
    let error = fails(r#"read -r x; echo '{"protocol":9}'; read -r x"#, |_| {}).await?;
    assert!(matches!(error, Error::Protocol { theirs: 9, ours: 1, .. }), "{error}");
    Ok(())
}

#[tokio::test]
async fn standard_error_is_drained_and_kept_up_to_its_limit() -> std::io::Result<()> {
    let played = play(
        &format!("{HELLO} head -c 3000000 /dev/zero | tr '\\0' x >&2; echo '{{\"stop\":true}}'"),
        |_| {},
    )
    .await?;
    assert!(matches!(played.replies[..], [Ok(Reply::Stop { .. })]), "{:?}", played.replies);
    assert_eq!(played.stderr.len(), 1 << 20);
    Ok(())
}
