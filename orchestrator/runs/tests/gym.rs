//! A gym over HTTP, with a browser that is not there.

#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
mod fake;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agents::AgentSpec;
use camino::Utf8PathBuf;
use fake::{Fake, Mood, SHORT, suite};
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use runs::gym::{self, Settings};
use runs::results::{EpisodeId, Outcome, RunFolder, RunRecord};
use runs::{Error, Limits, Options, Summary};
use serde_json::{Value, json};
use tasks::Suite;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

const PATIENCE: Duration = Duration::from_secs(20);

struct Gym {
    _folder: tempfile::TempDir,
    out: Utf8PathBuf,
    url: String,
    client: Client<HttpConnector, Full<axum::body::Bytes>>,
    interrupt: CancellationToken,
    serving: tokio::task::JoinHandle<Result<Option<Summary>, Error>>,
}

impl Gym {
    async fn open(mood: &Mood, change: impl FnOnce(&mut Options, &mut Settings)) -> Gym {
        Gym::of(suite().unwrap(), mood, change).await
    }

    async fn of(suite: Suite, mood: &Mood, change: impl FnOnce(&mut Options, &mut Settings)) -> Gym {
        let folder = tempfile::tempdir().unwrap();
        let out = Utf8PathBuf::from_path_buf(folder.path().join("run")).unwrap();
        let mut options = Options { out: Some(out.clone()), ..Options::default() };
        let mut settings = Settings { listen: SocketAddr::from(([127, 0, 0, 1], 0)), place_within: PATIENCE };
        change(&mut options, &mut settings);
        let (interrupt, mood) = (CancellationToken::new(), mood.clone());
        let stop = interrupt.clone();
        let (say, said) = oneshot::channel();
        let serving = tokio::spawn(async move {
            let bring_up = move || Fake::bring_up(mood.clone());
            let say = Mutex::new(Some(say));
            let on_event: runs::Progress = Arc::new(move |event| {
                if let runs::Event::Listening(listening) = event {
                    say.lock().unwrap().take().unwrap().send(listening.url.clone()).unwrap();
                }
            });
            let machine = runs::Machine::default();
            gym::serve_in(machine, bring_up, &suite, &options, settings, stop, on_event).await
        });
        let client = Client::builder(TokioExecutor::new()).build(HttpConnector::new());
        Gym { _folder: folder, out, url: said.await.unwrap(), client, interrupt, serving }
    }

    async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, Value) {
        let mut request = http::Request::builder().method(method).uri(format!("{}{path}", self.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::from(body.to_owned())).unwrap();
        let answer = tokio::time::timeout(PATIENCE, self.client.request(request)).await.unwrap().unwrap();
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&body).unwrap_or_else(|_| json!(String::from_utf8_lossy(&body))))
    }

    async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        self.send("POST", path, &[("content-type", "application/json")], &body.to_string()).await
    }

    /// A session of a task.
    async fn reset(&self, task: &str) -> Value {
        let (status, begun) = self.post("/reset", json!({ "task": task })).await;
        assert_eq!(status, 200, "{begun:#}");
        begun["session"].clone()
    }

    async fn step(&self, session: &Value, action: &str) -> (u16, Value) {
        self.post("/step", json!({ "session": session, "action": action })).await
    }

    fn outcome(&self, task: &str, repeat: u32) -> Outcome {
        let id = EpisodeId { task: task.to_owned(), repeat };
        RunFolder::open(&self.out).unwrap().episode(&id).record().unwrap().outcome
    }

    async fn end(self) -> Option<Summary> {
        self.interrupt.cancel();
        tokio::time::timeout(PATIENCE, self.serving).await.unwrap().unwrap().unwrap()
    }
}

#[tokio::test]
async fn an_episode_is_stepped_to_its_score_and_is_that_of_a_run() {
    let gym = Gym::open(&Mood::default(), |_, _| {}).await;
    let (status, tasks) = gym.send("GET", "/tasks", &[], "").await;
    assert_eq!((status, tasks["tasks"].as_array().unwrap().len(), &tasks["seed"]), (200, 3, &json!(7)));
    let (_, begun) = gym.post("/reset", json!({ "task": "bike.one", "seed": 42 })).await;
    assert_eq!(
        begun["info"],
        json!({ "task": "bike.one", "repeat": 1, "max_steps": 4, "seed": 7, "score": 0.0, "task_info": {} })
    );
    assert_eq!(begun["observation"]["url"], "https://shop.test/1");
    let (_, moved) = gym.step(&begun["session"], "click('1')").await;
    assert_eq!(
        (&moved["reward"], &moved["terminated"], &moved["truncated"]),
        (&json!(0.0), &json!(false), &json!(false))
    );
    let seen = &moved["observation"];
    assert_eq!((&seen["url"], &seen["last_action"]), (&json!("https://shop.test/2"), &json!("click('1')")));
    let (_, last) = gym.step(&begun["session"], "send_msg_to_user('a red bicycle')").await;
    assert_eq!(
        (&last["reward"], &last["terminated"], &last["truncated"]),
        (&json!(1.0), &json!(true), &json!(false))
    );
    assert_eq!(last["observation"]["last_action"], "send_msg_to_user('a red bicycle')");
    assert_eq!(
        (&last["info"]["score"], &last["info"]["result"]["outcome"]["kind"]),
        (&json!(1.0), &json!("answered"))
    );
    let (_, closed) = gym.post("/close", json!({ "session": begun["session"] })).await;
    assert_eq!(closed["result"], last["info"]["result"]);

    let out = gym.out.with_file_name("oracle");
    let options = Options { out: Some(out), tasks: vec!["bike.one".to_owned()], ..Options::default() };
    let bring_up = |_| Fake::bring_up(Mood::default());
    let (oracle, suite): (AgentSpec, _) = ("oracle".parse().unwrap(), suite().unwrap());
    let run = runs::run_in(
        runs::Machine::default(),
        bring_up,
        &suite,
        &oracle,
        &options,
        CancellationToken::new(),
        runs::silent(),
    );
    let run = run.await.unwrap();
    let summary = gym.end().await.unwrap();
    assert_eq!(summary.fingerprints, run.fingerprints, "the same actions are the same episode");
    assert_eq!((&*summary.agent, summary.planned, summary.episodes, summary.passed), ("gym", 1, 1, 1));
}

#[tokio::test]
async fn how_it_ended_says_whether_it_was_cut_short() {
    let gym = Gym::open(&Mood::default(), |_, _| {}).await;
    let session = gym.reset("bike.two").await;
    for step in 1..=4 {
        let (_, done) = gym.step(&session, "click('7')").await;
        assert_eq!(done["truncated"], step == 4, "{done:#}");
        assert_eq!(done["terminated"], false);
        let error = done["observation"]["last_action_error"].as_str().unwrap();
        assert_eq!(error, if step == 4 { "" } else { "no element has id 7" });
    }
    assert_eq!(gym.outcome("bike.two", 1), Outcome::MaxSteps);
    let session = gym.reset("bike.two").await;
    let (_, given_up) = gym.step(&session, "report_infeasible('no bicycle')").await;
    assert_eq!((&given_up["terminated"], &given_up["reward"]), (&json!(true), &json!(0.0)));
    let session = gym.reset("bike.two").await;
    let (status, closed) = gym.post("/close", json!({ "session": session })).await;
    assert_eq!((status, &closed["result"]["outcome"]["kind"]), (200, &json!("stopped")));
    assert_eq!(gym.outcome("bike.two", 3), Outcome::Stopped);
    let (status, again) = gym.post("/reset", json!({ "task": "bike.two", "repeat": 2 })).await;
    assert_eq!(
        (status, &again["error"]),
        (409, &json!("attempt 2 at bike.two exists already; choose another, or omit `repeat` for the next"))
    );
    assert_eq!(gym.end().await.unwrap().episodes, 3);
}

#[tokio::test]
async fn places_are_waited_for_and_refused_in_the_end() {
    let gym = Gym::open(&Mood::default(), |_, settings| settings.place_within = SHORT).await;
    let first = gym.reset("bike.zero").await;
    let (status, full) = gym.post("/reset", json!({ "task": "bike.zero" })).await;
    assert_eq!(
        (status, &full["error"]),
        (
            503,
            &json!(
                "no slot became free within 0.2 s; close sessions that are done, or start the gym with more --workers"
            )
        )
    );
    gym.step(&first, "send_msg_to_user('x')").await;
    gym.reset("bike.zero").await;
    gym.end().await;

    let mood = Mood::default();
    let gym = Gym::open(&mood, |options, _| options.workers = 2).await;
    let (first, second) = tokio::join!(gym.reset("bike.zero"), gym.reset("bike.one"));
    let third = async { gym.reset("bike.two").await };
    let (third, _) = tokio::join!(third, gym.post("/close", json!({ "session": first })));
    for session in [second, third] {
        assert_eq!(gym.step(&session, "send_msg_to_user('x')").await.0, 200);
    }
    assert_eq!(mood.brought_up.load(std::sync::atomic::Ordering::SeqCst), 2, "worlds are used again");
    assert_eq!(gym.end().await.unwrap().episodes, 3);
}

#[tokio::test]
async fn a_silent_client_loses_its_place() {
    let gym =
        Gym::open(&Mood::default(), |options, _| options.limits = Limits { answer: SHORT, ..options.limits })
            .await;
    let session = gym.reset("bike.one").await;
    // There is one place: this comes back when the other episode has ended by itself.
    gym.reset("bike.two").await;
    let message =
        "failed to get an action from the client within 0.2 s: it sent none, so the episode was ended";
    assert_eq!(gym.outcome("bike.one", 1), Outcome::Error { message: message.to_owned() });
    let (status, gone) = gym.step(&session, "noop()").await;
    assert_eq!(status, 410);
    assert_eq!(
        gone["error"],
        format!("session {} has ended ({message}); POST /reset begins another", session.as_str().unwrap())
    );
    assert_eq!(gone["info"]["result"]["task"], "bike.one");
}

#[tokio::test]
async fn what_breaks_is_told_and_the_next_world_is_a_new_one() {
    let mood = Mood { dies_in: "bike.one", ..Mood::default() };
    let gym = Gym::open(&mood, |_, _| {}).await;
    let session = gym.reset("bike.one").await;
    let (status, broken) = gym.step(&session, "click('1')").await;
    assert_eq!((status, &broken["error"]), (500, &json!("failed to click: the browser is gone")));
    assert_eq!(broken["info"]["result"]["outcome"]["kind"], "error");
    gym.reset("bike.two").await;
    assert_eq!(mood.brought_up.load(std::sync::atomic::Ordering::SeqCst), 2);
    let mood = Mood { fails_to_come_up_from: Some(1), ..Mood::default() };
    let gym = Gym::open(&mood, |_, _| {}).await;
    let (status, never) = gym.post("/reset", json!({ "task": "bike.one" })).await;
    assert_eq!((status, &never["error"]), (500, &json!("failed to start the browser: no such program")));
    let out = gym.out.clone();
    assert!(gym.end().await.is_none() && !out.exists(), "nothing was played, and nothing is left");
}

#[tokio::test]
async fn an_interrupt_puts_episodes_down_as_if_they_had_never_begun() {
    let mood = Mood { hangs_in: "bike.one", ..Mood::default() };
    let gym = Gym::open(&mood, |options, _| options.workers = 2).await;
    let (played, hangs) = (gym.reset("bike.zero").await, gym.reset("bike.one").await);
    gym.step(&played, "send_msg_to_user('x')").await;
    let begun = Instant::now();
    let stop = async {
        // Once the step is under way, a second one is refused.
        while gym.step(&hangs, "noop()").await.0 != 409 {
            assert!(begun.elapsed() < PATIENCE);
        }
        gym.interrupt.cancel();
    };
    let ((status, put_down), ()) = tokio::join!(gym.step(&hangs, "click('1')"), stop);
    assert_eq!(
        (status, &put_down["error"]),
        (503, &json!("the gym is closing, and the episode is discarded"))
    );
    let summary = gym.end().await.unwrap();
    assert_eq!((summary.episodes, summary.planned), (1, 1));
    assert!(!summary.folder.join("episodes/.bike%2Eone-1").exists());
}

/// Method, path, headers and body; the status, and what is told.
type Wrong<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)], &'a str, u16, &'a str);

#[tokio::test]
async fn wrong_requests_are_told_what_is_wrong() {
    let gym = Gym::open(&Mood::default(), |_, _| {}).await;
    const JSON: (&str, &str) = ("content-type", "application/json");
    let long = format!(r#"{{"task":"{}"}}"#, "x".repeat(1 << 20));
    let cases: &[Wrong<'_>] = &[
        ("GET", "/nonesuch", &[], "", 404, "POST /reset"),
        ("GET", "/reset", &[], "", 405, ""),
        ("POST", "/reset", &[], r#"{"task":"bike.one"}"#, 415, "application/json"),
        ("POST", "/reset", &[("content-type", "text/plain")], "{}", 415, "text/plain"),
        ("POST", "/reset", &[JSON], "{", 400, "cannot be read"),
        ("POST", "/reset", &[JSON], "{}", 400, "missing field `task`"),
        ("POST", "/reset", &[JSON], r#"{"task":"bike.one","tsk":1}"#, 400, "unknown field `tsk`"),
        ("POST", "/reset", &[JSON], r#"{"task":"bike.one","observe":{"axtre":{}}}"#, 400, "axtre"),
        ("POST", "/reset", &[JSON], r#"{"task":"bike.one","repeat":0}"#, 400, "counted from 1"),
        ("POST", "/reset", &[JSON], r#"{"task":"car"}"#, 404, "GET /tasks"),
        ("POST", "/step", &[JSON], r#"{"session":"x","action":"noop()"}"#, 404, "POST /reset"),
        ("POST", "/step", &[JSON], r#"{"session":"x"}"#, 400, "missing field `action`"),
        ("POST", "/close", &[JSON], r#"{"session":"x"}"#, 404, "POST /reset"),
        ("POST", "/reset", &[JSON, ("origin", "https://evil.test")], r#"{"task":"bike.one"}"#, 403, "Origin"),
        ("GET", "/tasks", &[("origin", "https://evil.test")], "", 403, "Origin is https://evil.test"),
        ("GET", "/tasks", &[("sec-fetch-site", "cross-site")], "", 403, "Sec-Fetch-Site"),
        ("GET", "/tasks", &[("host", "evil.test")], "", 403, "the Host evil.test"),
        (
            "POST",
            "/reset",
            &[JSON, ("host", "evil.test:80")],
            r#"{"task":"bike.one"}"#,
            403,
            "the Host evil.test:80",
        ),
        ("POST", "/reset", &[JSON], &long, 413, ""),
    ];
    for (method, path, headers, body, status, message) in cases {
        let (got, said) = gym.send(method, path, headers, body).await;
        assert_eq!(got, *status, "{method} {path} {headers:?}: {said}");
        assert!(said.to_string().contains(message), "{method} {path} {headers:?}: {said}");
    }
    let session = gym.reset("bike.one").await;
    let (_, answer) = gym.step(&session, "clik('1')").await;
    assert!(answer["observation"]["last_action_error"].as_str().unwrap().contains("clik"), "{answer}");
}

#[tokio::test]
async fn what_was_played_before_stays_when_a_gym_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let out = Utf8PathBuf::from_path_buf(folder.path().join("run")).unwrap();
    let open = async |resume| {
        let kept = out.clone();
        Gym::open(&Mood::default(), move |options, _| {
            (options.out, options.resume) = (Some(kept), resume);
        })
        .await
    };
    let gym = open(false).await;
    let session = gym.reset("bike.two").await;
    gym.post("/close", json!({ "session": session })).await;
    gym.reset("bike.two").await;
    assert_eq!(gym.end().await.unwrap().episodes, 1, "the second was under way");

    let folder = RunFolder::open(&out).unwrap();
    folder.rewrite(&RunRecord { repeat: 5, ..folder.run().unwrap() }).unwrap();
    let summary = open(true).await.end().await.unwrap();
    assert_eq!(
        (summary.episodes, summary.planned),
        (1, 1),
        "as if it had been killed in the midst of the fifth"
    );

    let gym = open(true).await;
    let (_, begun) = gym.post("/reset", json!({ "task": "bike.two" })).await;
    assert_eq!(begun["info"]["repeat"], 2);
    gym.step(&begun["session"], "send_msg_to_user('a blue bicycle')").await;
    let session = gym.reset("bike.one").await;
    gym.post("/close", json!({ "session": session })).await;
    let summary = gym.end().await.unwrap();
    assert_eq!((summary.episodes, summary.planned, &summary.folder), (3, 4, &out));
}

/// A file that the world, or a task, replays.
fn snapshot(folder: &tempfile::TempDir, name: &str) -> Utf8PathBuf {
    let path = Utf8PathBuf::from_path_buf(folder.path().join(name)).unwrap();
    std::fs::write(&path, name.repeat(99)).unwrap();
    path
}

#[tokio::test]
async fn snapshots_are_digested_once() {
    let folder = tempfile::tempdir().unwrap();
    let (world, task) = (snapshot(&folder, "world.wacz"), snapshot(&folder, "task.wacz"));
    let mut suite = suite().unwrap();
    suite.world.snapshots = vec![world.clone()];
    suite.tasks.iter_mut().for_each(|one| one.snapshots = Some(vec![task.clone()]));
    let gym = Gym::of(suite, &Mood::default(), |_, _| {}).await;
    let session = gym.reset("bike.one").await;
    gym.post("/close", json!({ "session": session })).await;
    let first = RunFolder::open(&gym.out).unwrap().run().unwrap();
    assert_eq!(first.world.snapshots.keys().collect::<Vec<_>>(), ["task.wacz", "world.wacz"]);

    // Whatever has become of the files, the worlds of the gym are made of what was opened.
    std::fs::remove_file(world).unwrap();
    std::fs::write(task, "another one").unwrap();
    let session = gym.reset("bike.one").await;
    gym.post("/close", json!({ "session": session })).await;
    let second = RunFolder::open(&gym.out).unwrap().run().unwrap();
    assert_eq!((second.repeat, second.suite_digest), (2, first.suite_digest));
    assert_eq!(second.world, first.world);
    gym.end().await;
}

#[tokio::test]
async fn an_attempt_that_cannot_be_written_down_is_not_begun() {
    let gym = Gym::open(&Mood::default(), |_, _| {}).await;
    let record = gym.out.join("run.json");
    let aside = gym.out.join("aside.json");
    // No file takes the place of a folder.
    std::fs::rename(&record, &aside).unwrap();
    std::fs::create_dir(&record).unwrap();
    let first = json!({ "task": "bike.one", "repeat": 1 });
    for _ in 0..2 {
        let (status, failed) = gym.post("/reset", first.clone()).await;
        assert_eq!(status, 500, "{failed}");
        assert!(failed["error"].as_str().unwrap().starts_with("failed to write "), "{failed}");
    }
    std::fs::remove_dir(&record).unwrap();
    std::fs::rename(&aside, &record).unwrap();
    let (status, begun) = gym.post("/reset", first).await;
    assert_eq!((status, &begun["info"]["repeat"]), (200, &json!(1)), "{begun}");
    gym.post("/close", json!({ "session": begun["session"] })).await;
    assert_eq!(gym.end().await.unwrap().episodes, 1);
}

/// A suite whose first task has a file that is read only once it is written to: whoever opens it
/// waits until then.
fn suite_on_a_slow_disk(folder: &tempfile::TempDir) -> (Suite, Utf8PathBuf) {
    let slow = Utf8PathBuf::from_path_buf(folder.path().join("slow.wacz")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&slow).status().unwrap().success());
    let mut suite = suite().unwrap();
    suite.tasks[0].snapshots = Some(vec![slow.clone()]);
    (suite, slow)
}

/// Lets whoever waits for the file go on, with nothing to read.
fn write_nothing(slow: &Utf8PathBuf) {
    std::fs::File::options().write(true).open(slow).map(drop).unwrap();
}

/// On the runtime of this test, which has one thread.
#[tokio::test]
async fn a_slow_disk_does_not_hold_up_other_clients() {
    let folder = tempfile::tempdir().unwrap();
    let (suite, slow) = suite_on_a_slow_disk(&folder);
    let gym = Gym::of(suite, &Mood::default(), |options, _| options.workers = 2).await;
    let (answered, hear) = std::sync::mpsc::channel();
    let disk = std::thread::spawn(move || {
        // Without an answer the disk moves on all the same, so that the test ends.
        let was_answered = hear.recv_timeout(Duration::from_secs(5)).is_ok();
        write_nothing(&slow);
        was_answered
    });
    let others = async {
        let (status, _) = gym.send("GET", "/tasks", &[], "").await;
        // The disk may have given up.
        let _ = answered.send(());
        status
    };
    let (begun, status) = tokio::join!(gym.post("/reset", json!({ "task": "bike.one" })), others);
    assert_eq!(status, 200);
    assert!(disk.join().unwrap(), "nobody was answered while the disk was waited for");
    // What is no file has no end to take a digest of: the attempt is not begun.
    assert_eq!(begun.0, 500, "{:#}", begun.1);
    gym.end().await;
}

#[tokio::test]
async fn a_client_that_leaves_before_its_session_leaves_no_attempt() {
    let folder = tempfile::tempdir().unwrap();
    let (suite, slow) = suite_on_a_slow_disk(&folder);
    let gym = Gym::of(suite, &Mood::default(), |options, _| options.workers = 2).await;
    let second = json!({ "task": "bike.two", "repeat": 1 });
    let leave = async {
        // It waits for its turn behind the other one.
        let left = tokio::time::timeout(SHORT, gym.post("/reset", second.clone())).await;
        assert!(left.is_err(), "{left:?}");
        for _ in 0..3 {
            // Meanwhile the gym sees that the client has gone.
            gym.send("GET", "/tasks", &[], "").await;
        }
        tokio::task::spawn_blocking(move || write_nothing(&slow)).await.unwrap();
    };
    let ((status, _), ()) = tokio::join!(gym.post("/reset", json!({ "task": "bike.one" })), leave);
    assert_eq!(status, 500);
    let since = Instant::now();
    let (mut status, mut begun) = gym.post("/reset", second.clone()).await;
    // Until the attempt of the client that has left is taken back.
    while status == 409 && since.elapsed() < PATIENCE {
        (status, begun) = gym.post("/reset", second.clone()).await;
    }
    assert_eq!(status, 200, "{begun:#}");
    gym.post("/close", json!({ "session": begun["session"] })).await;
    assert_eq!(gym.end().await.unwrap().episodes, 1);
}

#[tokio::test]
async fn measurements_are_those_of_what_was_done() {
    let gym = Gym::open(&Mood::default(), |options, _| options.workers = 2).await;
    let session = gym.reset("bike.one").await;
    gym.step(&session, "click('1')").await;
    let metrics = async || {
        let request = http::Request::get(format!("{}/metrics", gym.url)).body(Full::default()).unwrap();
        let answer = gym.client.request(request).await.unwrap();
        assert_eq!(answer.headers()["content-type"], "text/plain; version=0.0.4");
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        String::from_utf8(body.to_vec()).unwrap()
    };
    let has = |text: &str, lines: &[&str]| {
        for line in lines {
            assert!(text.lines().any(|own| own == *line), "{line}: {text}");
        }
    };
    let text = metrics().await;
    has(
        &text,
        &[
            "sandbox_gym_places{state=\"free\"} 1",
            "sandbox_gym_places{state=\"taken\"} 1",
            "sandbox_gym_sessions_open 1",
            "sandbox_gym_steps_total 1",
            "sandbox_gym_step_duration_seconds_count 1",
            "sandbox_gym_resets_total 1",
            "sandbox_gym_reset_duration_seconds_count 1",
            "sandbox_gym_errors_total{kind=\"request\"} 0",
        ],
    );
    assert_eq!(gym.step(&session, "send_msg_to_user('a red bicycle')").await.0, 200);
    assert_eq!(gym.step(&session, "noop()").await.0, 410);
    assert_eq!(gym.post("/reset", json!({ "task": "car" })).await.0, 404);
    assert_eq!(gym.send("GET", "/metrics", &[("origin", "https://evil.test")], "").await.0, 403);
    has(
        &metrics().await,
        &[
            "sandbox_gym_places{state=\"free\"} 2",
            "sandbox_gym_sessions_open 0",
            "sandbox_gym_steps_total 2",
            "sandbox_gym_resets_total 1",
            "sandbox_gym_errors_total{kind=\"request\"} 1",
            "sandbox_gym_errors_total{kind=\"forbidden\"} 1",
            "sandbox_gym_errors_total{kind=\"session_ended\"} 1",
        ],
    );
    gym.end().await;
}

#[tokio::test]
async fn headers_name_the_session_and_bound_the_wait() {
    let gym = Gym::open(&Mood::default(), |_, _| {}).await;
    let ask = async |path: &str, body: Value| {
        let request = http::Request::post(format!("{}{path}", gym.url))
            .header("content-type", "application/json")
            .header("prefer", "respond-async, wait=0")
            .body(Full::from(body.to_string()))
            .unwrap();
        let answer = tokio::time::timeout(PATIENCE / 2, gym.client.request(request)).await.unwrap().unwrap();
        let text = |name: &str| answer.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        (answer.status().as_u16(), text("sandbox-session"), text("sandbox-episode"))
    };
    let (status, session, episode) = ask("/reset", json!({ "task": "bike.one" })).await;
    let open = (session.clone(), Some("open".to_owned()));
    assert!(status == 200 && session.is_some() && episode == open.1);
    // It does not wait for the place.
    assert_eq!(ask("/reset", json!({ "task": "bike.two" })).await, (503, None, None));
    let step = |action: &str| json!({ "session": session, "action": action });
    assert_eq!(ask("/step", step("click('1')")).await, (200, open.0, open.1));
    let ended = (session.clone(), Some("ended".to_owned()));
    for (path, body, status) in [
        ("/step", step("send_msg_to_user('x')"), 200),
        ("/step", step("noop()"), 410),
        ("/close", json!({ "session": session }), 200),
        ("/close", json!({ "session": session }), 404),
    ] {
        assert_eq!(ask(path, body).await, (status, ended.0.clone(), ended.1.clone()), "{path}");
    }
    let odd = Some("ended".to_owned());
    assert_eq!(ask("/close", json!({ "session": "no\nheader" })).await, (404, None, odd));
    gym.end().await;
}
