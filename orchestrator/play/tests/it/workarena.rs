//! WorkArena's tasks in whole runs, against a table API over HTTP and a browser that is not there.

use std::sync::Arc;
use std::time::Duration;

use actions::Action;
use agents::AgentSpec;
use browser::{ActionTarget, Observation, ObservationOptions, ScreenshotOptions, StorageState};
use camino::Utf8Path;
use fake_model::{ModelRequest, Reply};
use fake_servicenow::{FakeServiceNow, installed};
use gateway::Entry;
use llm_client::Model;
use play::environment::{EnvironmentError, NotActed};
use play::{Environment, HostFacts, Limits, Options};
use results::Summary;
use results::{AgentFailure, EpisodeId, Outcome, RunFolder};
use scoring::tables::{Lookup, Memory, Tables as _, kept};
use scoring::workarena::KINDS;
use scoring::{Decision, Fetch, FetchResponse, ProbeQuestion, ProgramCheck, Undecided};
use serde_json::{Value, json};
use sites::{ApiClient, Lease, Site, SiteGroup};
use snapshots::Exchange;
use tasks::import::Import;
use tasks::import::workarena::{Setup, TaskOptions, workarena, world};
use tasks::{Suite, Task};
use tokio_util::sync::CancellationToken;

type Tested = Result<(), Box<dyn std::error::Error>>;
type Or<T> = Result<T, Box<dyn std::error::Error>>;

/// A town with the instance alone.
async fn town(port: u16, folder: &Utf8Path, password: &str) -> Or<SiteGroup> {
    let manifest = folder.join("desk");
    std::fs::create_dir_all(&manifest)?;
    let text = format!(
        "title: Desk\nabout: Tables.\ndriver: external\nurl: http://127.0.0.1:{port}\nhosts: [desk.test]\n\
         accounts: {{admin: {{username: admin, password: \"{password}\"}}}}\nreset: never\n"
    );
    std::fs::write(manifest.join("site.yaml"), text)?;
    let sites = Site::load_all(folder)?;
    let options = sites::Options {
        instances: 1,
        folder: folder.join("run"),
        listed: sites.clone(),
        name: "t".to_owned(),
        helper: None,
        variables: Vec::new(),
    };
    let town = SiteGroup::start(sites, options, Arc::new(|_| {})).await?;
    town.ready(Duration::from_secs(10)).await?;
    Ok(town)
}

/// Tasks that an oracle can solve, of our own making.
fn suite() -> Or<Suite> {
    let wanted = TaskOptions::new("desk", "https://desk.test");
    let mut import = Import::default();
    for (name, json) in [
        ("all-menu", r#"[{"application": "Tools", "module": "Hammers", "url": "/tool_list.do"}]"#),
        (
            "sort-user-list",
            r#"[{"goal": "Sort the \"users\" list by the following fields:\n - Name (ascending)\n - Age (descending)",
                "sort_dirs": ["asc", "desc"], "sort_fields": ["name", "age"]}]"#,
        ),
    ] {
        let kind = KINDS.iter().find(|kind| kind.name == name).ok_or("no such kind")?;
        workarena(kind, Some(json), &Setup::default(), &wanted, &mut import)?;
    }
    let world = world("sites".into(), "2026-03-14T09:00:00Z".parse()?, 0);
    Ok(Suite {
        name: "desk".to_owned(),
        folder: "tasks/desk".into(),
        version: None,
        versions: Vec::new(),
        world,
        tasks: import.tasks,
    })
}

/// A browser that knows where it is.
struct Desk {
    town: SiteGroup,
    lease: Option<Lease>,
    url: String,
    /// It never comes back from the first action.
    hangs: bool,
    /// The run is interrupted then.
    interrupts: Option<CancellationToken>,
    /// Logging in by an address does not work.
    refuses: bool,
}

fn broken(why: &str) -> EnvironmentError {
    EnvironmentError::while_doing("use the desk")(why.to_owned())
}

impl Environment for Desk {
    async fn begin(&mut self, _: &Task) -> Result<(), EnvironmentError> {
        // There is one only.
        self.lease = None;
        let lease = self.town.lease("desk", Duration::from_secs(10)).await;
        self.lease = Some(lease.map_err(EnvironmentError::while_doing("get a copy"))?);
        Ok(())
    }

    async fn evaluate(&mut self, script: &str) -> Result<Result<Value, String>, EnvironmentError> {
        Ok(match script {
            // A page of somebody else, on which the rule's script throws.
            "location.href" if self.url.contains("elsewhere") => Err("SecurityError".to_owned()),
            "location.href" => Ok(json!(self.url)),
            script if script.contains("gsft_main") => Ok(Value::Null),
            other => Err(format!("ReferenceError: {other}")),
        })
    }

    async fn observe(&mut self, _: &ObservationOptions) -> Result<Observation, EnvironmentError> {
        Ok(Observation { url: self.url.clone(), ..Observation::default() })
    }

    async fn render_frame(&mut self) -> Result<(), EnvironmentError> {
        Ok(())
    }

    async fn screenshot(&mut self, _: &ScreenshotOptions) -> Result<Vec<u8>, EnvironmentError> {
        Ok(b"\x89PNG\r\n\x1a\n".to_vec())
    }

    async fn act(&mut self, action: &Action) -> Result<Option<ActionTarget>, NotActed> {
        if let Action::Goto { url } = action {
            let log_in = url.contains("/login.do?");
            self.url = match log_in && !self.refuses {
                true => "https://desk.test/now/nav/ui/home".to_owned(),
                false => url.clone(),
            };
            let done = url.contains("tool_list.do") || url.contains("ORDERBY");
            if done && self.hangs {
                if let Some(interrupt) = &self.interrupts {
                    interrupt.cancel();
                }
                std::future::pending::<()>().await;
            }
        }
        Ok(None)
    }

    async fn settle(&mut self) -> Result<Option<String>, EnvironmentError> {
        Ok(None)
    }

    async fn probe(&mut self, _: ProbeQuestion<'_>) -> Result<Value, EnvironmentError> {
        Err(broken("it has no probes"))
    }

    async fn decide(
        &mut self,
        _: &ProgramCheck,
        _: Option<&str>,
    ) -> Result<Result<Decision, Undecided>, EnvironmentError> {
        Err(broken("it runs no programs"))
    }

    async fn fetch(
        &mut self,
        _: &Fetch,
    ) -> Result<Result<FetchResponse, String>, EnvironmentError> {
        Err(broken("it fetches nothing"))
    }

    fn api_client(&mut self, site: &str) -> Result<ApiClient, EnvironmentError> {
        let lease = self.lease.as_ref().filter(|lease| lease.site().name == site);
        let caller = lease.ok_or_else(|| broken("no such site"))?.api_client("admin");
        caller.map_err(EnvironmentError::while_doing("reach it"))
    }

    fn requests(&mut self) -> Vec<Entry> {
        Vec::new()
    }

    fn keep_network(&mut self, _: bool) {}

    fn network(&mut self) -> Option<Vec<Exchange>> {
        None
    }

    async fn storage_state(&mut self) -> Result<StorageState, EnvironmentError> {
        Err(broken("it keeps nothing"))
    }

    async fn close(self) {}
}

/// The settings of a run.
#[derive(Clone, Default)]
struct Course {
    agent: &'static str,
    /// The agent's model.
    model: Model,
    hangs: bool,
    interrupts: bool,
    refuses: bool,
    password: Option<&'static str>,
    interrupt: CancellationToken,
}

/// Runs the suite; gives the outcomes by task, and the tables before and after.
async fn play(
    tables: Memory,
    course: Course,
) -> Or<(Option<Summary>, Vec<(Outcome, Option<f64>)>, Memory)> {
    let keep = tempfile::tempdir()?;
    let folder = Utf8Path::from_path(keep.path()).ok_or("no UTF-8")?;
    let instance = FakeServiceNow::new(tables);
    let port = instance.serve().await?;
    let town = town(port, &folder.join("sites"), course.password.unwrap_or("secret")).await?;
    let out = folder.join("run");
    let limits = Limits { episode: Duration::from_secs(2), ..Limits::default() };
    let options = Options { out: Some(out.clone()), limits, ..Options::default() };
    let bring_up = {
        let (town, course) = (town.clone(), course.clone());
        move |_| {
            let desk = Desk {
                town: town.clone(),
                lease: None,
                url: "about:blank".to_owned(),
                hangs: course.hangs,
                interrupts: course.interrupts.then(|| course.interrupt.clone()),
                refuses: course.refuses,
            };
            async move { Ok(desk) }
        }
    };
    let mut agent: AgentSpec = course.agent.parse()?;
    agent.connect(&mut |_| Ok::<_, std::convert::Infallible>(course.model.clone()))?;
    let suite = suite()?;
    let summary = play::run_in(
        HostFacts::default(),
        bring_up,
        &suite,
        &agent,
        &options,
        course.interrupt,
        play::silent(),
    )
    .await
    .ok();
    let mut outcomes = Vec::new();
    for task in &suite.tasks {
        let id = EpisodeId { task: task.id.clone(), repeat: 1 };
        if let Ok(record) = RunFolder::open(&out)?.episode(&id).record() {
            outcomes.push((record.outcome, record.score));
        }
    }
    town.stop().await?;
    Ok((summary, outcomes, instance.tables()))
}

#[tokio::test]
async fn the_oracle_earns_all_and_the_instance_is_as_before() -> Tested {
    let before = installed()?;
    let (summary, outcomes, after) =
        play(before.clone(), Course { agent: "oracle", ..Course::default() }).await?;
    assert_eq!(outcomes, [(Outcome::Done, Some(1.0)), (Outcome::Done, Some(1.0))]);
    assert_eq!(summary.map(|summary| summary.passed), Some(2));
    assert_eq!(after, before);
    Ok(())
}

/// A model that knows one of the menus.
fn knows_the_hammers(request: &ModelRequest) -> Reply {
    let action = if request.words().contains("Hammers") {
        "goto('https://desk.test/tool_list.do')"
    } else {
        "send_msg_to_user('I cannot sort')"
    };
    Reply::Says(format!("<think>what I know</think><action>{action}</action>"))
}

#[tokio::test]
async fn an_agent_that_asks_a_model_is_judged_after_every_action() -> Tested {
    let server = fake_model::Server::start(knows_the_hammers)?;
    let client = llm_client::Client::new(&llm_client::Settings::to(server.base_url()))?;
    let model = Model { name: Some("fake".to_owned()), client: Some(client), ..Model::default() };
    let before = installed()?;
    let course = Course { agent: "generic", model, ..Course::default() };
    let (summary, outcomes, after) = play(before.clone(), course).await?;
    assert_eq!(outcomes, [(Outcome::Done, Some(1.0)), (Outcome::Answered, Some(0.0))]);
    assert_eq!(summary.and_then(|summary| summary.models).map(|spent| spent.calls), Some(2));
    assert_eq!(after, before);
    Ok(())
}

#[tokio::test]
async fn who_does_nothing_earns_nothing() -> Tested {
    let before = installed()?;
    let (_, outcomes, after) =
        play(before.clone(), Course { agent: "noop", ..Course::default() }).await?;
    assert!(
        outcomes.iter().all(|(outcome, score)| *score == Some(0.0) && *outcome != Outcome::Done),
        "{outcomes:?}"
    );
    assert_eq!((outcomes.len(), after), (2, before));
    Ok(())
}

/// Checks that both episodes ended in an error with this text.
fn failed(outcomes: &[(Outcome, Option<f64>)], says: &str) -> bool {
    let one = |(outcome, _): &(Outcome, Option<f64>)| match outcome {
        Outcome::Error { message } => message.contains(says),
        _ => false,
    };
    outcomes.len() == 2 && outcomes.iter().all(one)
}

#[tokio::test]
async fn what_cannot_be_set_up_is_an_error_and_leaves_nothing() -> Tested {
    let mut before = installed()?;
    for row in before.find(&Lookup::new("m2m_theme_style", ""))? {
        before.delete("m2m_theme_style", kept(&row, "sys_id")).await?;
    }
    let (_, outcomes, after) =
        play(before.clone(), Course { agent: "oracle", ..Course::default() }).await?;
    assert!(failed(&outcomes, "its theme `WorkArena` has no variants"), "{outcomes:?}");
    assert_eq!(after, before);
    let before = installed()?;
    let course = Course { agent: "oracle", refuses: true, ..Course::default() };
    let (_, outcomes, after) = play(before.clone(), course).await?;
    assert!(failed(&outcomes, "its log-in by an address is off"), "{outcomes:?}");
    assert_eq!(after, before);
    let course = Course { agent: "oracle", password: Some("wrong"), ..Course::default() };
    let (_, outcomes, after) = play(before.clone(), course).await?;
    assert!(
        failed(&outcomes, "status 401; look at the account's name, password and rights"),
        "{outcomes:?}"
    );
    let course = Course {
        agent: "oracle",
        password: Some("${SANDBOX_NO_SUCH_PASSWORD}"),
        ..Course::default()
    };
    assert_eq!(after, before);
    let refused =
        play(before, course).await.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(refused.contains("give it with --site-env SANDBOX_NO_SUCH_PASSWORD"), "{refused}");
    Ok(())
}

#[tokio::test]
async fn a_page_that_breaks_the_rule_is_the_loss_of_the_agent_that_has_opened_it() -> Tested {
    let before = installed()?;
    let agent = r#"program:read -r x; echo '{"protocol":1}'; read -r task; read -r x
        echo '{"action":"goto(\"https://elsewhere.test/\")"}'; read -r end"#;
    let (_, outcomes, after) = play(before.clone(), Course { agent, ..Course::default() }).await?;
    let lost = |(outcome, score): &(Outcome, Option<f64>)| match outcome {
        Outcome::AgentFailed { reason, .. } => {
            *reason == AgentFailure::NotScored && *score == Some(0.0)
        }
        _ => false,
    };
    assert!(outcomes.len() == 2 && outcomes.iter().all(lost), "{outcomes:?}");
    assert_eq!(after, before);
    Ok(())
}

#[tokio::test]
async fn an_episode_that_breaks_off_leaves_nothing_either() -> Tested {
    let before = installed()?;
    let course = Course { agent: "oracle", hangs: true, ..Course::default() };
    let (_, outcomes, after) = play(before.clone(), course.clone()).await?;
    assert!(outcomes.iter().all(|(outcome, _)| *outcome == Outcome::TimedOut), "{outcomes:?}");
    assert_eq!(after, before);
    let course = Course { interrupts: true, ..course };
    let (_, outcomes, after) = play(before.clone(), course).await?;
    assert_eq!(outcomes, [], "they are as if they had never begun");
    assert_eq!(after, before);
    Ok(())
}
