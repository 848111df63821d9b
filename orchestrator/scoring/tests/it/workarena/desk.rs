//! A desk that is enough of an instance: tables in memory, and pages that answer the scripts of the
//! scorer.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use scoring::evidence::Visit;
use scoring::solution::{Click, Fill, OracleStep};
use scoring::tables::{EncodedQuery, Input, Lookup, Memory, MemoryError, Record, kept};
use scoring::workarena::{Articles, Config, Failure, Move, Verdict};
use scoring::{Fetch, FetchResponse, Pages};
use serde_json::{Value, json};

pub(crate) const ADDRESS: &str = "https://desk.test";
const ADMIN: &str = "admin";
pub(crate) const ARTICLES: [&str; 2] =
    ["<p>Tea is at four &amp; coffee at ten.</p>", "<h1>Keys</h1><p>Room 12</p>"];

/// What a browser shows.
#[derive(Clone, Default)]
pub(crate) struct Page {
    pub(crate) url: String,
    /// The list's query.
    pub(crate) query: String,
    pub(crate) order: String,
    pub(crate) direction: String,
    /// The record that the form sent last.
    pub(crate) sent: Option<String>,
    pub(crate) spoilt: bool,
    pub(crate) user: Option<(String, bool)>,
    pub(crate) charts: Value,
    /// The form's columns that are shown.
    pub(crate) shown: Vec<String>,
    filled: BTreeMap<String, String>,
    item: String,
}

#[derive(Clone)]
pub(crate) struct Desk {
    pub(crate) tables: Memory,
    pub(crate) page: Page,
    pub(crate) said: Option<String>,
}

/// The value of a future that waits for nothing.
pub(crate) fn now<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("nothing here waits"),
    }
}

pub(crate) fn record(value: Value) -> Record {
    value.as_object().unwrap().clone()
}

impl Desk {
    pub(crate) fn new() -> Desk {
        let mut tables = Memory::default();
        tables.log_in(ADMIN);
        let references = [
            ("incident", "caller_id", "sys_user"),
            ("alm_hardware", "model", "cmdb_model"),
            ("sc_item_option_mtom", "sc_item_option", "sc_item_option"),
            ("sc_item_option", "item_option_new", "item_option_new"),
            ("sys_user_has_role", "role", "sys_user_role"),
            ("m2m_theme_style", "theme", "theme"),
            ("m2m_theme_style", "style", "style"),
        ];
        for (table, column, to) in references {
            tables.refer(table, column, to);
        }
        tables.choices("incident", "urgency", &[("1", "1 - High"), ("2", "2 - Medium")]);
        let rows = [
            ("sys_user_role", json!({"name": "itil"})),
            ("sys_user_role", json!({"name": "admin"})),
            ("sys_user", json!({"name": "Orla Finch", "user_name": "orla"})),
            ("sys_user", json!({"name": "Ned Moss", "user_name": "ned"})),
            ("cmdb_model", json!({"name": "Anvil 3"})),
            (
                "sys_properties",
                json!({
                    "name": "workarena.report.filter.config",
                    "value": r#"{"report_date_filter": "2026-01-02", "report_time_filter": "03:04:05"}"#,
                }),
            ),
            ("incident", json!({"short_description": "Old one", "urgency": "2"})),
        ];
        let mut put =
            |table: &str, row: Value| tables.insert(table, &record(row), Input::Kept).unwrap();
        for (table, row) in rows {
            put(table, row);
        }
        for name in ["Other", "WorkArena"] {
            let theme = put("theme", json!({"name": name}));
            let style = put("style", json!({"type": "variant"}));
            put("m2m_theme_style", json!({"theme": theme, "style": style}));
        }
        now(Articles::install(&mut tables, ARTICLES)).unwrap();
        Desk { tables, page: Page::default(), said: None }
    }

    /// Sets a task up and opens its start page.
    pub(crate) fn begin(&mut self, config: &Config) -> Result<Visit, Failure<MemoryError>> {
        let visit = now(config.set_up(&mut self.tables, ADDRESS, 42))?;
        self.tables.log_in(&visit.user.name);
        now(self.page.open(&visit.login_url())).unwrap();
        assert!(
            matches!(now(config.check_login(&mut self.page)), Err(Failure::SetUp(_))),
            "nobody was let in"
        );
        // A real instance goes on to its home page.
        now(self.page.open(&format!("{ADDRESS}/now/nav/ui/home"))).unwrap();
        now(config.check_login(&mut self.page))?;
        now(self.page.open(&visit.start_url())).unwrap();
        now(config.check(&mut self.page))?;
        now(config.tend(&mut self.page))?;
        Ok(visit)
    }

    pub(crate) fn validate(
        &mut self,
        config: &Config,
        visit: &Visit,
    ) -> Result<Verdict, Failure<MemoryError>> {
        now(config.tend(&mut self.page))?;
        now(config.validate(visit, &mut self.tables, &mut self.page, self.said.as_deref()))
    }

    pub(crate) fn end(&mut self, config: &Config, mut visit: Visit) {
        now(config.tear_down(&mut visit, &mut self.tables)).unwrap();
        assert_eq!(visit.made, []);
        self.tables.log_in(ADMIN);
    }

    /// Solves a task as its own solution says.
    pub(crate) fn solve(&mut self, config: &Config, visit: &Visit) {
        let moves = now(config.cheat(visit, &mut self.tables, &mut self.page)).unwrap();
        for step in moves {
            self.take(config, &step);
        }
    }

    pub(crate) fn take(&mut self, config: &Config, step: &Move) {
        match step {
            Move::Fill { label, value } => {
                self.page.filled.insert(label.clone(), value.clone());
            }
            Move::Step(OracleStep::Goto(url)) => now(self.page.open(url)).unwrap(),
            Move::Step(OracleStep::Answer(text)) => self.said = Some(text.clone()),
            Move::Step(OracleStep::Fill(Fill { element, value })) => {
                self.page.filled.insert(element.role.clone(), value.clone());
            }
            Move::Step(OracleStep::Click(Click { element, .. })) => {
                match (element.role.as_str(), element.name.as_str()) {
                    ("button", "Submit") => self.send(config),
                    ("button", "Order Now") => self.order(),
                    ("button", "Impersonate user") => self.impersonate(),
                    ("link", name) => self.page.item = name.to_owned(),
                    _ => {}
                }
            }
            other => panic!("no solution does {other:?}"),
        }
    }

    fn send(&mut self, config: &Config) {
        let Config::NewRecord(task) = config else { panic!("there is no form to send") };
        let filled = task.fields.iter().filter_map(|field| {
            let value = self.page.filled.get(&field.label)?;
            Some((field.column.clone(), Value::from(value.as_str())))
        });
        let sys_id = self.tables.insert(&task.table, &filled.collect(), Input::Shown).unwrap();
        self.page.sent = Some(sys_id);
        self.page.url = self.page.url.replace(".do", "_list.do");
    }

    fn order(&mut self) {
        let Page { filled, item, .. } = &self.page;
        let mut put =
            |table: &str, row: Value| self.tables.insert(table, &record(row), Input::Kept).unwrap();
        let request = put("sc_request", json!({}));
        // The catalogue describes what it has in its own words.
        let described = json!({"request": request, "short_description": format!("one {item}"), "quantity": filled["Quantity"]});
        let ordered = put("sc_req_item", described);
        for (question, answer) in filled.iter().filter(|(question, _)| *question != "Quantity") {
            let option = put("item_option_new", json!({"question_text": question}));
            let answer = answer.to_lowercase().replace(' ', "_");
            let chosen = put("sc_item_option", json!({"value": answer, "item_option_new": option}));
            put("sc_item_option_mtom", json!({"request_item": ordered, "sc_item_option": chosen}));
        }
        let path =
            "/now/nav/ui/classic/params/target/com.glideapp.servicecatalog_checkout_view_v2.do";
        self.page.url = format!("{ADDRESS}{path}%3Fsysparm_sys_id%3D{request}");
    }

    fn impersonate(&mut self) {
        let query = format!("name={}", self.page.filled["combobox"]);
        let found = self.tables.find(&Lookup::new("sys_user", query)).unwrap();
        self.page.user = Some((kept(&found[0], "sys_id").to_owned(), true));
    }
}

impl Pages for Page {
    type Error = MemoryError;

    async fn open(&mut self, url: &str) -> Result<(), MemoryError> {
        url.clone_into(&mut self.url);
        // A classic page decodes its address twice.
        let (_, query) = url.split_once("sysparm_query%3D").unwrap_or_default();
        let query =
            query.replace("%25", "%").replace("%3D", "=").replace("%5E", "^").replace("%20", " ");
        let read = EncodedQuery::parse(&query).unwrap();
        if let Some(first) = read.order.first() {
            self.order.clone_from(&first.column);
            self.direction = if first.descending { "DESC" } else { "ASC" }.to_owned();
        }
        self.query = query;
        Ok(())
    }

    async fn open_beside(&mut self, url: &str) -> Result<(), MemoryError> {
        panic!("{url} is not to be opened")
    }

    async fn close_beside(&mut self) -> Result<(), MemoryError> {
        panic!("nothing is open beside")
    }

    async fn fetch(
        &mut self,
        request: &Fetch,
    ) -> Result<Result<FetchResponse, String>, MemoryError> {
        panic!("{request:?} is not to be asked for")
    }

    async fn evaluate(&mut self, script: &str) -> Result<Result<Value, String>, MemoryError> {
        Ok(Ok(match script {
            "location.href" => json!(self.url),
            script if script.contains("GlideList2") => {
                json!({"query": self.query, "order": self.order, "direction": self.direction})
            }
            script if script.contains("Highcharts") => self.charts.clone(),
            script if script.contains("NOW.user") => match &self.user {
                Some((id, impersonating)) => json!({"id": id, "impersonating": impersonating}),
                None => Value::Null,
            },
            script if script.contains("isVisible") => {
                let (_, expected) = script.split_once("expected: ").unwrap();
                let (expected, _) = expected.split_once(".filter").unwrap();
                json!({"shown": self.shown, "expected": serde_json::from_str::<Value>(expected).unwrap()})
            }
            script if script.contains("spoilt") => {
                json!({"sys_id": self.sent, "spoilt": self.spoilt})
            }
            // Whatever only changes the page.
            script if script.contains("gsft_main") => Value::Null,
            other => return Ok(Err(format!("SyntaxError: {other}"))),
        }))
    }
}
