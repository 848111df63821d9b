//! Writes the generated content to the database in order of time, so that ids grow with time.

use rusqlite::{Connection, params};

use super::END;
use super::people::{self, ACCOUNTS, OTHERS};
use super::threads::{Remark, Thread, member};
use super::topic::Topic;
use crate::dice::Dice;
use crate::forum::password;
use crate::forum::slug::slug;

const YEAR: i64 = 365 * 86_400;
/// The first account's subscriptions. There are few, because tasks add subscriptions.
const SUBSCRIBED: [&str; 3] = ["movies", "television", "gadgets"];

pub(super) fn people(db: &Connection, dice: &mut Dice) -> rusqlite::Result<()> {
    let mut insert = db.prepare(
        "insert into users (name, name_key, password, created, admin, biography) values (?1, lower(?1), ?2, ?3, ?4, ?5)",
    )?;
    for (index, account) in ACCOUNTS.iter().enumerate() {
        let hash = password::hash(account.username, account.password);
        let created = END - 3 * YEAR - 1000 * (ACCOUNTS.len() - index) as i64;
        insert.execute(params![
            account.username,
            hash,
            created,
            account.role == "administrator",
            ""
        ])?;
    }
    for name in people::names(dice, OTHERS) {
        // Nobody knows these passwords.
        let hash = password::hash(&name, &format!("{:016x}", dice.next()));
        let created = END - 2 * YEAR - dice.between(0, YEAR);
        insert.execute(params![name, hash, created, false, people::biography(dice)])?;
    }
    Ok(())
}

pub(super) fn forums(db: &Connection, dice: &mut Dice, topics: &[Topic]) -> rusqlite::Result<()> {
    let mut insert = db.prepare(
        "insert into forums (name, name_key, title, description, sidebar, created, featured, subscribers) \
         values (?1, lower(?1), ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    let mut moderate =
        db.prepare("insert into moderators (forum, user, created) values (?1, ?2, ?3)")?;
    let mut subscribe =
        db.prepare("insert or ignore into subscriptions (user, forum) values (?1, ?2)")?;
    for (index, topic) in topics.iter().enumerate() {
        let (name, title, about) = (topic.one("name"), topic.one("title"), topic.one("about"));
        let featured = topic.one("featured") == "yes";
        let created = END - 2 * YEAR - dice.between(0, YEAR / 2);
        // Most subscribers have no account in the database but still count.
        let strangers = dice.between(300, 9000) * if featured { 4 } else { 1 };
        let sidebar = topic.all("sidebar").join("\n\n");
        insert.execute(params![name, title, about, sidebar, created, featured, strangers])?;
        let forum = db.last_insert_rowid();
        moderate.execute(params![forum, 3 + index as i64 % 3, created])?;
        moderate.execute(params![forum, dice.between(7, 60), created + 5000])?;
    }
    let count = topics.len();
    for user in 2..=(ACCOUNTS.len() + OTHERS) as i64 {
        for _ in 0..dice.between(3, 12) {
            subscribe.execute(params![user, 1 + dice.below(count) as i64])?;
        }
    }
    for name in SUBSCRIBED {
        db.execute(
            "insert into subscriptions (user, forum) select 1, id from forums where name = ?1",
            [name],
        )?;
    }
    db.execute(
        "update forums set subscribers = subscribers + (select count(*) from subscriptions where forum = forums.id)",
        [],
    )?;
    Ok(())
}

pub(super) fn threads(
    db: &Connection,
    dice: &mut Dice,
    threads: &[Thread],
) -> rusqlite::Result<()> {
    let mut insert = db.prepare(
        "insert into submissions (forum, user, title, slug, url, image, body, created, active, up, down, comments) \
         values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )?;
    let mut vote = db.prepare(
        "insert or ignore into submission_votes (user, submission, choice) values (?1, ?2, ?3)",
    )?;
    let mut remarks: Vec<(i64, i64, usize, &Remark)> = Vec::new();
    for (index, thread) in threads.iter().enumerate() {
        let active =
            thread.comments.iter().map(|remark| remark.created).max().unwrap_or(thread.created);
        let author = thread.user as i64 + 1;
        insert.execute(params![
            thread.forum as i64 + 1,
            author,
            thread.title,
            slug(&thread.title),
            thread.url,
            thread.image,
            thread.body,
            thread.created,
            active,
            thread.up,
            thread.down,
            thread.comments.len() as i64,
        ])?;
        let submission = index as i64 + 1;
        vote.execute(params![author, submission, 1])?;
        // The author's own vote is one of `up`.
        for _ in 0..dice.below(5).min((thread.up - 1) as usize) {
            vote.execute(params![voter(dice), submission, 1])?;
        }
        if thread.down > 0 {
            vote.execute(params![voter(dice), submission, -1])?;
        }
        remarks.extend(
            thread
                .comments
                .iter()
                .enumerate()
                .map(|(at, remark)| (remark.created, submission, at, remark)),
        );
    }
    remarks.sort_by_key(|(created, submission, at, _)| (*created, *submission, *at));
    comments(db, dice, &remarks)
}

fn comments(
    db: &Connection,
    dice: &mut Dice,
    remarks: &[(i64, i64, usize, &Remark)],
) -> rusqlite::Result<()> {
    let mut insert = db.prepare(
        "insert into comments (submission, parent, user, body, created, up, down) values (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    let mut vote = db.prepare(
        "insert or ignore into comment_votes (user, comment, choice) values (?1, ?2, ?3)",
    )?;
    let mut numbers = std::collections::HashMap::new();
    for (created, submission, at, remark) in remarks {
        // A parent was made earlier, so it has its number already.
        let parent = remark.parent.and_then(|parent| numbers.get(&(*submission, parent)).copied());
        let author = remark.user as i64 + 1;
        insert.execute(params![
            submission,
            parent,
            author,
            remark.body,
            created,
            remark.up,
            remark.down
        ])?;
        let number: i64 = db.last_insert_rowid();
        numbers.insert((*submission, *at), number);
        if remark.user < ACCOUNTS.len() {
            vote.execute(params![author, number, 1])?;
        } else if remark.up > 1 && dice.chance(20) {
            vote.execute(params![voter(dice), number, 1])?;
        }
    }
    Ok(())
}

/// A random user other than the first account, because tasks cast its votes.
fn voter(dice: &mut Dice) -> i64 {
    2 + member(dice, ACCOUNTS.len() + OTHERS - 1) as i64
}

pub(super) fn messages(db: &Connection) -> rusqlite::Result<()> {
    let mut insert = db.prepare(
        "insert into messages (thread, sender, receiver, body, created) values (?1, ?2, ?3, ?4, ?5)",
    )?;
    let welcome = "Welcome to the forum. Moderators can help you if something looks wrong; the rules are in each sidebar.";
    let question = "I liked your post about films. Are you coming to the screening on Saturday?";
    insert.execute(params![None::<i64>, 2, 1, welcome, END - 3 * YEAR])?;
    insert.execute(params![None::<i64>, 6, 1, question, END - 4 * 86_400])?;
    insert.execute(params![2, 1, 6, "I will try. Which cinema is it?", END - 3 * 86_400])?;
    Ok(())
}
