//! The parts of the state that the folders above keep, each with a type of its own.
//!
//! A session gives the tracker one of each type. All are behind the lock of the whole state, and
//! are told events in the same thread and order as the rest of it.

use std::any::Any;
use std::fmt::Debug;

use serde_json::Value;

use super::BrowserState;
use crate::cdp::connection::{Cdp, SessionId};

/// An event of the browser.
pub(crate) struct BrowserEvent<'a> {
    pub(crate) cdp: &'a Cdp,
    pub(crate) session: Option<&'a SessionId>,
    pub(crate) method: &'a str,
    pub(crate) params: &'a Value,
}

/// A part of the state, which is told what the browser says.
pub(crate) trait EventSink: Any + Debug + Send {
    /// Takes an event. `state` is all but the parts.
    fn on_event(&mut self, state: &mut BrowserState, event: &BrowserEvent<'_>);

    /// The active page's clock shows this, in milliseconds since 1970.
    fn on_clock(&mut self, page_clock: f64) {
        let _ = page_clock;
    }

    /// A page, frame or worker has gone.
    fn on_session_left(&mut self, session: &SessionId) {
        let _ = session;
    }

    /// Whether a download is under way.
    fn is_downloading(&self) -> bool {
        false
    }

    /// Forgets the episode.
    fn reset(&mut self);
}

/// One part of each type.
#[derive(Debug, Default)]
pub(super) struct Parts(Vec<Box<dyn EventSink>>);

impl Parts {
    pub(super) fn new(parts: Vec<Box<dyn EventSink>>) -> Self {
        Self(parts)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &dyn EventSink> {
        self.0.iter().map(|part| &**part)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut (dyn EventSink + 'static)> {
        self.0.iter_mut().map(|part| &mut **part)
    }

    fn get<T: EventSink>(&self) -> Option<&T> {
        self.0.iter().find_map(|part| (&**part as &dyn Any).downcast_ref())
    }

    fn get_mut<T: EventSink>(&mut self) -> Option<&mut T> {
        self.0.iter_mut().find_map(|part| (&mut **part as &mut dyn Any).downcast_mut())
    }
}

impl BrowserState {
    /// The part of this type. Not for sinks, which are the parts.
    pub(crate) fn part<T: EventSink>(&self) -> &T {
        self.parts.get().expect("a session has a part of each type")
    }

    /// The same, to change it.
    pub(crate) fn part_mut<T: EventSink>(&mut self) -> &mut T {
        self.parts.get_mut().expect("a session has a part of each type")
    }

    /// Whether a download is under way.
    pub(crate) fn is_downloading(&self) -> bool {
        self.parts.iter().any(EventSink::is_downloading)
    }

    /// Tells all parts an event.
    pub(super) fn tell_parts(&mut self, event: &BrowserEvent<'_>) {
        let mut parts = std::mem::take(&mut self.parts);
        parts.iter_mut().for_each(|part| part.on_event(self, event));
        self.parts = parts;
    }
}
