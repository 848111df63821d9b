//! `sandbox snapshot`: operations on finished snapshots.
//!
//! Every operation returns a report; for people it is printed as YAML without what is absent, for
//! scripts (`--json`) as JSON.

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;
use snapshots::collection::Collection;
use snapshots::matching::ChangingParts;
use snapshots::ops::{self, Format, ImportOptions, Redaction, SplitBy};
use snapshots::{Progress, is_address};

use crate::commands::changes::{self, Check, ReportOptions};
use crate::commands::coverage::Coverage;
use crate::commands::page_search::PageSearch;
use crate::commands::push::Push;
use crate::commands::states;
use crate::failure::{Failure, OrFail, Outcome};
use crate::options::DataFolder;
use crate::terminal::out;
use crate::terminal::progress;

/// Inspect, verify, convert, merge, compare, repair and redact snapshots
///
/// No operation changes its input. No file is replaced without --force.
#[derive(clap::Args)]
pub(crate) struct Snapshot {
    #[command(subcommand)]
    command: Command,
    /// Print the report as one JSON document
    #[arg(long, global = true)]
    json: bool,
    /// Replace the output file, or the object, if it exists
    #[arg(long, global = true)]
    force: bool,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Print records, hosts, pages, sizes, dates and the writer of a snapshot
    Inspect {
        /// WACZ, WARC or ARC file, or a collection
        file: Utf8PathBuf,
        /// Print what was done on each site instead: the requests that may have changed it, why
        /// each counts as one, what was another page after it, and which states are equal
        #[arg(long)]
        states: bool,
    },
    /// Check every line, digest and length; exit code 1 if anything is wrong
    Verify {
        /// WACZ file, or a collection: every member is checked
        file: Utf8PathBuf,
    },
    Search(PageSearch),
    Coverage(Coverage),
    Check(Check),
    /// Make a snapshot from WARC, ARC, HAR or WACZ files without an index
    Import {
        /// Files, in order
        #[arg(required = true)]
        files: Vec<Utf8PathBuf>,
        /// Snapshot to write
        #[arg(short, long)]
        output: Utf8PathBuf,
        /// Title of the snapshot
        #[arg(long)]
        title: Option<String>,
    },
    /// Convert a snapshot to .warc.gz, to .har, or to a folder of bodies
    Export {
        /// WACZ, WARC or ARC file
        file: Utf8PathBuf,
        /// File or folder to write; its name tells the format
        #[arg(short, long)]
        output: Utf8PathBuf,
    },
    /// Merge several snapshots, or a collection, into one
    Merge {
        /// Snapshots, in order; a collection stands for its members
        #[arg(required = true)]
        files: Vec<Utf8PathBuf>,
        /// Snapshot to write
        #[arg(short, long)]
        output: Utf8PathBuf,
    },
    /// List WACZ files in one JSON file, a collection, which is used as a snapshot
    ///
    /// The file is a multi-WACZ package, which ReplayWeb.page opens too. It has the digest, size,
    /// dates, hosts and pages of each WACZ file.
    Collection {
        /// WACZ files, in order, in the folder of the output or below it
        #[arg(required = true)]
        files: Vec<Utf8PathBuf>,
        /// JSON file to write
        #[arg(short, long, value_name = "NAME.json")]
        output: Utf8PathBuf,
    },
    /// Split a snapshot into many WACZ files and a collection of them, `datapackage.json`
    Split {
        /// WACZ, WARC or ARC file
        file: Utf8PathBuf,
        /// Folder to write
        #[arg(short, long, value_name = "FOLDER")]
        output: Utf8PathBuf,
        /// What decides to which file a record belongs
        #[arg(long, value_enum, default_value_t = By::Host)]
        by: By,
    },
    /// Print what was added, removed and changed; exit code 1 if anything was
    Diff {
        /// Older snapshot
        old: Utf8PathBuf,
        /// NewerVersion snapshot
        new: Utf8PathBuf,
        #[command(flatten)]
        report: ReportOptions,
        /// Show at most this many pages in the report
        #[arg(long, value_name = "N", default_value_t = 100, requires = "html")]
        pages: usize,
        #[command(flatten)]
        data: DataFolder,
    },
    /// Make a whole snapshot from a damaged file, or from a recording that was killed
    Repair {
        /// Damaged WACZ, WARC or ARC file, or the output of a recording that was killed
        file: Utf8PathBuf,
        /// Snapshot to write [default: FILE, where only FILE.recording is left]
        #[arg(short, long)]
        output: Option<Utf8PathBuf>,
    },
    /// Print or set the rules of a snapshot: parts of requests that change on their own, which
    /// replay ignores, and which requests are writes
    ///
    /// Prints YAML with the changing query parameters, body fields and path segments (`*`) of each
    /// address. `sandbox record --learn` finds them. To change them, edit the output and pass it to
    /// --set.
    Rules {
        /// WACZ file
        file: Utf8PathBuf,
        /// File with the new rules
        #[arg(long, value_name = "RULES.yaml", requires = "output")]
        set: Option<Utf8PathBuf>,
        /// Snapshot to write
        #[arg(short, long, value_name = "NEW.wacz", requires = "set")]
        output: Option<Utf8PathBuf>,
    },
    /// Replace secrets by placeholders everywhere, or --scan for likely secrets
    Redact(Redact),
    Push(Push),
}

/// What decides to which file of a split a record belongs.
#[derive(Clone, Copy, clap::ValueEnum)]
enum By {
    /// The host of its URL
    Host,
    /// The day on which it was recorded, in UTC
    Date,
}

#[derive(clap::Args)]
struct Redact {
    /// WACZ, WARC or ARC file
    file: Utf8PathBuf,
    /// Snapshot to write
    #[arg(short, long, required_unless_present = "scan")]
    output: Option<Utf8PathBuf>,
    /// Replace credentials: Authorization, all cookies, and fields named like passwords and tokens
    #[arg(long)]
    credentials: bool,
    /// Header whose values are secret
    #[arg(long = "header", value_name = "NAME")]
    headers: Vec<String>,
    /// Cookie whose values are secret
    #[arg(long = "cookie", value_name = "NAME")]
    cookies: Vec<String>,
    /// Query parameter, form field or JSON key whose values are secret
    #[arg(long = "field", value_name = "NAME")]
    fields: Vec<String>,
    /// File with one secret value a line; on the command line, others could see it
    #[arg(long, value_name = "FILE")]
    values: Option<Utf8PathBuf>,
    /// File with the key of the placeholders; the same key gives the same placeholders in every
    /// snapshot [default: a random key]
    #[arg(long, value_name = "FILE")]
    key: Option<Utf8PathBuf>,
    /// Write nothing; report likely secrets. Exit code 1 if there are any
    #[arg(long, conflicts_with = "output")]
    scan: bool,
}

impl Snapshot {
    /// Runs the operation and prints its report.
    pub(crate) async fn run(self) -> Outcome {
        let (json, force) = (self.json, self.force);
        let bar = progress::unknown("");
        let shown = bar.clone();
        let on = &mut |at: Progress| progress::advance(&shown, at.done, at.total);
        let outcome = match self.command {
            Command::Check(check) => check.run(json, force).await,
            Command::Coverage(coverage) => coverage.run(json).await,
            Command::Inspect { file, states: true } => {
                bar.finish_and_clear();
                states::run(&file, json)
            }
            Command::Inspect { file, .. } if is_collection(&file) => {
                ops::inspect_collection(&file).or_input("inspect").map(|report| show(&report, json))
            }
            Command::Inspect { file, .. } => {
                ops::inspect(&file, on).or_input(format!("inspect {file}")).map(|report| show(&report, json))
            }
            Command::Verify { file } if is_collection(&file) => {
                ops::verify_collection(&file, on).or_input("verify").and_then(|report| {
                    show(&report, json);
                    answer(report.valid, || format!("{file} has {} errors in its members", report.errors))
                })
            }
            Command::Verify { file } => {
                ops::verify(&file, on).or_input(format!("verify {file}")).and_then(|report| {
                    show(&report, json);
                    answer(report.valid, || {
                        format!(
                            "{file} has {} errors; `sandbox snapshot repair {file}` keeps what is whole",
                            report.errors
                        )
                    })
                })
            }
            Command::Search(search) => search.run(json),
            Command::Push(push) => push.run(force).map(|report| show(&report, json)),
            Command::Import { files, output, title } => {
                let options = ImportOptions { title, ..ImportOptions::default() };
                write(&output, force, json, |path| ops::import(&files, path, &options, on), "import")
            }
            Command::Export { file, output } => {
                out::is_a_path(&output).and_then(|()| format_of(&output)).and_then(|format| {
                    write(&output, force, json, |path| ops::export(&file, path, format, on), "export")
                })
            }
            Command::Merge { files, output } => {
                is_several(&files)?;
                write(&output, force, json, |path| ops::merge(&files, path, on), "merge")
            }
            Command::Collection { files, output } => {
                files.iter().try_for_each(|file| is_here(file))?;
                let folder = output.parent().unwrap_or(Utf8Path::new(""));
                write(
                    &output,
                    force,
                    json,
                    |path| ops::collection(&files, folder, path, on),
                    "list the files",
                )
            }
            Command::Split { file, output, by } => {
                let by = match by {
                    By::Host => SplitBy::Host,
                    By::Date => SplitBy::Date,
                };
                out::is_a_path(&output).and_then(|()| is_free(&output)).and_then(|()| {
                    ops::split(&file, &output, by, on).or_input("split").map(|report| show(&report, json))
                })
            }
            Command::Diff { old, new, report: pictures, pages, data } => {
                let compared = ops::diff(&old, &new, on).or_input("compare the snapshots");
                bar.finish_and_clear();
                let drawn = match compared.is_ok() && pictures.is_wanted() {
                    true => changes::picture_diff(&old, &new, &pictures, pages, &data).await,
                    false => Ok(()),
                };
                compared.and_then(|report| {
                    show(&report, json);
                    drawn?;
                    answer(report.equal, || "the snapshots differ".to_owned())
                })
            }
            Command::Repair { file, output } => {
                is_here(&file)?;
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
            return answer(report.clean, || {
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

/// Whether a file is JSON, so that it may be a collection but no archive. What cannot be read is
/// named by the operation.
fn is_collection(file: &Utf8Path) -> bool {
    Collection::is_json(file).unwrap_or(false)
}

/// What is repaired, or listed in a folder, is a file of this machine.
fn is_here(file: &Utf8Path) -> Outcome {
    match is_address(file) {
        true => Err(Failure::Input(format!(
            "failed to read {file}: this needs a file of this machine; download it"
        ))),
        false => Ok(()),
    }
}

/// A folder is never replaced.
fn is_free(folder: &Utf8Path) -> Outcome {
    match folder.exists() {
        true => {
            Err(Failure::Input(format!("failed to split: {folder} exists; name another folder")))
        }
        false => Ok(()),
    }
}

/// Merging one file would only copy it.
fn is_several(files: &[Utf8PathBuf]) -> Outcome {
    match files {
        [file] if !is_collection(file) => Err(Failure::Input(format!(
            "failed to merge {file}: it is one snapshot; name two or more, or a collection"
        ))),
        _ => Ok(()),
    }
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
    out::is_a_path(output)?;
    if !force || !output.is_file() {
        return run(output).or_input(doing).map(|report| show(&report, json));
    }
    let folder =
        output.parent().filter(|parent| !parent.as_str().is_empty()).unwrap_or(Utf8Path::new("."));
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

pub(crate) fn show(report: &impl Serialize, json: bool) {
    if json {
        out::json(report);
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

fn answer(answer: bool, otherwise: impl FnOnce() -> String) -> Outcome {
    if answer { Ok(()) } else { Err(Failure::Negative(otherwise())) }
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
