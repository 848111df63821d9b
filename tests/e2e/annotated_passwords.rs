//! A form that sends a password in its address, under `sandbox annotate`.

use anyhow::{Context as _, Result, ensure};

use crate::annotator::{Annotator, holds_nowhere, named, selected, site, yaml};
use crate::harness::Bench;

const START: &str = "http://login.test/";
const FORM: &str =
    "<!doctype html><meta charset='utf-8'><title>Log in</title><link rel='icon' href='data:,'>
<form action='/done' method='get'><label>Who <input name='who'></label>
<label>Password <input type='password' name='pw'></label><button>Send</button></form>";
const DONE: &str =
    "<!doctype html><meta charset='utf-8'><title>Done</title><link rel='icon' href='data:,'>
<p id='shown'></p><a id='next'>Next</a>
<script>
    shown.textContent = decodeURIComponent(location.search);
    next.href = `/next?from=${encodeURIComponent(location.href)}`;
</script>";

#[tokio::test(flavor = "multi_thread")]
async fn a_password_in_an_address_is_in_no_step_and_no_file() -> Result<()> {
    let bench = Bench::new()?;
    let server = site(&[("/", FORM), ("/done", DONE)]).await?;
    let suite = bench.path("login");
    let live = server.as_live_web();
    let begin = [START, "--id", "login", "-o", suite.as_str(), &live];
    let mut annotator = Annotator::start(&bench, &begin, START).await?;
    annotator.person.click(&selected("input[name=who]")).await?;
    annotator.person.type_text("Ada").await?;
    annotator.person.click(&selected("input[name=pw]")).await?;
    annotator.person.type_text("q&z u'7").await?;
    annotator.person.press("Enter").await?;
    annotator.person.until("location.search === '?who=Ada&pw=q%26z+u%277'").await?;
    annotator.person.click(&named("Next")).await?;
    annotator
        .person
        .until("location.pathname === '/next' && location.search.includes('q%2526z')")
        .await?;
    annotator.steps(4).await?;
    let led =
        annotator.panel.until("view.steps[3].url_after.includes('/next?from=PASSWORD')").await;
    let steps =
        annotator.panel.evaluate("view.steps.map(step => [step.kind, step.url_after])").await?;
    led.with_context(|| format!("{steps:#}"))?;
    let led = annotator.panel.evaluate("view.steps[2].url_after").await?;
    ensure!(led == "http://login.test/done?who=Ada&pw=PASSWORD", "{led}");
    annotator.write("#goal", "Log in as Ada.").await?;
    annotator.mark(3, "url_exactly_match").await?;
    annotator.mark(4, "element_path_exactly_match").await?;
    let reached = annotator.reached().await?;
    ensure!(reached == ["reached", "reached"], "{reached:?}");
    let spellings = ["q&z", "q&amp;z", "q%26z", "q%2526z", "z+u", "z%20u", "z%2Bu", "z u"];
    for spelling in spellings {
        holds_nowhere(&suite.join(".annotate"), spelling)?;
    }
    annotator.save().await?;
    for file in ["login.yaml", "mind2web-live.json"] {
        let text = std::fs::read_to_string(suite.join(file))?;
        ensure!(text.contains("PASSWORD"), "{text}");
        ensure!(!spellings.iter().any(|spelling| text.contains(spelling)), "{text}");
    }
    let task = yaml(&suite.join("login.yaml"))?;
    ensure!(task["oracle"][1]["fill"]["value"] == "PASSWORD", "{task:#}");
    Ok(())
}
