//! `sandbox pack`: a run in one file, with all that is needed to play it again.

use camino::Utf8PathBuf;
use results::counted;
use results::pack::{PackReport, Snapshots, Sources};
use serde::Serialize;

use crate::failure::Outcome;
use crate::terminal::interrupt;
use crate::terminal::out;
use crate::terminal::progress;

/// Pack a run into one file that others can look at and play again
///
/// The file holds results, screenshots, the suite, snapshots and recorded replies of models, with a
/// digest of each. `sandbox show` opens it, `sandbox verify` plays it again. It has no
/// storage_state.json and no network.har of episodes, which can log anybody in. What pages, agents
/// and models have written is in it as it is: look before you share it.
#[derive(clap::Args)]
pub(crate) struct Pack {
    /// Folder of the run
    run: Utf8PathBuf,
    /// File to write, such as demo.run.tar.zst
    #[arg(short, long, value_name = "FILE")]
    output: Utf8PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
    /// Suite of the run, if it has moved since
    #[arg(long, value_name = "SUITE")]
    suite: Option<Utf8PathBuf>,
    /// Recorded replies of models; needed if they are neither in the run nor in its suite
    #[arg(long, value_name = "FILE")]
    cassette: Option<Utf8PathBuf>,
    /// Whether the snapshots are in the file, or only their digests
    #[arg(long, value_name = "HOW", value_enum, default_value_t)]
    snapshots: SnapshotChoice,
    /// File or folder outside of the suite that its world reads, and that is to be in the file:
    /// cookies and storage, files to upload, sites. Can be repeated
    #[arg(long, value_name = "PATH")]
    include: Vec<Utf8PathBuf>,
    /// Leave out the suite and what else tells its solutions, also recorded replies of models.
    /// Scores cannot be computed again from such a file, and the run cannot be played again
    #[arg(long, conflicts_with_all = ["cassette", "include"])]
    without_solutions: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Whether snapshots are packed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum SnapshotChoice {
    /// All of them
    #[default]
    Inside,
    /// None; who plays the run again has to have them
    ByDigest,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Packed<'a> {
    file: &'a Utf8PathBuf,
    bytes: u64,
    members: usize,
    left_out: usize,
    #[serde(flatten)]
    run: &'a results::pack::PackedRun,
    snapshots: &'a [results::pack::SnapshotMember],
}

impl Pack {
    /// Says what is in the file, and what is not.
    pub(crate) async fn run(self) -> Outcome {
        out::is_a_path(&self.output)?;
        let sources = Sources {
            run: self.run,
            suite: self.suite,
            cassette: self.cassette,
            without_solutions: self.without_solutions,
            include: self.include,
            snapshots: match self.snapshots {
                SnapshotChoice::Inside => Snapshots::Inside,
                SnapshotChoice::ByDigest => Snapshots::ByDigest,
            },
        };
        let stop = interrupt::token();
        let bar = progress::bytes(0, self.output.as_str());
        let packed = tokio::task::block_in_place(|| {
            results::pack::write(&sources, &self.output, self.force, &stop, &mut |done, total| {
                bar.set_length(total);
                bar.set_position(done);
            })
        });
        bar.finish_and_clear();
        let PackReport { manifest, bytes, left_out } = packed?;
        if self.json {
            let members = manifest.members.len();
            let (run, snapshots) = (&manifest.run, &manifest.snapshots[..]);
            out::json(&Packed { file: &self.output, bytes, members, left_out, run, snapshots });
            return Ok(());
        }
        println!(
            "{}: {}, {}, {bytes} bytes",
            self.output,
            counted(manifest.run.episodes, "episode"),
            counted(manifest.members.len(), "file"),
        );
        if left_out > 0 {
            println!(
                "left out: {} with cookies or traffic, which can log anybody in",
                counted(left_out, "file")
            );
        }
        if manifest.without_solutions {
            println!(
                "left out: the suite, recorded replies of models, and the details of scores, which tell its solutions"
            );
        } else {
            println!("in it: the suite with its solutions; --without-solutions leaves them out");
        }
        for member in manifest.members.iter().filter(|member| member.path.starts_with("state/")) {
            println!("in it: {}, the cookies and storage that episodes begin with", member.path);
        }
        for snapshot in manifest.snapshots.iter().filter(|snapshot| !snapshot.inside) {
            println!("by digest: {} {}", snapshot.sha256, snapshot.path);
        }
        Ok(())
    }
}
