//! `sandbox snapshot push`: a snapshot and its index onto an object store.

use camino::{Utf8Path, Utf8PathBuf};
use object_files::{Address, is_address};
use results::mirror::check_writable;
use serde::Serialize;
use snapshots::collection::{Collection, files_of};
use snapshots::index::{BESIDE, Index, ReplaySet};

use crate::failure::{Failure, OrFail as _};
use crate::options::DataFolder;
use crate::terminal::progress;

/// Upload a snapshot with its index, so that replay reads from there only what it needs
///
/// Use the address in place of a file from then on, on any machine: `sandbox replay s3://...`, or
/// `snapshots: ["s3://..."]` in a suite.yaml. Credentials come from the environment
/// (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_ENDPOINT_URL for other servers than AWS's).
#[derive(clap::Args)]
pub(crate) struct Push {
    /// WACZ, WARC or ARC file, or a collection
    file: Utf8PathBuf,
    /// Address of the object, such as s3://BUCKET/NAME.wacz
    #[arg(value_name = "s3://BUCKET/NAME")]
    address: String,
    #[command(flatten)]
    data: DataFolder,
}

/// What was uploaded.
#[derive(Serialize)]
pub(crate) struct Report {
    address: String,
    /// Archives and, for a collection, its list.
    files: usize,
    bytes: u64,
    index_bytes: u64,
}

/// A file and its place.
struct Upload {
    from: Utf8PathBuf,
    to: Address,
    bytes: u64,
    is_index: bool,
}

impl Push {
    /// Uploads. Archives come before their indexes, and the list of a collection comes last.
    pub(crate) fn run(self, force: bool) -> Result<Report, Failure> {
        let to = Address::parse(&self.address).or_input("push")?;
        check_writable(Utf8Path::new(&self.address))?;
        if is_address(&self.file) {
            return Err(Failure::Input(format!(
                "failed to push {}: it is at an address already",
                self.file
            )));
        }
        let uploads = self.uploads(&to)?;
        // A collection's members may be those of another one.
        for Upload { to, .. } in uploads.iter().filter(|upload| !force && !upload.is_index) {
            if object_files::length(to)?.is_some() {
                return Err(Failure::Input(format!(
                    "failed to push to {to}: there is an object; --force replaces it"
                )));
            }
        }
        let bar = progress::bytes(
            uploads.iter().map(|upload| upload.bytes).sum(),
            to.to_string().as_str(),
        );
        for Upload { from, to, .. } in &uploads {
            let sent = object_files::upload(from, to, &mut |bytes| bar.inc(bytes));
            sent.map_err(|error| {
                bar.finish_and_clear();
                Failure::Environment(format!(
                    "failed to {}; what was uploaded until then is there; push again with --force",
                    error_text::with_causes(&error)
                ))
            })?;
        }
        bar.finish_and_clear();
        let sum = |index: bool| {
            uploads.iter().filter(|one| one.is_index == index).map(|one| one.bytes).sum()
        };
        Ok(Report {
            address: to.to_string(),
            files: uploads.iter().filter(|upload| !upload.is_index).count(),
            bytes: sum(false),
            index_bytes: sum(true),
        })
    }

    fn uploads(&self, to: &Address) -> Result<Vec<Upload>, Failure> {
        let doing = format!("push {}", self.file);
        let indexes = self.data.indexes()?;
        let bar = progress::unknown("indexing");
        let built =
            ReplaySet::open(std::slice::from_ref(&self.file), Some(&indexes), &mut |_, at| {
                progress::advance(&bar, at.bytes, at.total_bytes);
            });
        bar.finish_and_clear();
        built.or_input(&doing)?;
        let is_collection = Collection::is_json(&self.file).or_input(&doing)?;
        let beside = |file: &Utf8Path| -> Result<Address, Failure> {
            if !is_collection {
                return Ok(to.clone());
            }
            let folder = self.file.parent().unwrap_or(Utf8Path::new(""));
            let path = file.strip_prefix(folder).unwrap_or(file);
            to.beside(path.as_str()).or_input(&doing)
        };
        let mut uploads = Vec::new();
        let mut add = |from: &Utf8Path, to: Address, is_index: bool| -> Result<(), Failure> {
            let bytes = from.metadata().or_input(format!("read {from}"))?.len();
            uploads.push(Upload { from: from.to_owned(), to, bytes, is_index });
            Ok(())
        };
        for file in files_of(&self.file).or_input(&doing)? {
            let to = beside(&file)?;
            add(&file, to.clone(), false)?;
            add(&Index::sidecar(&file, &indexes), to.with_end(BESIDE).or_input(&doing)?, true)?;
        }
        if is_collection {
            add(&self.file, to.clone(), false)?;
        }
        Ok(uploads)
    }
}
