//! An agent that acts at random. Its score is what chance earns.
//!
//! Its choices depend on the world's seed, the task, the repeat and the step, so its runs repeat.

use actions::Action;
use observation::{Element, Observation};
use sha2::{Digest as _, Sha256};

use crate::{Agent, Goal, NextReply, Reply, View};

/// Roles that it clicks.
const CLICKED: &[&str] =
    &["link", "button", "checkbox", "radio", "tab", "menuitem", "option", "switch", "combobox"];
/// Roles that it types into.
const WRITTEN: &[&str] = &["textbox", "searchbox", "spinbutton"];
/// One of this many actions does not use an element.
const ELSEWHERE: u64 = 8;

/// Acts at random.
#[derive(Debug)]
pub struct Random {
    seed: u64,
    repeat: u32,
}

impl Random {
    /// An agent for this repeat in a world with this seed.
    pub fn new(seed: u64, repeat: u32) -> Random {
        Random { seed, repeat }
    }

    /// A number for one choice of a step.
    fn roll(&self, task: &str, step: u32, question: &str) -> u64 {
        let text = format!("{} {task} {} {step} {question}", self.seed, self.repeat);
        let digest = Sha256::digest(text);
        u64::from_be_bytes(digest[..8].try_into().expect("a digest has 32 bytes"))
    }

    fn action(&self, task: &str, step: u32, page: &Observation) -> Action {
        let can = |roles: &[&str], element: &Element| roles.contains(&element.role.as_str());
        let usable: Vec<&Element> = page
            .elements
            .iter()
            .filter(|element| can(CLICKED, element) || can(WRITTEN, element))
            .collect();
        let elsewhere = self.roll(task, step, "elsewhere");
        if usable.is_empty() || elsewhere.is_multiple_of(ELSEWHERE) {
            return match elsewhere / ELSEWHERE % 3 {
                0 => Action::ScrollPage { by: 0.5 },
                1 => Action::ScrollPage { by: -0.5 },
                _ => Action::GoBack,
            };
        }
        let element = pick(&usable, self.roll(task, step, "element"));
        if can(CLICKED, element) {
            return Action::click(element.bid.clone());
        }
        let words: Vec<&str> = page.title.split_whitespace().collect();
        let value =
            if words.is_empty() { "1" } else { pick(&words, self.roll(task, step, "word")) };
        Action::Fill { bid: element.bid.clone(), value: (*value).to_owned(), by_keys: false }
    }
}

fn pick<T: Copy>(among: &[T], number: u64) -> T {
    among[usize::try_from(number % among.len() as u64).unwrap_or(0)]
}

impl Agent for Random {
    fn is_built_in(&self) -> bool {
        true
    }

    fn next<'a>(&'a mut self, goal: &'a Goal, view: View<'a>) -> NextReply<'a> {
        let action = self.action(&goal.task, view.step, view.observation);
        Box::pin(std::future::ready(Ok(Reply::act(action, None))))
    }
}
