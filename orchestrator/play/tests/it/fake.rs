//! A browser of three pages, and a suite for it. Page `https://shop.test/<n>` links to `<n+1>`;
//! what else happens is up to [`Mood`].

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use actions::Action;
use browser::{ActionTarget, Observation, ObservationOptions, ScreenshotOptions, StorageState};
use gateway::{Answer, Entry, NearestRequest};
use play::Environment;
use play::environment::{EnvironmentError, NotActed};
use scoring::assistantbench::GoldAnswer;
use scoring::solution::{Element, OracleStep};
use scoring::{
    Decision, Fetch, FetchResponse, ProbeQuestion, ProgramCheck, ProgramExit, Scorer, Undecided,
};
use serde_json::Value;
use sites::ApiClient;
use snapshots::Exchange;
use tasks::{GoalText, Suite, Task, WorldSpec};

/// The failures to simulate, by task id.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mood {
    /// The browser dies at the first click in this task.
    pub(crate) dies_in: &'static str,
    /// Actions never come back in this task.
    pub(crate) hangs_in: &'static str,
    /// The n-th episode begun sees another page title.
    pub(crate) drifts_in_episode: Option<u32>,
    /// From the n-th time on the world does not come up.
    pub(crate) fails_to_come_up_from: Option<u32>,
    /// Episodes begun and worlds brought up so far.
    pub(crate) begun: Arc<AtomicU32>,
    /// See `begun`.
    pub(crate) brought_up: Arc<AtomicU32>,
}

pub(crate) struct Fake {
    mood: Mood,
    task: String,
    drifts: bool,
    page: u32,
    wanted: u32,
    pending: Vec<Entry>,
    next_seq: u64,
}

impl Fake {
    pub(crate) async fn bring_up(mood: Mood) -> Result<Fake, EnvironmentError> {
        let count = mood.brought_up.fetch_add(1, Ordering::SeqCst) + 1;
        if mood.fails_to_come_up_from.is_some_and(|from| count >= from) {
            return Err(broken("start the browser", "no such program"));
        }
        Ok(Fake {
            mood,
            task: String::new(),
            drifts: false,
            page: 0,
            wanted: 0,
            pending: Vec::new(),
            next_seq: 0,
        })
    }

    fn visit(&mut self, page: u32) {
        self.page = page;
        let mut ask = |url: String, status, answer| {
            self.pending.push(Entry {
                seq: self.next_seq,
                method: "GET".to_owned(),
                url,
                status,
                answer,
                capture: None,
                bytes: 100,
                destination: None,
                took_ms: None,
            });
            self.next_seq += 1;
        };
        ask(format!("https://shop.test/{page}"), 200, Answer::Exact);
        if page == 2 {
            let near = NearestRequest {
                method: "GET".to_owned(),
                url: "https://shop.test/x.css?v=1".to_owned(),
                differs: "query".to_owned(),
            };
            ask("https://shop.test/x.css?v=2".to_owned(), 404, Answer::Miss { near: vec![near] });
            let reason = "no route".to_owned();
            ask("https://tracker.test/pixel".to_owned(), 502, Answer::Refused { reason });
        }
    }
}

fn broken(doing: &'static str, why: &str) -> EnvironmentError {
    EnvironmentError::while_doing(doing)(why.to_owned())
}

impl Environment for Fake {
    async fn begin(&mut self, task: &Task) -> Result<(), EnvironmentError> {
        let begun = self.mood.begun.fetch_add(1, Ordering::SeqCst) + 1;
        self.drifts = self.mood.drifts_in_episode == Some(begun);
        self.task = task.id.clone();
        self.pending.clear();
        self.next_seq = 0;
        self.visit(1);
        Ok(())
    }

    /// The page's scripts know `page`, the number of the page, and `wanted`, which the task's
    /// script sets; all else throws.
    async fn evaluate(&mut self, script: &str) -> Result<Result<Value, String>, EnvironmentError> {
        let set = script.strip_prefix("wanted = ").and_then(|text| text.split(['\n', ';']).next());
        if let Some(number) = set.and_then(|text| text.parse().ok()) {
            self.wanted = number;
            return Ok(Ok(Value::Null));
        }
        Ok(match script {
            "goal" => Ok(format!("Go to page {}.", self.wanted).into()),
            "page" => Ok(self.page.into()),
            "page === wanted" => Ok((self.page == self.wanted).into()),
            "page / wanted" => Ok((f64::from(self.page) / f64::from(self.wanted)).into()),
            other => Err(format!("ReferenceError: {other} is not defined")),
        })
    }

    async fn observe(&mut self, _: &ObservationOptions) -> Result<Observation, EnvironmentError> {
        let drift = if self.drifts { " of today" } else { "" };
        Ok(Observation {
            url: format!("https://shop.test/{}", self.page),
            title: format!("Page {}", self.page),
            axtree: format!("RootWebArea 'Page {}{drift}'\n\t[1] link 'Next'\n", self.page),
            elements: vec![browser::Element {
                bid: "1".to_owned(),
                role: "link".to_owned(),
                name: "Next".to_owned(),
            }],
            ..Observation::default()
        })
    }

    async fn render_frame(&mut self) -> Result<(), EnvironmentError> {
        Ok(())
    }

    async fn screenshot(&mut self, _: &ScreenshotOptions) -> Result<Vec<u8>, EnvironmentError> {
        Ok(b"\x89PNG\r\n\x1a\n".iter().copied().chain([self.page as u8]).collect())
    }

    async fn storage_state(&mut self) -> Result<StorageState, EnvironmentError> {
        let theme = browser::Entry { name: "page".to_owned(), value: self.page.to_string() };
        let shop = browser::OriginState {
            origin: "https://shop.test".to_owned(),
            local_storage: vec![theme],
            ..Default::default()
        };
        Ok(StorageState { cookies: Vec::new(), origins: vec![shop] })
    }

    async fn act(&mut self, action: &Action) -> Result<Option<ActionTarget>, NotActed> {
        if self.task == self.mood.hangs_in {
            std::future::pending::<()>().await;
        }
        if self.task == self.mood.dies_in {
            let gone = browser::Error::Gone { waiting_for: "a click".to_owned() };
            return Err(NotActed::Broken(EnvironmentError::while_doing("click")(gone)));
        }
        match action {
            Action::Click { bid, .. } if bid == "1" => self.visit(self.page + 1),
            Action::Click { bid, .. } => {
                return Err(NotActed::Refused(format!("no element has id {bid}")));
            }
            _ => {}
        }
        Ok(None)
    }

    async fn settle(&mut self) -> Result<Option<String>, EnvironmentError> {
        Ok((self.page == 3).then(|| "2 requests in flight".to_owned()))
    }

    async fn probe(&mut self, question: ProbeQuestion<'_>) -> Result<Value, EnvironmentError> {
        Err(broken("read a site's state", question.site))
    }

    /// Programs are called by what they say.
    async fn decide(
        &mut self,
        program: &ProgramCheck,
        answer: Option<&str>,
    ) -> Result<Result<Decision, Undecided>, EnvironmentError> {
        let said = program
            .words("https://shop.test")
            .join(" ")
            .replace("ANSWER", answer.unwrap_or_default());
        Ok(program.decide(&ProgramExit { code: Some(0), signal: None, stdout: &said, stderr: "" }))
    }

    /// The shop has one picture, and nothing else that is not a page.
    async fn fetch(
        &mut self,
        request: &Fetch,
    ) -> Result<Result<FetchResponse, String>, EnvironmentError> {
        let status = if request.url == "https://shop.test/bike.png" { 200 } else { 404 };
        Ok(Ok(FetchResponse { status, body: b"a picture".to_vec() }))
    }

    fn api_client(&mut self, site: &str) -> Result<ApiClient, EnvironmentError> {
        Err(broken("reach an instance", site))
    }

    fn requests(&mut self) -> Vec<Entry> {
        std::mem::take(&mut self.pending)
    }

    fn keep_network(&mut self, _keep: bool) {}

    fn network(&mut self) -> Option<Vec<Exchange>> {
        None
    }

    async fn close(self) {}
}

/// Three tasks, each to follow `Next` so many times and then answer.
pub(crate) fn suite() -> Result<Suite, jiff::Error> {
    let task = |id: &str, clicks: usize| Task {
        start_url: Some("https://shop.test/1".to_owned()),
        device: Default::default(),
        max_steps: 4,
        oracle: {
            let next = Element { role: "link".to_owned(), name: "Next".to_owned(), nth: 0 };
            let mut steps = vec![OracleStep::Click(next.into()); clicks];
            steps.push(OracleStep::Answer("a red bicycle".to_owned()));
            steps
        },
        ..Task::new(
            id.to_owned(),
            GoalText::Words(format!("Follow the link {clicks} times and say what you see.")),
            Scorer::AssistantBench(GoldAnswer { gold: "a red bicycle".to_owned() }),
        )
    };
    Ok(Suite {
        name: "fake".to_owned(),
        folder: "tasks/fake".into(),
        version: None,
        versions: Vec::new(),
        world: WorldSpec { seed: 7, ..WorldSpec::new("2026-03-14T09:00:00Z".parse()?) },
        tasks: vec![task("bike.one", 1), task("bike.two", 2), task("bike.zero", 0)],
    })
}

pub(crate) const SHORT: Duration = Duration::from_millis(200);
