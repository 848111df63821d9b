//! Operations on finished snapshots: inspect, verify, convert, merge, compare, repair and redact.
//!
//! Each operation is one function in its own file. It takes paths, reports progress through a
//! callback and returns a serialisable report. The command line prints the reports, and scripts
//! read them.
//!
//! No operation changes its input or overwrites a file. Output is written under a temporary name
//! beside the target and moved there when it is complete. An existing target is rejected before any
//! work is done.

mod collection;
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
mod split;
mod stage;
mod states;
#[cfg(test)]
mod tests;
mod verify;

pub use collection::{
    CollectionReport, CollectionVerification, MemberVerification, collection, inspect_collection,
    verify_collection,
};
pub use credentials::{CredentialFilter, Credentials, count_credentials};
pub use diff::{BodyChange, Capture, Change, Diff, TextDifference, compare_texts, diff, text_of};
pub use error::Error;
pub use export::{ExportReport, Format, export};
pub use import::{ImportOptions, ImportReport, InputReport, SkipReason, import};
pub use inspect::{BrowserStateCounts, HostCount, Inspection, SegmentSummary, inspect};
pub use merge::{MergeReport, merge};
pub use redact::{Redaction, RedactionReport, URI_COMPONENT, redact};
pub use repair::{Loss, RepairReport, repair};
pub use rules::{RulesSet, rules, set_rules};
pub use scan::{Secret, SecretKind, SecretScan, scan_secrets};
pub use signature::{Signature, SignatureKind};
pub use split::{COLLECTION_NAME, SplitBy, SplitReport, split};
pub use states::{ChangeReport, SiteReport, StatesReport, VisitReport, WriteReport, states};
pub use verify::{Finding, Flaw, Severity, Verification, verify};

use crate::Progress;

/// Receives the progress of an operation, in bytes of its input.
pub type OnProgress<'a> = &'a mut dyn FnMut(Progress);
