//! `sandbox gym`: a suite as environments that other programs reset and step, on one machine or
//! behind one address of many.

mod balance;
mod serve;

pub(crate) use balance::Balance;

use clap::parser::ValueSource;

use crate::failure::{Failure, Outcome};
use crate::terminal::help;

/// Serve the tasks of a suite as BrowserGym environments over HTTP
///
/// Prints one line of JSON when the server is ready: url, suite, run and workers. GET /tasks lists
/// the tasks. POST /reset with {"task": ID} begins an episode in a pristine world; it returns
/// session, observation and info. POST /step with {"session", "action"} returns observation,
/// reward, terminated, truncated and info. POST /close with {"session"} ends the episode. GET
/// /metrics has measurements for Prometheus.
/// Observations have BrowserGym's keys, and actions its syntax. clients/python/sandbox_agents.py
/// wraps the server as a Gymnasium environment.
///
/// The reward is 0 until the end of the episode, then the task's score. The results are a normal
/// run of the agent `gym`. Ctrl-C stops the server: unfinished episodes are dropped, and a second
/// line of JSON sums up the others. Only who has the whole URL can use the server: its first part
/// is a key, derived from the secret in --key. By default only this machine reaches it.
#[derive(clap::Args)]
#[command(
    subcommand_negates_reqs = true,
    disable_help_subcommand = true,
    override_usage = "sandbox gym [OPTIONS] <SUITE>\n       sandbox gym <COMMAND>"
)]
pub(crate) struct Gym {
    #[command(subcommand)]
    command: Option<GymCommand>,
    #[command(flatten)]
    serve: serve::Serve,
}

#[derive(clap::Subcommand)]
enum GymCommand {
    Balance(Balance),
}

impl Gym {
    /// Serves until interrupted.
    pub(crate) async fn run(self) -> Outcome {
        match self.command {
            Some(GymCommand::Balance(balance)) => {
                refuse_options_of_serve()?;
                balance.run().await
            }
            None => self.serve.run().await,
        }
    }
}

/// Options of `sandbox gym SUITE` that stand before `balance` would be ignored.
fn refuse_options_of_serve() -> Outcome {
    let mut command = help::command();
    let matches = command.try_get_matches_from_mut(std::env::args_os()).map_err(Failure::input)?;
    let gym = command.find_subcommand("gym").zip(matches.subcommand_matches("gym"));
    let Some((gym, matches)) = gym else { return Ok(()) };
    let is_typed = |one: &&clap::Arg| {
        let id = one.get_id().as_str();
        !one.is_global_set() && matches.value_source(id) == Some(ValueSource::CommandLine)
    };
    let typed: Vec<String> =
        gym.get_arguments().filter(is_typed).map(ToString::to_string).collect();
    if typed.is_empty() {
        return Ok(());
    }
    Err(Failure::Input(format!(
        "failed to read the command line: `balance` takes no {}; write its own options behind it, or \
         ./balance for a suite of that name",
        typed.join(", ")
    )))
}
