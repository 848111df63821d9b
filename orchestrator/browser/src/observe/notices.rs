//! Texts that come and go between two observations, such as a message that a page shows for a
//! moment.

use serde_json::Value;

use crate::cdp::tracker::Page;
use crate::clock::state::ClockState;
use crate::trees::frames::Frame;
use crate::{Error, Session};

const NOTICES: &str = include_str!("notices.js");
/// How many of a step are kept.
const MOST: usize = 20;

impl Session {
    /// The texts that have appeared in a page since the last action and are gone again.
    pub(super) async fn notices(
        &mut self,
        page: &Page,
        frames: &[Frame],
    ) -> Result<Vec<String>, Error> {
        if self.frozen().is_none() {
            return Ok(Vec::new());
        }
        // The page tells of its frames, but for those of other sites.
        let asked = if self.tracker.lock().part::<ClockState>().has_foreign_frames {
            frames
        } else {
            frames.get(..1).unwrap_or_default()
        };
        let told = match self.evaluate_in_frames(page, asked, NOTICES).await {
            // The document has just been replaced.
            Err(Error::Refused { .. }) => Vec::new(),
            told => told?,
        };
        for (_, found) in told {
            let found = found.as_array().into_iter().flatten().filter_map(Value::as_str);
            self.notices.extend(found.map(str::to_owned));
        }
        self.notices.truncate(MOST);
        Ok(self.notices.clone())
    }
}
