//! `sandbox run`: an agent plays a suite.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use actions::Dialect;
use agents::llm::ModelSettings;
use agents::{ActionFormat, AgentSpec};
use camino::{Utf8Path, Utf8PathBuf};
use cluster::site_images::{Ids, SiteImages};
use llm_client::Model;
use play::consent::Agreed;
use play::{Limits, LiveFill, Options, Progress};
use processes::Variable;
use results::Shard;
use results::{Summary, counted};
use snapshots::is_address;
use tasks::Suite;

use crate::failure::{Failure, OrFail, Outcome};
use crate::on_cluster::{self, ClusterOptions};
use crate::options::DataFolder;
use crate::options::confinement::{self, Confine};
use crate::options::models::check_model;
use crate::options::scoring::Scoring;
use crate::options::units;
use crate::remote_run;
use crate::terminal::board::Board;
use crate::terminal::interrupt;
use crate::terminal::out;
use crate::terminal::progress;
use crate::trust::SiteVariables;

/// Run an agent on a suite of tasks in its frozen world, and score it
///
/// Results are written after each episode. Ctrl-C stops without losing any; the same command with
/// --resume continues. Exit code 0: every episode was played and scored, whatever the scores. Exit
/// code 1: an episode ended in an error, was lost because the agent failed, or got no score as the
/// judge failed; also where --fail-fast, --max-errors or --max-cost has stopped the run.
#[derive(clap::Args)]
pub(crate) struct Run {
    /// Folder with a suite.yaml
    pub(crate) suite: Utf8PathBuf,
    /// Agent to run: `oracle`, `negative`, `noop` or `random`; an LLM agent by name (`sandbox
    /// agents list`) or by its file of settings; `program:COMMAND` for a program of yours that
    /// speaks JSON lines; `http://HOST:PORT/PATH` for a server of yours; `A->B` for B where A gives
    /// no answer
    #[arg(long, value_name = "AGENT", help_heading = "Agent")]
    pub(crate) agent: AgentSpec,
    /// Model that the agent asks, over an OpenAI-compatible API at OPENAI_BASE_URL with the key in
    /// OPENAI_API_KEY
    #[arg(long, value_name = "MODEL", help_heading = "Agent")]
    model: Option<String>,
    /// File with settings of that model: the keys below `model` in an agent's settings, which it
    /// overrides
    #[arg(long, value_name = "FILE", help_heading = "Agent")]
    model_settings: Option<Utf8PathBuf>,
    /// Do not check before the run that the models answer
    #[arg(long, help_heading = "Agent")]
    no_preflight: bool,
    /// Dialect of the program's actions: browsergym, webarena, webcanvas, seeact or turkingbench
    #[arg(long, value_name = "DIALECT", default_value_t, help_heading = "Agent")]
    dialect: Dialect,
    /// Allow several actions in one reply; they run in order until one fails
    #[arg(long, help_heading = "Agent")]
    multiaction: bool,
    /// Pass this environment variable to the program, as NAME or NAME=value; can be repeated. By
    /// default it sees PATH, HOME, LANG, LC_*, TZ and TMPDIR only
    #[arg(long = "agent-env", value_name = "NAME[=VALUE]", help_heading = "Agent")]
    pub(crate) agent_variables: Vec<Variable>,
    #[command(flatten, next_help_heading = "Agent")]
    confine: Confine,
    /// Take no screenshots: a step costs less, and the run needs less disk. Agents whose model
    /// looks at them are refused, and programs get none
    #[arg(long, help_heading = "Results")]
    no_screenshots: bool,
    /// Save cookies and storage of each episode's end as Playwright's storage_state. The file can
    /// log anybody in
    #[arg(long, help_heading = "Results")]
    keep_storage: bool,
    /// Write all network traffic into each episode's network.har, with credentials
    #[arg(long, help_heading = "Results")]
    keep_network: bool,
    /// Write the order of what happens in the pages into each episode's order.txt, a line an event:
    /// requests, timers, calls, events, changes of documents. `compare` then shows where the orders
    /// of two repeats part. Pages are slower
    #[arg(long, help_heading = "Results")]
    trace_time: bool,
    /// Attempts at each task
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Selection")]
    repeat: u32,
    /// Parallel episodes, each with its own browser and gateway
    #[arg(long, value_name = "N", default_value_t = NonZeroUsize::MIN, help_heading = "Limits")]
    pub(crate) workers: NonZeroUsize,
    /// How much memory sites and browsers may take; large sites then have fewer instances; a bare
    /// number is MiB [default: nine tenths of
    /// what is free]
    #[arg(long, value_name = "SIZE", value_parser = units::mebibytes, help_heading = "Limits")]
    memory: Option<u64>,
    /// Folder for the results, or an address of an object store, such as s3://BUCKET/NAME. There
    /// each episode is uploaded when it has ended [default: runs/SUITE-AGENT-TIME]
    #[arg(short, long, alias = "out", value_name = "DIR", help_heading = "Results")]
    pub(crate) output: Option<Utf8PathBuf>,
    /// Continue the run in --output. At an address, begin it if nothing is there
    #[arg(long, requires = "output", help_heading = "Results")]
    pub(crate) resume: bool,
    /// With --resume, repeat the episodes that ended in an error
    #[arg(long, requires = "resume", help_heading = "Results")]
    pub(crate) retry_errors: bool,
    /// Play only a part of the run, such as 2/5; `sandbox merge` joins the parts
    #[arg(long, value_name = "I/N", help_heading = "Selection")]
    pub(crate) shard: Option<Shard>,
    /// Stop when so many episodes have ended in an error, or were lost because the agent failed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Limits")]
    pub(crate) max_errors: Option<u64>,
    /// The same as --max-errors 1
    #[arg(long, conflicts_with = "max_errors", help_heading = "Limits")]
    pub(crate) fail_fast: bool,
    /// Run only this task; can be repeated
    #[arg(long = "task", value_name = "ID", help_heading = "Selection")]
    tasks: Vec<String>,
    /// Run only the first N tasks
    #[arg(long, value_name = "N", help_heading = "Selection")]
    limit: Option<NonZeroUsize>,
    /// Largest number of actions, whatever the tasks say
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Limits")]
    max_steps: Option<u32>,
    /// Stop when models and judge have cost so many US dollars, by the `price` in their settings
    #[arg(long, value_name = "USD", help_heading = "Limits")]
    pub(crate) max_cost: Option<f64>,
    /// How long one episode may take
    #[arg(long, value_name = "TIME", default_value = "600s", value_parser = units::seconds, help_heading = "Limits")]
    episode_timeout: Duration,
    /// How long the agent may take for one action, with all calls of its model
    #[arg(long, value_name = "TIME", default_value = "120s", value_parser = units::seconds, help_heading = "Limits")]
    answer_timeout: Duration,
    /// How long the browser may take to look at a page, or to act and let the page settle
    #[arg(long, value_name = "TIME", default_value = "180s", value_parser = units::seconds, help_heading = "Limits")]
    step_timeout: Duration,
    /// Fail (exit code 1) when repeats have different fingerprints
    #[arg(long, help_heading = "Results")]
    check: bool,
    /// Print the summary as one JSON document
    #[arg(long, help_heading = "Results")]
    json: bool,
    #[command(flatten, next_help_heading = "Parts and clusters")]
    pub(crate) cluster: ClusterOptions,
    #[command(flatten, next_help_heading = "Scoring")]
    pub(crate) scoring: Scoring,
    #[command(flatten, next_help_heading = "The suite and this machine")]
    variables: SiteVariables,
    #[command(flatten, next_help_heading = "The suite and this machine")]
    pub(crate) data: DataFolder,
    /// What was agreed to; nothing before [`Run::agree`].
    #[arg(skip)]
    agreed: Agreed,
}

impl Run {
    /// Runs, prints the table, writes the report.
    pub(crate) async fn run(mut self) -> Outcome {
        if self.cluster.part_of.is_some() || self.cluster.scheduler.is_some() {
            return on_cluster::run(self).await;
        }
        if let Some(run) = self.output.as_deref().filter(|_| self.resume) {
            cluster::slurm_run::refuse_jobs(run)?;
        }
        let suite = self.load()?;
        self.provide_images(&suite).await?;
        if let Some(address) = self.output.clone().filter(|output| is_address(output)) {
            return self.run_at(&suite, &address).await;
        }
        let summary = self.play(&suite, None).await?;
        self.report(&suite, &summary)
    }

    /// Reads the suite, and asks for what it does.
    pub(crate) fn load(&mut self) -> Result<Suite, Failure> {
        let mut suite = play::suites::load_undated(&self.suite)?;
        self.agree(&mut suite)?;
        Ok(suite)
    }

    /// Asks for what a suite does. Without it nothing of it is started.
    pub(crate) fn agree(&mut self, suite: &mut Suite) -> Outcome {
        let trust = &self.scoring.models.trust;
        self.agreed = trust.agree_to_suite(suite, &self.tasks, &self.variables, &self.data)?;
        Ok(())
    }

    /// Runs with the results at an address.
    async fn run_at(mut self, suite: &Suite, address: &Utf8Path) -> Outcome {
        let options = self.options(None).await?;
        let (resume, data, stop) = (self.resume, self.data.clone(), interrupt::token());
        let at = address.to_owned();
        let beginning =
            tokio::task::spawn_blocking(move || remote_run::begin(&at, resume, &data, &stop));
        let begun = async { beginning.await.or_environment("begin the run")? };
        let (remote, folder, resume) =
            interrupt::unless_interrupted(begun, "interrupted; nothing was played").await?;
        let remote = Arc::new(remote);
        let options = Options { out: Some(folder), resume, ..options };
        let played = self.play_with(suite, &options, Some(remote.progress())).await;
        let written = played.and_then(|summary| {
            results::report::write(&summary.folder).or_environment("write the report")?;
            Ok(summary)
        });
        // Whatever has ended the run, what there is goes there.
        let uploaded = tokio::task::spawn_blocking(move || remote_run::end(remote)).await;
        let uploaded = uploaded.or_environment("upload")?;
        let summary = match (written, &uploaded) {
            (Ok(summary), _) => summary,
            (Err(error), Ok(())) => return Err(error),
            (Err(error), Err(why)) => {
                out::error(why);
                return Err(error);
            }
        };
        let folder = summary.folder.clone();
        let summary = Summary { folder: address.to_owned(), ..summary };
        let told = self.tell(suite, &summary, &folder, &address.join("report.html"));
        uploaded.and(told)
    }

    /// Loads the images of the sites that this machine lacks, where a file is named.
    async fn provide_images(&self, suite: &Suite) -> Outcome {
        let Some(archive) = self.cluster.site_images.as_deref() else { return Ok(()) };
        let options = self.options_with(Model::default(), None)?;
        let tasks = play::parts::tasks_of(suite, &options)?;
        let tasks = tasks.iter().map(|task| task.id.as_str()).collect();
        let images = SiteImages::of(suite, &tasks, Some(archive))?;
        if images.is_empty() {
            return Ok(());
        }
        let provided = images.provide(&Ids::new(), &self.data.images_lock()?).await?;
        provided.map(drop).map_err(|problems| {
            Failure::Environment(format!("failed to run the sites: {}", problems.join("; ")))
        })
    }

    /// Prints what a run has come to, and writes its report.
    pub(crate) fn report(&self, suite: &Suite, summary: &Summary) -> Outcome {
        let report = results::report::write(&summary.folder).or_environment("write the report")?;
        self.tell(suite, summary, &summary.folder, &report)
    }

    /// Prints what the run in a folder has come to.
    fn tell(
        &self,
        suite: &Suite,
        summary: &Summary,
        folder: &Utf8Path,
        report: &Utf8Path,
    ) -> Outcome {
        if self.json {
            out::json(summary);
        } else {
            println!("{}\nreport        {report}", summary.table(progress::columns()));
        }
        if !self.json && summary.requests.miss > 0 && !suite.world.snapshots.is_empty() {
            eprintln!("{}", record_misses(suite));
        }
        self.verdict(summary, folder)
    }

    /// Plays the suite. With `fill`, what its snapshots lack comes from the live web.
    pub(crate) async fn play(
        &mut self,
        suite: &Suite,
        fill: Option<LiveFill>,
    ) -> Result<Summary, Failure> {
        let options = self.options(fill).await?;
        self.play_with(suite, &options, None).await
    }

    /// Plays the suite, and tells one more how it goes.
    pub(crate) async fn play_with(
        &self,
        suite: &Suite,
        options: &Options,
        also: Option<Progress>,
    ) -> Result<Summary, Failure> {
        let board = Board::new();
        let shown = board.progress();
        let progress: Progress = match also {
            None => shown,
            Some(also) => Arc::new(move |event| {
                also(event);
                shown(event);
            }),
        };
        let outcome = play::run(suite, &self.agent, options, interrupt::token(), progress).await;
        board.clear();
        Ok(outcome?)
    }

    /// The options, checked, with models that answer.
    pub(crate) async fn options(&mut self, fill: Option<LiveFill>) -> Result<Options, Failure> {
        let judge = self.connect()?;
        self.preflight(&judge).await?;
        self.options_with(judge, fill)
    }

    /// The options of a run whose models are connected.
    pub(crate) fn options_with(
        &self,
        judge: Model,
        fill: Option<LiveFill>,
    ) -> Result<Options, Failure> {
        let most_errors = self.max_errors.and_then(|most| usize::try_from(most).ok());
        Ok(Options {
            out: self.output.clone(),
            resume: self.resume,
            retry_errors: self.retry_errors,
            repeat: self.repeat,
            workers: self.workers.get(),
            dialect: self.dialect,
            multiaction: self.multiaction,
            agent_variables: self.agent_variables.clone(),
            site_variables: self.variables.given.clone(),
            agreed: self.agreed.clone(),
            screenshots: !self.no_screenshots,
            keep_storage: self.keep_storage,
            keep_network: self.keep_network,
            keep_order: self.trace_time,
            memory: self.memory,
            shard: self.shard,
            max_errors: if self.fail_fast { Some(1) } else { most_errors },
            max_cost: self.max_cost,
            tasks: self.tasks.clone(),
            limit: self.limit.map(NonZeroUsize::get),
            max_steps: self.max_steps,
            confinement: self.confine.options(&self.data)?,
            scoring_mode: self.scoring.mode,
            fill,
            judge,
            limits: Limits {
                episode: self.episode_timeout,
                answer: self.answer_timeout,
                step: self.step_timeout,
                ..Limits::default()
            },
            ..confinement::of_user(&self.data)?
        })
    }

    /// Gives the agent its models; gives the judge.
    pub(crate) fn connect(&mut self) -> Result<Model, Failure> {
        let requested = ActionFormat { dialect: self.dialect, multiaction: self.multiaction };
        let is_set = requested != ActionFormat::default();
        if is_set && self.agent.action_format(requested) != requested {
            return Err(Failure::Input(format!(
                "failed to set --dialect or --multiaction: they are for programs, and {} speaks {} by itself",
                self.agent,
                self.agent.action_format(requested).dialect
            )));
        }
        if !self.agent_variables.is_empty() && !self.agent.starts_a_program() {
            return Err(Failure::Input(format!(
                "failed to set --agent-env: it is for agents that are programs, and {} is none",
                self.agent
            )));
        }
        if self.no_screenshots && self.agent.looks_at_screenshots() {
            return Err(Failure::Input(format!(
                "failed to set --no-screenshots: {} looks at screenshots",
                self.agent
            )));
        }
        let asks = self.agent.asks_a_model();
        if self.model.is_some() && !asks {
            return Err(Failure::Input(format!(
                "failed to set --model: it is for agents that ask a model, and {} asks none",
                self.agent
            )));
        }
        if let Some(path) = &self.model_settings {
            if !asks {
                return Err(Failure::Input(format!(
                    "failed to set --model-settings: it is for agents that ask a model, and {} asks none",
                    self.agent
                )));
            }
            self.agent.set(&ModelSettings::read(path).or_input("use the model's settings")?);
        }
        let models = self.scoring.models.open(asks || self.scoring.names_a_judge(), &self.data)?;
        let (name, agent) = (self.model.clone(), self.agent.to_string());
        let within = self.answer_timeout;
        self.agent.connect(&mut |settings| {
            let name = name.clone().or_else(|| settings.name.clone());
            if name.is_none() && !models.have_recordings() {
                return Err(Failure::Input(format!(
                    "failed to start {agent}: it asks a language model, and none is named; name one with --model"
                )));
            }
            if self.max_cost.is_some() && settings.price.is_none() {
                return Err(Failure::Input(format!(
                    "failed to set --max-cost: the price of the model of {agent} is not known; set `price` in its \
                     settings, or in --model-settings"
                )));
            }
            models.model(name, settings, within)
        })?;
        let judge = self.scoring.judge_among(&models)?;
        if self.max_cost.is_some() && judge.client.is_some() && judge.price.is_none() {
            return Err(Failure::Input(
                "failed to set --max-cost: the price of the judge is not known; set `price` in --judge-settings"
                    .to_owned(),
            ));
        }
        Ok(judge)
    }

    /// Whether replies of models would be added to a cassette.
    pub(crate) fn adds_to_a_cassette(&self) -> bool {
        self.scoring.models.adds_to_a_cassette()
            && (self.agent.asks_a_model() || self.scoring.names_a_judge())
    }

    /// Asks each model for a word, before there are browsers.
    async fn preflight(&self, judge: &Model) -> Result<(), Failure> {
        if self.no_preflight {
            return Ok(());
        }
        for model in self.agent.models() {
            check_model("the agent's model", model).await?;
        }
        check_model("the judge", judge).await
    }

    fn verdict(&self, summary: &Summary, folder: &Utf8Path) -> Outcome {
        let most = if self.fail_fast { Some(1) } else { self.max_errors };
        if let Some(stopped) = most.and_then(|most| results::stopped_by_failures(summary, most)) {
            return Err(Failure::Negative(stopped));
        }
        let cost: f64 = [&summary.models, &summary.judging]
            .into_iter()
            .flatten()
            .filter_map(|spent| spent.cost)
            .sum();
        if !summary.is_complete() && self.max_cost.is_some_and(|most| cost >= most) {
            return Err(Failure::Negative(format!(
                "stopped after {} of {} episodes, which cost ${cost:.4}; continue with --resume --output {} and a greater --max-cost",
                summary.episodes, summary.planned, summary.folder
            )));
        }
        if !summary.is_complete() {
            return Err(Failure::Interrupted(format!(
                "interrupted after {} of {} episodes; continue with --resume --output {}",
                summary.episodes, summary.planned, summary.folder
            )));
        }
        if self.check && summary.deterministic == Some(false) {
            let compared =
                results::compare_repeats(folder).or_environment("compare the repeats")?;
            let first = compared.differences.first().map(ToString::to_string).unwrap_or_default();
            let hint = match self.trace_time {
                true => "",
                false => {
                    "\nto see which event of the page comes in another order, play with --trace-time"
                }
            };
            return Err(Failure::Negative(format!("the repeats differ: {first}{hint}")));
        }
        if summary.errors == 0 && summary.agent_failures > 0 {
            return Err(Failure::Negative(format!(
                "{} lost because the agent failed; these count, and are not attempted again",
                counted(summary.agent_failures, "episode"),
            )));
        }
        if summary.errors == 0 {
            return Scoring::verdict(summary);
        }
        Err(Failure::Negative(format!(
            "{} ended in an error; once that is mended, continue with --resume --retry-errors --output {}",
            counted(summary.errors, "episode"),
            summary.folder
        )))
    }
}

/// The command that records what a run has missed.
fn record_misses(suite: &Suite) -> String {
    let snapshots: Vec<&str> = suite.world.snapshots.iter().map(|path| path.as_str()).collect();
    format!(
        "something was missed; to record it, browse to it through\n  sandbox replay {} --fill gaps.wacz\nand add gaps.wacz to \
         `snapshots` in {}; or let an agent do that: `sandbox record --suite {} --agent AGENT`",
        snapshots.join(" "),
        suite.folder.join("suite.yaml"),
        suite.folder,
    )
}
