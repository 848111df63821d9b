//! The golden forum: all content before the first visit, generated from a fixed seed.

mod people;
mod threads;
mod topic;
mod write;

use std::collections::HashSet;

pub use people::{ACCOUNTS, Account};
use rusqlite::Connection;
use threads::Thread;
use topic::{Speech, Topic};

use crate::Error;
use crate::dice::Dice;
use crate::error::sqlite;
use crate::golden::Recipe;

/// 2023-06-15T09:00:00Z, just after the newest post.
const END: i64 = 1_686_819_600;
const SEED: u64 = 0x706f_7374_6d69_6c6c;

/// The hosts of links. The names are reserved for examples and do not exist.
const HOSTS: [&str; 12] = [
    "harbourcourier.example",
    "dailyledger.example",
    "northernpost.example",
    "thesignal.example",
    "openjournal.example",
    "quarterly.example",
    "fieldnotes.example",
    "citywire.example",
    "workbench.example",
    "lighthouse.example",
    "weekendreview.example",
    "archive.example",
];

const SCHEMA: &str = include_str!("../schema.sql");
const COMMON: &str = include_str!("topics/common.txt");
const TOPICS: [&str; 31] = [
    include_str!("topics/askscience.txt"),
    include_str!("topics/aww.txt"),
    include_str!("topics/bicycling.txt"),
    include_str!("topics/books.txt"),
    include_str!("topics/coffee.txt"),
    include_str!("topics/consoles.txt"),
    include_str!("topics/cooking.txt"),
    include_str!("topics/diy.txt"),
    include_str!("topics/gadgets.txt"),
    include_str!("topics/gaming.txt"),
    include_str!("topics/gardening.txt"),
    include_str!("topics/headphones.txt"),
    include_str!("topics/history.txt"),
    include_str!("topics/houseplants.txt"),
    include_str!("topics/landscapes.txt"),
    include_str!("topics/lifeprotips.txt"),
    include_str!("topics/machinelearning.txt"),
    include_str!("topics/movies.txt"),
    include_str!("topics/music.txt"),
    include_str!("topics/newengland.txt"),
    include_str!("topics/news.txt"),
    include_str!("topics/personalfinance.txt"),
    include_str!("topics/pics.txt"),
    include_str!("topics/programming.txt"),
    include_str!("topics/relationship_advice.txt"),
    include_str!("topics/running.txt"),
    include_str!("topics/showerthoughts.txt"),
    include_str!("topics/space.txt"),
    include_str!("topics/technology.txt"),
    include_str!("topics/television.txt"),
    include_str!("topics/travel.txt"),
];

/// Increase this number when the generator's output changes.
const REVISION: u64 = 2;

/// The recipe of the golden database. Its version covers all topic texts.
pub(crate) fn recipe() -> Recipe {
    let mut sum = ring::digest::Context::new(&ring::digest::SHA256);
    sum.update(&REVISION.to_le_bytes());
    sum.update(rusqlite::version().as_bytes());
    for text in [SCHEMA, COMMON].into_iter().chain(TOPICS) {
        sum.update(text.as_bytes());
    }
    Recipe {
        site: "forum",
        version: hex::encode(&sum.finish().as_ref()[..6]),
        fill: Box::new(fill),
    }
}

fn fill(db: &Connection) -> Result<(), Error> {
    let topics = TOPICS.iter().map(|text| Topic::parse(text)).collect::<Result<Vec<_>, _>>()?;
    let common = Topic::parse(COMMON)?;
    let mut dice = Dice::new(SEED);
    let threads = threads(&mut dice, &topics, &common);
    let writing = sqlite("write the golden forum");
    let mut written = || -> rusqlite::Result<()> {
        db.execute_batch(SCHEMA)?;
        write::people(db, &mut dice)?;
        write::forums(db, &mut dice, &topics)?;
        write::threads(db, &mut dice, &threads)?;
        write::messages(db)
    };
    written().map_err(writing)
}

/// All submissions, the oldest first.
fn threads(dice: &mut Dice, topics: &[Topic], common: &Topic) -> Vec<Thread> {
    let users = ACCOUNTS.len() + people::OTHERS;
    let mut all = Vec::new();
    for (forum, topic) in topics.iter().enumerate() {
        let speech = Speech { topic, common };
        let mut titles = HashSet::new();
        let weight = topic.one("weight").parse().unwrap_or(100);
        all.extend(
            (0..weight).filter_map(|_| threads::thread(dice, &speech, forum, users, &mut titles)),
        );
    }
    all.sort_by_key(|thread| thread.created);
    all
}
