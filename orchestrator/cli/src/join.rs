//! A gym behind a front, while it serves.

use std::net::SocketAddr;

use gym_balancer::Membership;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::failure::{Failure, Outcome};
use crate::terminal::interrupt;

/// The task that keeps a gym on a front's list.
pub(crate) struct Joining {
    task: JoinHandle<Result<(), gym_balancer::Error>>,
    ended: CancellationToken,
}

impl Joining {
    /// Begins to register as soon as it is known where the gym listens. A gym that its front does
    /// not take is interrupted.
    pub(crate) fn start(membership: Membership, listens: oneshot::Receiver<SocketAddr>) -> Joining {
        let interrupted = interrupt::token();
        let ended = interrupted.child_token();
        let until = ended.clone();
        let task = tokio::spawn(async move {
            // A gym that cannot begin to serve says why itself.
            let Ok(listens) = listens.await else { return Ok(()) };
            let stayed = gym_balancer::stay(&membership, listens, &until).await;
            if stayed.is_err() {
                interrupted.cancel();
            }
            stayed
        });
        Joining { task, ended }
    }

    /// Leaves the front, after the gym has ended.
    pub(crate) async fn end(self) -> Outcome {
        self.ended.cancel();
        match self.task.await {
            Ok(stayed) => stayed.map_err(Failure::from),
            // It does not panic, and nobody aborts it.
            Err(_) => Ok(()),
        }
    }
}
