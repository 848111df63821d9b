//! Observations under BrowserGym's names, as far as JSON allows. Images are PNG in base64, a
//! missing bid is an empty text, and arrays with one number become lists with one number.

use std::path::Path;

use agents::{Goal, Role, View};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use browser::{Observation, ObservationOptions, Properties};
use jiff::Timestamp;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

/// The observation settings of a client.
pub(super) struct ObservationSettings {
    /// The start time of the world's clock.
    pub(super) clock: Timestamp,
    /// Additional observation formats.
    pub(super) extra: Option<ObservationOptions>,
    /// When each message of the conversation appeared, in seconds since 1970 by the world's clock.
    heard: Vec<f64>,
}

#[derive(Serialize)]
struct ObservationBody<'a> {
    chat_messages: Vec<Value>,
    goal: &'a str,
    goal_object: Vec<Value>,
    open_pages_urls: Vec<&'a str>,
    open_pages_titles: Vec<&'a str>,
    active_page_index: [usize; 1],
    url: &'a str,
    screenshot: Option<String>,
    dom_object: &'a Option<Value>,
    axtree_object: &'a Option<Value>,
    #[serde(serialize_with = "by_bid")]
    extra_element_properties: &'a [(String, Properties)],
    focused_element_bid: &'a str,
    last_action: &'a str,
    last_action_error: &'a str,
    elapsed_time: [f64; 1],
}

/// The formats of BrowserGym's environments and the additional ones.
pub(super) fn observation_options(extra: Option<ObservationOptions>) -> ObservationOptions {
    let raw = ObservationOptions {
        properties: true,
        dom: true,
        axtree_object: true,
        ..ObservationOptions::default()
    };
    extra.map(|extra| extra.and(raw.clone())).unwrap_or(raw)
}

impl ObservationSettings {
    pub(super) fn new(clock: Timestamp, extra: Option<ObservationOptions>) -> ObservationSettings {
        ObservationSettings { clock, extra, heard: Vec::new() }
    }

    /// The observation as JSON.
    ///
    /// # Errors
    /// When an image cannot be read.
    pub(super) fn written(
        &mut self,
        goal: &Goal,
        view: View<'_>,
        last_action: &str,
    ) -> std::io::Result<Value> {
        let page = view.observation;
        #[expect(
            clippy::cast_precision_loss,
            reason = "milliseconds since 1970 are far below 2^53"
        )]
        let (elapsed, clock) =
            (page.elapsed_ms as f64 / 1000.0, self.clock.as_millisecond() as f64 / 1000.0);
        // Messages without a time are new since the last observation, and appeared now.
        self.heard.resize(view.chat.len(), clock + elapsed);
        let messages = view.chat.iter().zip(&self.heard).map(|(message, at)| {
            let role = match message.role {
                Role::User => "user",
                Role::Assistant => "assistant",
            };
            json!({ "role": role, "timestamp": at, "message": message.text })
        });
        let mut goal_object = vec![json!({ "type": "text", "text": goal.text })];
        for image in &goal.images {
            let url = data_url(&std::fs::read(&image.path)?);
            goal_object.push(json!({ "type": "image_url", "image_url": { "url": url } }));
        }
        let seen = ObservationBody {
            chat_messages: messages.collect(),
            goal: &goal.text,
            goal_object,
            open_pages_urls: page.tabs.iter().map(|tab| &*tab.url).collect(),
            open_pages_titles: page.tabs.iter().map(|tab| &*tab.title).collect(),
            active_page_index: [page.active_tab],
            url: &page.url,
            screenshot: view.screenshot.map(encoded).transpose()?,
            dom_object: &page.dom,
            axtree_object: &page.axtree_object,
            extra_element_properties: &page.properties,
            focused_element_bid: page.focused.as_deref().unwrap_or_default(),
            last_action,
            last_action_error: view.last_action_error.unwrap_or_default(),
            elapsed_time: [elapsed],
        };
        let mut seen = serde_json::to_value(seen).map_err(std::io::Error::other)?;
        if let Some(extra) = &self.extra {
            for (name, form) in forms(page, extra) {
                seen[name] = form;
            }
        }
        Ok(seen)
    }
}

/// The additional formats, under their names in the agent protocol.
fn forms(
    page: &Observation,
    extra: &ObservationOptions,
) -> impl Iterator<Item = (&'static str, Value)> {
    let forms = [
        ("axtree", extra.axtree.as_ref().map(|_| json!(page.axtree))),
        ("webarena", page.webarena.as_ref().map(|form| json!(form))),
        ("visualwebarena", page.visualwebarena.as_ref().map(|form| json!(form))),
        ("webcanvas", page.webcanvas.as_ref().map(|form| json!(form))),
        ("turkingbench", page.turkingbench.as_ref().map(|form| json!(form))),
        ("html", page.html.as_ref().map(|form| json!(form))),
        ("pruned_html", page.pruned_html.as_ref().map(|form| json!(form))),
    ];
    forms.into_iter().filter_map(|(name, form)| Some((name, form?)))
}

fn by_bid<S: Serializer>(
    properties: &&[(String, Properties)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(properties.iter().map(|(bid, known)| (bid, known)))
}

fn encoded(path: &Path) -> std::io::Result<String> {
    Ok(BASE64_STANDARD.encode(std::fs::read(path)?))
}

/// An image as a `data:` URL. The first bytes give its type.
fn data_url(bytes: &[u8]) -> String {
    let kind = match bytes {
        [0xff, 0xd8, ..] => "jpeg",
        [b'G', b'I', b'F', ..] => "gif",
        [b'R', b'I', b'F', b'F', ..] => "webp",
        _ => "png",
    };
    format!("data:image/{kind};base64,{}", BASE64_STANDARD.encode(bytes))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use agents::{GoalImage, Utterance};
    use browser::Tab;

    use super::*;

    #[test]
    fn an_observation_has_the_names_of_browsergym_and_times_of_the_world() {
        let folder = tempfile::tempdir().unwrap();
        let picture = folder.path().join("step.png");
        std::fs::write(&picture, b"\xff\xd8picture").unwrap();
        let goal = Goal {
            task: "t".to_owned(),
            text: "Find it.".to_owned(),
            images: vec![GoalImage {
                url: "https://x.test/a.jpg".to_owned(),
                path: picture.clone(),
            }],
            start_url: None,
            max_steps: 3,
        };
        let known =
            Properties { visibility: 1.0, bbox: None, clickable: false, set_of_marks: true };
        let tab = |url: &str| Tab { url: url.to_owned(), title: "T".to_owned() };
        let page = Observation {
            url: "https://x.test/".to_owned(),
            axtree: "RootWebArea 'X'".to_owned(),
            tabs: vec![tab("https://y.test/"), tab("https://x.test/")],
            active_tab: 1,
            elapsed_ms: 1500,
            properties: vec![("a1".to_owned(), known)],
            axtree_object: Some(json!({ "nodes": [] })),
            ..Observation::default()
        };
        let said = |role, text: &str| Utterance { role, text: text.to_owned() };
        let mut chat = vec![said(Role::User, "Find it.")];
        let mut observing = ObservationSettings::new("2026-03-12T08:30:00Z".parse().unwrap(), None);
        let mut written = |page: &Observation, chat: &[Utterance]| {
            let view = View {
                step: 1,
                observation: page,
                chat,
                last_action_error: Some("failed"),
                screenshot: Some(&picture),
            };
            observing.written(&goal, view, "click('a1')").unwrap()
        };
        written(&page, &chat);
        chat.push(said(Role::Assistant, "I look."));
        let seen = written(&Observation { elapsed_ms: 2000, ..page.clone() }, &chat);
        insta::assert_snapshot!(format!("{seen:#}"));
        let options =
            ObservationOptions { axtree: None, html: true, ..ObservationOptions::default() };
        assert_eq!(
            observation_options(None).axtree,
            ObservationOptions::default().axtree,
            "what is digested is what a run digests"
        );
        let both = observation_options(Some(options));
        assert!(both.html && both.dom && both.axtree_object && both.properties);
    }
}
