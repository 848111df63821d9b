//! What an agent sees.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    Error, Properties, Session, TreeText,
    axtree::{self, Element, Part, Tree},
    patience::Limit,
};

/// The state of the active page. Equal for equal pages of equal worlds.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// The page's address.
    pub url: String,
    /// Its title.
    pub title: String,
    /// Its accessibility tree, frames included.
    pub axtree: String,
    /// The element that has the focus.
    pub focused: Option<String>,
    /// Why the last action had no effect, if it had none.
    pub last_action_error: Option<String>,
    /// Addresses of all open tabs, in the order of their opening.
    pub tabs: Vec<String>,
    /// Which of them is seen here, counted from 0.
    pub active_tab: usize,
    /// The elements of the tree, in its order.
    pub elements: Vec<Element>,
    /// All elements that have a bid, and what is known of them, in the order of their numbering frame by frame. Empty unless asked for.
    pub properties: Vec<(String, Properties)>,
}

impl Observation {
    /// The first element with a role and a name, both exactly as the tree shows them.
    pub fn find(&self, role: &str, name: &str) -> Option<&Element> {
        self.elements.iter().find(|element| element.role == role && element.name == name)
    }
}

/// What is looked at, and how it is written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Look {
    /// How the tree is written.
    pub axtree: TreeText,
    /// Whether elements are measured: [`Observation::properties`].
    pub properties: bool,
}

impl Session {
    /// Looks at the active page. The page's time does not move meanwhile.
    pub async fn observe(&mut self) -> Result<Observation, Error> {
        self.observe_as(&Look::default()).await
    }

    /// Looks at the active page in a given way.
    pub async fn observe_as(&mut self, look: &Look) -> Result<Observation, Error> {
        let (page, active_tab) = {
            let state = self.watch.lock();
            let page = state.active()?;
            let place = state.pages.iter().position(|open| open.session == page.session);
            (page, place.unwrap_or_default())
        };
        let measured = look.properties || look.axtree.needs_properties();
        let (frames, focused) = self.write_marks(&page, measured).await?;
        let properties = if measured {
            self.properties(&page, &frames, Limit::after(crate::cdp::CALL)).await
        } else {
            Ok(Vec::new())
        };
        let call = |method, params| self.cdp().call(Some(&page.session), method, params);
        let trees =
            frames.iter().map(|frame| call("Accessibility.getFullAXTree", json!({ "frameId": frame.id })));
        let trees = futures_util::future::join_all(trees).await;
        self.erase_marks(&page, &frames).await?;
        let (title, tabs) = tokio::join!(
            self.evaluate_apart(&page, &page.target, "document.title", crate::cdp::CALL),
            self.tabs(),
        );
        let mut parts = Vec::with_capacity(frames.len());
        for (frame, tree) in frames.iter().zip(trees) {
            let owner = frame.parent.clone().zip(frame.owner);
            let tree = match tree {
                Ok(tree) => tree,
                // The frame went away in the meantime.
                Err(Error::Refused { .. }) if frame.parent.is_some() => continue,
                Err(error) => return Err(error),
            };
            if frame.parent.is_some() && owner.is_none() {
                continue;
            }
            let tree: Tree = serde_json::from_value(tree)
                .map_err(|_| Error::Shape { method: "Accessibility.getFullAXTree", field: "nodes" })?;
            parts.push(Part { frame: frame.id.clone(), prefix: frame.prefix.clone(), tree, owner });
        }
        let properties = properties?;
        let known: HashMap<String, Properties> = properties.iter().cloned().collect();
        let writer = axtree::Writer { text: &look.axtree, properties: &known, bids: &mut self.bids };
        let rendered = axtree::render(&parts, writer);
        Ok(Observation {
            url: frames.first().map(|frame| frame.url.clone()).unwrap_or_default(),
            title: title?.as_str().unwrap_or_default().to_owned(),
            axtree: rendered.text,
            focused,
            last_action_error: self.last_action_error.clone(),
            tabs: tabs?,
            active_tab,
            elements: rendered.elements,
            properties: if look.properties { properties } else { Vec::new() },
        })
    }

    async fn tabs(&self) -> Result<Vec<String>, Error> {
        let pages = self.watch.lock().pages.clone();
        let infos = pages.iter().map(|page| {
            self.cdp().call(Some(&page.session), "Target.getTargetInfo", json!({ "targetId": page.target }))
        });
        let infos = futures_util::future::try_join_all(infos).await?;
        let url = |info: &Value| {
            info.pointer("/targetInfo/url").and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        Ok(infos.iter().map(url).collect())
    }
}
