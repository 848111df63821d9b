//! Questions that the knowledge base answers: `tasks/knowledge.py`, and `check_knowledge_base` of
//! `install.py`.

use python_compat::html;
use python_compat::pattern::{Flags, Pattern};
use python_compat::text::lower;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::instance::record;
use super::{Failure, Move, Verdict};
use crate::solution::OracleStep;
use crate::tables::{Input, Lookup, Tables, kept};

/// A question that the knowledge base answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Knowledge {
    pub question: String,
    /// The subject: the text to search for.
    pub item: String,
    /// The answer.
    pub value: String,
    /// The other answers that are right, too.
    pub alternative_answers: Vec<String>,
    /// The articles that the knowledge base must have.
    pub base: Articles,
}

/// The articles of a knowledge base, as far as they have to be known to compare them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Articles {
    /// How many there are.
    pub count: usize,
    /// SHA-256 over the letters and digits of all of them, in hexadecimal digits.
    pub digest: String,
}

/// `KB_NAME` of `config.py`.
const TITLE: &str = "General Knowledge";
/// The actions on its articles that are switched off.
const DISABLED: [&str; 5] = [
    "disable_commenting",
    "disable_mark_as_helpful",
    "disable_rating",
    "disable_suggesting",
    "disable_category_editing",
];

impl Articles {
    /// Of these articles, as HTML.
    pub fn of<'a>(articles: impl IntoIterator<Item = &'a str>) -> Articles {
        let mut digest = Sha256::new();
        let mut count = 0;
        let tags = Pattern::ours("<[^>]+>", Flags::default());
        for article in articles {
            let text = html::unescape(article).unwrap_or(article.into());
            let text = tags.replace_all(&text, "");
            let plain: String = text.chars().filter(|c| c.is_alphanumeric()).collect();
            digest.update((plain.len() as u64).to_be_bytes());
            digest.update(plain);
            count += 1;
        }
        let digest = hex::encode(digest.finalize());
        Articles { count, digest }
    }

    /// Puts a knowledge base with these articles on an instance that has none:
    /// `create_knowledge_base` of `install.py`.
    ///
    /// # Errors
    /// Where the instance does not take them.
    pub async fn install<'a, T: Tables>(
        tables: &mut T,
        articles: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), T::Error> {
        let mut base = record(json!({"title": TITLE}));
        base.extend(DISABLED.map(|column| (column.to_owned(), json!("true"))));
        let base = tables.create("kb_knowledge_base", &base, Input::Kept).await?;
        for (place, article) in articles.into_iter().enumerate() {
            let values = record(json!({
                "short_description": format!("Article {}", place + 1),
                "sys_class_name": "kb_knowledge",
                "text": article,
                "article_type": "text",
                "kb_knowledge_base": kept(&base, "sys_id"),
            }));
            tables.create("kb_knowledge", &values, Input::Kept).await?;
        }
        Ok(())
    }

    /// Whether the instance's knowledge base has these articles and no others.
    async fn check<T: Tables>(&self, tables: &mut T) -> Result<(), Failure<T::Error>> {
        let wrong = |what: &str| {
            Failure::set_up(format!(
                "its knowledge base `{TITLE}` {what}; run the benchmark's `workarena-install`"
            ))
        };
        let bases = tables.get(&Lookup::new("kb_knowledge_base", format!("title={TITLE}"))).await?;
        let [base] = bases.as_slice() else { return Err(wrong("is not there once")) };
        if DISABLED.iter().any(|column| kept(base, column) != "true") {
            return Err(wrong("can be commented on"));
        }
        let articles = format!("kb_knowledge_base={}", kept(base, "sys_id"));
        let articles = tables.get(&Lookup::new("kb_knowledge", articles)).await?;
        let mut texts = vec![None; self.count];
        for article in &articles {
            let number = kept(article, "short_description").split(' ').nth(1);
            let place = number.and_then(|number| number.parse::<usize>().ok()?.checked_sub(1));
            let text = place.and_then(|place| texts.get_mut(place));
            *text.ok_or_else(|| wrong("has an article too many"))? = Some(kept(article, "text"));
        }
        let texts: Option<Vec<&str>> = texts.into_iter().collect();
        let texts = texts.ok_or_else(|| wrong("lacks an article"))?;
        match Articles::of(texts) == *self {
            true => Ok(()),
            false => Err(wrong("has other articles")),
        }
    }
}

impl Knowledge {
    pub(super) fn goal(&self) -> String {
        format!("Answer the following question using the knowledge base: \"{}\"", self.question)
    }

    pub(super) async fn set_up<T: Tables>(&self, tables: &mut T) -> Result<(), Failure<T::Error>> {
        self.base.check(tables).await
    }

    /// One of the answers has to occur in what the agent said last.
    pub(super) fn validate(&self, said: Option<&str>) -> Verdict {
        let Some(said) = said.map(lower) else { return Verdict::not_yet("there is no answer") };
        let mut answers = std::iter::once(&self.value).chain(&self.alternative_answers);
        match answers.any(|answer| said.contains(&*lower(answer))) {
            true => Verdict::right(),
            false => Verdict::not_yet("the answer is another one"),
        }
    }

    pub(super) fn cheat(&self) -> Vec<Move> {
        vec![Move::Step(OracleStep::Answer(self.value.clone()))]
    }
}
