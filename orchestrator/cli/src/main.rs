//! The `sandbox` command: parsing, dispatch and exit codes. The libraries do all work.

#[macro_use]
mod terminal;

mod commands;
mod engine;
mod failure;
mod finish;
mod on_cluster;
mod open_files;
mod options;
mod packed_run;
mod remote_run;
mod trust;
mod window;

use clap::{FromArgMatches as _, Parser};
use failure::Failure;

use crate::commands::{
    agents, annotate, attach, ca, compare, completions, daemon, demo, doctor, export, gym, images,
    init, keep, merge, model_proxy, own_network, pack, record, relay, replay, report, run, score,
    setup, show, snapshot, tasks, trace, verify,
};
use crate::options::old_spellings;
use crate::terminal::{color, help, logging, out};

/// Headers, heads and bodies of requests are many short-lived allocations, freed on other threads
/// than they were made on.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A frozen web for web agents, on your own machine: record it, replay it, run agents in it
#[derive(Parser)]
#[command(name = "sandbox", max_term_width = help::MAX_WIDTH)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    logging: logging::Logging,
    /// Let files that are made have the modes of your umask. By default only you can read them:
    /// runs, recordings and packs hold passwords and pictures of pages
    #[arg(long, global = true, display_order = 901)]
    public: bool,
}

#[derive(clap::Subcommand)]
enum Command {
    Record(record::Record),
    Replay(replay::Replay),
    Annotate(annotate::Annotate),
    Run(Box<run::Run>),
    Attach(attach::Attach),
    Gym(gym::Gym),
    Up(daemon::Up),
    Down(daemon::Down),
    Status(daemon::Status),
    Logs(daemon::Logs),
    Reset(daemon::Reset),
    Open(daemon::Open),
    Report(report::Report),
    Trace(trace::Trace),
    Show(show::Show),
    Compare(compare::Compare),
    Merge(merge::Merge),
    Pack(pack::Pack),
    Verify(verify::Verify),
    Export(export::Export),
    Agents(agents::Agents),
    Models(model_proxy::ModelsCommand),
    Tasks(tasks::Tasks),
    Score(score::Score),
    Snapshot(snapshot::Snapshot),
    Images(images::Images),
    Ca(ca::Ca),
    Demo(demo::Demo),
    Setup(setup::Setup),
    Init(init::Init),
    Doctor(doctor::Doctor),
    Completions(completions::Completions),
    Man(completions::Man),
    // Old spellings of `attach`, `gym balance`, and the commands of `images`.
    #[command(hide = true)]
    Env(attach::Attach),
    #[command(hide = true)]
    Front(gym::Balance),
    #[command(hide = true)]
    Build(images::Build),
    #[command(hide = true)]
    Pull(images::Pull),
    #[command(hide = true)]
    Save(images::Save),
    #[command(hide = true)]
    Load(images::Load),
    #[command(hide = true)]
    ServeSites(daemon::Serve),
    #[command(hide = true)]
    OwnNetwork(own_network::OwnNetwork),
    #[command(hide = true)]
    Relay(relay::Relay),
    #[command(hide = true)]
    BeginSite(relay::BeginSite),
}

impl Command {
    /// Whether all that it makes is for other people to read: sources of suites and sites, texts.
    fn is_public(&self) -> bool {
        use Command::{
            BeginSite, Build, Completions, Images, Init, Man, OwnNetwork, Relay, Save, Tasks,
        };
        // What starts programs of others leaves them the modes that they had.
        match self {
            Init(init) => !init.records(),
            Tasks(tasks) => !tasks.plays(),
            Images(images) => images.is_public(),
            other => matches!(
                other,
                Build(_)
                    | Save(_)
                    | Completions(_)
                    | Man(_)
                    | OwnNetwork(_)
                    | Relay(_)
                    | BeginSite(_)
            ),
        }
    }
}

fn main() -> std::process::ExitCode {
    // It starts with each program, and has no other options.
    if let Some(code) = keep::run(std::env::args_os()) {
        return code;
    }
    failure::report_panics();
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let command = help::command().color(color::choose(words));
    let parsed = command.try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    match parsed {
        // A process with one thread alone may make a namespace of users.
        Ok(Cli { command: Command::OwnNetwork(own_network), .. }) => own_network.run(),
        // A process with one thread alone may enter another's namespaces.
        Ok(Cli { command: Command::Relay(relay), .. }) => relay.run(),
        // Becomes another program.
        Ok(Cli { command: Command::BeginSite(site), .. }) => site.run(),
        parsed => {
            if parsed.as_ref().is_ok_and(|cli| !cli.public && !cli.command.is_public()) {
                rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
            }
            answer(parsed)
        }
    }
}

#[tokio::main]
async fn answer(parsed: Result<Cli, clap::Error>) -> std::process::ExitCode {
    let outcome = match parsed {
        Ok(cli) => run(cli).await,
        Err(said) => out::explain(&said),
    };
    out::finish(outcome).map_or_else(Failure::exit, |()| std::process::ExitCode::SUCCESS)
}

async fn run(cli: Cli) -> failure::Outcome {
    cli.logging.start();
    if let Some(helper) = keep::helper() {
        processes::own_network::set_helper(helper.into());
    }
    old_spellings::warn();
    open_files::allow_many();
    options::cache_objects();
    match cli.command {
        Command::Record(record) => record.run().await,
        Command::Replay(replay) => replay.run().await,
        Command::Annotate(annotate) => annotate.run().await,
        Command::Run(run) => run.run().await,
        Command::Attach(attach) => attach.run().await,
        Command::Gym(gym) => gym.run().await,
        Command::Up(up) => up.run().await,
        Command::Down(down) => down.run().await,
        Command::Status(status) => status.run().await,
        Command::Logs(logs) => logs.run().await,
        Command::Reset(reset) => reset.run().await,
        Command::Open(open) => open.run().await,
        Command::Report(report) => report.run().await,
        Command::Trace(trace) => trace.run().await,
        Command::Show(show) => show.run().await,
        Command::Compare(compare) => compare.run().await,
        Command::Merge(merge) => merge.run().await,
        Command::Pack(pack) => pack.run().await,
        Command::Verify(verify) => verify.run().await,
        Command::Agents(agents) => agents.run(),
        Command::Models(models) => models.run().await,
        Command::Export(export) => export.run().await,
        Command::Tasks(tasks) => tasks.run().await,
        Command::Score(score) => score.run().await,
        Command::Snapshot(snapshot) => snapshot.run().await,
        Command::Images(images) => images.run().await,
        Command::Env(attach) => old_spellings::run("env", "attach", attach.run()).await,
        Command::Front(balance) => old_spellings::run("front", "gym balance", balance.run()).await,
        Command::Build(build) => old_spellings::run("build", "images build", build.run()).await,
        Command::Pull(pull) => old_spellings::run("pull", "images pull", pull.run()).await,
        Command::Save(save) => old_spellings::run("save", "images save", save.run()).await,
        Command::Load(load) => old_spellings::run("load", "images load", load.run()).await,
        Command::Ca(ca) => ca.run(),
        Command::Demo(demo) => demo.run().await,
        Command::Setup(setup) => setup.run().await,
        Command::Init(init) => init.run().await,
        Command::Doctor(doctor) => doctor.run().await,
        Command::Completions(completions) => completions.run(),
        Command::Man(man) => man.run(),
        Command::ServeSites(serve) => serve.run().await,
        Command::OwnNetwork(_) | Command::Relay(_) | Command::BeginSite(_) => Ok(()),
    }
}
