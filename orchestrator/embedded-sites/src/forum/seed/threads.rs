//! Generates submissions and comments for each forum, and sorts them by time.

use std::collections::HashSet;

use super::topic::{Choices, Speech};
use super::{END, HOSTS};
use crate::dice::Dice;
use crate::forum::slug::slug;

/// A generated submission. `forum` and `user` are indexes from 0.
pub(super) struct Thread {
    pub(super) forum: usize,
    pub(super) user: usize,
    pub(super) title: String,
    pub(super) url: Option<String>,
    pub(super) image: Option<String>,
    pub(super) body: String,
    pub(super) created: i64,
    pub(super) up: i64,
    pub(super) down: i64,
    pub(super) comments: Vec<Remark>,
}

/// A generated comment. `parent` is the index of an earlier comment of the thread.
pub(super) struct Remark {
    pub(super) user: usize,
    pub(super) parent: Option<usize>,
    pub(super) body: String,
    pub(super) created: i64,
    pub(super) up: i64,
    pub(super) down: i64,
}

const TWO_YEARS: i64 = 2 * 365 * 86_400;
const TWO_DAYS: i64 = 2 * 86_400;
/// Number of attempts to find a title that the forum does not have yet.
const TRIES: usize = 60;

/// Generates a thread for a forum. `None` if there are no new titles.
pub(super) fn thread(
    dice: &mut Dice,
    speech: &Speech<'_>,
    forum: usize,
    users: usize,
    titles: &mut HashSet<String>,
) -> Option<Thread> {
    let [posts, headlines, captions] =
        ["post", "headline", "caption"].map(|key| speech.topic.all(key));
    for _ in 0..TRIES {
        let mut choices = Choices::new();
        // One number over all three lists, so that longer ones give more threads.
        let thrown = dice.below(posts.len() + headlines.len() + captions.len());
        let created = END - 600 - early(dice, TWO_YEARS);
        let (title, body, url, image) = if let Some(post) = posts.get(thrown) {
            let (title, body) = post.split_once("=>").unwrap_or((post, ""));
            let title = speech.fill(dice, title.trim(), &mut choices);
            (title, body_of(dice, speech, body.trim(), &mut choices), None, None)
        } else if let Some(headline) = headlines.get(thrown - posts.len()) {
            let title = speech.fill(dice, headline, &mut choices);
            let url = format!("https://{}/{}", dice.pick(&HOSTS), slug(&title));
            (title, String::new(), Some(url), None)
        } else {
            let caption = captions[thrown - posts.len() - headlines.len()];
            let (caption, scene) = caption.split_once("=>").unwrap_or((caption, "{scene}"));
            let title = speech.fill(dice, caption.trim(), &mut choices);
            let scene = speech.fill(dice, scene.trim(), &mut choices).to_lowercase();
            (title, String::new(), None, Some(format!("{scene}-{:016x}.svg", dice.next())))
        };
        if titles.insert(title.clone()) {
            let (up, down) = score(dice, END - created);
            let comments = remarks(dice, speech, &choices, created, up, users);
            return Some(Thread {
                forum,
                user: member(dice, users),
                title,
                url,
                image,
                body,
                created,
                up,
                down,
                comments,
            });
        }
    }
    None
}

fn body_of(dice: &mut Dice, speech: &Speech<'_>, template: &str, choices: &mut Choices) -> String {
    let body = speech.fill(dice, template, choices);
    if body.is_empty() || !dice.chance(12) {
        return body;
    }
    let update = speech.say(dice, "update", choices);
    format!("{body}\n\n{update}")
}

/// Generates the comments of a submission. A submission with more votes gets more comments.
fn remarks(
    dice: &mut Dice,
    speech: &Speech<'_>,
    of: &Choices,
    created: i64,
    liked: i64,
    users: usize,
) -> Vec<Remark> {
    let count = match liked {
        ..10 => dice.between(0, 3),
        10..70 => dice.between(0, 8),
        70..450 => dice.between(2, 15),
        _ => dice.between(5, 30),
    };
    let span = (END - 60 - created).clamp(1, TWO_DAYS);
    let mut times: Vec<i64> = (0..count).map(|_| created + 30 + early(dice, span - 1)).collect();
    times.sort_unstable();
    let (mut said, mut templates) = (HashSet::new(), HashSet::new());
    let mut remarks: Vec<Remark> = Vec::new();
    for created in times {
        let parent = (!remarks.is_empty() && dice.chance(45)).then(|| dice.below(remarks.len()));
        let answer = parent.is_some() && dice.chance(60);
        let comment = if answer { None } else { speech.comment(dice, of, &mut templates) };
        let body = comment.unwrap_or_else(|| speech.say(dice, "reply", &mut Choices::new()));
        if said.insert(body.clone()) {
            let (up, down) = score(dice, END - created);
            remarks.push(Remark {
                user: member(dice, users),
                parent,
                body,
                created,
                up: up / 12 + 1,
                down: down / 8,
            });
        }
    }
    remarks
}

/// Generates votes: usually a handful, sometimes thousands. One submission in twenty is
/// controversial. Votes arrive within the first day.
fn score(dice: &mut Dice, age: i64) -> (i64, i64) {
    let up = match dice.below(100) {
        0..45 => dice.between(1, 14),
        45..75 => dice.between(6, 70),
        75..92 => dice.between(40, 450),
        92..99 => dice.between(300, 3000),
        _ => dice.between(2500, 14_000),
    };
    let share = if dice.chance(5) { dice.between(70, 160) } else { dice.between(0, 18) };
    let up = (up * age.min(86_400) / 86_400).max(1);
    (up, up * share / 100)
}

/// A random duration up to `most` seconds. Short ones are far more frequent.
fn early(dice: &mut Dice, most: i64) -> i64 {
    let part = dice.below(1_000_000) as i128;
    (part * part * i128::from(most) / 1_000_000_000_000) as i64
}

/// A random user. Some are far more frequent than others. The first ones are the listed accounts.
pub(super) fn member(dice: &mut Dice, users: usize) -> usize {
    dice.below(users) * (dice.below(users) + users / 4) / (users + users / 4)
}
