//! Turns the events of a captured browser into steps of a draft.
//!
//! Steps are those of the oracle, which plays them in another browser. So the log follows which tab
//! the oracle would be in: a tab that a page opens is in front at once, and what the person does in
//! another tab begins with a change of tabs.

mod log;
mod passwords;

use browser::{CaptureEvent, PersonInput, TabHistory};
pub(crate) use log::StepLog;

use self::passwords::Passwords;

/// The text that stands in the task for whatever is typed into a password field.
const SECRET: &str = "PASSWORD";

/// An event with everything that the browser was asked for.
#[derive(Debug)]
pub(crate) enum CapturedEvent {
    TabOpened { tab: String, by_page: bool },
    TabClosed { tab: String },
    Navigated { tab: String, url: String, history: Option<TabHistory> },
    Input { tab: String, input: Box<PersonInput>, picture: Option<Vec<u8>> },
}

impl CapturedEvent {
    /// Waits for what the browser still tells.
    pub(crate) async fn of(event: CaptureEvent) -> CapturedEvent {
        match event {
            CaptureEvent::TabOpened { tab, by_page } => CapturedEvent::TabOpened { tab, by_page },
            CaptureEvent::TabClosed { tab } => CapturedEvent::TabClosed { tab },
            CaptureEvent::Navigated { tab, url, history } => {
                CapturedEvent::Navigated { tab, url, history: history.get().await }
            }
            CaptureEvent::Input { tab, input, picture } => {
                CapturedEvent::Input { tab, input, picture: picture.png().await }
            }
        }
    }

    /// Hides the passwords that were typed until now, also those that the event itself tells.
    fn without_passwords(mut self, passwords: &mut Passwords) -> CapturedEvent {
        let hide = |passwords: &Passwords, texts: &mut [&mut String]| {
            texts.iter_mut().for_each(|text| **text = passwords.hide(text));
        };
        match &mut self {
            CapturedEvent::Navigated { url, history, .. } => {
                hide(passwords, &mut [url]);
                for entry in history.iter_mut().flat_map(|history| &mut history.entries) {
                    hide(passwords, &mut [&mut entry.url, &mut entry.typed_url]);
                }
            }
            CapturedEvent::Input { input, .. } => {
                passwords.add(&std::mem::take(&mut input.passwords));
                let PersonInput { url, html, element, value, options, .. } = &mut **input;
                hide(passwords, &mut [url, html, &mut element.text, &mut element.html]);
                for value in options.iter_mut().chain([value, &mut element.value]) {
                    *value = passwords.hide_value(value);
                }
                // An element is still to be found by what it is called.
                for text in [&mut element.name, &mut element.css, &mut element.locator] {
                    *text = passwords.hide_in_queries(text);
                }
            }
            CapturedEvent::TabOpened { .. } | CapturedEvent::TabClosed { .. } => {}
        }
        self
    }
}
