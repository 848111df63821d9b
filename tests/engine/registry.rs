//! A registry on loopback, and a road to it that can be cut or blocked.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};

use anyhow::{Context, Result};

use crate::harness::{Bench, wait_for};

/// Debian's `docker-registry`, with its files in the test's folder.
pub(crate) struct Registry {
    child: Child,
    address: SocketAddr,
}

impl Registry {
    pub(crate) fn start(bench: &Bench) -> Result<Registry> {
        // Free now; nobody else is given it while the registry starts.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let config = format!(
            "version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: {}}}}}\nhttp: {{addr: {address}}}\n",
            bench.path("registry")
        );
        std::fs::write(bench.path("registry.yml"), config)?;
        let child = Command::new("docker-registry")
            .args(["serve", bench.path("registry.yml").as_str()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("docker-registry is missing: run `./setup.sh engine`, then try again")?;
        let registry = Registry { child, address };
        wait_for("the registry answers", || Ok(TcpStream::connect(address).is_ok()))?;
        Ok(registry)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What happens to the first connection that has carried as many bytes as the road allows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mishap {
    /// It is cut; every other one is let through.
    Cut,
    /// Nothing more comes through until the road is cleared.
    Block,
}

/// A TCP proxy to the registry that has one mishap.
#[derive(Clone)]
pub(crate) struct Road {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    mishap: Mishap,
    allows: usize,
    state: Mutex<State>,
    cleared: Condvar,
}

#[derive(Default)]
struct State {
    happened: bool,
    cleared: bool,
    /// Everything that clients have sent: request lines and headers.
    requests: String,
}

impl Road {
    /// Opens the road; its threads end with the test's process.
    pub(crate) fn open(to: SocketAddr, mishap: Mishap, allows: usize) -> Result<Road> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let shared = Shared { mishap, allows, state: Mutex::default(), cleared: Condvar::new() };
        let road = Road { address: listener.local_addr()?, shared: Arc::new(shared) };
        let shared = road.shared.clone();
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (Ok(client), Ok(server)) = (client, TcpStream::connect(to)) else { continue };
                let (Ok(from_client), Ok(to_server)) = (client.try_clone(), server.try_clone())
                else {
                    continue;
                };
                let (up, down) = (shared.clone(), shared.clone());
                std::thread::spawn(move || up.upwards(from_client, to_server));
                std::thread::spawn(move || down.downwards(server, client));
            }
        });
        Ok(road)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn mishap_happened(&self) -> bool {
        self.shared.state.lock().expect("nothing panics with the state locked").happened
    }

    pub(crate) fn clear(&self) {
        self.shared.state.lock().expect("nothing panics with the state locked").cleared = true;
        self.shared.cleared.notify_all();
    }

    pub(crate) fn requests(&self) -> String {
        self.shared.state.lock().expect("nothing panics with the state locked").requests.clone()
    }
}

impl Shared {
    fn upwards(&self, mut from: TcpStream, mut to: TcpStream) {
        let mut buffer = [0; 16 * 1024];
        while let Ok(n @ 1..) = from.read(&mut buffer) {
            self.state
                .lock()
                .expect("nothing panics with the state locked")
                .requests
                .push_str(&String::from_utf8_lossy(&buffer[..n]));
            if to.write_all(&buffer[..n]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    }

    fn downwards(&self, mut from: TcpStream, mut to: TcpStream) {
        let (mut buffer, mut carried) = ([0; 16 * 1024], 0);
        while let Ok(n @ 1..) = from.read(&mut buffer) {
            carried += n;
            if carried > self.allows && !self.pass() {
                break;
            }
            if to.write_all(&buffer[..n]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
        let _ = from.shutdown(Shutdown::Both);
    }

    /// Whether a connection over the limit may go on.
    fn pass(&self) -> bool {
        let mut state = self.state.lock().expect("nothing panics with the state locked");
        let first = !std::mem::replace(&mut state.happened, true);
        if self.mishap == Mishap::Cut {
            return !first;
        }
        drop(self.cleared.wait_while(state, |state| !state.cleared));
        true
    }
}
