//! The task that keeps a gym on a balancer's list while the gym serves.

use std::net::SocketAddr;

use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::balancer::{Error, Membership, stay};

/// The task that keeps a gym on a balancer's list.
#[derive(Debug)]
pub struct Joining {
    task: JoinHandle<Result<(), Error>>,
    ended: CancellationToken,
}

impl Joining {
    /// Begins to register as soon as the gym's address is known. If the balancer refuses the gym,
    /// `interrupted` is cancelled, which ends the gym.
    pub fn start(
        membership: Membership,
        listens: oneshot::Receiver<SocketAddr>,
        interrupted: CancellationToken,
    ) -> Joining {
        let ended = interrupted.child_token();
        let until = ended.clone();
        let task = tokio::spawn(async move {
            // A gym that cannot begin to serve says why itself.
            let Ok(listens) = listens.await else { return Ok(()) };
            let stayed = stay(&membership, listens, &until).await;
            if stayed.is_err() {
                interrupted.cancel();
            }
            stayed
        });
        Joining { task, ended }
    }

    /// Leaves the balancer, after the gym has ended.
    ///
    /// # Errors
    /// When its balancer did not take it.
    pub async fn end(self) -> Result<(), Error> {
        self.ended.cancel();
        match self.task.await {
            Ok(stayed) => stayed,
            // It does not panic, and nobody aborts it.
            Err(_) => Ok(()),
        }
    }
}
