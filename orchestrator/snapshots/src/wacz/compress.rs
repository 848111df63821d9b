//! Compresses records on all cores. They leave in the order in which they came.
//!
//! ```text
//! push --> queue of waiting records ----------------------> next, in order
//!              |                                              ^
//!              +--> jobs --> threads, one gzip member each ---+
//! ```
//!
//! Each record is a gzip member of its own, so the number of threads changes no byte of the result.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::thread::{self, JoinHandle};

use flate2::Compression;
use flate2::write::GzEncoder;
use parking_lot::Mutex;

use crate::body::MEMORY;
use crate::{Body, Spool};

/// How many records wait at most, for each thread.
const WAITING: usize = 16;
/// How many bytes of blocks wait at most. A larger block waits alone.
const WAITING_BYTES: u64 = 64 << 20;

/// A record to compress.
#[derive(Debug)]
pub(super) struct Member {
    /// The header of the record, with the empty line that ends it.
    pub(super) head: Vec<u8>,
    /// Holds the block.
    pub(super) body: Body,
    /// How many bytes of `body` are the block.
    pub(super) length: u64,
}

/// Compresses records. Each has a value of type `T`, which is returned with the result.
#[derive(Debug)]
pub(super) struct Compressor<T> {
    threads: usize,
    pool: Option<Pool>,
    queue: VecDeque<Waiting<T>>,
    bytes: u64,
}

#[derive(Debug)]
struct Waiting<T> {
    result: Receiver<io::Result<Body>>,
    bytes: u64,
    then: T,
}

/// Threads that end when it is dropped.
#[derive(Debug)]
struct Pool {
    jobs: Option<Sender<Job>>,
    threads: Vec<JoinHandle<()>>,
}

type Job = (Member, SyncSender<io::Result<Body>>);

impl<T> Compressor<T> {
    /// Compresses on this many threads. They start with the first record. One thread is the
    /// caller's own.
    pub(super) fn new(threads: usize) -> Compressor<T> {
        Compressor { threads, pool: None, queue: VecDeque::new(), bytes: 0 }
    }

    /// Adds a record. [`Compressor::next`] must then be called until it returns `None`, so that the
    /// number of waiting records stays limited.
    pub(super) fn push(&mut self, member: Member, then: T) -> io::Result<()> {
        let bytes = member.length;
        let (sender, result) = sync_channel(1);
        if self.threads > 1 {
            let pool = match &mut self.pool {
                Some(pool) => pool,
                none => none.insert(Pool::start(self.threads)?),
            };
            let jobs = pool.jobs.as_ref().ok_or_else(stopped)?;
            jobs.send((member, sender)).map_err(|_| stopped())?;
        } else {
            // There is room for one result.
            let _ = sender.send(member.compress());
        }
        self.bytes += bytes;
        self.queue.push_back(Waiting { result, bytes, then });
        Ok(())
    }

    /// The next record in order, if it is ready. Waits for it if too many records wait behind it,
    /// or with `all`.
    pub(super) fn next(&mut self, all: bool) -> io::Result<Option<(Body, T)>> {
        let Some(front) = self.queue.front() else { return Ok(None) };
        let full = self.queue.len() > WAITING * self.threads || self.bytes > WAITING_BYTES;
        let result = if all || full {
            front.result.recv().map_err(|_| stopped())?
        } else {
            match front.result.try_recv() {
                Ok(result) => result,
                Err(TryRecvError::Empty) => return Ok(None),
                Err(TryRecvError::Disconnected) => return Err(stopped()),
            }
        };
        let Some(front) = self.queue.pop_front() else { return Ok(None) };
        self.bytes -= front.bytes;
        Ok(Some((result?, front.then)))
    }
}

impl Pool {
    fn start(threads: usize) -> io::Result<Pool> {
        let (jobs, queue) = channel::<Job>();
        let queue = Arc::new(Mutex::new(queue));
        let mut pool = Pool { jobs: Some(jobs), threads: Vec::new() };
        for _ in 0..threads {
            let queue = Arc::clone(&queue);
            let run = move || {
                loop {
                    // A statement of its own, so that the lock is released before the work begins.
                    let job = queue.lock().recv();
                    let Ok((member, sender)) = job else { return };
                    // Nobody waits for the result if the writer was dropped.
                    let _ = sender.send(member.compress());
                }
            };
            match thread::Builder::new().name("compress".to_owned()).spawn(run) {
                Ok(thread) => pool.threads.push(thread),
                // Fewer threads do the same work.
                Err(error) if pool.threads.is_empty() => return Err(error),
                Err(_) => break,
            }
        }
        Ok(pool)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.jobs = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Member {
    /// The gzip member: in memory, or in a temporary file if it is large.
    fn compress(self) -> io::Result<Body> {
        let mut member = GzEncoder::new(Spool::new(MEMORY), Compression::default());
        member.write_all(&self.head)?;
        match &self.body {
            Body::Bytes(bytes) => {
                let block =
                    usize::try_from(self.length).ok().and_then(|length| bytes.get(..length));
                member.write_all(block.unwrap_or(bytes))?;
            }
            body => drop(io::copy(&mut body.reader().take(self.length), &mut member)?),
        }
        member.write_all(b"\r\n\r\n")?;
        member.finish()?.finish()
    }
}

fn stopped() -> io::Error {
    io::Error::other("a thread that compresses records has ended")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn compressed(threads: usize, sizes: &[usize]) -> Vec<(Vec<u8>, usize)> {
        let mut compressor = Compressor::new(threads);
        let mut results = Vec::new();
        for (number, size) in sizes.iter().enumerate() {
            let bytes: Vec<u8> = (0..*size).map(|at| (at * (number + 3) % 251) as u8).collect();
            let body = Body::spool(&bytes[..], 10_000).unwrap();
            let member =
                Member { head: format!("{number}").into_bytes(), body, length: *size as u64 };
            compressor.push(member, number).unwrap();
            while let Some((body, number)) = compressor.next(false).unwrap() {
                results.push((body.to_vec(1 << 30).unwrap(), number));
            }
            assert!(compressor.queue.len() <= WAITING * threads);
            assert!(compressor.bytes <= WAITING_BYTES);
        }
        while let Some((body, number)) = compressor.next(true).unwrap() {
            results.push((body.to_vec(1 << 30).unwrap(), number));
        }
        assert_eq!((compressor.bytes, compressor.queue.len()), (0, 0));
        results
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bytes_in_order() {
        let sizes: Vec<usize> =
            (0..300).map(|n| n * 7919 % 20_000).chain([70 << 20, 5, 9]).collect();
        let alone = compressed(1, &sizes);
        assert!(alone.iter().enumerate().all(|(at, (_, number))| at == *number));
        for threads in [2, 3, 8] {
            assert!(compressed(threads, &sizes) == alone, "{threads} threads");
        }
    }

    #[test]
    fn dropping_it_with_waiting_records_ends_its_threads() {
        let mut compressor = Compressor::new(3);
        for number in 0..20 {
            let body = Body::from(vec![number; 100_000]);
            compressor.push(Member { head: Vec::new(), body, length: 100_000 }, ()).unwrap();
        }
        drop(compressor);
    }
}
