//! `sandbox snapshot push`: a snapshot and its index onto an object store.

use camino::{Utf8Path, Utf8PathBuf};
use object_files::{Address, is_address};
use results::mirror::check_writable;
use snapshots::push::PushReport;

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

impl Push {
    /// Uploads with progress bars.
    pub(crate) fn run(self, force: bool) -> Result<PushReport, Failure> {
        let to = Address::parse(&self.address).or_input("push")?;
        check_writable(Utf8Path::new(&self.address))?;
        if is_address(&self.file) {
            return Err(Failure::Input(format!(
                "failed to push {}: it is at an address already",
                self.file
            )));
        }
        let bar = progress::unknown("indexing");
        let push =
            snapshots::push::Push::of(&self.file, to.clone(), &self.data.indexes()?, &mut |at| {
                progress::advance(&bar, at.bytes, at.total_bytes)
            });
        bar.finish_and_clear();
        let push = push?;
        if !force {
            push.check_free()?;
        }
        let bar = progress::bytes(push.bytes(), to.to_string().as_str());
        let pushed = push.send(&mut |bytes| bar.inc(bytes));
        bar.finish_and_clear();
        Ok(pushed?)
    }
}
