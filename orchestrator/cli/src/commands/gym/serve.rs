//! `sandbox gym SUITE`: a suite as environments that other programs reset and step.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;
use gym::server::{self, Event, Progress, Settings};
use host_check::Key;
use parking_lot::Mutex;
use play::{Limits, Options};
use serde_json::json;
use tokio::sync::oneshot;
use url::Url;

use crate::failure::{Failure, OrFail, Outcome};
use crate::options::DataFolder;
use crate::options::confinement;
use crate::options::scoring::Scoring;
use crate::options::units;
use crate::terminal::interrupt;
use crate::terminal::out;
use crate::terminal::progress;
use crate::trust::SiteVariables;

/// Options of a gym, and its suite.
#[derive(clap::Args)]
pub(super) struct Serve {
    /// Folder with a suite.yaml
    // Required unless there is a command, which `Option` cannot say.
    #[arg(required = true)]
    suite: Option<Utf8PathBuf>,
    /// Address to listen on; port 0 is a free port
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// File with the secret that the key in the URL is derived from, made if absent [default:
    /// server.key in the folder of --data]
    #[arg(long, value_name = "FILE")]
    key: Option<Utf8PathBuf>,
    /// Parallel episodes, each with its own browser and gateway
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..))]
    workers: u16,
    /// Folder for the results [default: runs/SUITE-gym-TIME]
    #[arg(short, long, alias = "out", value_name = "DIR")]
    output: Option<Utf8PathBuf>,
    /// Continue the run in --output; its episodes count as attempted
    #[arg(long, requires = "output")]
    resume: bool,
    /// Serve only this task; can be repeated
    #[arg(long = "task", value_name = "ID")]
    tasks: Vec<String>,
    /// How long a reset waits for a free worker before it is refused with status 503
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = units::seconds)]
    wait: Duration,
    /// How long a client may leave a session alone before its episode is lost: it ends as
    /// `agent_failed`, because the reply was `late`
    #[arg(long, value_name = "TIME", default_value = "300s", value_parser = units::some_seconds)]
    idle_timeout: Duration,
    /// How long one episode may take
    #[arg(long, value_name = "TIME", default_value = "3600s", value_parser = units::seconds)]
    episode_timeout: Duration,
    /// How long the browser may take to look at a page, or to act and let the page settle
    #[arg(long, value_name = "TIME", default_value = "180s", value_parser = units::seconds)]
    step_timeout: Duration,
    /// Take no screenshots: `screenshot` is null in observations, and a step costs less
    #[arg(long)]
    no_screenshots: bool,
    /// Write all network traffic into each episode's network.har, with credentials
    #[arg(long)]
    keep_network: bool,
    /// Serve behind this `sandbox gym balance` as well: register with it, and leave it at the end
    #[arg(long, value_name = "BALANCER-URL")]
    join: Option<Url>,
    /// File with the key of that balancer [default: front.key in the folder of --data]
    #[arg(long, value_name = "FILE", requires = "join")]
    join_key: Option<Utf8PathBuf>,
    #[command(flatten)]
    scoring: Scoring,
    #[command(flatten)]
    variables: SiteVariables,
    #[command(flatten)]
    data: DataFolder,
}

impl Serve {
    /// Serves until interrupted, then says what was played.
    pub(super) async fn run(self) -> Outcome {
        self.output.as_deref().map_or(Ok(()), out::is_a_path)?;
        let suite = self.suite.expect("a suite is required without a command");
        let mut suite = play::suites::load_undated(&suite)?;
        let trust = &self.scoring.models.trust;
        let agreed = trust.agree_to_suite(&mut suite, &self.tasks, &self.variables, &self.data)?;
        let options = Options {
            out: self.output,
            resume: self.resume,
            workers: self.workers.into(),
            tasks: self.tasks,
            screenshots: !self.no_screenshots,
            keep_network: self.keep_network,
            scoring_mode: self.scoring.mode,
            judge: self.scoring.judge(&self.data)?,
            agreed,
            site_variables: self.variables.given,
            limits: Limits {
                episode: self.episode_timeout,
                answer: self.idle_timeout,
                step: self.step_timeout,
                ..Limits::default()
            },
            ..confinement::of_user(&self.data)?
        };
        let key = Key::of_file(&self.data.server_key(self.key.as_deref())?, "gym")
            .or_environment("make the key of the gym")?;
        let (told, listens) = oneshot::channel();
        let joining = match self.join {
            Some(balancer) => {
                let balancer_key = self.data.balancer_key(self.join_key.as_deref())?;
                Some(gym::balancer::Joining::start(
                    gym::balancer::Membership::new(&balancer, balancer_key, key.clone())?,
                    listens,
                    interrupt::token(),
                ))
            }
            None => None,
        };
        let settings = Settings { listen: self.listen, key: key.clone(), place_within: self.wait };
        let bar = progress::spinner("opening the gym");
        let shown = bar.clone();
        let told = Mutex::new(Some(told));
        let on_event: Progress = Arc::new(move |event| match event {
            Event::Played(play::Event::Site(event)) => {
                if let Some(warning) = event.warning() {
                    shown.suspend(|| out::warn(&warning));
                } else if let Some(text) = event.words() {
                    progress::say(&shown, text);
                }
            }
            Event::Listening(listening) => {
                shown.finish_and_clear();
                out::json_line(listening);
                if let Some(told) = told.lock().take() {
                    let _ = told.send(listening.address);
                }
                eprintln!("results are kept in {}; Ctrl-C closes the gym", listening.run);
            }
            Event::Played(play::Event::Ended { episode, record, .. }) => {
                let worth = record
                    .score
                    .map_or_else(|| "not judged yet".to_owned(), |score| format!("{score:.2}"));
                eprintln!("{episode}  {}  {worth}", record.outcome.kind());
            }
            Event::Played(_) => {}
        });
        let served = server::serve(&suite, &options, settings, interrupt::token(), on_event).await;
        bar.finish_and_clear();
        let left = match joining {
            Some(joining) => joining.end().await.map_err(Failure::from),
            None => Ok(()),
        };
        let Some(summary) = served? else {
            out::json_line(&json!({ "run": null, "episodes": 0 }));
            return left;
        };
        let report = results::report::write(&summary.folder).or_environment("write the report")?;
        let played = json!({
            "run": summary.folder, "episodes": summary.episodes, "score": summary.score, "errors": summary.errors,
        });
        out::json_line(&played);
        eprintln!("{}\nreport        {report}", summary.table(progress::columns()));
        left
    }
}
