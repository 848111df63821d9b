//! WARC, plain or gzip: any bytes are records or a reason why not. Repair may keep what is whole.

use snapshots::{Progress, ops};

use crate::files::{walk, with_file};

/// Any bytes are an input; a panic is a defect.
pub fn check(bytes: &[u8]) {
    with_file(bytes, |path| {
        walk(path);
        let out = camino::Utf8PathBuf::from(format!("{path}.repaired.wacz"));
        if ops::repair(path, &out, &mut |_: Progress| ()).is_ok() {
            let report = ops::verify(&out, &mut |_: Progress| ());
            // What is written must at least be readable, whatever it was made of.
            let report = report.expect("a repaired snapshot opens");
            assert!(!report.flaws.contains_key(&ops::Flaw::FileDigest), "{:?}", report.findings);
            assert!(!report.flaws.contains_key(&ops::Flaw::Damaged), "{:?}", report.findings);
            assert!(!report.flaws.contains_key(&ops::Flaw::IndexTarget), "{:?}", report.findings);
        }
    });
}
