//! What an agent sees.

use serde_json::{Value, json};

use crate::{
    Error, Session,
    axtree::{self, Element, Part, Tree},
};

/// The state of the active page. Equal for equal pages of equal worlds.
#[derive(Debug, Clone, PartialEq, Eq)]
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
}

impl Observation {
    /// The first element with a role and a name, both exactly as the tree shows them.
    pub fn find(&self, role: &str, name: &str) -> Option<&Element> {
        self.elements.iter().find(|element| element.role == role && element.name == name)
    }
}

impl Session {
    /// Looks at the active page. The page's time does not move meanwhile.
    pub async fn observe(&mut self) -> Result<Observation, Error> {
        let (page, active_tab) = {
            let state = self.watch.lock();
            let page = state.active()?;
            let place = state.pages.iter().position(|open| open.session == page.session);
            (page, place.unwrap_or_default())
        };
        let frames = self.frames(&page).await?;
        let call = |method, params| self.cdp().call(Some(&page.session), method, params);
        let trees =
            frames.iter().map(|frame| call("Accessibility.getFullAXTree", json!({ "frameId": frame.id })));
        let owners =
            frames.iter().skip(1).map(|frame| call("DOM.getFrameOwner", json!({ "frameId": frame.id })));
        let (trees, owners, title, tabs) = tokio::join!(
            futures_util::future::join_all(trees),
            futures_util::future::join_all(owners),
            self.evaluate_apart(&page, &page.target, "document.title", crate::cdp::CALL),
            self.tabs(),
        );
        let mut parts = Vec::with_capacity(frames.len());
        let owners = std::iter::once(None).chain(owners.into_iter().map(Some));
        for ((frame, tree), owner) in frames.iter().zip(trees).zip(owners) {
            let tree = match tree {
                Ok(tree) => tree,
                // The frame went away in the meantime.
                Err(Error::Refused { .. }) if owner.is_some() => continue,
                Err(error) => return Err(error),
            };
            let tree: Tree = serde_json::from_value(tree)
                .map_err(|_| Error::Shape { method: "Accessibility.getFullAXTree", field: "nodes" })?;
            let owner = match owner {
                None => None,
                Some(Ok(owner)) => {
                    match (owner.get("backendNodeId").and_then(Value::as_i64), &frame.parent) {
                        (Some(node), Some(parent)) => Some((parent.clone(), node)),
                        _ => continue,
                    }
                }
                Some(Err(_)) => continue,
            };
            parts.push(Part { frame: frame.id.clone(), tree, owner });
        }
        let rendered = axtree::render(&parts, &mut self.bids);
        Ok(Observation {
            url: frames.first().map(|frame| frame.url.clone()).unwrap_or_default(),
            title: title?.as_str().unwrap_or_default().to_owned(),
            axtree: rendered.text,
            focused: rendered.focused,
            last_action_error: self.last_action_error.clone(),
            tabs: tabs?,
            active_tab,
            elements: rendered.elements,
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
