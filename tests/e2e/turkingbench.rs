//! Tasks in TurkingBench's form: a folder as the benchmark has it, imported, played and scored.

use std::fs;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::harness::{Bench, text};

/// A field of every type, the button that sends the form among them. One button is clipped, so that
/// only its label is seen, and one is ticked by a label in front of it, which says that it is for
/// something else. The comment comes up with the box above it, the script of another host puts a
/// field in, and one field nobody sees.
const TEMPLATE: &str = r#"<p>About a ${thing}.</p>
<input type="text" name="word"> <textarea name="story"></textarea>
<label><input type="radio" name="size" value="1">small</label> <label for="2" onclick="this.firstChild.checked = true"><input type="radio" name="size" value="2" style="pointer-events: none">large</label>
<input type="checkbox" name="colours" value="red"> <input type="checkbox" name="colours" value="blue">
<input type="checkbox" name="sure">
<select name="kind"><option value=""></option><option value="a">A</option><option value="b">B</option></select>
<input type="range" name="much" min="0" max="100" value="50">
<input type="hidden" name="secret" value="">
<p id="more" style="display: none"><input type="text" name="comment"></p>
<p id="outside"></p>
<label><input type="radio" name="fit" value="True" style="position: absolute; clip: rect(0 0 0 0); width: 1px; height: 1px">fits</label>
<label><input type="radio" name="fit" value="False" style="position: absolute; clip: rect(0 0 0 0); width: 1px; height: 1px">does not</label>
<input type="submit" name="timer" value="Submit">
<script>document.querySelector('[name=sure]').onchange = event => { more.style.display = event.target.checked ? '' : 'none'; };</script>
<script src="http://cdn.test/field.js"></script>"#;

/// Three workers on the first instance, one on the second.
const BATCH: &str = "thing,Answer.word,Answer.story,Answer.size,Answer.colours,Answer.comment,Answer.sure,Answer.kind,Answer.much,Answer.secret,Answer.late,Answer.ee,Answer.fit,Answer.timer
boat,sail,It went away.,2,red|blue,fine,on,b,70,x,3,1,TRUE,21
boat,mast,It came back.,2,blue,{},on,a,80,x,3,1,TRUE,34
boat,{},,1,red|blue,{},on,b,90,x,4,1,TRUE,55
bird,wing,It sang.,1,red,,,a,10,y,,1,FALSE,89
";

const FIELD: &str = "outside.innerHTML = '<input type=radio name=late value=3><input type=radio name=late value=4>';";

/// The benchmark's repository, and beside it the files of another host.
pub(crate) fn ground(bench: &Bench) -> Result<()> {
    let task = bench.path("bench/tasks/Boats and birds");
    fs::create_dir_all(&task)?;
    fs::write(task.join("template.html"), TEMPLATE)?;
    fs::write(task.join("batch.csv"), BATCH)?;
    let splits = bench.path("bench/data/splits");
    fs::create_dir_all(&splits)?;
    for (split, names) in [
        ("evaluation_tasks_easy", "Boats and birds\nElsewhere"),
        ("evaluation_tasks_hard", ""),
        ("subjective_evaluation_tasks", ""),
    ] {
        fs::write(splits.join(format!("{split}.txt")), names)?;
    }
    fs::create_dir_all(bench.path("vendor/cdn.test"))?;
    Ok(fs::write(bench.path("vendor/cdn.test/field.js"), FIELD)?)
}

pub(crate) fn import(bench: &Bench, output: &str, more: &[&str]) -> Result<String> {
    let (folder, output) = (bench.path("bench"), bench.path(output));
    let mut arguments =
        vec!["tasks", "import", "turkingbench", folder.as_str(), "--output", output.as_str()];
    arguments.extend(more);
    bench.succeed(&arguments)
}

#[test]
fn solutions_earn_all_and_doing_nothing_what_is_right_untouched() -> Result<()> {
    let bench = Bench::new()?;
    ground(&bench)?;
    let vendor = bench.path("vendor");
    let said = import(&bench, "suite", &["--split=easy", "--vendor", vendor.as_str()])?;
    ensure!(
        said.contains("2 instances of 1 task,") && said.contains("left out Elsewhere"),
        "{said}"
    );
    ensure!(!said.contains("cdn.test"), "{said}");
    let suite = bench.path("suite");
    let said = bench.succeed(&["tasks", "check", suite.as_str()])?;
    ensure!(said.contains("2 solutions") && said.contains("0 wrong solutions"), "{said}");

    let out = bench.path("out");
    let run = [
        "run",
        suite.as_str(),
        "--agent=noop",
        "--repeat=2",
        "--check",
        "--json",
        "--output",
        out.as_str(),
    ];
    let summary: Value = serde_json::from_str(&bench.succeed(&run)?)?;
    ensure!(
        summary["deterministic"] == true && summary["errors"] == 0 && summary["passed"] == 0,
        "{summary:#}"
    );
    let record = |task: &str| -> Result<Value> {
        let file = out.join(format!("episodes/turkingbench-boats-and-birds-{task}-1/episode.json"));
        Ok(serde_json::from_str(&fs::read_to_string(file)?)?)
    };
    // Of nine fields only the slider is right; of the other instance's, too, and the box that
    // nobody ticked, and `late`, which nobody answered there.
    let (first, second) = (record("0")?, record("1")?);
    ensure!(first["score"] == 1.0 / 9.0, "{first:#}");
    ensure!(second["score"] == 3.0 / 9.0, "{second:#}");
    Ok(())
}

#[test]
fn a_form_that_is_sent_ends_the_episode_and_counts() -> Result<()> {
    let bench = Bench::new()?;
    ground(&bench)?;
    let said = import(&bench, "suite", &["--rows=1", "--task=Boats and birds"])?;
    ensure!(said.contains("cdn.test"), "{said}");
    let file = bench.path("suite/turkingbench-boats-and-birds-0.yaml");
    let task = fs::read_to_string(&file)?;
    fs::write(
        &file,
        format!(
            "{task}- field: {{name: comment, value: fine}}\n- click: {{role: button, name: Submit}}\n- answer: never\n"
        ),
    )?;
    let (suite, out) = (bench.path("suite"), bench.path("out"));
    let run = ["run", suite.as_str(), "--agent=oracle", "--json", "--output", out.as_str()];
    let summary: Value = serde_json::from_str(&bench.succeed(&run)?)?;
    ensure!(summary["passed"] == 1, "{summary:#}");
    let record =
        fs::read_to_string(out.join("episodes/turkingbench-boats-and-birds-0-1/episode.json"))?;
    let record: Value = serde_json::from_str(&record)?;
    ensure!(record["outcome"]["kind"] == "done" && record["answer"].is_null(), "{record:#}");
    ensure!(record["refused_hosts"] == json!(["cdn.test"]), "{record:#}");
    Ok(())
}

#[test]
fn saved_fields_are_scored_by_task_type_and_split() -> Result<()> {
    let bench = Bench::new()?;
    ground(&bench)?;
    let (folder, file) = (bench.path("bench"), bench.path("saved.jsonl"));
    let score = ["score", "turkingbench", folder.as_str(), "--attempts", file.as_str(), "--json"];
    let whole = json!({"task": "Boats and birds", "row": 0, "fields": {
        "word": "mast", "story": "it went", "size": "2", "colours": ["red", "blue"], "comment": null, "sure": "on", "kind": "a",
        "late": {"type": "radio", "value": "3"}}});
    fs::write(
        &file,
        format!("{whole}\n\n{}\n", json!({"task": "boats-and-birds", "row": 1, "fields": {}})),
    )?;
    let output = bench.run(&score)?;
    ensure!(output.status.success(), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout)?;
    ensure!(report["instances"] == 2 && report["splits"]["easy"]["count"] == 1, "{report:#}");
    let types = &report["types"];
    ensure!(
        types["checkbox"] == json!({"score": 0.75, "count": 4}) && types["range"]["score"] == 1.0,
        "{report:#}"
    );
    ensure!(
        types["select"]["score"] == 0.0 && report["tasks"].as_array().map(Vec::len) == Some(1),
        "{report:#}"
    );

    // "it went" is two of three words of what one of them wrote; the other instance has nothing.
    let stories = types["textarea"]["score"].as_f64().unwrap_or_default();
    ensure!((stories - 0.4).abs() < 1e-9, "{report:#}");

    // A field of a type that the published scorer knows nothing of, and one that it passes over.
    let odd = json!({"task": "Boats and birds", "row": 1, "fields": {"word": {"type": "month", "value": "x"}, "ee": "1"}});
    fs::write(&file, format!("{whole}\n{odd}\n"))?;
    let output = bench.run(&score)?;
    let (report, said): (Value, _) =
        (serde_json::from_slice(&output.stdout)?, text(&output.stderr));
    ensure!(
        output.status.success() && report["instances"] == 1 && report["unscored"] == 1,
        "{report:#}"
    );
    ensure!(said.contains("line 2 of `Boats and birds`"), "{said}");
    Ok(())
}

#[test]
fn tasks_can_be_had_in_turkle_itself() -> Result<()> {
    let bench = Bench::new()?;
    ground(&bench)?;
    let said = import(&bench, "suite", &["--turkle", "--rows=1"])?;
    ensure!(said.contains("/images' hits-turkingbench"), "{said}");
    let lines = fs::read_to_string(
        bench.path("suite/images/hits-turkingbench/load/boats-and-birds.jsonl"),
    )?;
    let lines: Vec<Value> = lines.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    ensure!(lines[0] == json!({ "name": "Boats and birds", "template": TEMPLATE }), "{}", lines[0]);
    ensure!(lines[1..] == [json!({ "id": 1_000_000, "inputs": { "thing": "boat" } })], "{lines:?}");
    let task = fs::read_to_string(bench.path("suite/turkingbench-boats-and-birds-0.yaml"))?;
    ensure!(task.contains("start_url: http://hits.test/task/1000000/iframe/\n"), "{task}");
    ensure!(task.contains("login:\n  hits: worker\n"), "{task}");
    let site = fs::read_to_string(bench.path("suite/sites/hits/site.yaml"))?;
    ensure!(site.contains("\nimage: sandbox/hits-turkingbench:1\n"), "{site}");
    let listed = bench.succeed(&["tasks", "list", bench.path("suite").as_str()])?;
    ensure!(listed.contains("turkingbench-boats-and-birds-0"), "{listed}");
    Ok(())
}
