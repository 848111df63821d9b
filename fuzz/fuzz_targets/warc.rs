//! WARC, plain or gzip: any bytes are records or a reason why not. Repair may keep what is whole.
#![no_main]

use snapshots::{Progress, ops};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    fuzz::with_file(bytes, |path| {
        fuzz::walk(path);
        let out = camino::Utf8PathBuf::from(format!("{path}.repaired.wacz"));
        if ops::repair(path, &out, &mut |_: Progress| ()).is_ok() {
            let report = ops::verify(&out, &mut |_: Progress| ());
            let _ = std::fs::remove_file(&out);
            // What is written must at least be readable, whatever it was made of.
            let report = report.expect("a repaired snapshot opens");
            assert!(!report.flaws.contains_key(&ops::Flaw::FileDigest), "{:?}", report.findings);
            assert!(!report.flaws.contains_key(&ops::Flaw::Damaged), "{:?}", report.findings);
            assert!(!report.flaws.contains_key(&ops::Flaw::IndexTarget), "{:?}", report.findings);
        }
    });
});
