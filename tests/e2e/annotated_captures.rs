//! A task is annotated in a real capture, and its oracle plays it there.
//!
//! Needs `SANDBOX_CAPTURES`, the folder of captures; `make conformance` sets it.

#![allow(dead_code, reason = "the tests beside this one need the rest")]

mod annotator;
mod chromium;
mod client;
mod devtools;
mod harness;
mod process_tree;
mod server;

use anyhow::{Context as _, Result, ensure};
use camino::Utf8PathBuf;

use crate::annotator::{Annotator, plays, yaml};
use crate::harness::Bench;

const CAPTURE: &str = "sanjari-orb+warc-bench/web_archives/triwest/triwest.wacz";
const FIELD: &str = "Federal Tax ID";

#[tokio::test(flavor = "multi_thread")]
async fn a_form_of_a_real_capture_becomes_a_task_that_the_oracle_plays() -> Result<()> {
    let folder = std::env::var("SANDBOX_CAPTURES")
        .context("SANDBOX_CAPTURES is not set: run `make conformance SHARED=<folder>`")?;
    let capture = Utf8PathBuf::from(folder).join(CAPTURE);
    let bench = Bench::new()?;
    let suite = bench.path("captured");
    let mut annotator =
        Annotator::start(&bench, &[capture.as_str(), "--id", "form", "-o", suite.as_str()], "://")
            .await?;
    let field = format!(
        "[...document.querySelectorAll('input')].find(field => field.computedName === '{FIELD}' && field.checkVisibility())"
    );
    annotator.person.click(&field).await?;
    annotator.person.type_text("000116666").await?;
    annotator.person.press("Tab").await?;
    annotator.steps(1).await?;
    // The click into the field becomes a part of filling it in.
    annotator.panel.until("view.steps[0].kind === 'fill'").await?;
    annotator.write("#goal", "Enter 000116666 as the Federal Tax ID.").await?;
    annotator.mark(1, "element_value_exactly_match").await?;
    ensure!(annotator.reached().await? == ["reached"], "{:?}", annotator.reached().await?);
    annotator.save().await?;
    let task = yaml(&suite.join("form.yaml"))?;
    ensure!(task["oracle"][0]["fill"]["name"] == FIELD, "{task:#}");
    plays(&bench, &suite, 1)
}
