//! Observations: what an agent sees.

use std::collections::HashMap;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::cdp::connection::CALL_TIMEOUT;
use crate::cdp::tracker::Page;
use crate::clock::liveness::TimeLimit;
use crate::clock::virtual_time;
use crate::formats::{html, prune, turkingbench, visualwebarena, webarena, webcanvas};
use crate::observe::bounds;
use crate::trees::axtree::{self, AxNode, AxTree, FrameTree};
use crate::trees::bounds::{LONGEST_TEXT, cut_all};
use crate::trees::dom_snapshot::{self, DomSnapshot};
use crate::trees::frames::Frame;
use crate::trees::{axtree_object, node_numbers, properties};
use crate::{
    ElementBox, Error, Field, Html, Observation, ObservationOptions, Properties, Session, Tab,
};

const TREE: &str = "Accessibility.getFullAXTree";

/// A frame's tree, and its raw form if that is needed.
type RawTree = (AxTree, Option<Box<RawValue>>);

/// The trees of a page, read while the bids are written in its elements.
#[derive(Debug)]
struct MarkedPage {
    trees: Vec<Result<RawTree, Error>>,
    measured: Vec<(String, f64, bool)>,
    boxes: HashMap<String, ElementBox>,
    snapshot: Option<Box<RawValue>>,
    visible_elements: Vec<visualwebarena::PageElement>,
}

impl Session {
    /// Observes the active page. The page's time does not move meanwhile.
    pub async fn observe(&mut self) -> Result<Observation, Error> {
        self.observe_with(&ObservationOptions::default()).await
    }

    /// Observes the active page in the given formats.
    pub async fn observe_with(
        &mut self,
        options: &ObservationOptions,
    ) -> Result<Observation, Error> {
        let (page, active_tab, started_count) = {
            let state = self.tracker.lock();
            let page = state.active()?;
            let place = state.pages.iter().position(|open| open.session == page.session);
            (page, place.unwrap_or_default(), state.started_count)
        };
        let (frames, focused) = self.write_marks(&page, options.needs_properties()).await?;
        let marked = self.read_marked_page(&page, &frames, options).await;
        // Also after a failure: a page must never see its marks.
        let (erased, tabs) = tokio::join!(self.erase_marks(&page, &frames), self.tabs());
        erased?;
        let (tabs, marked) = (tabs?, marked?);
        let notices = self.notices(&page, &frames).await?;
        let title = tabs.get(active_tab).map(|tab| tab.title.clone()).unwrap_or_default();
        let snapshot = marked.snapshot.as_deref().map(DomSnapshot::read).transpose()?;
        let places = snapshot.as_ref().map(DomSnapshot::node_bounds).unwrap_or_default();
        let properties = properties::of(marked.measured, &places);
        let known: HashMap<String, Properties> = properties.iter().cloned().collect();
        let (parts, raw) = parts(&frames, marked.trees)?;
        let text = options.axtree.clone().unwrap_or_default();
        let writer = axtree::TreeWriter { text: &text, properties: &known, bids: &mut self.bids };
        let rendered = axtree::render(&parts, writer);
        let mut placed = marked.boxes;
        let bids = rendered.elements.iter().map(|element| &element.bid);
        let boxes = bids.filter_map(|bid| placed.remove_entry(bid)).collect();
        let mut axtree_object =
            options.axtree_object.then(|| axtree_object::merge(&parts, &raw, &self.bids));
        let mut dom =
            marked.snapshot.as_deref().filter(|_| options.dom).map(dom_snapshot::without_marks);
        node_numbers::renumber(dom.as_mut(), axtree_object.as_mut());
        let window = self.launch.device.viewport;
        let webarena = options.webarena.as_ref().map(|options| {
            let source = webarena::Source {
                parts: &parts,
                places: &places.nodes,
                window,
                tabs: &tabs,
                active_tab,
            };
            webarena::write(&source, options, &mut self.bids)
        });
        let pruned = options.pruned_html.as_ref().zip(snapshot.as_ref());
        let pruned_html = pruned.map(|(options, snapshot)| prune::write(snapshot, &known, options));
        let canvas = snapshot.as_ref().filter(|_| options.webcanvas);
        let webcanvas = canvas.map(|snapshot| webcanvas::write(snapshot, &title));
        let mut observation = Observation {
            url: frames.first().map(|frame| frame.url.clone()).unwrap_or_default(),
            title,
            axtree: rendered.text,
            focused,
            last_action: self.last_action.clone(),
            last_action_error: self.last_action_error.clone(),
            dialogs: self.dialogs(),
            downloads: self.downloads(),
            notices,
            tabs,
            active_tab,
            elapsed_ms: self.elapsed_ms(),
            elements: rendered.elements,
            boxes,
            properties: if options.properties { properties } else { Vec::new() },
            webarena,
            visualwebarena: options
                .visualwebarena
                .then(|| visualwebarena::write(&marked.visible_elements, window).0),
            webcanvas,
            turkingbench: if options.turkingbench {
                Some(self.fields(&page, &frames).await?)
            } else {
                None
            },
            html: if options.html { Some(self.html(&page, &frames).await?) } else { None },
            pruned_html,
            dom,
            axtree_object,
        };
        // Last of what asks the page: reading may have made it request something, such as a font.
        self.drain_since(&page, started_count).await?;
        self.blobs.number(&mut observation);
        bounds::bound(&mut observation);
        Ok(observation)
    }

    /// Waits for requests that an observation has caused, such as the font of a text that is laid
    /// out only for it. Otherwise their responses would come at a random later time.
    /// `started_count` is the count of started requests before the observation.
    pub(crate) async fn drain_since(&self, page: &Page, started_count: u64) -> Result<(), Error> {
        if self.frozen().is_none() {
            return Ok(());
        }
        self.liveness_wait(page, TimeLimit::after(CALL_TIMEOUT)).ping_page().await?;
        if self.tracker.lock().started_count == started_count {
            return Ok(());
        }
        let in_flight = self.launch.in_flight.clone().unwrap_or_default();
        self.drain_within(&in_flight, CALL_TIMEOUT).await
    }

    async fn read_marked_page(
        &self,
        page: &Page,
        frames: &[Frame],
        options: &ObservationOptions,
    ) -> Result<MarkedPage, Error> {
        if options.needs_properties() {
            self.present_frame(self.liveness_wait(page, TimeLimit::after(CALL_TIMEOUT))).await?;
        }
        let measuring = async {
            if options.needs_properties() {
                self.measure(page, frames).await
            } else {
                Ok(Vec::new())
            }
        };
        let snapshotting = async {
            if options.needs_snapshot() {
                Some(self.snapshot(page, options.dom).await).transpose()
            } else {
                Ok(None)
            }
        };
        let listing = async {
            if options.visualwebarena { self.visible_elements(page).await } else { Ok(Vec::new()) }
        };
        let tree = async |frame: &Frame| {
            let params = json!({ "frameId": frame.id });
            if !options.axtree_object {
                return Ok((self.cdp().call_as(Some(&page.session), TREE, params).await?, None));
            }
            let raw: Box<RawValue> = self.cdp().call_as(Some(&page.session), TREE, params).await?;
            let shape = |_| Error::Shape { method: TREE, field: "nodes" };
            Ok((serde_json::from_str(raw.get()).map_err(shape)?, Some(raw)))
        };
        let trees = frames.iter().map(tree);
        let trees = futures_util::future::join_all(trees);
        // All at once, so that the page works on one while we parse another.
        let (measured, boxes, snapshot, visible_elements, trees) =
            tokio::join!(measuring, self.boxes(page, frames), snapshotting, listing, trees);
        Ok(MarkedPage {
            trees,
            measured: measured?,
            boxes: boxes?,
            snapshot: snapshot?,
            visible_elements: visible_elements?,
        })
    }

    /// The elements that VisualWebArena looks for on a page.
    pub(crate) async fn visible_elements(
        &self,
        page: &Page,
    ) -> Result<Vec<visualwebarena::PageElement>, Error> {
        let script = format!("{}({})", visualwebarena::ELEMENTS, crate::trees::marks::script());
        let mut visible_elements =
            self.evaluate_isolated(page, &page.target, &script, CALL_TIMEOUT).await?;
        cut_all(&mut visible_elements, LONGEST_TEXT);
        serde_json::from_value(visible_elements)
            .map_err(|_| Error::Shape { method: "Runtime.evaluate", field: "the elements in view" })
    }

    async fn fields(&self, page: &Page, frames: &[Frame]) -> Result<Vec<Field>, Error> {
        let mut fields: Vec<Field> = Vec::new();
        for (_, found) in self.evaluate_in_frames(page, frames, turkingbench::FIELDS).await? {
            let found: Vec<turkingbench::FieldRecord> = serde_json::from_value(found)
                .map_err(|_| Error::Shape { method: "Runtime.evaluate", field: "the fields" })?;
            for field in found.into_iter().map(turkingbench::FieldRecord::into_field) {
                if !fields.iter().any(|known| known.name == field.name) {
                    fields.push(field);
                }
            }
        }
        Ok(fields)
    }

    async fn html(&self, page: &Page, frames: &[Frame]) -> Result<Vec<Html>, Error> {
        let documents = self.evaluate_in_frames(page, frames, html::HTML).await?;
        let shown = documents.into_iter().map(|(frame, html)| Html {
            frame: frame.prefix.clone().unwrap_or_default(),
            url: frame.url.clone(),
            html: html.as_str().unwrap_or_default().to_owned(),
        });
        Ok(shown.collect())
    }

    /// Evaluates an expression in the page and in each of its marked frames.
    pub(super) async fn evaluate_in_frames<'a>(
        &self,
        page: &Page,
        frames: &'a [Frame],
        expression: &str,
    ) -> Result<Vec<(&'a Frame, Value)>, Error> {
        let mut values = Vec::new();
        for frame in frames.iter().filter(|frame| frame.prefix.is_some()) {
            match self.evaluate_isolated(page, &frame.id, expression, CALL_TIMEOUT).await {
                Ok(value) => values.push((frame, value)),
                // The frame has just gone.
                Err(Error::Refused { .. }) if frame.parent.is_some() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(values)
    }

    fn elapsed_ms(&self) -> u64 {
        let state = self.tracker.lock();
        // In attach mode the pages' time runs with the machine's.
        match self.frozen() {
            Some(determinism) => virtual_time::elapsed(determinism, state.page_clock),
            None => state.started_at.map_or(0, |started_at| {
                started_at.elapsed().as_millis().try_into().unwrap_or(u64::MAX)
            }),
        }
    }

    async fn tabs(&self) -> Result<Vec<Tab>, Error> {
        let pages = self.tracker.lock().pages.clone();
        let tab = async |page: &Page| {
            let params = json!({ "targetId": page.target });
            let (info, title) = tokio::join!(
                self.cdp().call(Some(&page.session), "Target.getTargetInfo", params),
                self.evaluate_isolated(page, &page.target, "document.title", CALL_TIMEOUT),
            );
            let url = info?
                .pointer("/targetInfo/url")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned();
            Ok(Tab { url, title: title?.as_str().unwrap_or_default().to_owned() })
        };
        futures_util::future::try_join_all(pages.iter().map(tab)).await
    }
}

/// The trees with their owners, and their raw forms.
fn parts(
    frames: &[Frame],
    trees: Vec<Result<RawTree, Error>>,
) -> Result<(Vec<FrameTree>, Vec<Box<RawValue>>), Error> {
    let (mut parts, mut all_raw) = (Vec::with_capacity(frames.len()), Vec::new());
    for (frame, tree) in frames.iter().zip(trees) {
        let owner = frame.parent.clone().zip(frame.owner);
        let (mut tree, raw) = match tree {
            Ok(tree) => tree,
            // The frame has just gone.
            Err(Error::Refused { .. }) if frame.parent.is_some() => continue,
            Err(error) => return Err(error),
        };
        if frame.parent.is_some() && owner.is_none() {
            continue;
        }
        tree.nodes.iter_mut().for_each(AxNode::bound);
        parts.push(FrameTree {
            frame: frame.id.clone(),
            prefix: frame.prefix.clone(),
            tree,
            owner,
        });
        all_raw.extend(raw);
    }
    Ok((parts, all_raw))
}
