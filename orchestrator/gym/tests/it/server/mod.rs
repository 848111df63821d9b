//! A gym over HTTP, with a browser that is not there.

#![allow(clippy::unwrap_used)]

mod disk;
mod requests;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agents::AgentSpec;
use camino::Utf8PathBuf;
use gym::server::{self, Error, Event, Progress, Settings};
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use play::{Limits, Options};
use results::Summary;
use results::{EpisodeId, Outcome, RunFolder};
use serde_json::{Value, json};
use tasks::Suite;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::fake::{Fake, Mood, SHORT, suite};

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

    async fn of(
        suite: Suite,
        mood: &Mood,
        change: impl FnOnce(&mut Options, &mut Settings),
    ) -> Gym {
        let folder = tempfile::tempdir().unwrap();
        let out = Utf8PathBuf::from_path_buf(folder.path().join("run")).unwrap();
        let mut options = Options { out: Some(out.clone()), ..Options::default() };
        let listen = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut settings =
            Settings { listen, key: host_check::Key::random(), place_within: PATIENCE };
        change(&mut options, &mut settings);
        let (interrupt, mood) = (CancellationToken::new(), mood.clone());
        let stop = interrupt.clone();
        let (say, said) = oneshot::channel();
        let serving = tokio::spawn(async move {
            let bring_up = move || Fake::bring_up(mood.clone());
            let say = Mutex::new(Some(say));
            let on_event: Progress = Arc::new(move |event| {
                if let Event::Listening(listening) = event {
                    say.lock().unwrap().take().unwrap().send(listening.url.clone()).unwrap();
                }
            });
            let machine = play::HostFacts::default();
            server::serve_in(machine, bring_up, &suite, &options, settings, stop, on_event).await
        });
        let client = Client::builder(TokioExecutor::new()).build(HttpConnector::new());
        Gym { _folder: folder, out, url: said.await.unwrap(), client, interrupt, serving }
    }

    async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> (u16, Value) {
        let mut request =
            http::Request::builder().method(method).uri(format!("{}{path}", self.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::from(body.to_owned())).unwrap();
        let answer =
            tokio::time::timeout(PATIENCE, self.client.request(request)).await.unwrap().unwrap();
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        (
            status,
            serde_json::from_slice(&body).unwrap_or_else(|_| json!(String::from_utf8_lossy(&body))),
        )
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
    assert_eq!(
        (status, tasks["tasks"].as_array().unwrap().len(), &tasks["seed"]),
        (200, 3, &json!(7))
    );
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
    assert_eq!(
        (&seen["url"], &seen["last_action"]),
        (&json!("https://shop.test/2"), &json!("click('1')"))
    );
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
    let options =
        Options { out: Some(out), tasks: vec!["bike.one".to_owned()], ..Options::default() };
    let bring_up = |_| Fake::bring_up(Mood::default());
    let (oracle, suite): (AgentSpec, _) = ("oracle".parse().unwrap(), suite().unwrap());
    let run = play::run_in(
        play::HostFacts::default(),
        bring_up,
        &suite,
        &oracle,
        &options,
        CancellationToken::new(),
        play::silent(),
    );
    let run = run.await.unwrap();
    let summary = gym.end().await.unwrap();
    assert_eq!(summary.fingerprints, run.fingerprints, "the same actions are the same episode");
    assert_eq!(
        (&*summary.agent, summary.planned, summary.episodes, summary.passed),
        ("gym", 1, 1, 1)
    );
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
        (
            409,
            &json!(
                "attempt 2 at bike.two exists already; choose another, or omit `repeat` for the next"
            )
        )
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
    assert_eq!(
        mood.brought_up.load(std::sync::atomic::Ordering::SeqCst),
        2,
        "worlds are used again"
    );
    assert_eq!(gym.end().await.unwrap().episodes, 3);
}

#[tokio::test]
async fn a_silent_client_loses_its_place() {
    let gym = Gym::open(&Mood::default(), |options, _| {
        options.limits = Limits { answer: SHORT, ..options.limits }
    })
    .await;
    let session = gym.reset("bike.one").await;
    // There is one place: this comes back when the other episode has ended by itself.
    gym.reset("bike.two").await;
    let message = "failed to get an action from the client within 0.2 s: it sent none, so the episode was ended";
    let (reason, message) = (results::AgentFailure::Late, message.to_owned());
    assert_eq!(
        gym.outcome("bike.one", 1),
        Outcome::AgentFailed { reason, message: message.clone() }
    );
    let (status, gone) = gym.step(&session, "noop()").await;
    assert_eq!(status, 410);
    assert_eq!(
        gone["error"],
        format!(
            "session {} has ended ({message}); POST /reset begins another",
            session.as_str().unwrap()
        )
    );
    assert_eq!(gone["info"]["result"]["task"], "bike.one");
}

#[tokio::test]
async fn what_breaks_is_told_and_the_next_world_is_a_new_one() {
    let mood = Mood { dies_in: "bike.one", ..Mood::default() };
    let gym = Gym::open(&mood, |_, _| {}).await;
    let session = gym.reset("bike.one").await;
    let (status, broken) = gym.step(&session, "click('1')").await;
    let message = "failed to click: reach the browser: it closed the connection during `a click`";
    assert_eq!((status, &broken["error"]), (500, &json!(message)));
    assert_eq!(broken["info"]["result"]["outcome"]["kind"], "agent_failed");
    gym.reset("bike.two").await;
    assert_eq!(mood.brought_up.load(std::sync::atomic::Ordering::SeqCst), 2);
    let mood = Mood { fails_to_come_up_from: Some(1), ..Mood::default() };
    let gym = Gym::open(&mood, |_, _| {}).await;
    let (status, never) = gym.post("/reset", json!({ "task": "bike.one" })).await;
    assert_eq!(
        (status, &never["error"]),
        (500, &json!("failed to start the browser: no such program"))
    );
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
