//! What one does with finished snapshots: look into them, check them, turn them into other formats
//! and back, join, compare, mend and clean them.
//!
//! Each operation is one function in a file of its own. It takes paths, tells its progress by a
//! callback and returns a report that can be serialised; the reports are what the command line
//! prints and scripts read. None of them changes its input, and none overwrites anything: output is
//! written under a temporary name beside the target and moved there when it is complete, and a
//! target that exists is refused before any work is done.

mod credentials;
mod diff;
mod digest;
mod error;
mod exchanges;
mod export;
mod import;
mod inspect;
mod merge;
mod originals;
mod output;
pub(crate) mod pages;
mod pairs;
mod redact;
mod repair;
mod rules;
mod scan;
mod signature;
mod snapshot;
mod stage;
#[cfg(test)]
mod tests;
mod verify;

pub use credentials::{CredentialFilter, Credentials, count_credentials};
pub use diff::{BodyChange, Capture, Change, Diff, diff};
pub use error::Error;
pub use export::{ExportReport, Format, export};
pub use import::{ImportOptions, ImportReport, InputReport, SkipReason, import};
pub use inspect::{BrowserStateCounts, HostCount, Inspection, SegmentSummary, inspect};
pub use merge::{MergeReport, merge};
pub use redact::{Redaction, RedactionReport, redact};
pub use repair::{Loss, RepairReport, repair};
pub use rules::{RulesSet, rules, set_rules};
pub use scan::{Secret, SecretKind, SecretScan, scan_secrets};
pub use signature::{Signature, SignatureKind};
pub use verify::{Finding, Flaw, Severity, Verification, verify};

use crate::Progress;

/// Told from time to time how far an operation has come, in bytes of its input.
pub type OnProgress<'a> = &'a mut dyn FnMut(Progress);
