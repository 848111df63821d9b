//! What was recorded replays byte for byte, from the snapshot alone, and nothing else does.

use anyhow::{Context, Result, ensure};

use crate::harness::{Bench, interrupt, live_web, origin, text};

const PAGES: [&str; 3] = [
    "https://www.aldria-rail.test/",
    "https://www.cityscreen.test/",
    "https://www.hearthside.test/",
];

#[tokio::test(flavor = "multi_thread")]
async fn recorded_pages_replay_after_the_origin_is_gone() -> Result<()> {
    let bench = Bench::new()?;
    let origin = origin().await?;
    let file = bench.path("demo.wacz");
    let live = live_web(&origin);
    let mut arguments = vec!["record", "--delay=0", "-o", file.as_str()];
    arguments.extend(PAGES);
    arguments.extend(live.iter().map(String::as_str));
    bench.succeed(&arguments)?;
    bench.succeed(&["snapshot", "verify", file.as_str()])?;

    // What the origin says now is what the snapshot must say when the origin is gone.
    let listener = bench.proxy(
        &[
            &["record", "--listen=127.0.0.1:0", "-o", bench.path("x.wacz").as_str()][..],
            &live.iter().map(String::as_str).collect::<Vec<_>>(),
        ]
        .concat(),
    )?;
    let live_client = listener.client()?;
    let mut expected = Vec::new();
    for page in PAGES {
        expected.push(live_client.get(page).await?.into_body());
    }
    listener.end()?;
    origin.stop().await;

    let replay = bench.proxy(&["replay", file.as_str()])?;
    let client = replay.client()?;
    for (page, expected) in PAGES.iter().zip(expected) {
        let answer = client.get(page).await?;
        ensure!(
            answer.status() == 200 && *answer.body() == expected,
            "{page}: {}",
            answer.status()
        );
    }
    let missed = client
        .send(
            &format!("{}?page=2", PAGES[0]),
            "GET",
            &[("sec-fetch-dest", "document"), ("accept", "text/html")],
            "",
        )
        .await?;
    ensure!(missed.status() == 404, "{}", missed.status());
    ensure!(text(missed.body()).contains("page"), "the miss page names what differs");
    let posted = client.send(PAGES[0], "POST", &[], "x=1").await?;
    ensure!(posted.status() == 404, "a recorded GET must not answer a POST");
    replay.end()?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_crawl_leaves_a_whole_snapshot() -> Result<()> {
    let bench = Bench::new()?;
    let origin = origin().await?;
    let file = bench.path("cut.wacz");
    let live = live_web(&origin);
    let mut arguments =
        vec!["record", "-v", "--depth=3", "--delay=50", "-o", file.as_str(), PAGES[0]];
    arguments.extend(live.iter().map(String::as_str));
    let mut child = bench.command(&arguments).stderr(std::process::Stdio::piped()).spawn()?;
    let mut log = std::io::BufReader::new(child.stderr.take().context("stderr is piped")?);
    // Interrupted once two pages are in.
    let mut seen = 0;
    let mut line = String::new();
    while seen < 2 && std::io::BufRead::read_line(&mut log, &mut line)? > 0 {
        seen += usize::from(line.contains("recorded"));
        line.clear();
    }
    interrupt(&child)?;
    std::io::copy(&mut log, &mut std::io::sink())?;
    let status = child.wait()?;
    ensure!(status.code() == Some(4), "{status}");
    bench.succeed(&["snapshot", "verify", file.as_str()])?;
    origin.stop().await;
    Ok(())
}

#[test]
fn a_recording_of_nothing_is_no_success() -> Result<()> {
    let bench = Bench::new()?;
    let file = bench.path("nothing.wacz");
    // Nobody listens there.
    let output = bench.run(&[
        "record",
        "https://nowhere.test/",
        "--connect-to=::127.0.0.1:1",
        "--ignore-robots",
        "-o",
        file.as_str(),
    ])?;
    let said = text(&output.stderr);
    ensure!(output.status.code() == Some(1), "{}: {said}", output.status);
    ensure!(
        said.contains("not recorded: https://nowhere.test/")
            && said.contains("nothing was recorded"),
        "{said}"
    );
    ensure!(!file.exists(), "an empty file is left");
    let private = bench.run(&["record", "http://127.0.0.1:18099/", "-o", file.as_str()])?;
    let said = text(&private.stderr);
    ensure!(private.status.code() == Some(1) && said.contains("--allow-private"), "{said}");
    ensure!(!file.exists() && !bench.path("nothing.wacz.recording").exists(), "something is left");
    Ok(())
}
