//! Elements of `sandbox annotate` that no selector of the document finds alone: in shadow roots,
//! and in frames that show one URL.

use anyhow::{Result, ensure};
use serde_json::json;

use crate::annotator::{Annotator, plays, site, yaml};
use crate::harness::Bench;

const START: &str = "http://frames.test/";
const OUTER: &str = "<!doctype html><title>Outer</title><link rel='icon' href='data:,'>
<div id='card'></div><div id='other'></div>
<iframe src='/inner'></iframe><iframe src='/inner'></iframe>
<script>
    for (const id of ['card', 'other']) {
        const root = document.getElementById(id).attachShadow({ mode: 'open' });
        root.innerHTML = `<label>City <input></label><button>Go</button>
            <div class='box' style='width: 9em; cursor: pointer'>Plain</div><section></section>`;
        root.querySelector('button').onclick = event => { event.target.textContent = root.querySelector('input').value; };
        root.querySelector('.box').onclick = () => { document.body.dataset[id] = 1; };
        const inner = root.querySelector('section').attachShadow({ mode: 'open' });
        inner.innerHTML = `<label>Street <input></label>`;
    }
</script>";
const INNER: &str = "<!doctype html><title>Inner</title>
<label>Name <input name='who'></label>
<div class='box' style='width: 9em'>Plain</div><button>Save</button>
<script>
    document.querySelector('.box').onclick = event => { event.target.textContent = 'Clicked'; };
    document.querySelector('button').onclick = event => {
        event.target.textContent = document.querySelector('input').value;
        location.hash = 'saved';
        // Nothing but what was done in the second frame leads there.
        const place = [0, 1].find(place => parent.frames[place] === window);
        if (document.querySelector('.box').textContent === 'Clicked') parent.location.href = `/done-${place}`;
    };
</script>";

/// An element in the shadow root of the second host.
fn in_root(selector: &str) -> String {
    format!("document.querySelector('#other').shadowRoot.querySelector('{selector}')")
}

/// An element of the second frame.
fn in_frame(selector: &str) -> String {
    format!("document.querySelectorAll('iframe')[1].contentDocument.querySelector('{selector}')")
}

#[tokio::test(flavor = "multi_thread")]
async fn elements_of_shadow_roots_and_of_like_frames_are_found_by_the_solution() -> Result<()> {
    let bench = Bench::new()?;
    let server = site(&[("/", OUTER), ("/inner", INNER)]).await?;
    let suite = bench.path("frames");
    let live = server.as_live_web();
    let begin = [START, "--id", "frames", "-o", suite.as_str(), &live];
    let mut annotator = Annotator::start(&bench, &begin, START).await?;
    let person = &mut annotator.person;
    person.until(&format!("!!({})", in_frame("button"))).await?;
    person.click(&in_root("input")).await?;
    person.type_text("Alton").await?;
    person.click(&in_root("button")).await?;
    person.click(&in_root(".box")).await?;
    person.until("document.body.dataset.other === '1'").await?;
    let street = "document.querySelector('#other').shadowRoot.querySelector('section').shadowRoot.querySelector('input')";
    person.click(street).await?;
    person.type_text("Ferry Square").await?;
    person.click(&in_frame("input")).await?;
    person.type_text("Ada").await?;
    person.click(&in_frame(".box")).await?;
    person.until(&format!("{}.textContent === 'Clicked'", in_frame(".box"))).await?;
    person.click(&in_frame("button")).await?;
    person.until("location.pathname === '/done-1'").await?;
    annotator.steps(7).await?;
    let problems =
        annotator.panel.evaluate("view.steps.flatMap(step => step.problems).join()").await?;
    ensure!(problems == "", "{problems}");
    annotator.write("#goal", "Write where Ada lives.").await?;
    for step in [1, 4, 5] {
        annotator.mark(step, "element_value_exactly_match").await?;
    }
    annotator.mark(6, "element_path_exactly_match").await?;
    annotator.mark(7, "url_included_match").await?;
    let reached = annotator.reached().await?;
    ensure!(reached == ["reached"; 5], "{reached:?}");
    let problems = annotator
        .panel
        .evaluate("view.steps.flatMap(step => step.nodes.flatMap(node => node.problems)).join()")
        .await?;
    ensure!(problems == "", "{problems}");
    annotator.save().await?;
    let task = yaml(&suite.join("frames.yaml"))?;
    let steps = &task["oracle"];
    ensure!(
        steps[0]["fill"]
            == json!({ "role": "textbox", "name": "City", "nth": 1, "value": "Alton" }),
        "{steps:#}"
    );
    ensure!(
        steps[4]["fill"] == json!({ "role": "textbox", "name": "Name", "nth": 1, "value": "Ada" }),
        "{steps:#}"
    );
    ensure!(steps[2]["click"]["name"] == "#other >> div", "{steps:#}");
    ensure!(steps[5]["click"]["name"] == "iframe:nth-of-type(2) >> div", "{steps:#}");
    plays(&bench, &suite, 1)
}
