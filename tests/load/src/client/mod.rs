//! The client: threads that fetch and check, each with one kept-alive connection per host.
//!
//! Plain blocking sockets, so that the client costs little beside what it measures. Certificates
//! are not verified: every proxy has its own authority, and the cost should be the same for all.

mod connection;
mod message;
mod report;
mod tls;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use connection::{Connection, Dialer};
pub(crate) use report::Report;
use report::Tally;

use crate::manifest::{self, Entry};

/// How to reach a host.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Route {
    /// By CONNECT through a forward proxy.
    Proxy(SocketAddr),
    /// At this address, whatever the host.
    Direct(SocketAddr),
}

/// How much to fetch, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) route: Route,
    pub(crate) threads: usize,
    pub(crate) requests: usize,
    /// When to begin no more requests, if not all are done by then.
    pub(crate) within: Option<Duration>,
    pub(crate) timeout: Duration,
}

/// Fetches by the plan. Failed requests are counted, not returned.
pub(crate) fn run(entries: &[Entry], plan: &Plan) -> Result<Report> {
    let dialer = Dialer::new(plan.route, plan.timeout)?;
    let next = AtomicUsize::new(0);
    let order = spread(entries.len());
    let begun = Instant::now();
    let tallies: Result<Vec<Tally>> = thread::scope(|scope| {
        let workers: Vec<_> = (0..plan.threads)
            .map(|_| {
                scope.spawn(|| {
                    let mut worker = Worker {
                        dialer: &dialer,
                        connections: HashMap::new(),
                        tally: Tally::default(),
                    };
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let late = plan.within.is_some_and(|within| begun.elapsed() >= within);
                        if late || number >= plan.requests {
                            return worker.tally;
                        }
                        worker.fetch(&entries[order[number % order.len()]]);
                    }
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().ok().context("a client thread panicked"))
            .collect()
    });
    Ok(Report::new(tallies?, begun.elapsed()))
}

/// An order that visits everything once and mixes hosts and kinds, the same each time.
fn spread(length: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..length).collect();
    order
        .sort_by_key(|&number| (number as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    order
}

struct Worker<'a> {
    dialer: &'a Dialer,
    connections: HashMap<&'a str, Connection>,
    tally: Tally,
}

impl<'a> Worker<'a> {
    fn fetch(&mut self, entry: &'a Entry) {
        let begun = Instant::now();
        match self.exchange(entry) {
            Ok((200, body))
                if entry.sha256.is_empty() || manifest::sha256(&body) == entry.sha256 =>
            {
                self.tally.good(begun.elapsed(), body.len())
            }
            Ok((200, _)) => {
                self.tally.bad(format!("https://{}{}: another body", entry.host, entry.target))
            }
            Ok((status, _)) => {
                self.tally.bad(format!("https://{}{}: status {status}", entry.host, entry.target))
            }
            Err(error) => {
                self.tally.bad(format!("https://{}{}: {error:#}", entry.host, entry.target))
            }
        }
    }

    /// One exchange. A kept-alive connection may have been closed meanwhile, hence a second try on
    /// a new one.
    fn exchange(&mut self, entry: &'a Entry) -> Result<(u16, Vec<u8>)> {
        if let Some(mut kept) = self.connections.remove(entry.host.as_str())
            && let Ok(answer) = kept.get(&entry.host, &entry.target)
        {
            return Ok(self.keep(entry, kept, answer));
        }
        self.tally.connects += 1;
        let mut fresh = self.dialer.dial(&entry.host)?;
        let answer = fresh.get(&entry.host, &entry.target)?;
        Ok(self.keep(entry, fresh, answer))
    }

    fn keep(
        &mut self,
        entry: &'a Entry,
        connection: Connection,
        answer: message::Answer,
    ) -> (u16, Vec<u8>) {
        if answer.keep_alive {
            self.connections.insert(&entry.host, connection);
        }
        (answer.status, answer.body)
    }
}
