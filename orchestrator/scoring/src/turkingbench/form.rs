//! A form as a whole: which of its fields count, their contents in the end, and the mean over them.
//!
//! Follows `Evaluation.extract_input_values_from_url`, `extract_values` and `score_outputs` of
//! JHU-CLSP/turking-bench (`src/evaluation_class.py`). A field is the first element of its name, if
//! that is an `input`, `select` or `textarea`. It counts if it is shown, and if its golds say
//! anything where it holds text. Every slider counts as 1, as in the published aggregate; in
//! [`ScoringMode::Fixed`] its distance counts.
//!
//! There, fields are read from the page that an agent leaves. A page that has been sent is gone;
//! what it held is then asked of the host that it was sent to. A page that has been left without
//! being sent has nothing in it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Cell, field};
use crate::{PageCheck, Pages, ROUNDING, Score, ScoreError, ScoringMode};

/// The form of an instance: its page and its fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Form {
    /// The address of its page. What has been sent is at `/sent.json` below it.
    pub page: String,
    /// In the order of the benchmark's table; at least one.
    #[serde(deserialize_with = "read_fields")]
    pub fields: Vec<Field>,
}

/// A field with the answers that workers gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// Its `name`.
    pub name: String,
    /// One for each worker.
    pub golds: Vec<Cell>,
}

/// The contents of a form: for each field of [`Form::fields`] its content, if the page has it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FormValues(pub Vec<Option<FieldValue>>);

/// The content of a field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldValue {
    /// Its type: `text`, `radio`, `checkbox`, `textarea`, `select` and so on.
    pub kind: String,
    /// Whether people see it.
    pub shown: bool,
    /// Its value. Of boxes the values of those that have a tick, joined by `|`.
    pub value: String,
}

/// The score of one field.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mark {
    pub name: String,
    /// Its type.
    pub kind: String,
    /// Usually 0 to 1.
    pub score: f64,
}

/// Of each name: its type, whether it is shown, its value; and where the page is.
const READ_FIELDS: &str = "(names => ({
    at: location.href.split(/[?#]/)[0],
    fields: names.map(name => {
        const first = document.getElementsByName(name)[0];
        if (!first || !['input', 'select', 'textarea'].includes(first.localName)) return null;
        const kind = first.localName === 'input' ? first.type : first.localName;
        const { width, height } = first.getBoundingClientRect();
        const shown = width > 0 && height > 0 && first.checkVisibility({ opacityProperty: true, visibilityProperty: true });
        const ticked = [...document.querySelectorAll('input:checked')].filter(box => box.name === name).map(box => box.value);
        const value = kind === 'checkbox' ? ticked.sort().join('|') : kind === 'radio' ? ticked[0] ?? '' : first.value;
        return { kind, shown, value };
    }),
}))";
const SENT: &str = "JSON.parse(document.body.innerText)";

/// The check that ends an episode when its form is sent: the host then shows another page.
static IS_SENT: LazyLock<PageCheck> = LazyLock::new(|| PageCheck {
    reward: "0".to_owned(),
    done: Some("location.pathname.endsWith('/sent')".to_owned()),
});

/// The result of [`READ_FIELDS`].
#[derive(Deserialize)]
struct FormState {
    at: String,
    fields: FormValues,
}

impl Form {
    /// Returns the check whether the form has been sent, which ends the episode.
    pub fn is_sent() -> &'static PageCheck {
        &IS_SENT
    }

    /// Reads what the form holds in the end.
    ///
    /// # Errors
    /// Where pages can no longer be read.
    pub async fn read<P: Pages>(&self, pages: &mut P) -> Result<FormValues, P::Error> {
        if let Some(state) = self.read_state(pages).await?
            && state.at == self.page
        {
            return Ok(state.fields);
        }
        pages.open(&format!("{}/sent.json", self.page)).await?;
        let sent: Option<Vec<(String, String)>> =
            pages.evaluate(SENT).await?.ok().and_then(|sent| serde_json::from_value(sent).ok());
        pages.open(&self.page).await?;
        let fresh = self.read_state(pages).await?.map(|state| state.fields).unwrap_or_default();
        Ok(match sent {
            Some(sent) => self.with(fresh, &sent),
            None => fresh,
        })
    }

    async fn read_state<P: Pages>(&self, pages: &mut P) -> Result<Option<FormState>, P::Error> {
        let names: Vec<&str> = self.fields.iter().map(|field| field.name.as_str()).collect();
        let said = pages.evaluate(&format!("{READ_FIELDS}({})", json!(names))).await?;
        Ok(said.ok().and_then(|said: Value| serde_json::from_value(said).ok()))
    }

    /// A fresh page with what has been sent in it. What somebody could fill in was shown, whenever
    /// that was.
    fn with(&self, fresh: FormValues, sent: &[(String, String)]) -> FormValues {
        let fill = |(field, fresh): (&Field, Option<FieldValue>)| {
            let FieldValue { kind, shown, .. } = fresh?;
            let mut values: Vec<String> = sent
                .iter()
                .filter(|(name, _)| *name == field.name)
                .map(|(_, value)| value.replace("\r\n", "\n"))
                .collect();
            values.sort_by(
                |a, b| if kind == "checkbox" { a.cmp(b) } else { std::cmp::Ordering::Equal },
            );
            let value = match kind.as_str() {
                "checkbox" => values.join("|"),
                _ => values.into_iter().next().unwrap_or_default(),
            };
            let shown = shown || (kind != "hidden" && !value.is_empty());
            Some(FieldValue { kind, shown, value })
        };
        FormValues(self.fields.iter().zip(fresh.0).map(fill).collect())
    }

    /// The scores of the fields that count.
    ///
    /// # Errors
    /// Where the published code raises an exception or gives no finite number.
    pub fn marks(&self, held: &FormValues, mode: ScoringMode) -> Result<Vec<Mark>, ScoreError> {
        let mut marks = Vec::new();
        for (Field { name, golds }, filled) in self.fields.iter().zip(&held.0) {
            let Some(FieldValue { kind, shown: true, value }) = filled else { continue };
            let score = match kind.as_str() {
                "range" if mode.is_faithful() => Ok(1.0),
                kind => field(kind, golds, value),
            };
            match score {
                Ok(score) => marks.push(Mark { name: name.clone(), kind: kind.clone(), score }),
                Err(ScoreError::Skipped) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(marks)
    }

    /// The mean over the fields that count.
    ///
    /// # Errors
    /// As [`marks`](Self::marks).
    pub fn score_values(&self, held: &FormValues, mode: ScoringMode) -> Result<Score, ScoreError> {
        let marks = self.marks(held, mode)?;
        let Some(value) = mean(&marks) else {
            return Ok(Score::of(false, vec!["the page shows no field that counts".to_owned()]));
        };
        let wrong = marks.iter().filter(|mark| mark.score < 1.0 - ROUNDING);
        let wrong = wrong
            .map(|Mark { name, kind, score }| format!("{kind} `{name}`: {score:.2}"))
            .collect();
        Ok(Score { value, ..Score::of(value >= 1.0 - ROUNDING, wrong) })
    }
}

/// The mean of some scores; none of none.
pub fn mean(marks: &[Mark]) -> Option<f64> {
    let sum: f64 = marks.iter().map(|mark| mark.score).sum();
    (!marks.is_empty()).then(|| sum / marks.len() as f64)
}

/// The means of each type of field, with how many there are.
pub fn by_kind<'a>(marks: impl IntoIterator<Item = &'a Mark>) -> BTreeMap<&'a str, (f64, usize)> {
    let mut kinds: BTreeMap<&str, (f64, usize)> = BTreeMap::new();
    for mark in marks {
        let (sum, count) = kinds.entry(&mark.kind).or_default();
        (*sum, *count) = (*sum + mark.score, *count + 1);
    }
    kinds.values_mut().for_each(|(sum, count)| *sum /= *count as f64);
    kinds
}

fn read_fields<'de, D: serde::Deserializer<'de>>(input: D) -> Result<Vec<Field>, D::Error> {
    let fields = Vec::<Field>::deserialize(input)?;
    if fields.is_empty() {
        Err(serde::de::Error::custom("`fields` needs at least one"))
    } else {
        Ok(fields)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;
    use crate::{Fetch, FetchResponse};

    fn form(fields: &str) -> Form {
        let text = format!("page: http://t.test/a/0\nfields: {fields}");
        serde_yaml::from_str(&text).expect("a form")
    }

    fn filled(kind: &str, shown: bool, value: &str) -> Option<FieldValue> {
        Some(FieldValue { kind: kind.to_owned(), shown, value: value.to_owned() })
    }

    const FIELDS: &str = "[{name: why, golds: [blue boats, null]}, {name: colour, golds: [red, red, blue]},
        {name: n, golds: [20, 40]}, {name: note, golds: ['']}, {name: key, golds: [x]}, {name: gone, golds: [1]}]";

    fn held(why: &str, colour: &str) -> FormValues {
        let rest = [
            filled("range", true, "0"),
            filled("text", true, "?"),
            filled("text", false, ""),
            None,
        ];
        FormValues(
            [filled("text", true, why), filled("radio", true, colour)]
                .into_iter()
                .chain(rest)
                .collect(),
        )
    }

    #[test]
    fn the_mean_is_over_what_is_shown_and_has_golds() {
        let form = form(FIELDS);
        let score =
            form.score_values(&held("a boat", "red"), ScoringMode::Faithful).expect("a score");
        assert!((score.value - 2.5 / 3.0).abs() < 1e-9 && !score.success, "{score:?}");
        assert_eq!(score.wrong, ["text `why`: 0.50"]);
        assert!(
            form.score_values(&held("blue boats", "red"), ScoringMode::Faithful)
                .expect("a score")
                .success
        );
        let marks = form.marks(&held("blue boats", "red"), ScoringMode::Fixed).expect("marks");
        assert_eq!((marks[2].kind.as_str(), marks[2].score), ("range", 0.25));
        let kinds = by_kind(&marks);
        assert_eq!((kinds["range"], kinds["text"].1), ((0.25, 1), 1));
    }

    #[test]
    fn a_page_without_fields_earns_nothing() {
        let score = form(FIELDS)
            .score_values(&FormValues::default(), ScoringMode::Faithful)
            .expect("a score");
        assert_eq!((score.value, score.wrong.len()), (0.0, 1));
        assert_eq!(
            form("[{name: a, golds: [1]}]")
                .score_values(&FormValues(vec![filled("date", true, "")]), ScoringMode::Faithful),
            Err(ScoreError::Raised("Exception"))
        );
    }

    #[test]
    fn forms_are_written_as_they_are_read() {
        let form = form(FIELDS);
        let again: Form =
            serde_yaml::from_str(&serde_yaml::to_string(&form).expect("YAML")).expect("a form");
        assert_eq!(again, form);
        for wrong in [
            "page: x\nfields: []",
            "page: x\nfields: [{name: a, golds: [1], type: radio}]",
            "fields: [{name: a, golds: [1]}]",
        ] {
            assert!(serde_yaml::from_str::<Form>(wrong).is_err(), "{wrong}");
        }
    }

    /// Pages that say these things one after the other, and note what is opened.
    struct ScriptedPages {
        answers: VecDeque<Value>,
        opened: Vec<String>,
    }

    impl Pages for ScriptedPages {
        type Error = String;

        async fn open(&mut self, url: &str) -> Result<(), String> {
            self.opened.push(url.to_owned());
            Ok(())
        }

        async fn open_beside(&mut self, url: &str) -> Result<(), String> {
            Err(format!("{url} is not to be opened beside"))
        }

        async fn close_beside(&mut self) -> Result<(), String> {
            Err("nothing is open beside".to_owned())
        }

        async fn fetch(
            &mut self,
            request: &Fetch,
        ) -> Result<Result<FetchResponse, String>, String> {
            Err(format!("{request:?} is not to be asked for"))
        }

        async fn evaluate(&mut self, _: &str) -> Result<Result<Value, String>, String> {
            self.answers.pop_front().map(Ok).ok_or_else(|| "asked too often".to_owned())
        }
    }

    fn read(form: &Form, answers: &[Value]) -> (FormValues, Vec<String>) {
        let mut pages =
            ScriptedPages { answers: answers.iter().cloned().collect(), opened: Vec::new() };
        let held = {
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            match std::pin::pin!(form.read(&mut pages)).as_mut().poll(&mut context) {
                std::task::Poll::Ready(held) => held.expect("everything was answered"),
                std::task::Poll::Pending => panic!("nothing waits here"),
            }
        };
        (held, pages.opened)
    }

    fn page_state(at: &str, colours: &str) -> Value {
        json!({ "at": at, "fields": [
            { "kind": "text", "shown": true, "value": "" }, { "kind": "checkbox", "shown": false, "value": colours },
            { "kind": "hidden", "shown": false, "value": "" }, null,
        ] })
    }

    #[test]
    fn a_button_that_sends_the_form_counts_for_nothing() {
        let form = form("[{name: why, golds: [x]}, {name: timer, golds: [37]}]");
        let held = FormValues(vec![filled("text", true, "x"), filled("submit", true, "Send")]);
        assert_eq!(
            form.score_values(&held, ScoringMode::Faithful).map(|score| score.value),
            Ok(1.0)
        );
    }

    #[test]
    fn what_was_sent_is_what_a_page_held_that_is_gone() {
        let form = form(
            "[{name: why, golds: [x]}, {name: colours, golds: [x]}, {name: key, golds: [x]}, {name: gone, golds: [x]}]",
        );
        let here = read(&form, &[page_state("http://t.test/a/0", "red")]);
        assert_eq!((here.0.0[1].clone(), here.1.len()), (filled("checkbox", false, "red"), 0));

        let sent = json!([
            ["colours", "red"],
            ["why", "one\r\ntwo"],
            ["colours", "blue"],
            ["key", "7"],
            ["gone", "?"]
        ]);
        let (held, opened) = read(
            &form,
            &[page_state("http://t.test/a/0/sent", ""), sent, page_state("http://t.test/a/0", "")],
        );
        assert_eq!(opened, ["http://t.test/a/0/sent.json", "http://t.test/a/0"]);
        let expect = [
            filled("text", true, "one\ntwo"),
            filled("checkbox", true, "blue|red"),
            filled("hidden", false, "7"),
            None,
        ];
        assert_eq!(held.0, expect);

        let (held, _) =
            read(&form, &[json!(null), json!(null), page_state("http://t.test/a/0", "")]);
        assert_eq!(held.0[0], filled("text", true, ""));
    }

    proptest! {
        /// Whoever holds what one worker answered everywhere has everything right, unless others
        /// were more.
        #[test]
        fn one_workers_answers_earn_all(cells in prop::collection::vec(("[a-c]{1,3}", 0_usize..4), 1..6)) {
            let kinds = ["text", "radio", "checkbox", "select"];
            let fields = cells.iter().enumerate().map(|(at, (text, _))| Field { name: at.to_string(), golds: vec![Cell::Text(text.clone())] }).collect();
            let form = Form { page: String::new(), fields };
            let held = FormValues(cells.iter().map(|(text, kind)| filled(kinds[*kind], true, text)).collect());
            prop_assert!(form.score_values(&held, ScoringMode::Faithful).expect("a score").success);
            let nothing = FormValues(cells.iter().map(|(_, kind)| filled(kinds[*kind], true, "")).collect());
            prop_assert_eq!(form.score_values(&nothing, ScoringMode::Faithful).expect("a score").value, 0.0);
        }
    }
}
