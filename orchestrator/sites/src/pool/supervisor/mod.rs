//! The supervisor: the task that owns the instances of one site.

mod recycling;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::work::Work;
use super::{LeaseReturn, Message, PoolSettings, Reply};
use crate::instance::Instance;
use crate::login::LoginSessions;
use crate::manifest::ResetPolicy;
use crate::status::RecentDurations;
use crate::{Error, Event, InstanceStatus, Lease, Phase, ResetMethod, SiteState, SiteStatus};

/// After this many consecutive failures a site is given up.
const FAILURES: u32 = 3;
/// The pause before the next start after a failure, multiplied by the number of failures.
const PAUSE: Duration = Duration::from_millis(500);
/// An instance that was ready for this long before it ended starts a new series of failures.
const STEADY: Duration = Duration::from_secs(10);

/// An instance and its current phase.
struct Slot {
    phase: Phase,
    since: Instant,
    since_clock: Timestamp,
    instance: Option<Arc<Instance>>,
    memory: Option<u64>,
    condition: Option<String>,
    /// Cancels the task that watches the instance.
    watch: CancellationToken,
}

struct PoolActor {
    work: Work,
    /// A weak sender, so that the actor ends when all its clients are gone.
    own: mpsc::WeakUnboundedSender<Message>,
    log_ins: Arc<LoginSessions>,
    /// The intended number of instances.
    target: usize,
    slots: BTreeMap<u32, Slot>,
    next: u32,
    queue: VecDeque<Reply<Lease>>,
    settling: Vec<Reply<()>>,
    stopping: Vec<oneshot::Sender<()>>,
    /// Whether an instance was ever ready.
    proven: bool,
    made_way: bool,
    failures: u32,
    /// Nothing is started before this time.
    pause: Option<Instant>,
    given_up: Option<Arc<Error>>,
    problem: Option<String>,
    resets: RecentDurations,
    drifts: u64,
    status: watch::Sender<SiteStatus>,
    instances: watch::Sender<Vec<Arc<Instance>>>,
}

/// Starts the actor.
pub(super) fn run(
    settings: PoolSettings,
    inbox: mpsc::UnboundedReceiver<Message>,
    own: mpsc::WeakUnboundedSender<Message>,
) -> (watch::Receiver<SiteStatus>, watch::Receiver<Vec<Arc<Instance>>>) {
    let PoolSettings { site, driver, instances, events, gate, unproven } = settings;
    // One more instance is kept where resets take time, so that a lease need not wait for one.
    let spare =
        matches!(site.reset, ResetPolicy::Spare | ResetPolicy::Restore | ResetPolicy::WhenDirty);
    let status = watch::Sender::new(SiteStatus {
        name: site.name.clone(),
        title: site.title.clone(),
        url: site.address(),
        state: SiteState::Starting,
        instances: Vec::new(),
        spares: 0,
        resets_ms: Vec::new(),
        drifts: 0,
        problem: None,
    });
    let actor = PoolActor {
        work: Work { site, driver, events, gate, unproven, stopping: CancellationToken::new() },
        own,
        log_ins: Arc::default(),
        target: instances.max(1) + usize::from(spare),
        slots: BTreeMap::new(),
        next: 1,
        queue: VecDeque::new(),
        settling: Vec::new(),
        stopping: Vec::new(),
        proven: false,
        made_way: false,
        failures: 0,
        pause: None,
        given_up: None,
        problem: None,
        resets: RecentDurations::default(),
        drifts: 0,
        status,
        instances: watch::Sender::new(Vec::new()),
    };
    let seen = (actor.status.subscribe(), actor.instances.subscribe());
    tokio::spawn(actor.keep(inbox));
    seen
}

impl PoolActor {
    async fn keep(mut self, mut inbox: mpsc::UnboundedReceiver<Message>) {
        self.top_up();
        self.publish();
        loop {
            let message = match self.pause {
                Some(pause) => timeout_at(pause, inbox.recv()).await,
                None => Ok(inbox.recv().await),
            };
            match message {
                Err(_) => self.pause = None,
                Ok(Some(message)) => self.take(message),
                // All clients are gone, without a stop request.
                Ok(None) => break self.clear_away().await,
            }
            if self.work.stopping.is_cancelled() && self.slots.is_empty() {
                break;
            }
            self.top_up();
            self.serve();
            self.publish();
        }
        (self.work.events)(&Event::Stopped { site: self.work.site.name.clone() });
        self.status.send_modify(|status| {
            status.state = SiteState::Stopped;
            status.instances.clear();
            status.spares = 0;
        });
        self.instances.send_replace(Vec::new());
        for reply in self.stopping.drain(..) {
            let _ = reply.send(());
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Lease(reply) => self.queue.push_back(reply),
            Message::HandBack { id, changed } => self.hand_back(id, changed),
            Message::Waits { id, condition } => {
                if let Some(slot) = self.slots.get_mut(&id) {
                    slot.condition = Some(condition);
                }
            }
            Message::Started { id, result: Ok(instance), took } => self.started(id, instance, took),
            Message::Started { id, result: Err(error), .. } => {
                self.slots.remove(&id);
                self.failed(id, error);
            }
            Message::Restored { id, result, took } => self.restored(id, result, took),
            Message::Gone { id, took } => {
                let removed = self.slots.remove(&id);
                // While the pool stops, an instance that is gone was not reset.
                if removed.is_some() && !self.work.stopping.is_cancelled() {
                    self.recycled(id, took, ResetMethod::Replaced);
                }
            }
            Message::Ended { id, error } => self.ended(id, error),
            Message::Memory { id, bytes } => {
                if let Some(slot) = self.slots.get_mut(&id) {
                    slot.memory = Some(bytes);
                }
            }
            Message::Reset(reply) => self.reset(reply),
            Message::Stop(reply) => {
                self.stopping.push(reply);
                self.work.stopping.cancel();
                // Dropping what waits tells its senders that there will be no lease.
                self.queue.clear();
                self.settling.clear();
                for id in self.running() {
                    let stopped = Error::Stopped(self.work.site.name.clone());
                    if let Some(instance) =
                        self.slots.get(&id).and_then(|slot| slot.instance.as_ref())
                    {
                        instance.ended.send_replace(Some(Arc::new(stopped)));
                    }
                    self.remove(id);
                }
            }
        }
    }

    /// Starts the missing instances.
    fn top_up(&mut self) {
        if self.work.stopping.is_cancelled() || self.pause.is_some() || self.given_up.is_some() {
            return;
        }
        let leaving_counts = self.work.site.reset == ResetPolicy::Recreate;
        // Only one instance is tried until one was ready, so that a broken site fails only once.
        let target = if self.proven { self.target } else { 1 };
        let there = self
            .slots
            .values()
            .filter(|slot| leaving_counts || slot.phase != Phase::Leaving)
            .count();
        for _ in there..target {
            let id = self.next;
            self.next += 1;
            self.slots.insert(id, Slot::starting());
            let first = !self.proven;
            self.spawn(async move |work, actor| {
                let (result, took) = work.start(id, first, &actor).await;
                Message::Started { id, result, took }
            });
        }
    }

    /// Assigns ready instances to waiting clients.
    fn serve(&mut self) {
        // Clients that have given up would be given an instance first.
        self.queue.retain(|reply| !reply.is_closed());
        while !self.queue.is_empty() {
            let ready = self.slots.iter_mut().find(|(_, slot)| slot.phase == Phase::Ready);
            let (Some((_, slot)), Some(actor)) = (ready, self.own.upgrade()) else { break };
            let (Some(instance), Some(reply)) = (&slot.instance, self.queue.pop_front()) else {
                break;
            };
            let site = Arc::clone(&self.work.site);
            let back = LeaseReturn { site, actor, log_ins: Arc::clone(&self.log_ins) };
            match reply.send(Ok(Lease::new(Arc::clone(instance), back))) {
                Ok(()) => slot.enter(Phase::Leased),
                // Nobody has used the instance, so it stays ready.
                Err(unwanted) => unwanted.into_iter().for_each(Lease::revoke),
            }
        }
        let settled = |slot: &Slot| matches!(slot.phase, Phase::Ready | Phase::Leased);
        if let Some(error) = &self.given_up {
            for reply in self.queue.drain(..) {
                let _ = reply.send(Err(Arc::clone(error)));
            }
            for reply in self.settling.drain(..) {
                let _ = reply.send(Err(Arc::clone(error)));
            }
        } else if self.pause.is_none() && self.slots.values().all(settled) {
            for reply in self.settling.drain(..) {
                let _ = reply.send(Ok(()));
            }
        }
    }

    fn started(&mut self, id: u32, instance: Arc<Instance>, took: Duration) {
        let Some(slot) = self.slots.get_mut(&id) else { return };
        slot.instance = Some(Arc::clone(&instance));
        slot.condition = None;
        // The stop may have come while it started.
        if self.work.stopping.is_cancelled() {
            return self.remove(id);
        }
        slot.enter(Phase::Ready);
        let watch = slot.watch.clone();
        self.proven = true;
        self.make_way();
        self.problem = None;
        (self.work.events)(&Event::Ready { site: self.work.site.name.clone(), instance: id, took });
        let (own, work) = (self.own.clone(), self.work.clone());
        tokio::spawn(async move {
            let error = tokio::select! {
                error = work.watch(&instance) => error,
                () = watch.cancelled() => return,
            };
            if let Some(actor) = own.upgrade() {
                let _ = actor.send(Message::Ended { id, error });
            }
        });
    }

    /// Handles the unexpected end of an instance.
    fn ended(&mut self, id: u32, error: Error) {
        let Some(slot) = self.slots.get_mut(&id).filter(|slot| slot.phase != Phase::Leaving) else {
            return;
        };
        let error = Arc::new(error);
        if let Some(instance) = &slot.instance {
            instance.ended.send_replace(Some(Arc::clone(&error)));
        }
        if slot.since.elapsed() > STEADY {
            self.failures = 0;
        }
        // If an instance ends while it is leased, the cause may be the episode, so it does not
        // count against the site.
        let leased = slot.phase == Phase::Leased;
        self.remove(id);
        if leased {
            self.report(id, &error, false);
        } else {
            self.failed(id, Error::Shared(error));
        }
    }

    /// Counts a failure of an instance. After too many consecutive failures the site is given up.
    fn failed(&mut self, id: u32, error: Error) {
        if self.work.stopping.is_cancelled() {
            return;
        }
        // A failure that the engine caused does not count against the site.
        let counts = !self.work.driver.is_disturbed();
        self.failures += u32::from(counts);
        self.pause = Some(Instant::now() + PAUSE * self.failures.max(1));
        let give_up = error.is_final() || counts && self.failures >= FAILURES;
        self.report(id, &error, give_up);
        if give_up {
            let (site, times) = (self.work.site.name.clone(), self.failures);
            let error = match error.is_final() {
                true => error,
                false => Error::GivenUp { site, times, last: Arc::new(error) },
            };
            self.given_up = Some(Arc::new(error));
            self.make_way();
        }
    }

    /// This site is ready or given up: it no longer delays the second instances of other sites.
    fn make_way(&mut self) {
        if !std::mem::replace(&mut self.made_way, true) {
            self.work.unproven.send_modify(|left| *left = left.saturating_sub(1));
        }
    }

    fn report(&mut self, instance: u32, error: &Error, given_up: bool) {
        self.problem = Some(error.to_string());
        let site = self.work.site.name.clone();
        (self.work.events)(&Event::Failed { site, instance, error: error.to_string(), given_up });
    }

    /// All running instances.
    fn running(&self) -> Vec<u32> {
        self.slots.iter().filter(|(_, slot)| slot.instance.is_some()).map(|(id, _)| *id).collect()
    }

    /// Removes an instance.
    fn remove(&mut self, id: u32) {
        let Some(slot) = self.slots.get_mut(&id).filter(|slot| slot.phase != Phase::Leaving) else {
            return;
        };
        let Some(instance) = slot.instance.clone() else { return };
        slot.watch.cancel();
        slot.enter(Phase::Leaving);
        self.spawn(async move |work, _| {
            let began = Instant::now();
            work.stop(&instance).await;
            Message::Gone { id, took: began.elapsed() }
        });
    }

    /// Runs slow work in a task, which reports its result to the actor.
    fn spawn<F>(&self, work: impl FnOnce(Work, mpsc::UnboundedSender<Message>) -> F)
    where
        F: Future<Output = Message> + Send + 'static,
    {
        let Some(actor) = self.own.upgrade() else { return };
        let doing = work(self.work.clone(), actor.clone());
        tokio::spawn(async move {
            let _ = actor.send(doing.await);
        });
    }

    /// Removes everything when no client is left.
    async fn clear_away(&mut self) {
        self.work.stopping.cancel();
        for slot in std::mem::take(&mut self.slots).into_values() {
            slot.watch.cancel();
            if let Some(instance) = slot.instance.filter(|_| slot.phase != Phase::Leaving) {
                self.work.stop(&instance).await;
            }
        }
    }

    fn publish(&mut self) {
        let is = |phase| move |slot: &&Slot| slot.phase == phase;
        let spares = self.slots.values().filter(is(Phase::Ready)).count();
        let state = match &self.given_up {
            Some(_) if spares == 0 => SiteState::Failed,
            _ if self.proven => SiteState::Running,
            _ => SiteState::Starting,
        };
        let instances = self.slots.iter().map(|(id, slot)| slot.status(*id)).collect();
        self.status.send_modify(|status| {
            status.state = state;
            status.instances = instances;
            status.spares = spares;
            status.resets_ms = self.resets.all();
            status.drifts = self.drifts;
            status.problem = match &self.given_up {
                Some(error) => Some(error.to_string()),
                None => self.problem.clone(),
            };
        });
        let instances = self.slots.values().filter_map(|slot| slot.instance.clone());
        self.instances.send_replace(instances.collect());
    }
}

impl Slot {
    fn starting() -> Slot {
        Slot {
            phase: Phase::Starting,
            since: Instant::now(),
            since_clock: Timestamp::now(),
            instance: None,
            memory: None,
            condition: None,
            watch: CancellationToken::new(),
        }
    }

    fn enter(&mut self, phase: Phase) {
        (self.phase, self.since, self.since_clock) = (phase, Instant::now(), Timestamp::now());
    }

    fn status(&self, id: u32) -> InstanceStatus {
        InstanceStatus {
            id,
            phase: self.phase,
            since: self.since_clock,
            address: self.instance.as_ref().map(|instance| instance.upstream.clone()),
            memory: self.memory,
            condition: self.condition.clone(),
        }
    }
}
