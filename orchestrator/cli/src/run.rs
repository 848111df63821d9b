//! `sandbox run`: a suite, an agent, and what came of it.

use std::num::NonZeroUsize;
use std::time::Duration;

use agents::llm::ModelSettings;
use agents::{ActionFormat, AgentSpec};
use browser::Dialect;
use camino::Utf8PathBuf;
use models::Model;
use processes::Variable;
use runs::counted;
use runs::results::Shard;
use runs::{Limits, Options, Summary};

use crate::board::Board;
use crate::failure::{Failure, OrFail, Outcome};
use crate::models::greet;
use crate::options::DataFolder;
use crate::scoring::Scoring;
use crate::{interrupt, progress, tasks};

/// Run an agent over a suite of tasks in its frozen world, and score it
///
/// Results are written after each episode. Ctrl-C stops without losing any; the same command with
/// --resume goes on. Exit code 0 says that every episode was played and scored, whatever the
/// scores; 1 that one ended in an error, which has no score.
#[derive(clap::Args)]
pub(crate) struct Run {
    /// A folder with a suite.yaml
    suite: Utf8PathBuf,
    /// oracle, negative, noop, random; one that asks a language model (`sandbox agents list`), by name or by its file of settings;
    /// program:COMMAND for a program of yours that speaks JSON lines; http://HOST:PORT/PATH for a server of yours; A->B for the second where the first does not answer
    #[arg(long, value_name = "AGENT")]
    agent: AgentSpec,
    /// The model that the agent asks, over OpenAI's interface at OPENAI_BASE_URL, with the key in OPENAI_API_KEY
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// How that model is asked: a file with the keys that `model` has in an agent's settings, which goes before those
    #[arg(long, value_name = "FILE")]
    model_settings: Option<Utf8PathBuf>,
    /// Do not ask models for a word before anything is run
    #[arg(long)]
    no_preflight: bool,
    /// How the program writes its actions: browsergym, webarena, webcanvas, seeact or turkingbench
    #[arg(long, value_name = "DIALECT", default_value_t)]
    dialect: Dialect,
    /// Let one reply hold several actions, carried out in their order up to the first that fails
    #[arg(long)]
    multiaction: bool,
    /// Let the program see this variable of the environment, as NAME or NAME=value; may be given
    /// several times. Otherwise it sees PATH, HOME, LANG, LC_*, TZ and TMPDIR only
    #[arg(long = "agent-env", value_name = "NAME[=VALUE]")]
    agent_variables: Vec<Variable>,
    /// Keep cookies and storage of each episode's end, as Playwright's storage_state: whoever has that file may be logged in by it
    #[arg(long)]
    keep_storage: bool,
    /// Keep everything that passes over the network in each episode's network.har, log-ins included
    #[arg(long)]
    keep_network: bool,
    /// Attempts at each task
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Episodes at a time, each with its own browser and gateway
    #[arg(long, value_name = "N", default_value_t = NonZeroUsize::MIN)]
    workers: NonZeroUsize,
    /// How much memory sites and browsers may take, in MiB; sites that take much have fewer copies then [default: nine tenths of what is free]
    #[arg(long, value_name = "MIB")]
    memory: Option<u64>,
    /// Folder for the results [default: runs/SUITE-AGENT-TIME]
    #[arg(long, value_name = "DIR")]
    out: Option<Utf8PathBuf>,
    /// Go on with the run in --out
    #[arg(long, requires = "out")]
    resume: bool,
    /// With --resume: attempt again what had ended in an error
    #[arg(long, requires = "resume")]
    retry_errors: bool,
    /// Play only a part of the run, such as 2/5; `sandbox merge` puts the parts together
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Begin no further episode once so many have ended in an error
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_errors: Option<u64>,
    /// The same as --max-errors 1
    #[arg(long, conflicts_with = "max_errors")]
    fail_fast: bool,
    /// Run only this task; may be given several times
    #[arg(long = "task", value_name = "ID")]
    tasks: Vec<String>,
    /// Run only the first so many of the tasks
    #[arg(long, value_name = "N")]
    limit: Option<NonZeroUsize>,
    /// Actions that a task may have at most, whatever it says itself
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_steps: Option<u32>,
    /// Begin no further episode once models and judge have cost so many US dollars, by the `price` of their settings
    #[arg(long, value_name = "USD")]
    max_cost: Option<f64>,
    /// How long one episode may take, in seconds
    #[arg(long, value_name = "S", default_value_t = 600)]
    episode_timeout: u64,
    /// How long the agent may think about one action, all that it asks its model included, in seconds
    #[arg(long, value_name = "S", default_value_t = 120)]
    answer_timeout: u64,
    /// How long the browser may take to look at a page, or to act and let it settle, in seconds
    #[arg(long, value_name = "S", default_value_t = 180)]
    step_timeout: u64,
    /// Fail (exit code 1) when repeats have different fingerprints
    #[arg(long)]
    check: bool,
    /// Print the summary as one JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    scoring: Scoring,
    #[command(flatten)]
    data: DataFolder,
}

impl Run {
    /// Runs, prints the table, writes the report.
    pub(crate) async fn run(mut self) -> Outcome {
        let asked = ActionFormat { dialect: self.dialect, multiaction: self.multiaction };
        let is_told = asked != ActionFormat::default();
        if is_told && self.agent.speech(asked) != asked {
            return Err(Failure::Input(format!(
                "failed to set --dialect or --multiaction: they are for programs, and {} speaks {} by itself",
                self.agent,
                self.agent.speech(asked).dialect
            )));
        }
        if !self.agent_variables.is_empty() && !self.agent.starts_a_program() {
            return Err(Failure::Input(format!(
                "failed to set --agent-env: it is for agents that are programs, and {} is none",
                self.agent
            )));
        }
        let suite = tasks::load(&self.suite)?;
        let judge = self.connect()?;
        self.preflight(&judge).await?;
        let most_errors = self.max_errors.and_then(|most| usize::try_from(most).ok());
        let options = Options {
            out: self.out.clone(),
            resume: self.resume,
            retry_errors: self.retry_errors,
            repeat: self.repeat,
            workers: self.workers.get(),
            dialect: self.dialect,
            multiaction: self.multiaction,
            agent_variables: self.agent_variables.clone(),
            keep_storage: self.keep_storage,
            keep_network: self.keep_network,
            memory: self.memory.map(|mib| mib << 20),
            shard: self.shard,
            max_errors: if self.fail_fast { Some(1) } else { most_errors },
            max_cost: self.max_cost,
            tasks: self.tasks.clone(),
            limit: self.limit.map(NonZeroUsize::get),
            max_steps: self.max_steps,
            index_cache: Some(self.data.indexes()?),
            town: Some(self.data.town()?),
            helper: crate::confined::helper(),
            headed: false,
            rules: self.scoring.rules,
            judge,
            limits: Limits {
                episode: Duration::from_secs(self.episode_timeout),
                answer: Duration::from_secs(self.answer_timeout),
                step: Duration::from_secs(self.step_timeout),
                ..Limits::default()
            },
        };
        let board = Board::new();
        let outcome = runs::run(&suite, &self.agent, &options, interrupt::token(), board.progress()).await;
        board.clear();
        let summary = outcome?;
        let report = runs::report::write(&summary.folder).or_environment("write the report")?;
        if self.json {
            println!("{}", serde_json::to_string_pretty(&summary).expect("a summary is plain data"));
        } else {
            println!("{}\nreport        {report}", summary.table(progress::columns()));
        }
        if !self.json && summary.requests.miss > 0 && !suite.world.snapshots.is_empty() {
            eprintln!("{}", record_misses(&suite));
        }
        self.verdict(&summary)
    }

    /// Gives the agent its models; gives the judge.
    fn connect(&mut self) -> Result<Model, Failure> {
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
        let models = self.scoring.models.open(asks || self.scoring.names_a_judge())?;
        let (name, agent) = (self.model.clone(), self.agent.to_string());
        let within = Duration::from_secs(self.answer_timeout);
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

    /// Asks each model for a word, before there are browsers.
    async fn preflight(&self, judge: &Model) -> Result<(), Failure> {
        if self.no_preflight {
            return Ok(());
        }
        for model in self.agent.models() {
            greet("the agent's model", model).await?;
        }
        greet("the judge", judge).await
    }

    fn verdict(&self, summary: &Summary) -> Outcome {
        let most = if self.fail_fast { Some(1) } else { self.max_errors };
        if !summary.is_complete() && most.is_some_and(|most| summary.errors as u64 >= most) {
            return Err(Failure::No(format!(
                "stopped after {}, {} of {} episodes; continue with --resume --out {}, and --retry-errors to attempt those again",
                counted(summary.errors, "error"),
                summary.episodes,
                summary.planned,
                summary.folder
            )));
        }
        let cost: f64 =
            [&summary.models, &summary.judging].into_iter().flatten().filter_map(|spent| spent.cost).sum();
        if !summary.is_complete() && self.max_cost.is_some_and(|most| cost >= most) {
            return Err(Failure::No(format!(
                "stopped after {} of {} episodes, which cost ${cost:.4}; continue with --resume --out {} and a greater --max-cost",
                summary.episodes, summary.planned, summary.folder
            )));
        }
        if !summary.is_complete() {
            return Err(Failure::Interrupted(format!(
                "interrupted after {} of {} episodes; continue with --resume --out {}",
                summary.episodes, summary.planned, summary.folder
            )));
        }
        if self.check && summary.deterministic == Some(false) {
            let compared = runs::compare_repeats(&summary.folder).or_environment("compare the repeats")?;
            let first = compared.differences.first().map(ToString::to_string).unwrap_or_default();
            return Err(Failure::No(format!("the repeats differ: {first}")));
        }
        if summary.errors == 0 {
            return Scoring::verdict(summary);
        }
        Err(Failure::No(format!(
            "{} ended in an error; once that is mended, continue with --resume --retry-errors --out {}",
            counted(summary.errors, "episode"),
            summary.folder
        )))
    }
}

/// The command that records what a run has missed.
fn record_misses(suite: &::tasks::Suite) -> String {
    let snapshots: Vec<&str> = suite.world.snapshots.iter().map(|path| path.as_str()).collect();
    format!(
        "something was missed; to record it, browse to it through\n  sandbox replay {} --fill gaps.wacz\nand add gaps.wacz to \
         `snapshots` in {}",
        snapshots.join(" "),
        suite.folder.join("suite.yaml"),
    )
}
