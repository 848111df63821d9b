//! Queries of several kinds, and how long their answers take.

use std::time::Instant;

use anyhow::{Context, Result};
use search::Search;
use url::form_urlencoded::byte_serialize;

use crate::pages::{Chance, FREQUENT, Web};

const QUERIES: u64 = 2000;
const KINDS: &[&str] = &[
    "common word",
    "rare word",
    "common words",
    "task",
    "phrase",
    "common phrase",
    "site",
    "later page",
    "without",
];

/// A query, and what SQLite would be asked for it.
pub(crate) struct Question {
    pub(crate) kind: usize,
    pub(crate) typed: String,
    pub(crate) first: u64,
}

/// The queries, the same every time. Phrases are from pages below `pages`.
pub(crate) fn questions(pages: u64) -> Vec<Question> {
    let web = Web::new();
    let mut chance = Chance::new(2026);
    (0..QUERIES)
        .map(|number| {
            let kind = (number % KINDS.len() as u64) as usize;
            let chance = &mut chance;
            let frequent =
                |chance: &mut Chance, below: u64| FREQUENT[chance.below(below) as usize].to_owned();
            let some = |count: u64, chance: &mut Chance| -> Vec<String> {
                (0..count).map(|_| web.word(chance).to_owned()).collect()
            };
            let of_a_page = |chance: &mut Chance| web.page(chance.below(pages));
            let mut first = 0;
            let typed = match KINDS[kind] {
                "common word" => frequent(chance, 60),
                "rare word" => {
                    of_a_page(chance).title.split(' ').next().unwrap_or_default().to_owned()
                }
                "common words" => {
                    let count = 2 + chance.below(4);
                    (0..count)
                        .map(|_| frequent(chance, FREQUENT.len() as u64))
                        .collect::<Vec<_>>()
                        .join(" ")
                }
                "task" => {
                    let page = of_a_page(chance);
                    let count = 6 + chance.below(9);
                    format!("{} {}", page.title, some(count, chance).join(" "))
                }
                "phrase" => {
                    let page = of_a_page(chance);
                    let words: Vec<&str> = page.text.split_whitespace().collect();
                    let (length, at) = (2 + chance.below(3) as usize, chance.below(50) as usize);
                    format!("\"{}\" {}", words[at..at + length].join(" "), web.word(chance))
                }
                "common phrase" => {
                    let (one, two) = (frequent(chance, 90), frequent(chance, 90));
                    format!("\"{one} {two}\"")
                }
                "site" => {
                    let host = chance.below(1000);
                    format!(
                        "site:site-{host:03}.test {} {}",
                        frequent(chance, 90),
                        web.word(chance)
                    )
                }
                "later page" => {
                    first = [10, 50, 500, 10_000][chance.below(4) as usize];
                    format!("{} {}", frequent(chance, 90), frequent(chance, 90))
                }
                _ => format!(
                    "{} {} -{}",
                    web.word(chance),
                    frequent(chance, 90),
                    frequent(chance, 90)
                ),
            };
            Question { kind, typed, first }
        })
        .collect()
}

/// Asks all, and prints the times of each kind.
pub(crate) fn ask(search: &Search) -> Result<()> {
    let begin = Instant::now();
    search.prepare(&mut |_| ())?;
    println!("open: their indexes in {:.2} s", begin.elapsed().as_secs_f64());
    let questions = questions(100_000);
    let mut times = vec![Vec::new(); KINDS.len()];
    for question in &questions {
        let url = answer_url(question);
        let query = search::query_of("www.google.com", &url).context(url.clone())?;
        let (begin, own) = (Instant::now(), crate::processor()?);
        let page = search.answer(&query)?;
        let (took, own) = (begin.elapsed().as_secs_f64() * 1e3, (crate::processor()? - own) * 1e3);
        times[question.kind].push((took, own, &question.typed));
        anyhow::ensure!(
            page.found > Some(0) || question.kind != 1,
            "{} finds nothing",
            question.typed
        );
    }
    report(&mut times);
    println!("ask: at most {} MB of memory", crate::peak()?);
    Ok(())
}

fn answer_url(question: &Question) -> String {
    let typed: String = byte_serialize(question.typed.as_bytes()).collect();
    format!("https://www.google.com/search?q={typed}&start={}", question.first)
}

/// Prints the median, the 99th percentile and the slowest of each kind, and of all: the time that
/// passed, and the time on a processor.
pub(crate) fn report(times: &mut [Vec<(f64, f64, &String)>]) {
    println!(
        "| kind | queries | median, ms | 99th percentile, ms | slowest, ms | on a processor, ms | slowest query |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    let mut all: Vec<_> = times.iter().flatten().copied().collect();
    let kinds = KINDS.iter().copied().zip(times.iter_mut());
    for (kind, times) in kinds.chain([("all", &mut all)]) {
        times.sort_by(|a, b| a.0.total_cmp(&b.0));
        let at = |share: f64| times.get((times.len() as f64 * share) as usize).or(times.last());
        let mut own: Vec<f64> = times.iter().map(|time| time.1).collect();
        own.sort_by(f64::total_cmp);
        let own_at =
            |share: f64| own.get((own.len() as f64 * share) as usize).or(own.last()).copied();
        if let (Some(median), Some(late), Some(last)) = (at(0.5), at(0.99), times.last()) {
            let own =
                [0.5, 0.99, 1.0].map(|share| format!("{:.2}", own_at(share).unwrap_or_default()));
            println!(
                "| {kind} | {} | {:.2} | {:.2} | {:.2} | {} | {} |",
                times.len(),
                median.0,
                late.0,
                last.0,
                own.join(", "),
                last.2
            );
        }
    }
}
