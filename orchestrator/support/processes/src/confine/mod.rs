//! Keeping a program from what it must not see, and ending all that it starts.
//!
//! ```text
//!  our process        |  the keeper            |  namespaces: users, mounts, processes, IPC
//!  SIGTERM, its end --|-> watches <------------|-- the first process: hides, gives up its rights,
//!  exit code <--------|-- ends as the program  |    starts the program, reaps what is orphaned
//! ```
//!
//! An ordinary user gets the namespaces by one of users, in which it stays who it is. Root needs
//! none. The first process covers what is [`Plan::hidden`] with empty mounts, and has a `/proc` of
//! its own. Then it gives up every right by which a mount can be taken away, for itself and for all
//! that comes after it: a namespace of users below has its mounts locked. When it ends, the kernel
//! ends everything in its namespace of processes.
//!
//! Where the system gives no namespaces, nothing is hidden. The keeper is then the reaper of all
//! that the program leaves behind, and ends that, too.
//!
//! **Invariants.** What could not be hidden is an error before the program starts, and never a
//! program that sees it. The keeper ends after all that the program has started.

mod cover;
mod devices;
mod doors;
mod keeper;
mod landlock;
mod level;
mod messages;
mod mounts;
mod namespaces;
mod network;
mod orphans;
mod plan;
mod rights;
mod room;
mod start;

pub use keeper::keep;
pub use level::{BadLevel, Confinement, Level};
pub use network::{BadHost, Host, Network, Proxy, relay_alone};
pub use plan::{Plan, Shown};
pub use room::inside;
pub use start::{Confined, Helper, Tree};

/// The hidden command by which a program that starts others is their keeper.
pub const KEEPER: &str = "keep";
/// The hidden command of the first process in the namespaces.
pub const ROOM: &str = "keep-inside";
/// The hidden command of what leads connections out of a network of its own.
pub const RELAY: &str = "keep-relay";
