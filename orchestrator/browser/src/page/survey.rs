//! A survey of a page for a crawler, and the answer to a banner about cookies.

use serde::{Deserialize, Serialize};

use crate::cdp::connection::CALL_TIMEOUT;
use crate::{Error, Session};

/// The survey of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Survey {
    /// The address of the document.
    pub address: String,
    /// Its links, each URL once, in document order.
    pub links: Vec<Link>,
    /// The forms of its own search.
    pub searches: Vec<SearchForm>,
    /// Set where the page stands in front of the content.
    pub wall: Option<AccessBarrier>,
    /// Whether it shows a field for a password.
    pub has_password: bool,
    /// The HTTP status of the document; 0 where the browser does not tell.
    pub status: u16,
}

/// A link of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Its target: http(s), without a fragment.
    pub url: String,
    /// Its purpose, by its text and its target.
    pub kind: LinkKind,
    /// Its text, at most 200 characters.
    pub label: String,
}

/// The purpose of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkKind {
    /// The next page of a list, or one of its numbered pages.
    Next,
    /// The same page with another query: filters, orders, tabs.
    Filter,
    /// Any other.
    Link,
}

/// A form that searches a site by GET.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchForm {
    /// The address to which it is sent, without query.
    pub action: String,
    /// The name of the field for the words.
    pub field: String,
    /// All that is sent, in order: names and values. The field for the words is among them.
    pub fields: Vec<(String, String)>,
}

/// A barrier in front of the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum AccessBarrier {
    /// A question that only people are to answer.
    #[serde(rename = "captcha")]
    Captcha,
    /// A page that asks for name and password and has little else.
    #[serde(rename = "log-in")]
    Login,
}

impl SearchForm {
    /// The URL that a browser requests when these words are searched for; `None` if the action is
    /// no URL.
    pub fn url(&self, words: &str) -> Option<url::Url> {
        let mut url = url::Url::parse(&self.action).ok()?;
        let mut pairs = url.query_pairs_mut();
        pairs.clear();
        for (name, value) in &self.fields {
            pairs.append_pair(name, if *name == self.field { words } else { value });
        }
        drop(pairs);
        Some(url)
    }
}

impl Session {
    /// Surveys the active page.
    ///
    /// # Errors
    /// When no page is open or the browser is gone.
    pub async fn survey(&mut self) -> Result<Survey, Error> {
        let page = self.tracker.lock().active()?;
        match self
            .evaluate_isolated(&page, &page.target, include_str!("survey.js"), CALL_TIMEOUT)
            .await
        {
            Ok(survey) => Ok(serde_json::from_value(survey).unwrap_or_default()),
            // An unusual page may get in the way of the script. It has nothing to offer then.
            Err(Error::Script { .. }) => Ok(Survey::default()),
            Err(error) => Err(error),
        }
    }

    /// Clicks the button of a banner that asks for consent to cookies: the one that agrees, or the
    /// one that refuses. Returns what the button says; `None` where there is no such banner.
    ///
    /// # Errors
    /// When no page is open or the browser is gone.
    pub async fn answer_consent(&mut self, agree: bool) -> Result<Option<String>, Error> {
        let page = self.tracker.lock().active()?;
        let answer = if agree { "accept" } else { "reject" };
        let script = format!("{}('{answer}')", include_str!("consent.js").trim_end());
        let label = self.evaluate_isolated(&page, &page.target, &script, CALL_TIMEOUT).await?;
        Ok(label.as_str().map(str::to_owned))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_is_the_request_of_its_form() {
        let form = SearchForm {
            action: "https://shop.test/find".to_owned(),
            field: "q".to_owned(),
            fields: vec![("lang".to_owned(), "en".to_owned()), ("q".to_owned(), String::new())],
        };
        let url = form.url("blue kettle & co").expect("its action is a URL");
        assert_eq!(url.as_str(), "https://shop.test/find?lang=en&q=blue+kettle+%26+co");
    }
}
