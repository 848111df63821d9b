//! Tasks in VisualWebArena's form, on pages with pictures: imported, played, and scored in tabs of
//! their own.

use std::fs;

use anyhow::{Result, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::harness::Bench;

/// 16 by 16 grey points each: a chessboard, and a slope.
const BOARD: &str = "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAAAAAA6mKC9AAAAGUlEQVR42mNgAIL/QIBMkypAqX4YGATuAADA/X+BdAueyAAAAABJRU5ErkJggg==";
const SLOPE: &str = "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAAAAAA6mKC9AAAAHUlEQVR42mNgEFAwcAhIKGiYsGDDgQsPPjCMbAEAcLJ4AXkQ53sAAAAASUVORK5CYII=";

/// An album of two pages, each with a picture.
fn album(bench: &Bench) -> Result<()> {
    let pages = bench.path("pages");
    fs::create_dir_all(&pages)?;
    let page = |title: &str, picture: &str| {
        format!(
            "<title>{title}</title><h1>{title}</h1><img class=photo src={picture}.png><a href=slope.html>Slope</a>"
        )
    };
    fs::write(pages.join("board.html"), page("Board", "board"))?;
    fs::write(pages.join("slope.html"), page("Slope", "slope"))?;
    fs::write(pages.join("board.png"), STANDARD.decode(BOARD)?)?;
    fs::write(pages.join("slope.png"), STANDARD.decode(SLOPE)?)?;
    let site = bench.path("sites/album");
    fs::create_dir_all(&site)?;
    let manifest = format!(
        "title: Album\nabout: Two pictures.\ndriver: embedded\nembedded: {{static: \"{pages}\"}}\nhosts: [album.test]\n\
         ready:\n  board: {{get: /board.html, status: 200}}\nreset: never\n"
    );
    Ok(fs::write(site.join("site.yaml"), manifest)?)
}

/// Go to the page of the slope: by the address, by what another page says, and by the picture of
/// the page that is open.
fn file() -> Value {
    json!([{
        "sites": ["reddit"], "task_id": 3, "require_login": false, "storage_state": null, "start_url": "__REDDIT__/board.html",
        "geolocation": null, "viewport_size": { "width": 1280 }, "intent_template": "x", "instantiation_dict": {},
        "intent": "Show me the slope", "image": null, "require_reset": false, "intent_template_id": 7,
        "reasoning_difficulty": "easy", "visual_difficulty": "easy", "overall_difficulty": "easy", "comments": "",
        "eval": {
            "eval_types": ["url_match", "program_html", "page_image_query"],
            "reference_url": "__REDDIT__/slope.html", "url_note": "EXACT",
            "program_html": [
                { "url": "last", "locator": "func:get_query_text(__page__, 'h1')", "required_contents": { "exact_match": "Slope" } },
                { "url": "__REDDIT__/board.html", "locator": "lambda:(() => document.title)", "required_contents": { "exact_match": "Board" } },
            ],
            "page_image_query": [{ "eval_image_url": "last", "eval_image_class": ".photo", "eval_fuzzy_image_match": "__REDDIT__/slope.png" }],
        },
    }])
}

#[test]
fn pages_and_pictures_decide() -> Result<()> {
    let bench = Bench::new()?;
    album(&bench)?;
    let (json, suite) = (bench.path("tasks.json"), bench.path("suite"));
    fs::write(&json, file().to_string())?;
    let sites = format!("--sites={}", bench.path("sites"));
    let place = "--site=reddit=album,http://album.test";
    let import = [
        "tasks",
        "import",
        "visualwebarena",
        json.as_str(),
        &sites,
        place,
        "--output",
        suite.as_str(),
    ];
    let said = bench.succeed(&import)?;
    ensure!(said.contains("1 task,"), "{said}");
    let task = suite.join("visualwebarena-3.yaml");
    let steps = "oracle:\n- click: {role: link, name: Slope}\n- answer: done\nwrong_solution:\n- answer: done\n";
    fs::write(&task, fs::read_to_string(&task)? + steps)?;
    let said = bench.succeed(&["tasks", "check", suite.as_str()])?;
    ensure!(said.contains("1 solution") && said.contains("1 wrong solution"), "{said}");

    // The picture alone tells, too: the address and the words are right, and it is another.
    let text = fs::read_to_string(&task)?.replace("/slope.png", "/board.png");
    fs::write(&task, text)?;
    let out = bench.path("run");
    let run = bench.succeed(&[
        "run",
        suite.as_str(),
        "--agent=oracle",
        "--json",
        "--output",
        out.as_str(),
    ])?;
    let summary: Value = serde_json::from_str(&run)?;
    ensure!(summary["score"] == 0.0 && summary["errors"] == 0, "{summary:#}");
    Ok(())
}
