//! From the events of a captured browser to the steps of a draft.
//!
//! Steps are those of the oracle, which plays them in another browser. So the log follows which tab
//! the oracle would be in: a tab that a page opens is in front at once, and what the person does in
//! another tab begins with a change of tabs.

mod log;

use browser::{CaptureEvent, PersonInput, TabHistory};

pub(crate) use log::StepLog;

/// An event with everything that the browser was asked for.
#[derive(Debug)]
pub(crate) enum Happening {
    TabOpened { tab: String, by_page: bool },
    TabClosed { tab: String },
    Navigated { tab: String, url: String, history: Option<TabHistory> },
    Input { tab: String, input: Box<PersonInput>, picture: Option<Vec<u8>> },
}

impl Happening {
    /// Waits for what the browser still tells.
    pub(crate) async fn of(event: CaptureEvent) -> Happening {
        match event {
            CaptureEvent::TabOpened { tab, by_page } => Happening::TabOpened { tab, by_page },
            CaptureEvent::TabClosed { tab } => Happening::TabClosed { tab },
            CaptureEvent::Navigated { tab, url, history } => {
                Happening::Navigated { tab, url, history: history.get().await }
            }
            CaptureEvent::Input { tab, input, picture } => {
                Happening::Input { tab, input, picture: picture.png().await }
            }
        }
    }
}
