//! Follows the output of all instances of a site, across replaced instances.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::{mpsc, watch};

use crate::instance::Instance;

/// How many lines are buffered for the receiver.
const WAITING: usize = 256;

/// Sends the output lines of all current and future instances, each with the number of the
/// instance. For current instances it begins with the last `lines` lines. Ends with the site, or
/// when the receiver is dropped.
pub(crate) fn follow(
    mut instances: watch::Receiver<Vec<Arc<Instance>>>,
    lines: usize,
) -> mpsc::Receiver<(u32, String)> {
    let (say, heard) = mpsc::channel(WAITING);
    tokio::spawn(async move {
        let (mut known, mut lines) = (BTreeSet::new(), Some(lines));
        loop {
            for instance in
                instances.borrow_and_update().iter().filter(|instance| known.insert(instance.id))
            {
                tokio::spawn(pass_on(Arc::clone(instance), lines, say.clone()));
            }
            // An instance that starts later is followed from its beginning.
            lines = None;
            tokio::select! {
                changed = instances.changed() => if changed.is_err() { return },
                () = say.closed() => return,
            }
        }
    });
    heard
}

async fn pass_on(instance: Arc<Instance>, lines: Option<usize>, say: mpsc::Sender<(u32, String)>) {
    let (tell, mut received) = mpsc::channel(1);
    let passing = async {
        while let Some(line) = received.recv().await {
            if say.send((instance.id, line)).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        _ = async { tokio::join!(instance.machine.follow(lines, tell), passing) } => {}
        () = say.closed() => {}
    }
}

/// Removes the complete lines from the bytes read so far and returns them.
pub(crate) fn whole_lines(read: &mut Vec<u8>) -> Vec<String> {
    let Some(end) = read.iter().rposition(|byte| *byte == b'\n') else { return Vec::new() };
    let rest = read.split_off(end + 1);
    let whole = std::mem::replace(read, rest);
    String::from_utf8_lossy(&whole).lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::whole_lines;

    #[test]
    fn a_line_is_told_once_it_is_whole() {
        let mut read = b"one\ntwo\r\nthr".to_vec();
        assert_eq!(whole_lines(&mut read), ["one", "two"]);
        assert_eq!(read, b"thr");
        assert_eq!(whole_lines(&mut read), [] as [&str; 0]);
        read.extend_from_slice(b"ee\n");
        assert_eq!(whole_lines(&mut read), ["three"]);
        assert!(read.is_empty());
    }
}
