//! `sandbox build`.

use anyhow::{Result, ensure};

use crate::harness::{Bench, docker, interrupt, wait_for};

fn id(image: &str) -> Result<String> {
    docker(&["image", "inspect", "--format", "{{.Id}}", image])
}

#[test]
fn an_image_is_built_once_and_again_when_its_folder_changes_or_by_force() -> Result<()> {
    let bench = Bench::new()?;
    bench.recipe("COPY page.txt /page.txt\nRUN read line < /page.txt; echo \"seen $line\" > /seen\nCMD [\"/bin/sh\"]\n")?;
    bench.write("page.txt", "one\n")?;
    let build = |more: &[&str]| bench.ends(0, &[&["build", bench.name()], more].concat());

    let said = build(&[])?;
    ensure!(said.contains(&format!("{}: built in", bench.tag())), "{said}");
    let first = id(&bench.tag())?;
    let print =
        ["run", "--rm", "--network=none", &bench.tag(), "/bin/sh", "-c", "read l < /seen; echo \"$l\""];
    ensure!(docker(&print)? == "seen one");

    let said = build(&[])?;
    ensure!(said.contains("up to date"), "{said}");
    ensure!(id(&bench.tag())? == first);

    bench.write("page.txt", "two\n")?;
    let said = build(&["--json"])?;
    ensure!(said.contains("\"built\": true"), "{said}");
    ensure!(docker(&print)? == "seen two");
    ensure!(id(&first).is_err(), "the replaced image stayed behind without a name");

    let second = id(&bench.tag())?;
    let said = build(&["--force"])?;
    ensure!(said.contains("built in"), "{said}");
    ensure!(id(&bench.tag())? != second);
    Ok(())
}

#[test]
fn a_step_that_fails_is_named_with_what_it_printed() -> Result<()> {
    let bench = Bench::new()?;
    bench.recipe("RUN echo all well\nRUN echo almost there; exit 7\n")?;
    let said = bench.ends(1, &["build", bench.name()])?;
    // The fourth is the label, which the engine adds as a step of its own.
    for part in ["step 3 of 4: RUN echo almost there; exit 7", "code: 7", "\nalmost there"] {
        ensure!(said.contains(part), "{part:?} is not in:\n{said}");
    }
    ensure!(!said.contains("intermediate container"), "the engine's own notes:\n{said}");
    ensure!(!said.contains("all well"), "output of an earlier step:\n{said}");
    ensure!(containers(&bench)?.is_empty());
    Ok(())
}

#[test]
fn an_interrupted_build_leaves_no_container() -> Result<()> {
    let bench = Bench::new()?;
    bench.recipe(&format!("RUN echo {}; sleep 600\n", bench.name()))?;
    let mut child = bench.command(&["build", bench.name()]).stderr(std::process::Stdio::null()).spawn()?;
    wait_for("the step runs", || Ok(!containers(&bench)?.is_empty()))?;
    interrupt(&child)?;
    let status = child.wait()?;
    ensure!(status.code() == Some(4), "{status}");
    wait_for("the engine has removed the container", || Ok(containers(&bench)?.is_empty()))?;
    Ok(())
}

#[test]
fn an_unknown_name_is_answered_with_the_known_ones() -> Result<()> {
    let bench = Bench::new()?;
    bench.recipe("")?;
    let said = bench.ends(2, &["build", "nonesuch"])?;
    ensure!(said.contains(&format!("there are: {}", bench.name())), "{said}");
    Ok(())
}

/// Containers of any state whose command or image has the test's name in it.
fn containers(bench: &Bench) -> Result<Vec<String>> {
    let all = docker(&["ps", "--all", "--no-trunc", "--format", "{{.ID}} {{.Image}} {{.Command}}"])?;
    Ok(all.lines().filter(|line| line.contains(bench.name())).map(str::to_owned).collect())
}
