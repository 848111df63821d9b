//! Tasks on the two hundred shops, in the files of two benchmarks, with their solutions.

use serde_json::{Value, json};

use crate::data::shops::{Obstacle, SHOPS, Shop, Thing};
use crate::sites::shops::path;

/// A task and its solution.
#[derive(Debug, Clone)]
pub struct Errand {
    /// Its entry in the file of the benchmark.
    pub entry: Value,
    /// The id that the importer gives it.
    pub id: String,
    /// What belongs into the task's file: the key `oracle`, and where it begins.
    pub solution: String,
}

/// The shops that have tasks, with the thing that is asked for: every shop whose pages can be
/// recorded, from a different start for each benchmark.
fn asked(start: usize, count: usize) -> impl Iterator<Item = (Shop, Thing)> {
    let shops = (start..SHOPS).map(Shop).filter(|shop| shop.obstacle() != Obstacle::Guarded);
    shops.take(count).map(|shop| (shop, shop.thing((shop.0 * 37) % 100)))
}

/// Tasks in AssistantBench's form: the weight of a thing, found by a search engine.
pub fn assistantbench(count: usize) -> Vec<Errand> {
    let errand = |(shop, thing): (Shop, Thing)| {
        let (name, host) = (shop.name(), shop.host());
        let query: String =
            url::form_urlencoded::byte_serialize(format!("{} {name}", thing.name).as_bytes())
                .collect();
        Errand {
            entry: json!({
                "id": host.trim_end_matches(".test"),
                "set": "dev",
                "task": format!("How many grams does the {} weigh that {name} sells?", thing.name),
                "answer": thing.weight.to_string(),
                "gold_url": format!("{}{}", shop.address(), path(&thing)),
                "explanation": "",
                "difficulty": "Easy",
            }),
            id: format!("assistantbench-{}", host.trim_end_matches(".test")),
            solution: format!(
                "oracle:\n- goto: https://www.google.com/search?q={query}\n- click: {{role: link, name: '{} - {name}'}}\n- \
                 answer: '{}'\n",
                thing.name, thing.weight
            ),
        }
    };
    asked(1, count).map(errand).collect()
}

/// Tasks in Mind2Web-Live's form: open a thing that a shop's own search finds.
pub fn mind2web_live(count: usize) -> Vec<Errand> {
    let errand = |(shop, thing): (Shop, Thing)| {
        let (name, host) = (shop.name(), shop.host());
        let found: String = url::form_urlencoded::byte_serialize(thing.name.as_bytes()).collect();
        let node = |rule: &str, key: &str, reference: &str, path: &str| {
            json!({
                "match_function_name": rule,
                "content": { "key": key, "reference_answer": reference, "url": format!("{}{path}", shop.address()) },
            })
        };
        let banner = match shop.obstacle() {
            Obstacle::Banner => "- click: {role: button, name: Accept all}\n",
            _ => "",
        };
        Errand {
            entry: json!({
                "index": host.trim_end_matches(".test"),
                "task": format!("Find the {} on {name}", thing.name),
                "reference_task_length": 3,
                "evaluation": [
                    node("url_included_match", "", &host, "/"),
                    node("url_included_match", "q", &thing.name, &format!("/find?q={found}")),
                    node("url_included_match", "", &path(&thing), &path(&thing)),
                ],
                "time": "2026-11-26",
            }),
            id: format!("mind2web-live-{}", host.trim_end_matches(".test")),
            solution: format!(
                "start_url: {}/\noracle:\n{banner}- fill: {{role: searchbox, name: Search {name}, value: {}}}\n- press: \
                 {{role: searchbox, name: Search {name}, keys: Enter}}\n- click: {{role: link, name: {}}}\n- answer: done\n",
                shop.address(),
                thing.name,
                thing.name
            ),
        }
    };
    asked(101, count).map(errand).collect()
}
