//! SQLite's FTS5, with the same pages and queries: words joined by OR, ranked by bm25, all matches
//! counted.

use std::time::Instant;

use anyhow::Result;
use camino::Utf8Path;
use rusqlite::{Connection, params};

use crate::asking::{Question, questions, report};
use crate::pages::Web;

/// Every how many queries are asked: it takes seconds for one.
const EVERY: usize = 23;

pub(crate) fn run(folder: &Utf8Path, pages: u64) -> Result<()> {
    let path = folder.join("peer.sqlite");
    if !path.exists() {
        build(&path, pages)?;
    }
    let connection = Connection::open(&path)?;
    let questions = questions(100_000);
    let mut times = vec![Vec::new(); 16];
    for question in questions.iter().step_by(EVERY) {
        let (begin, own) = (Instant::now(), crate::processor()?);
        ask(&connection, question)?;
        let (took, own) = (begin.elapsed().as_secs_f64() * 1e3, (crate::processor()? - own) * 1e3);
        times[question.kind].push((took, own, &question.typed));
    }
    report(&mut times);
    Ok(())
}

fn build(path: &Utf8Path, pages: u64) -> Result<()> {
    let (begin, web) = (Instant::now(), Web::new());
    let mut connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "OFF")?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.execute_batch(
        "CREATE VIRTUAL TABLE pages USING fts5
             (url UNINDEXED, host UNINDEXED, title, address, text, tokenize = \"porter unicode61 remove_diacritics 2\")",
    )?;
    let transaction = connection.transaction()?;
    for number in 0..pages {
        let page = web.page(number);
        let mut statement =
            transaction.prepare_cached("INSERT INTO pages VALUES (?1, ?2, ?3, ?4, ?5)")?;
        let address = page.url.replace(|c: char| !c.is_alphanumeric(), " ");
        statement.execute(params![page.url, page.host, page.title, address, page.text])?;
    }
    transaction.execute("INSERT INTO pages (pages) VALUES ('optimize')", [])?;
    transaction.commit()?;
    let took = begin.elapsed().as_secs_f64();
    println!(
        "peer: {pages} pages in {took:.1} s, {:.0} pages a second; {:.2} GB; at most {} MB of memory",
        pages as f64 / took,
        path.metadata()?.len() as f64 / 1e9,
        crate::peak()?
    );
    Ok(())
}

fn ask(connection: &Connection, question: &Question) -> Result<()> {
    let (mut any, mut required, mut without, mut host) = (Vec::new(), None, None, "%".to_owned());
    let mut typed = question.typed.clone();
    if let Some((phrase, rest)) =
        question.typed.strip_prefix('"').and_then(|rest| rest.split_once('"'))
    {
        let phrase = format!("\"{phrase}\"");
        any.push(phrase.clone());
        (required, typed) = (Some(phrase), rest.to_owned());
    }
    for word in typed.split_whitespace() {
        if let Some(word) = word.strip_prefix('-') {
            without = Some(format!("\"{word}\""));
        } else if let Some(site) = word.strip_prefix("site:") {
            host = format!("%{site}");
        } else {
            any.push(format!("\"{word}\""));
        }
    }
    let mut expression = format!("({})", any.join(" OR "));
    if let Some(phrase) = required {
        expression = format!("{expression} AND {phrase}");
    }
    if let Some(word) = without {
        expression = format!("({expression}) NOT {word}");
    }
    let _: i64 = connection
        .prepare_cached("SELECT count(*) FROM pages WHERE pages MATCH ?1 AND host LIKE ?2")?
        .query_row(params![expression, host], |row| row.get(0))?;
    let mut statement = connection.prepare_cached(
        "SELECT url, title, snippet(pages, 4, '<', '>', '…', 40) FROM pages WHERE pages MATCH ?1 AND host LIKE ?2
         ORDER BY bm25(pages, 0.0, 0.0, 5.0, 2.0, 1.0), url LIMIT 10 OFFSET ?3",
    )?;
    let mut rows = statement.query(params![expression, host, question.first as i64])?;
    while let Some(row) = rows.next()? {
        let _: String = row.get(0)?;
    }
    Ok(())
}
