//! `sandbox snapshot`: what one does with finished snapshots.
//!
//! Every operation returns a report; for people it is printed as YAML without what is absent, for
//! scripts (`--json`) as JSON.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use search::Search;
use serde::Serialize;
use snapshots::Progress;
use snapshots::index::ReplaySet;
use snapshots::matching::ChangingParts;
use snapshots::ops::{self, Format, ImportOptions, Redaction};

use crate::failure::{Failure, OrFail, Outcome};
use crate::{out, progress};

/// Look into snapshots, check, convert, join, compare, mend and clean them
///
/// No operation changes its input, or overwrites a file without --force.
#[derive(clap::Args)]
pub(crate) struct Snapshot {
    #[command(subcommand)]
    command: Command,
    /// Print the report as one JSON document
    #[arg(long, global = true)]
    json: bool,
    /// Replace the file to be written, if it exists
    #[arg(long, global = true)]
    force: bool,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Say what is in it: records, hosts, pages, sizes, dates, who wrote it
    Inspect {
        /// A WACZ, WARC or ARC file
        file: Utf8PathBuf,
    },
    /// Check every line, digest and length; exit code 1 when something is wrong
    Verify {
        /// A WACZ file
        file: Utf8PathBuf,
    },
    /// Search its pages, as an agent that asks a search engine does offline
    Search {
        /// What to search for
        #[arg(allow_hyphen_values = true)]
        query: String,
        /// WACZ, WARC or ARC files
        #[arg(required = true)]
        files: Vec<Utf8PathBuf>,
        /// How many pages to list
        #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
        first: u64,
    },
    /// Make a snapshot of WARC, ARC, HAR or index-less WACZ files
    Import {
        /// The files, in order
        #[arg(required = true)]
        files: Vec<Utf8PathBuf>,
        /// The snapshot to write
        #[arg(short, long)]
        output: Utf8PathBuf,
        /// Its title
        #[arg(long)]
        title: Option<String>,
    },
    /// Write it in another format: .warc.gz, .har, or a folder of bodies
    Export {
        /// A WACZ, WARC or ARC file
        file: Utf8PathBuf,
        /// What to write; its name says the format
        #[arg(short, long)]
        output: Utf8PathBuf,
    },
    /// Join several into one
    Merge {
        /// The snapshots, in order
        #[arg(required = true, num_args = 2..)]
        files: Vec<Utf8PathBuf>,
        /// The snapshot to write
        #[arg(short, long)]
        output: Utf8PathBuf,
    },
    /// Say what was added, removed and changed; exit code 1 when anything was
    Diff {
        /// The older snapshot
        old: Utf8PathBuf,
        /// The newer one
        new: Utf8PathBuf,
    },
    /// Make a whole snapshot of a damaged file or of a recording that was killed
    Repair {
        /// A damaged WACZ, WARC or ARC file, or what a killed recording was to become
        file: Utf8PathBuf,
        /// The snapshot to write [default: FILE, where only FILE.recording is left]
        #[arg(short, long)]
        output: Option<Utf8PathBuf>,
    },
    /// Show what changes by itself in its requests, or set that: replay passes over it
    ///
    /// Prints YAML: for each address the query parameters, body fields and path segments (`*`) that
    /// change. `sandbox record --learn` finds them. Edit what is printed, and give it to --set.
    Rules {
        /// A WACZ file
        file: Utf8PathBuf,
        /// A file with the rules to be set
        #[arg(long, value_name = "RULES.yaml", requires = "output")]
        set: Option<Utf8PathBuf>,
        /// The snapshot to write
        #[arg(short, long, value_name = "NEW.wacz", requires = "set")]
        output: Option<Utf8PathBuf>,
    },
    /// Replace secrets by placeholders, everywhere; or --scan for likely ones
    Redact(Redact),
}

#[derive(clap::Args)]
struct Redact {
    /// A WACZ, WARC or ARC file
    file: Utf8PathBuf,
    /// The snapshot to write
    #[arg(short, long, required_unless_present = "scan")]
    output: Option<Utf8PathBuf>,
    /// Take out what lets one in: Authorization, all cookies, and fields named like passwords and
    /// tokens
    #[arg(long)]
    credentials: bool,
    /// A header whose values are secret
    #[arg(long = "header", value_name = "NAME")]
    headers: Vec<String>,
    /// A cookie whose values are secret
    #[arg(long = "cookie", value_name = "NAME")]
    cookies: Vec<String>,
    /// A query parameter, form field or JSON key whose values are secret
    #[arg(long = "field", value_name = "NAME")]
    fields: Vec<String>,
    /// A file with one secret value a line (not on the command line, where others could see it)
    #[arg(long, value_name = "FILE")]
    values: Option<Utf8PathBuf>,
    /// A file whose content is the key of the placeholders: the same key gives the same ones in another snapshot
    /// [default: a random one]
    #[arg(long, value_name = "FILE")]
    key: Option<Utf8PathBuf>,
    /// Write nothing: report what looks like a secret; exit code 1 when something does
    #[arg(long, conflicts_with = "output")]
    scan: bool,
}

impl Snapshot {
    /// Runs the operation and prints its report.
    pub(crate) fn run(self) -> Outcome {
        let (json, force) = (self.json, self.force);
        let bar = progress::bar(0, "");
        let told = bar.clone();
        let on = &mut |at: Progress| {
            told.set_length(at.total);
            told.set_position(at.done);
        };
        let outcome = match self.command {
            Command::Inspect { file } => {
                ops::inspect(&file, on).or_input(format!("inspect {file}")).map(|report| show(&report, json))
            }
            Command::Verify { file } => {
                ops::verify(&file, on).or_input(format!("verify {file}")).and_then(|report| {
                    show(&report, json);
                    yes(report.valid, || {
                        format!(
                            "{file} has {} errors; `sandbox snapshot repair {file}` keeps what is whole",
                            report.errors
                        )
                    })
                })
            }
            Command::Search { query, files, first } => {
                bar.finish_and_clear();
                search(&query, &files, first, json)
            }
            Command::Import { files, output, title } => {
                let options = ImportOptions { title, ..ImportOptions::default() };
                write(&output, force, json, |path| ops::import(&files, path, &options, on), "import")
            }
            Command::Export { file, output } => {
                out::is_no_stdout(&output).and_then(|()| format_of(&output)).and_then(|format| {
                    write(&output, force, json, |path| ops::export(&file, path, format, on), "export")
                })
            }
            Command::Merge { files, output } => {
                write(&output, force, json, |path| ops::merge(&files, path, on), "merge")
            }
            Command::Diff { old, new } => {
                ops::diff(&old, &new, on).or_input("compare the snapshots").and_then(|report| {
                    show(&report, json);
                    yes(report.equal, || "the snapshots differ".to_owned())
                })
            }
            Command::Repair { file, output } => {
                let output = output.as_deref().unwrap_or(&file);
                write(output, force, json, |path| ops::repair(&file, path, on), "repair")
            }
            Command::Rules { file, set, output } => {
                rules(&file, set.as_deref().zip(output.as_deref()), (json, force), on)
            }
            Command::Redact(redact) => redact.run(json, force, on),
        };
        bar.finish_and_clear();
        outcome
    }
}

impl Redact {
    fn run(self, json: bool, force: bool, on: ops::OnProgress<'_>) -> Outcome {
        let Some(output) = &self.output else {
            let report = ops::scan_secrets(&self.file, on).or_input("search for secrets")?;
            show(&report, json);
            let found: u64 = report.counts.values().sum();
            return yes(report.clean, || {
                format!(
                    "{} holds {found} likely secrets; replace them with `sandbox snapshot redact`",
                    self.file
                )
            });
        };
        let values = match &self.values {
            Some(path) => std::fs::read_to_string(path).or_input(format!("read {path}"))?,
            None => String::new(),
        };
        let redaction = Redaction {
            key: self.key()?,
            headers: self.headers,
            cookies: self.cookies,
            fields: self.fields,
            credentials: self.credentials,
            values: values.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect(),
        };
        write(output, force, json, |path| ops::redact(&self.file, path, &redaction, on), "redact")
    }
}

impl Redact {
    /// The key behind the placeholders: the file's content, or random bytes.
    fn key(&self) -> Result<Vec<u8>, Failure> {
        match &self.key {
            Some(path) => std::fs::read(path).or_input(format!("read {path}")),
            None => Ok(rand::random::<[u8; 32]>().to_vec()),
        }
    }
}

fn search(query: &str, files: &[Utf8PathBuf], first: u64, json: bool) -> Outcome {
    if !search::has_words(query) {
        return Err(Failure::Input(format!("failed to search: {query:?} has no word to look for")));
    }
    let set = ReplaySet::open(files, None, &mut |_, _| {}).or_input("open the snapshots")?;
    let results =
        Search::new(Arc::new(set), None).results(query, 0, first).or_input("search the snapshots")?;
    let found =
        results.found.iter().map(|found| Found { url: &found.url, title: &found.title, text: found.text() });
    show(&Results { total: results.total, found: found.collect() }, json);
    Ok(())
}

/// Prints the rules of a snapshot, or writes it anew with others.
fn rules(
    file: &Utf8Path,
    set: Option<(&Utf8Path, &Utf8Path)>,
    (json, force): (bool, bool),
    on: ops::OnProgress<'_>,
) -> Outcome {
    let Some((given, output)) = set else {
        let rules = ops::rules(file).or_input("read the rules")?;
        if json {
            show(&rules, json);
        } else {
            print!("{}", rules.to_yaml());
        }
        return Ok(());
    };
    let text = std::fs::read_to_string(given).or_input(format!("read {given}"))?;
    let rules = ChangingParts::from_yaml(&text).or_input(format!("read the rules of {given}"))?;
    write(output, force, json, |path| ops::set_rules(file, &rules, path, on), "set the rules")
}

/// Runs an operation that writes `output`, and prints its report. With `force` it writes beside a
/// file that is there, and takes its place when it is whole.
fn write<T: Serialize>(
    output: &Utf8Path,
    force: bool,
    json: bool,
    run: impl FnOnce(&Utf8Path) -> Result<T, ops::Error>,
    doing: &str,
) -> Outcome {
    out::is_no_stdout(output)?;
    if !force || !output.is_file() {
        return run(output).or_input(doing).map(|report| show(&report, json));
    }
    let folder = output.parent().filter(|parent| !parent.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
    let beside = tempfile::Builder::new().prefix(".sandbox-").tempdir_in(folder);
    let beside = beside.or_environment(format!("create a folder in {folder}"))?;
    let name = output.file_name().unwrap_or("snapshot");
    let path = Utf8PathBuf::from_path_buf(beside.path().join(name)).map_err(|path| {
        Failure::Environment(format!("failed to write {}: its name is not UTF-8", path.display()))
    })?;
    let report = run(&path).or_input(doing)?;
    std::fs::rename(&path, output).or_environment(format!("replace {output}"))?;
    let mut report = serde_json::to_value(report).expect("reports are plain data");
    report["path"] = output.as_str().into();
    show(&report, json);
    Ok(())
}

/// What a search has found.
#[derive(Serialize)]
struct Results<'a> {
    /// How many pages.
    total: u64,
    found: Vec<Found<'a>>,
}

#[derive(Serialize)]
struct Found<'a> {
    url: &'a str,
    title: &'a str,
    text: String,
}

fn show(report: &impl Serialize, json: bool) {
    if json {
        println!("{}", serde_json::to_string_pretty(report).expect("reports are plain data"));
    } else {
        let mut report = serde_yaml::to_value(report).expect("reports are plain data");
        leave_out_absent(&mut report);
        print!("{}", serde_yaml::to_string(&report).expect("reports are plain data"));
    }
}

/// Leaves out what is nothing, and empty lists of it.
fn leave_out_absent(report: &mut serde_yaml::Value) {
    use serde_yaml::Value;
    match report {
        Value::Mapping(fields) => {
            fields.iter_mut().for_each(|(_, value)| leave_out_absent(value));
            fields.retain(|_, value| match value {
                Value::Null => false,
                Value::Mapping(fields) => !fields.is_empty(),
                Value::Sequence(items) => !items.is_empty(),
                _ => true,
            });
        }
        Value::Sequence(items) => items.iter_mut().for_each(leave_out_absent),
        _ => {}
    }
}

fn yes(answer: bool, otherwise: impl FnOnce() -> String) -> Outcome {
    if answer { Ok(()) } else { Err(Failure::No(otherwise())) }
}

fn format_of(output: &Utf8PathBuf) -> Result<Format, Failure> {
    let name = output.file_name().unwrap_or_default();
    match name.rsplit_once('.') {
        _ if name.ends_with(".warc.gz") => Ok(Format::WarcGz),
        Some((_, "har")) => Ok(Format::Har),
        None => Ok(Format::Folder),
        Some(_) => Err(Failure::Input(format!(
            "failed to export to {output}: its format is not known; end the name in .warc.gz or .har, or without \
             an ending for a folder"
        ))),
    }
}
