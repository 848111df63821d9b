//! Makes instances pristine again, after a lease or all at once: each is kept as it is, restored or
//! replaced.

use std::time::Duration;

use tokio::time::Instant;

use super::{PoolActor, Slot};
use crate::manifest::ResetPolicy;
use crate::pool::{Message, Reply};
use crate::{Error, Event, Phase, ResetMethod};

impl PoolActor {
    pub(super) fn hand_back(&mut self, id: u32, changed: bool) {
        let Some(slot) = self.slots.get_mut(&id) else { return };
        if slot.phase != Phase::Leased {
            return;
        }
        // The instance ran as long as it was needed.
        self.failures = 0;
        match self.work.site.reset {
            ResetPolicy::Never => self.keep_as_it_is(id),
            ResetPolicy::WhenDirty if !changed => self.keep_as_it_is(id),
            ResetPolicy::Restore | ResetPolicy::WhenDirty => self.put_back(id),
            ResetPolicy::Spare | ResetPolicy::Recreate => self.remove(id),
        }
    }

    fn keep_as_it_is(&mut self, id: u32) {
        let Some(slot) = self.slots.get_mut(&id) else { return };
        let set_back = slot
            .instance
            .as_ref()
            .map_or(Ok(()), |instance| instance.set_clock_back(&self.work.site));
        match set_back {
            Ok(()) => {
                slot.enter(Phase::Ready);
                self.recycled(id, Duration::ZERO, ResetMethod::Kept);
            }
            Err(error) => {
                self.failed(id, error);
                self.remove(id);
            }
        }
    }

    /// Restores the state of an instance, or replaces the instance if its state is not accessible.
    fn put_back(&mut self, id: u32) {
        let Some(slot) = self.slots.get_mut(&id) else { return };
        let Some(instance) =
            slot.instance.clone().filter(|instance| instance.restores(&self.work.site))
        else {
            return self.remove(id);
        };
        slot.enter(Phase::Recycling);
        self.spawn(async move |work, _| {
            let began = Instant::now();
            let result = work.restore(&instance).await;
            Message::Restored { id, result, took: began.elapsed() }
        });
    }

    pub(super) fn restored(
        &mut self,
        id: u32,
        result: Result<Option<String>, Error>,
        took: Duration,
    ) {
        // It may have ended, or the site been stopped, while it was restored.
        let Some(slot) = self.slots.get_mut(&id).filter(|slot| slot.phase == Phase::Recycling)
        else {
            return;
        };
        match result {
            Ok(None) => {
                slot.enter(Phase::Ready);
                self.recycled(id, took, ResetMethod::Restored);
            }
            Ok(Some(difference)) => {
                self.drifts += 1;
                let site = self.work.site.name.clone();
                (self.work.events)(&Event::Drifted { site, instance: id, difference });
                self.remove(id);
            }
            Err(error) => {
                self.failed(id, error);
                self.remove(id);
            }
        }
    }

    pub(super) fn recycled(&mut self, instance: u32, took: Duration, how: ResetMethod) {
        self.resets.add(took);
        (self.work.events)(&Event::Recycled {
            site: self.work.site.name.clone(),
            instance,
            took,
            how,
        });
    }

    /// Makes every unleased instance pristine, and retries a site that was given up.
    pub(super) fn reset(&mut self, reply: Reply<()>) {
        (self.given_up, self.pause, self.failures) = (None, None, 0);
        self.settling.push(reply);
        let idle = |(id, slot): (&u32, &Slot)| (slot.phase == Phase::Ready).then_some(*id);
        let idle: Vec<u32> = self.slots.iter().filter_map(idle).collect();
        for id in idle {
            match self.work.site.reset {
                ResetPolicy::Never => self.keep_as_it_is(id),
                ResetPolicy::Restore | ResetPolicy::WhenDirty => self.put_back(id),
                ResetPolicy::Spare | ResetPolicy::Recreate => self.remove(id),
            }
        }
    }
}
