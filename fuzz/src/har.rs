//! HAR: any bytes are a log or a reason why not; what was read is written and read again.

use snapshots::har::{self, Attachments, Entry, Error, Limits};

fn read(bytes: &[u8]) -> Option<Vec<Entry>> {
    let mut entries = Vec::new();
    let limits = Limits { entry: 1 << 20, unpacked: 1 << 20 };
    har::read(bytes, &mut Attachments::default(), limits, |entry| {
        entries.push(entry);
        Ok::<(), Error>(())
    })
    .ok()
    .map(|_| entries)
}

/// Any bytes are an input; a panic is a defect.
pub fn check(bytes: &[u8]) {
    let Some(entries) = read(bytes) else { return };
    let mut writer = har::Writer::new(Vec::new(), "0").expect("memory takes everything");
    for entry in &entries {
        writer
            .entry(&entry.exchange, entry.frames.as_deref(), entry.page.as_deref())
            .expect("memory takes everything");
    }
    let text = writer.finish().expect("memory takes everything");
    let again = read(&text).expect("a log that was written is read");
    assert_eq!(again.len(), entries.len());
    for (before, after) in entries.iter().zip(&again) {
        assert_eq!(before.exchange.url, after.exchange.url);
        assert_eq!(before.exchange.response.status, after.exchange.response.status);
        assert_eq!(before.exchange.request.headers, after.exchange.request.headers);
    }
}
