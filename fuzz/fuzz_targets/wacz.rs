//! WACZ: the container as it is, and what can be salvaged of it.
#![no_main]

use snapshots::{Progress, ops};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    fuzz::with_file(bytes, |path| {
        fuzz::walk(path);
        let out = camino::Utf8PathBuf::from(format!("{path}.repaired.wacz"));
        let _ = ops::repair(path, &out, &mut |_: Progress| ());
        let _ = std::fs::remove_file(&out);
    });
});
