#![doc = include_str!("../../SETTINGS.md")]
//!
//! # How it is built
//!
//! ```text
//! presets/*.yaml ──┐
//! a file of yours ─┴─> Settings ──> an agent ──> templates/*.jinja filled in ──> Asker ──> model
//! ```
//!
//! - [`Settings`] say which agent it is, what its paper sets, and how its model is asked; each file in `presets/` is one.
//! - A template is all messages of one prompt, in our own words; a folder of the user's may hold others in their place.
//! - `LlmClient` fills a template in, keeps it within the model's budget, asks, and notes what it took.
//! - Each further file is one agent: what it looks at, what it asks, and what it makes of the reply.
//!
//! An agent returns a model's words in the notation that the model was told to use, so that a reply that cannot be read is the model's failed step
//! and counts as the paper counts it.

mod client;
mod closed_book;
mod form;
mod generic;
mod react;
mod retrieval;
mod see_act;
mod settings;
mod template;
mod webarena;

use std::sync::Arc;

use models::Model;
use scoring::Scorer;
use tasks::Task;

pub use settings::{AgentSettings, ModelSettings, PRESETS, Settings, SettingsError};
pub use template::{TEMPLATES, TemplateError, Templates};

use crate::Agent;
use client::LlmClient;

/// An agent for one episode of the task. `repeat` counts from 1.
pub(crate) fn agent(
    settings: &Settings,
    templates: &Arc<Templates>,
    model: &Model,
    task: &Task,
    repeat: u32,
) -> Box<dyn Agent> {
    let client = LlmClient::new(model.clone(), &settings.model, templates.clone(), repeat.saturating_sub(1));
    match &settings.agent {
        AgentSettings::WebArena(settings) => Box::new(webarena::WebArena::new(settings.clone(), client)),
        AgentSettings::React(settings) => {
            Box::new(react::React::new(settings.clone(), client, key_nodes(&task.scorer)))
        }
        AgentSettings::SeeAct(settings) => Box::new(see_act::SeeAct::new(settings.clone(), client)),
        AgentSettings::Generic(settings) => Box::new(generic::Generic::new(settings.clone(), client)),
        AgentSettings::Form(settings) => Box::new(form::Form::new(settings.clone(), client)),
        AgentSettings::ClosedBook(settings) => {
            Box::new(closed_book::ClosedBook::new(settings.clone(), client))
        }
        AgentSettings::Retrieval(settings) => Box::new(retrieval::Retrieval::new(settings.clone(), client)),
    }
}

/// What a task's scorer wants to see reached, one a line; nothing where it has no such list.
fn key_nodes(scorer: &Scorer) -> Vec<String> {
    match scorer {
        Scorer::Mind2WebLive { nodes } => {
            nodes.iter().filter_map(|node| serde_json::to_string(node).ok()).collect()
        }
        _ => Vec::new(),
    }
}
