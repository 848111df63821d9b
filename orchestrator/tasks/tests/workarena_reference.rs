//! WorkArena's tasks beside its own package: every goal, which of them its published seeds are, and
//! what its validation gives for made-up states of an instance. The package's files and what it
//! said come from outside; `make conformance`.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::env;
use std::fs::{self, File};
use std::future::Future;
use std::io::{BufRead, BufReader};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use camino::Utf8PathBuf;
use scoring::evidence::{User, Visit};
use scoring::tables::{Input, Lookup, Record, Tables};
use scoring::workarena::{Config, Failure, KINDS};
use scoring::{Fetch, FetchResponse, Pages};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tasks::import::workarena::{
    ARTICLES, FORMS, Setup, TASKS, config_number, configs, published_seeds,
};

const ADDRESS: &str = "https://desk.test";

#[derive(Deserialize)]
struct Line {
    kind: String,
    number: usize,
    goal: String,
    values: Option<Map<String, Value>>,
    start: Option<String>,
    /// Of the first task of each kind: the published seeds, and the number of what each draws.
    #[serde(default)]
    published: Vec<(u32, usize)>,
    #[serde(default)]
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    state: Value,
    said: Option<String>,
    tables: BTreeMap<String, Vec<Record>>,
    reward: Option<f64>,
    done: Option<bool>,
    raised: Option<String>,
}

/// Answers by the table alone, as the package's calls were answered.
struct Canned(BTreeMap<String, Vec<Record>>);

impl Tables for Canned {
    type Error = Infallible;

    async fn get(&mut self, lookup: &Lookup) -> Result<Vec<Record>, Infallible> {
        Ok(self.0.get(&lookup.table).cloned().unwrap_or_default())
    }

    async fn create(&mut self, table: &str, _: &Record, _: Input) -> Result<Record, Infallible> {
        panic!("nothing is made in {table}")
    }

    async fn update(
        &mut self,
        table: &str,
        _: &str,
        _: &Record,
    ) -> Result<Option<Record>, Infallible> {
        panic!("nothing is changed in {table}")
    }

    async fn delete(&mut self, table: &str, _: &str) -> Result<bool, Infallible> {
        panic!("nothing is deleted from {table}")
    }
}

struct Page(Value);

impl Pages for Page {
    type Error = Infallible;

    async fn open(&mut self, url: &str) -> Result<(), Infallible> {
        panic!("{url} is not to be opened")
    }

    async fn open_beside(&mut self, url: &str) -> Result<(), Infallible> {
        panic!("{url} is not to be opened")
    }

    async fn close_beside(&mut self) -> Result<(), Infallible> {
        panic!("nothing is open beside")
    }

    async fn fetch(
        &mut self,
        request: &Fetch,
    ) -> Result<Result<FetchResponse, String>, Infallible> {
        panic!("{request:?} is not to be asked for")
    }

    async fn evaluate(&mut self, script: &str) -> Result<Result<Value, String>, Infallible> {
        let part = match script {
            "location.href" => "url",
            script if script.contains("GlideList2") => "list",
            script if script.contains("Highcharts") => "charts",
            script if script.contains("NOW.user") => "user",
            script if script.contains("spoilt") => "sent",
            other => panic!("{other}"),
        };
        Ok(Ok(self.0[part].clone()))
    }
}

fn now<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("nothing here waits"),
    }
}

fn folder(name: &str) -> Utf8PathBuf {
    Utf8PathBuf::from(
        env::var(name)
            .unwrap_or_else(|_| panic!("{name} is set by `make conformance SHARED=FOLDER`")),
    )
}

fn read_all() -> BTreeMap<&'static str, Vec<Config>> {
    let folder = folder("SANDBOX_WORKARENA");
    let read = |file: &str| fs::read_to_string(folder.join(file)).unwrap();
    let mut setup = Setup::default();
    setup.read_articles(&read(ARTICLES)).unwrap();
    for (table, file) in FORMS {
        setup.read_form(table, &read(file)).unwrap();
    }
    let one = |kind: &'static scoring::workarena::Kind| {
        (kind.name, configs(kind, &read(&format!("{TASKS}/{}", kind.file)), &setup).unwrap())
    };
    KINDS.iter().map(one).collect()
}

/// The values that the package drew because nobody else may have them.
fn with_values(config: &mut Config, values: &Map<String, Value>) {
    const DRAWN: [&str; 5] = ["serial_number", "first_name", "last_name", "user_name", "email"];
    let Config::NewRecord(task) = config else { panic!("only forms have values") };
    assert_eq!(task.fields.len(), values.len());
    for field in &mut task.fields {
        let value = values[&field.column].as_str().unwrap();
        if DRAWN.contains(&field.column.as_str()) {
            value.clone_into(&mut field.value);
        }
        assert_eq!(field.value, value, "{}", field.column);
    }
}

#[test]
fn goals_and_verdicts_are_the_packages() {
    let mut all = read_all();
    let reference = BufReader::new(File::open(folder("SANDBOX_WORKARENA_REFERENCE")).unwrap());
    let (mut goals, mut verdicts, mut raised) = (0, 0, BTreeSet::new());
    let mut published = 0;
    for line in reference.lines() {
        let line: Line = serde_json::from_str(&line.unwrap()).unwrap();
        let listed = all.get_mut(line.kind.as_str()).unwrap();
        if !line.published.is_empty() {
            let seeds: Vec<u32> = line.published.iter().map(|(seed, _)| *seed).collect();
            assert_eq!(published_seeds(&line.kind), seeds, "{}", line.kind);
        }
        for (seed, number) in &line.published {
            let ours = config_number(*seed, listed.len()).unwrap();
            // A configuration that is there twice has the first one's number.
            assert!(ours >= *number && listed[ours] == listed[*number], "{} {seed}", line.kind);
            published += 1;
        }
        let config = &mut listed[line.number];
        if let Some(values) = &line.values {
            with_values(config, values);
        }
        assert_eq!(config.goal(), line.goal, "{} {}", line.kind, line.number);
        goals += 1;
        let user = User { name: String::new(), password: String::new(), sys_id: String::new() };
        let visit = Visit {
            address: ADDRESS.to_owned(),
            start: line.start.unwrap_or_default(),
            user,
            made: Vec::new(),
        };
        for case in line.cases {
            let context = || json!({"task": format!("{} {}", line.kind, line.number), "state": case.state, "said": case.said, "tables": case.tables});
            let (mut tables, mut page) = (Canned(case.tables.clone()), Page(case.state.clone()));
            let found = now(config.validate(&visit, &mut tables, &mut page, case.said.as_deref()));
            match (&found, &case.raised) {
                (Ok(verdict), None) => {
                    let expect = (case.reward.unwrap(), case.done.unwrap());
                    assert_eq!((verdict.reward, verdict.done), expect, "{verdict:?} {}", context());
                }
                (Err(Failure::Raised(ours)), Some(theirs)) => {
                    assert_eq!(ours, theirs, "{}", context());
                    raised.insert(theirs.clone());
                }
                _ => panic!("{found:?} and {:?}: {}", case.raised, context()),
            }
            verdicts += 1;
        }
    }
    let tasks: usize = all.values().map(Vec::len).sum();
    assert_eq!((all.len(), tasks, goals, published), (33, 19_833, 19_833, 330));
    assert!(verdicts > 10_000 && raised.len() == 4, "{verdicts} verdicts, raised {raised:?}");
    println!(
        "{goals} goals and {verdicts} verdicts as in WorkArena's package, which raised {raised:?}"
    );
}
