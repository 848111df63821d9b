#![doc = include_str!("../../SETTINGS.md")]
//!
//! # How it is built
//!
//! ```text
//! presets/*.yaml ─┐
//! your own file ──┴> Settings ─> an agent ─> templates/*.jinja filled in ─> LlmClient ─> model
//! ```
//!
//! - [`Settings`] name the agent, the settings of its paper, and the model. Each file in `presets/`
//!   is one.
//! - A template holds all messages of one prompt, in our own words. A folder of the user may
//!   replace templates.
//! - `LlmClient` fills in a template, keeps it within the token budget, calls the model and records
//!   the call.
//! - Each other file is one agent: its observation format, its prompts, and how it reads replies.
//!
//! An agent returns the model's text in the dialect that the model was told to use. So an
//! unreadable reply is a failed step of the model, as in the paper.

mod client;
mod closed_book;
mod form;
mod generic;
mod react;
mod retrieval;
mod see_act;
mod server;
mod settings;
mod template;
mod webarena;

use std::sync::Arc;

use client::LlmClient;
use llm_client::Model;
pub use server::ServerError;
pub use settings::{AgentSettings, ModelSettings, PRESETS, Settings, SettingsError};
use tasks::Task;
pub use template::{TEMPLATES, TemplateError, Templates};

use crate::Agent;

/// Creates an agent for one episode of the task. `repeat` counts from 1.
pub(crate) fn agent(
    settings: &Settings,
    templates: &Arc<Templates>,
    model: &Model,
    task: &Task,
    repeat: u32,
) -> Box<dyn Agent> {
    let client =
        LlmClient::new(model.clone(), &settings.model, templates.clone(), repeat.saturating_sub(1));
    match &settings.agent {
        AgentSettings::WebArena(settings) => {
            Box::new(webarena::WebArena::new(settings.clone(), client))
        }
        AgentSettings::React(settings) => {
            Box::new(react::React::new(settings.clone(), client, task.scorer.node_texts()))
        }
        AgentSettings::SeeAct(settings) => Box::new(see_act::SeeAct::new(settings.clone(), client)),
        AgentSettings::Generic(settings) => {
            Box::new(generic::Generic::new(settings.clone(), client))
        }
        AgentSettings::Form(settings) => Box::new(form::Form::new(settings.clone(), client)),
        AgentSettings::ClosedBook(settings) => {
            Box::new(closed_book::ClosedBook::new(settings.clone(), client))
        }
        AgentSettings::Retrieval(settings) => {
            Box::new(retrieval::Retrieval::new(settings.clone(), client))
        }
    }
}
