//! `sandbox gym`: a suite as environments that other people's agents reset and step.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;
use runs::gym::{self, Settings};
use runs::{Event, Limits, Options, Progress};
use serde_json::json;

use crate::failure::{OrFail, Outcome};
use crate::options::DataFolder;
use crate::scoring::Scoring;
use crate::{daemon, interrupt, progress, tasks};

/// Serve the tasks of a suite as BrowserGym environments, over HTTP
///
/// Prints one line of JSON once it answers: url, suite, run and workers. GET /tasks lists the tasks; POST /reset with {"task": ID} begins an
/// episode from a pristine world and gives session, observation and info; POST /step with {"session", "action"} gives observation, reward,
/// terminated, truncated and info; POST /close with {"session"} ends it. Observations have BrowserGym's keys, actions its spelling.
/// clients/python/sandbox_agents.py makes a Gymnasium environment of it.
///
/// The reward is 0 until the end, and then the task's score. Results are a run like any other, of the agent `gym`. Ctrl-C ends it: episodes
/// under way are as if they had never begun, and a second line of JSON says what was played. Whoever reaches the address may play; it is one
/// of this machine unless --listen says otherwise.
#[derive(clap::Args)]
pub(crate) struct Gym {
    /// A folder with a suite.yaml
    suite: Utf8PathBuf,
    /// Where to listen; port 0 is a free one
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Episodes at a time, each with its own browser and gateway
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u16).range(1..))]
    workers: u16,
    /// Folder for the results [default: runs/SUITE-gym-TIME]
    #[arg(long, value_name = "DIR")]
    out: Option<Utf8PathBuf>,
    /// Go on with the run in --out: what is there stays, and counts as attempted
    #[arg(long, requires = "out")]
    resume: bool,
    /// Serve only this task; may be given several times
    #[arg(long = "task", value_name = "ID")]
    tasks: Vec<String>,
    /// How long a reset waits for one of the --workers before it is refused with status 503, in seconds
    #[arg(long, value_name = "S", default_value_t = 60)]
    wait: u64,
    /// How long a client may leave a session alone before its episode ends in an error, in seconds
    #[arg(long, value_name = "S", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..))]
    idle_timeout: u64,
    /// How long one episode may take, in seconds
    #[arg(long, value_name = "S", default_value_t = 3600)]
    episode_timeout: u64,
    /// How long the browser may take to look at a page, or to act and let it settle, in seconds
    #[arg(long, value_name = "S", default_value_t = 180)]
    step_timeout: u64,
    /// Keep everything that passes over the network in each episode's network.har, log-ins included
    #[arg(long)]
    keep_network: bool,
    #[command(flatten)]
    scoring: Scoring,
    #[command(flatten)]
    data: DataFolder,
}

impl Gym {
    /// Serves until interrupted, then says what was played.
    pub(crate) async fn run(self) -> Outcome {
        let suite = tasks::load(&self.suite)?;
        let options = Options {
            out: self.out,
            resume: self.resume,
            workers: self.workers.into(),
            tasks: self.tasks,
            keep_network: self.keep_network,
            index_cache: Some(self.data.indexes()?),
            town: Some(self.data.town()?),
            helper: crate::confined::helper(),
            rules: self.scoring.rules,
            judge: self.scoring.judge()?,
            limits: Limits {
                episode: Duration::from_secs(self.episode_timeout),
                answer: Duration::from_secs(self.idle_timeout),
                step: Duration::from_secs(self.step_timeout),
                ..Limits::default()
            },
            ..Options::default()
        };
        let settings = Settings { listen: self.listen, place_within: Duration::from_secs(self.wait) };
        let bar = progress::spinner("opening the gym");
        let shown = bar.clone();
        let told: Progress = Arc::new(move |event| match event {
            Event::Site(event) => {
                if let Some(text) = daemon::told(event) {
                    shown.set_message(text);
                }
            }
            Event::Listening(listening) => {
                shown.finish_and_clear();
                println!("{}", serde_json::to_string(listening).expect("an address is plain data"));
                eprintln!("results are kept in {}; Ctrl-C closes the gym", listening.run);
            }
            Event::Ended { episode, record, .. } => {
                let worth =
                    record.score.map_or_else(|| "not judged yet".to_owned(), |score| format!("{score:.2}"));
                eprintln!("{episode}  {}  {worth}", record.outcome.kind());
            }
            _ => {}
        });
        let served = gym::serve(&suite, &options, settings, interrupt::token(), told).await;
        bar.finish_and_clear();
        let Some(summary) = served? else {
            println!("{}", json!({ "run": null, "episodes": 0 }));
            return Ok(());
        };
        let report = runs::report::write(&summary.folder).or_environment("write the report")?;
        let played = json!({
            "run": summary.folder, "episodes": summary.episodes, "score": summary.score, "errors": summary.errors,
        });
        println!("{played}");
        eprintln!("{}\nreport        {report}", summary.table(progress::columns()));
        Ok(())
    }
}
