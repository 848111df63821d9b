//! Subcommands that follow from the table of benchmarks, one for each entry: of `sandbox tasks
//! import` and of `sandbox score`. A benchmark of the table needs no line of this crate.

use clap::error::ErrorKind;
use clap::{ArgMatches, Command, FromArgMatches, Subcommand};
use tasks::import::{BENCHMARKS, Benchmark};

/// What is given to a command about one of the benchmarks.
pub(crate) trait BenchmarkArgs: Sized {
    /// What help says of the command for this benchmark; nothing if the benchmark has none.
    fn about(benchmark: &Benchmark) -> Option<&'static str>;

    /// Adds the arguments of the command for this benchmark.
    fn augment(benchmark: &Benchmark, command: Command) -> Command;

    /// Reads them.
    fn read(benchmark: &Benchmark, given: &ArgMatches) -> Result<Self, clap::Error>;
}

/// One of the benchmarks, and what was given to its command. In an enum of subcommands it is a
/// variant with `#[command(flatten)]`.
pub(crate) struct BenchmarkCommand<A> {
    pub(crate) benchmark: &'static Benchmark,
    pub(crate) args: A,
}

impl<A: BenchmarkArgs> Subcommand for BenchmarkCommand<A> {
    fn augment_subcommands(mut command: Command) -> Command {
        for benchmark in BENCHMARKS {
            if let Some(about) = A::about(benchmark) {
                // The arguments bring the words of their own type along; these take their place.
                let below = A::augment(benchmark, Command::new(benchmark.name)).about(about);
                command = command.subcommand(below);
            }
        }
        command
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        find::<A>(name).is_some()
    }
}

impl<A: BenchmarkArgs> FromArgMatches for BenchmarkCommand<A> {
    fn from_arg_matches(given: &ArgMatches) -> Result<Self, clap::Error> {
        let (benchmark, given) = given
            .subcommand()
            .and_then(|(name, given)| Some((find::<A>(name)?, given)))
            .ok_or_else(|| clap::Error::raw(ErrorKind::MissingSubcommand, "name a benchmark\n"))?;
        Ok(BenchmarkCommand { benchmark, args: A::read(benchmark, given)? })
    }

    fn update_from_arg_matches(&mut self, given: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(given)?;
        Ok(())
    }
}

/// The benchmark with this name, if it has such a command.
fn find<A: BenchmarkArgs>(name: &str) -> Option<&'static Benchmark> {
    BENCHMARKS.iter().find(|benchmark| benchmark.name == name && A::about(benchmark).is_some())
}
