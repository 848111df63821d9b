//! Makes steps of what happens in the browser.

use std::time::{Duration, Instant};

use actions::{Button, Modifier};
use browser::{HistoryEntry, InputKind, PersonInput, PersonTarget, TabHistory};
use scoring::solution::{
    CSS_ROLE, Click, Element, Fill, ModifierKey, MouseButton, OracleStep, Press, Select,
};

use super::passwords::Passwords;
use super::{CapturedEvent, SECRET};
use crate::draft::{Draft, SeenElement, Step};

/// How long after something was done in a page the page itself may go back or close its tab for
/// it. Later the person has done that.
const ECHO: Duration = Duration::from_secs(1);
/// Ways to a page that begin in the address bar.
const TYPED: [&str; 5] = ["typed", "generated", "keyword", "keyword_generated", "auto_bookmark"];

/// The log of one browser.
#[derive(Debug)]
pub(crate) struct StepLog {
    /// Open tabs, in the order of their opening.
    tabs: Vec<Tab>,
    /// The tab that the oracle is in.
    front: Option<String>,
    last: Option<LastStep>,
    /// Closed tabs that are not told yet: a window that closes is no step.
    closed: Vec<ClosedTab>,
    /// The place where a button of the mouse went down, with the picture of that moment.
    point: Option<(String, Option<Vec<u8>>)>,
    /// The passwords, which must not be written.
    passwords: Passwords,
    /// The start page is being opened, which is no step.
    opening: bool,
    /// The steps are being played, so that what happens is no step.
    is_playing: bool,
}

#[derive(Debug)]
struct Tab {
    name: String,
    url: String,
    /// The place in its history.
    index: usize,
    entries: Vec<i64>,
    /// The index of the start page in its history. The oracle has nothing before that.
    start_index: usize,
    /// The person has opened it, and it has shown nothing yet.
    is_blank: bool,
}

/// The place of a tab that the person closed.
#[derive(Debug)]
enum ClosedTab {
    Front,
    At(usize),
}

impl Tab {
    /// Goes to the entry at which its history is now: the entry, and whether the tab has been there
    /// before.
    fn take_history(&mut self, history: TabHistory) -> (Option<HistoryEntry>, bool) {
        let ids = history.entries.iter().map(|entry| entry.id).collect();
        let before = std::mem::replace(&mut self.entries, ids);
        self.index = history.current_index;
        let entry = history.entries.into_iter().nth(self.index);
        let is_old = entry.as_ref().is_some_and(|entry| before.contains(&entry.id));
        (entry, is_old)
    }
}

/// The last thing that was done in a page.
#[derive(Debug, Clone)]
struct LastStep {
    tab: String,
    at: Instant,
    /// It has led somewhere already.
    has_effect: bool,
}

/// Files of a new step.
#[derive(Debug, Default)]
pub(crate) struct StepFiles {
    pub(crate) number: u32,
    pub(crate) html: String,
    pub(crate) picture: Option<Vec<u8>>,
}

impl StepLog {
    pub(crate) fn new() -> StepLog {
        StepLog {
            tabs: Vec::new(),
            front: None,
            last: None,
            closed: Vec::new(),
            point: None,
            passwords: Passwords::default(),
            opening: true,
            is_playing: false,
        }
    }

    /// From now on what happens is the playing of the steps. A tab that was closed and not told
    /// until now is none of them.
    pub(crate) fn start_playing(&mut self) {
        self.is_playing = true;
        (self.last, self.point) = (None, None);
        self.closed.clear();
    }

    /// From now on what happens is the person's doing. `front` is the tab that the oracle is in: it
    /// may have come to another one than that which was opened last.
    pub(crate) fn stop_playing(&mut self, front: Option<String>) {
        self.is_playing = false;
        (self.last, self.point) = (None, None);
        if let Some(front) = front.filter(|front| self.tabs.iter().any(|tab| tab.name == *front)) {
            self.front = Some(front);
        }
    }

    /// The next page that the first tab comes to is not the person's doing.
    pub(crate) fn expect_start_page(&mut self) {
        self.opening = true;
    }

    /// Adds what has happened to the draft. Returns the files of the step that this made.
    pub(crate) fn add(
        &mut self,
        draft: &mut Draft,
        happening: CapturedEvent,
        now: Instant,
    ) -> Option<StepFiles> {
        let happening = happening.without_passwords(&mut self.passwords);
        if self.is_playing {
            // Tabs and pages are followed all the same. What becomes of the draft is thrown away.
            let mut played = draft.clone();
            match happening {
                CapturedEvent::TabOpened { tab, .. } => {
                    self.tab_opened(&mut played, tab, true, now)
                }
                CapturedEvent::TabClosed { tab } => {
                    self.tabs.retain(|known| known.name != tab);
                    if self.front.as_ref() == Some(&tab) {
                        self.front = self.tabs.last().map(|tab| tab.name.clone());
                    }
                }
                CapturedEvent::Navigated { tab, url, history } => {
                    self.navigated(&mut played, &tab, url, history, now);
                }
                CapturedEvent::Input { .. } => {}
            }
            return None;
        }
        match happening {
            CapturedEvent::TabOpened { tab, by_page } => self.tab_opened(draft, tab, by_page, now),
            CapturedEvent::TabClosed { tab } => self.tab_closed(&tab, now),
            CapturedEvent::Navigated { tab, url, history } => {
                self.navigated(draft, &tab, url, history, now)
            }
            CapturedEvent::Input { tab, input, picture } => {
                return self.input(draft, &tab, *input, picture, now);
            }
        }
        None
    }

    /// Makes steps of the tabs that the person closed, while others are open.
    pub(crate) fn settle_tabs(&mut self, draft: &mut Draft) {
        for closed in std::mem::take(&mut self.closed) {
            let (number, url) = (draft.next_number(), self.front_url());
            // A solution closes the tab in front.
            if let ClosedTab::At(index) = closed {
                draft.steps.push(Step::new(number, OracleStep::FocusTab(index), &url));
            }
            let number = draft.next_number();
            draft.steps.push(Step::new(number, OracleStep::CloseTab, &url));
            self.front = self.tabs.last().map(|tab| tab.name.clone());
            self.set_url_after(draft);
        }
    }

    fn tab_opened(&mut self, draft: &mut Draft, tab: String, by_page: bool, now: Instant) {
        self.settle_tabs(draft);
        let by_page = by_page || self.opens_tab(draft, now);
        let is_blank = !self.tabs.is_empty() && !by_page;
        let url = String::new();
        self.tabs.push(Tab {
            name: tab.clone(),
            url,
            index: 0,
            entries: Vec::new(),
            start_index: 0,
            is_blank,
        });
        if is_blank {
            let number = draft.next_number();
            let url = self.front_url();
            draft.steps.push(Step::new(number, OracleStep::NewTab, &url));
            self.last = None;
        } else if by_page && let Some(last) = &mut self.last {
            last.has_effect = true;
        }
        self.front = Some(tab);
    }

    /// Whether the last step is a click that has the browser open a link in a new tab or window. No
    /// page is told to have opened that.
    fn opens_tab(&self, draft: &Draft, now: Instant) -> bool {
        let Some(OracleStep::Click(click)) = draft.steps.last().map(|step| &step.action) else {
            return false;
        };
        let is_opener = click.button == MouseButton::Middle || !click.modifiers.is_empty();
        let is_last = |last: &LastStep| !last.has_effect && now.duration_since(last.at) < ECHO;
        is_opener && self.last.as_ref().is_some_and(is_last)
    }

    fn tab_closed(&mut self, tab: &str, now: Instant) {
        let Some(index) = self.tabs.iter().position(|known| known.name == tab) else { return };
        self.tabs.remove(index);
        if self.is_echo(tab, now) {
            if self.front.as_deref() == Some(tab) {
                self.front = self.tabs.last().map(|tab| tab.name.clone());
            }
            self.mark_effect();
            return;
        }
        let is_front = self.front.as_deref() == Some(tab);
        self.closed.push(if is_front { ClosedTab::Front } else { ClosedTab::At(index) });
    }

    fn navigated(
        &mut self,
        draft: &mut Draft,
        tab: &str,
        url: String,
        history: Option<TabHistory>,
        now: Instant,
    ) {
        let echo = self.is_echo(tab, now);
        let Some(place) = self.tabs.iter().position(|known| known.name == tab) else { return };
        if url == "about:blank" || url.starts_with("chrome:") || url.starts_with("chrome-error:") {
            return;
        }
        let is_opening = std::mem::take(&mut self.opening);
        if is_opening && draft.start_url.is_empty() {
            draft.start_url.clone_from(&url);
        }
        let known = &mut self.tabs[place];
        let before = std::mem::replace(&mut known.url, url);
        let was_blank = std::mem::take(&mut known.is_blank);
        let index = known.index;
        let (entry, is_old) = history.map_or((None, false), |history| known.take_history(history));
        let index_now = known.index;
        if is_opening {
            known.start_index = index_now;
            return;
        }
        let is_before_start = index_now < known.start_index;
        if is_old && is_before_start && !echo {
            self.bring_to_front(draft, tab);
            let address = entry.map(|entry| entry.url).unwrap_or_default();
            self.push(draft, OracleStep::Goto(address), &before);
        } else if is_old && index_now < index && !echo {
            self.bring_to_front(draft, tab);
            for _ in index_now..index {
                self.push(draft, OracleStep::GoBack, &before);
            }
        } else if is_old && index_now > index && !echo {
            self.bring_to_front(draft, tab);
            for _ in index..index_now {
                self.push(draft, OracleStep::GoForward, &before);
            }
        } else if let Some(typed) = entry.filter(|entry| !is_old && (was_blank || is_typed(entry)))
        {
            // A new tab may also be one that the menu of a link has opened.
            self.bring_to_front(draft, tab);
            let address = if typed.typed_url.is_empty() { typed.url } else { typed.typed_url };
            self.push(draft, OracleStep::Goto(address), &before);
        } else {
            self.mark_effect();
        }
        if self.front.as_deref() == Some(tab) {
            self.set_url_after(draft);
        }
    }

    fn input(
        &mut self,
        draft: &mut Draft,
        tab: &str,
        input: PersonInput,
        picture: Option<Vec<u8>>,
        now: Instant,
    ) -> Option<StepFiles> {
        let place = input.element.identity.clone();
        if input.kind == InputKind::Point {
            self.point = Some((place, picture));
            return None;
        }
        // The picture of the moment in which the button went down shows no effect yet.
        let picture = match self.point.take() {
            Some((pointed, Some(earlier)))
                if input.kind == InputKind::Click && pointed == place =>
            {
                Some(earlier)
            }
            _ => picture,
        };
        self.bring_to_front(draft, tab);
        let url = self.tabs.iter().find(|known| known.name == tab).map(|tab| tab.url.clone());
        let url = url.filter(|url| !url.is_empty()).unwrap_or_else(|| input.url.clone());
        self.drop_repeated(draft, &input);
        let number = draft.next_number();
        let step = step(number, &url, &input, picture.is_some());
        let bounds = input.element.bounds;
        draft.steps.push(step);
        self.last = Some(LastStep { tab: tab.to_owned(), at: now, has_effect: false });
        let picture =
            picture.map(|png| match bounds.and_then(|bounds| browser::outlined(&png, bounds)) {
                Some(outlined) => outlined,
                None => png,
            });
        Some(StepFiles { number, html: input.html, picture })
    }

    /// A text that is typed into a field takes the place of the click into it, and of the text that
    /// was typed before.
    fn drop_repeated(&self, draft: &mut Draft, input: &PersonInput) {
        if !matches!(input.kind, InputKind::Fill | InputKind::Select) {
            return;
        }
        while let Some(last) = draft.steps.last() {
            let is_same =
                last.seen.as_ref().is_some_and(|seen| seen.identity == input.element.identity);
            let is_before = matches!(
                last.action,
                OracleStep::Click(_) | OracleStep::Fill(_) | OracleStep::Select(_)
            );
            let led_nowhere = last.url_after.is_empty() || last.url_after == last.url;
            let is_node = draft.nodes.iter().any(|node| node.step == Some(last.number));
            if !(is_same && is_before && led_nowhere && !is_node) {
                return;
            }
            draft.steps.pop();
        }
    }

    /// Has the oracle come to a tab before something is done there.
    fn bring_to_front(&mut self, draft: &mut Draft, tab: &str) {
        self.settle_tabs(draft);
        if self.front.as_deref() == Some(tab) {
            return;
        }
        let Some(index) = self.tabs.iter().position(|known| known.name == tab) else { return };
        let url = self.front_url();
        self.push(draft, OracleStep::FocusTab(index), &url);
        self.front = Some(tab.to_owned());
        self.set_url_after(draft);
    }

    fn push(&mut self, draft: &mut Draft, action: OracleStep, url: &str) {
        let number = draft.next_number();
        draft.steps.push(Step::new(number, action, url));
        self.last = None;
    }

    fn front_url(&self) -> String {
        let front = self.tabs.iter().find(|tab| Some(&tab.name) == self.front.as_ref());
        front.map(|tab| tab.url.clone()).unwrap_or_default()
    }

    /// The last step has led to the URL of the tab in front.
    fn set_url_after(&self, draft: &mut Draft) {
        let url = self.front_url();
        if let Some(step) = draft.steps.last_mut().filter(|_| !url.is_empty()) {
            step.url_after = url;
        }
    }

    /// Whether something that happens now to a tab follows from the last step there.
    fn is_echo(&self, tab: &str, now: Instant) -> bool {
        self.last.as_ref().is_some_and(|last| {
            last.tab == tab && !last.has_effect && now.duration_since(last.at) < ECHO
        })
    }

    fn mark_effect(&mut self) {
        if let Some(last) = &mut self.last {
            last.has_effect = true;
        }
    }
}

fn is_typed(entry: &HistoryEntry) -> bool {
    TYPED.contains(&entry.transition_type.as_str())
}

fn step(number: u32, url: &str, input: &PersonInput, has_picture: bool) -> Step {
    let target = &input.element;
    let element = oracle_element(target);
    let mut unplayable = None;
    // The draft and the task are files that others may get.
    let value = if target.secret { SECRET.to_owned() } else { input.value.clone() };
    let action = match input.kind {
        InputKind::Fill => OracleStep::Fill(Fill { element, value: value.clone() }),
        InputKind::Select => OracleStep::Select(Select { element, options: input.options.clone() }),
        InputKind::Press => OracleStep::Press(Press { element, keys: input.keys.clone() }),
        InputKind::Upload => {
            unplayable = Some("a file was chosen, which no solution can do".to_owned());
            OracleStep::Click(element.into())
        }
        InputKind::Click | InputKind::Point => OracleStep::Click(Click {
            element,
            button: button(input.button),
            modifiers: input.modifiers.iter().map(modifier).collect(),
        }),
    };
    let held = match input.kind {
        InputKind::Fill => value,
        InputKind::Select => input.options.join(", "),
        _ if target.secret => String::new(),
        _ => target.value.clone(),
    };
    let seen = SeenElement {
        named: Element {
            role: if target.named { target.role.clone() } else { String::new() },
            name: target.name.clone(),
            nth: target.nth,
        },
        alike: target.alike,
        css: target.css.clone(),
        locator: target.locator.clone(),
        shadow: target.shadow,
        path: target.path.clone(),
        identity: target.identity.clone(),
        tag: target.tag.clone(),
        text: target.text.clone(),
        html: target.html.clone(),
        value: held,
    };
    Step {
        seen: Some(seen),
        secret: target.secret,
        unplayable,
        has_picture,
        url_after: url.to_owned(),
        ..Step::new(number, action, url)
    }
}

fn oracle_element(target: &PersonTarget) -> Element {
    if target.named {
        Element { role: target.role.clone(), name: target.name.clone(), nth: target.nth }
    } else {
        Element { role: CSS_ROLE.to_owned(), name: target.locator.clone(), nth: 0 }
    }
}

fn button(button: Button) -> MouseButton {
    match button {
        Button::Left => MouseButton::Left,
        Button::Middle => MouseButton::Middle,
        Button::Right => MouseButton::Right,
    }
}

/// Maps the key that opens a link in a new tab here to the one that does so wherever the task is
/// played.
fn modifier(modifier: &Modifier) -> ModifierKey {
    match modifier {
        Modifier::Meta if cfg!(target_os = "macos") => ModifierKey::ControlOrMeta,
        Modifier::Control if cfg!(not(target_os = "macos")) => ModifierKey::ControlOrMeta,
        Modifier::Alt => ModifierKey::Alt,
        Modifier::Control => ModifierKey::Control,
        Modifier::ControlOrMeta => ModifierKey::ControlOrMeta,
        Modifier::Meta => ModifierKey::Meta,
        Modifier::Shift => ModifierKey::Shift,
    }
}

#[cfg(test)]
mod tests;
