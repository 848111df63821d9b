//! The formats in which an agent wants its observations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::TreeText;
use crate::formats::prune::PrunedHtml;
use crate::formats::webarena::WebArena;
use crate::observe::screenshot::ScreenshotOptions;

/// What is observed, and how it is written. Each requested format is in the
/// [`Observation`](crate::Observation) under the same name. Other formats are not produced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each stands for a form of its own")]
pub struct ObservationOptions {
    /// BrowserGym's text of the accessibility tree. It is always produced; without it the agent
    /// does not get it.
    pub axtree: Option<TreeText>,
    /// Whether elements have properties: BrowserGym's `extra_element_properties`.
    pub properties: bool,
    /// WebArena's text of the accessibility tree.
    pub webarena: Option<WebArena>,
    /// VisualWebArena's list of interactive elements and texts in view.
    pub visualwebarena: bool,
    /// WebCanvas's list of interactive elements.
    pub webcanvas: bool,
    /// The HTML around each field, as TurkingBench's agents get it.
    pub turkingbench: bool,
    /// The HTML of the documents.
    pub html: bool,
    /// BrowserGym's pruned HTML.
    pub pruned_html: Option<PrunedHtml>,
    /// BrowserGym's `dom_object`: the browser's own snapshot of all documents.
    pub dom: bool,
    /// BrowserGym's `axtree_object`: the browser's own accessibility trees, put together.
    pub axtree_object: bool,
    /// How the screenshot is taken.
    pub screenshot: ScreenshotOptions,
}

impl Default for ObservationOptions {
    fn default() -> Self {
        Self {
            axtree: Some(TreeText::default()),
            properties: false,
            webarena: None,
            visualwebarena: false,
            webcanvas: false,
            turkingbench: false,
            html: false,
            pruned_html: None,
            dom: false,
            axtree_object: false,
            screenshot: ScreenshotOptions::default(),
        }
    }
}

impl ObservationOptions {
    /// Adds the formats of other options. These options decide where both have a format.
    #[must_use]
    pub fn and(self, other: ObservationOptions) -> ObservationOptions {
        ObservationOptions {
            axtree: self.axtree.or(other.axtree),
            properties: self.properties || other.properties,
            webarena: self.webarena.or(other.webarena),
            visualwebarena: self.visualwebarena || other.visualwebarena,
            webcanvas: self.webcanvas || other.webcanvas,
            turkingbench: self.turkingbench || other.turkingbench,
            html: self.html || other.html,
            pruned_html: self.pruned_html.or(other.pruned_html),
            dom: self.dom || other.dom,
            axtree_object: self.axtree_object || other.axtree_object,
            screenshot: self.screenshot,
        }
    }

    /// Whether it needs the properties of elements.
    pub(crate) fn needs_properties(&self) -> bool {
        self.properties
            || self.axtree.as_ref().is_some_and(TreeText::needs_properties)
            || self.pruned_html.as_ref().is_some_and(|pruned| pruned.as_tree().needs_properties())
    }

    /// Whether it needs the browser's snapshot of the page.
    pub(crate) fn needs_snapshot(&self) -> bool {
        let limited = self.webarena.as_ref().is_some_and(|webarena| webarena.viewport_only);
        self.needs_properties()
            || limited
            || self.pruned_html.is_some()
            || self.webcanvas
            || self.dom
    }
}
