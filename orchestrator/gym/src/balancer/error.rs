//! Why a balancer cannot serve, or a gym cannot join one. Texts read after "failed to".

use std::net::SocketAddr;

/// An error of a balancer, or of a gym that joins one.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address is in use, or is none of this machine.
    #[error("listen at {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// The URL is not one of a gym's form.
    #[error(
        "use {url} as a gym: {why}; give it as `sandbox gym` prints it, such as http://127.0.0.1:8000"
    )]
    Url {
        /// The URL.
        url: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Something else answers, or the gym has other tasks.
    #[error("use {url} as a gym: {why}")]
    Unfit {
        /// The URL.
        url: String,
        /// Why.
        why: String,
    },
    /// The file of the key cannot be read or made.
    #[error(transparent)]
    Key(#[from] host_check::KeyError),
    /// The balancer refuses the gym, or does not answer.
    #[error("join the balancer at {balancer}: {why}")]
    Join {
        /// The balancer's URL.
        balancer: String,
        /// Why.
        why: String,
    },
}
