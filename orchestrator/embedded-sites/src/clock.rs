//! The clock of an instance. The caller that starts the instance provides it; the system clock is
//! never read.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

/// A shared handle on the caller's clock.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// A clock that calls `now` at each reading. It may stand still or jump backwards.
    pub fn new(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// A clock that stands still.
    pub fn fixed(at: Timestamp) -> Self {
        Self::new(move || at)
    }

    /// The current time.
    pub fn now(&self) -> Timestamp {
        (self.0)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Clock({})", self.now())
    }
}
