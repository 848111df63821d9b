//! `sandbox images build`.

use anyhow::{Result, ensure};

use crate::harness::{Bench, docker, interrupt, said, wait_for};

fn id(image: &str) -> Result<String> {
    docker(&["image", "inspect", "--format", "{{.Id}}", image])
}

#[test]
fn an_image_is_built_once_and_again_when_its_folder_changes_or_by_force() -> Result<()> {
    let bench = Bench::new()?;
    bench.recipe("COPY page.txt /page.txt\nRUN read line < /page.txt; echo \"seen $line\" > /seen\nCMD [\"/bin/sh\"]\n")?;
    bench.write("page.txt", "one\n")?;
    let build = |more: &[&str]| bench.ends(0, &[&["images", "build", bench.name()], more].concat());

    let said = build(&[])?;
    ensure!(said.contains(&format!("{}: built in", bench.tag())), "{said}");
    let first = id(&bench.tag())?;
    let print = [
        "run",
        "--rm",
        "--network=none",
        &bench.tag(),
        "/bin/sh",
        "-c",
        "read l < /seen; echo \"$l\"",
    ];
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
fn a_step_that_fails_is_told_in_three_lines_with_the_log() -> Result<()> {
    let bench = Bench::new()?;
    bench.recipe("RUN echo all well\nRUN echo almost there; exit 7\n")?;
    let said = bench.ends(1, &["images", "build", bench.name()])?;
    let log = bench.path("cache/logs").join(format!("{}.log", bench.name()));
    // The fourth is the label, which the engine adds as a step of its own.
    let expected = format!(
        "error: failed to build {}: step 3 of 4 (RUN echo almost there; exit 7): exit code 7\n  last words: almost there\n  log: {log}\n",
        bench.name()
    );
    ensure!(said == expected, "{said}");
    let log = std::fs::read_to_string(log)?;
    for part in ["== step 2 of 4: RUN echo all well\nall well\n", "exit 7\nalmost there\n"] {
        ensure!(log.contains(part), "{part:?} is not in:\n{log}");
    }
    ensure!(!log.contains("intermediate container"), "the engine's own notes:\n{log}");
    ensure!(containers(&bench)?.is_empty());
    Ok(())
}

#[test]
fn one_image_that_fails_does_not_stop_the_others() -> Result<()> {
    let bench = Bench::new()?;
    bench.recipe("RUN exit 7\n")?;
    let second = bench.second("RUN echo well\n")?;
    let said = bench.ends(1, &["images", "build"])?;
    ensure!(said.contains(&format!("sandbox/{second}:1: built in")), "{said}");
    ensure!(said.contains("step 2 of 3 (RUN exit 7): exit code 7\n  log: "), "{said}");
    ensure!(
        said.ends_with(&format!("error: failed to build 1 of 2 images: {}\n", bench.name())),
        "{said}"
    );
    let output = bench.command(&["images", "build", "--json"]).output()?;
    let lines: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let error = lines[0]["error"].as_str().unwrap_or_default();
    ensure!(error.starts_with(&format!("build {}: step 2 of 3", bench.name())), "{lines}");
    ensure!(lines[1]["error"].is_null() && lines[1]["built"] == false, "{lines}");
    Ok(())
}

#[test]
fn a_lock_file_says_what_was_there_and_a_build_what_is_not() -> Result<()> {
    let bench = Bench::new()?;
    bench.recipe(
        "COPY apt /etc/apt\nCOPY packages.txt /usr/share/sandbox/packages.txt\nCOPY state.txt /seed/state.txt\n\
         CMD [\"/bin/sh\", \"-c\", \"while read l; do echo \\\"$l\\\"; done < /etc/apt/preferences.d/90sandbox\"]\n",
    )?;
    bench.write("packages.txt", "alpha\t1.0-1\nbeta:amd64\t2:3.4\n")?;
    bench.write("state.txt", "golden")?;
    let build = |more: &[&str]| bench.ends(0, &[&["images", "build", bench.name()], more].concat());
    let preferred = || docker(&["run", "--rm", "--network=none", &bench.tag()]);

    build(&["--lock"])?;
    let lock = bench.path("images").join(bench.name()).join("lock.txt");
    let text = std::fs::read_to_string(&lock)?;
    ensure!(text.contains("\ndebian alpha=1.0-1\ndebian beta=2:3.4\nseed sha256:"), "{text}");
    ensure!(preferred()?.is_empty());
    let said = build(&[])?;
    ensure!(said.contains("up to date"), "a lock file is no input:\n{said}");

    let said = build(&["--force"])?;
    ensure!(said.contains("built in") && !said.contains("not as it was"), "{said}");
    let expected = "Package: alpha\nPin: version 1.0-1\nPin-Priority: 1001\n\n\
                    Package: beta\nPin: version 2:3.4\nPin-Priority: 1001";
    ensure!(preferred()? == expected, "{}", preferred()?);

    bench.write("packages.txt", "alpha\t1.0-2\nbeta:amd64\t2:3.4\n")?;
    bench.write("state.txt", "another")?;
    let said = build(&[])?;
    ensure!(
        said.contains("  not as it was locked: alpha 1.0-1 -> 1.0-2, the golden state\n"),
        "{said}"
    );
    ensure!(std::fs::read_to_string(&lock)? == text, "only --lock writes it");

    std::fs::write(&lock, "alpha 1\n")?;
    let said = bench.ends(2, &["images", "build", bench.name(), "--force"])?;
    ensure!(said.contains("lock.txt: line 1: alpha 1: expected"), "{said}");
    Ok(())
}

#[test]
fn where_the_locked_versions_do_not_go_together_the_image_is_built_with_what_there_is() -> Result<()>
{
    let bench = Bench::new()?;
    // What stands for apt fails when it is told a version.
    bench.recipe(
        "COPY apt /etc/apt\nCOPY packages.txt /usr/share/sandbox/packages.txt\n\
         RUN while read l; do echo \"apt-get install: no $l\"; exit 100; done < /etc/apt/preferences.d/90sandbox\n",
    )?;
    bench.write("packages.txt", "alpha\t1.0-2\n")?;
    bench.write("lock.txt", "debian alpha=1.0-1\n")?;
    let said = bench.ends(0, &["images", "build", bench.name()])?;
    ensure!(said.contains("built in") && said.contains("alpha 1.0-1 -> 1.0-2"), "{said}");
    let log =
        std::fs::read_to_string(bench.path("cache/logs").join(format!("{}.log", bench.name())))?;
    ensure!(
        log.contains("== building with current versions, as those of lock.txt no longer fit"),
        "{log}"
    );
    Ok(())
}

#[test]
fn where_a_python_package_is_gone_the_newest_takes_its_place() -> Result<()> {
    let bench = Bench::new()?;
    bench.recipe(
        "COPY wheels /wheels\nCOPY requirements.txt /\n\
         CMD [\"/bin/sh\", \"-c\", \"while read l; do echo \\\"$l\\\"; done < /requirements.txt; echo /wheels/*.whl\"]\n",
    )?;
    let pinned = |name: &str| format!("{name}==1.0 --hash=sha256:{}", "0".repeat(64));
    bench.write("requirements.txt", &format!("# python 3.11\n{}\n", pinned("made-up")))?;
    let build = || {
        let mut command = bench.command(&["images", "build", bench.name()]);
        command.env("PIP_NO_INDEX", "1").env("PIP_FIND_LINKS", bench.path("index")).output()
    };
    std::fs::create_dir(bench.path("index"))?;
    let output = build()?;
    ensure!(output.status.code() == Some(3), "no version at all: {}", said(&output));
    ensure!(
        said(&output).contains("No matching distribution found for made-up"),
        "{}",
        said(&output)
    );

    let wheel = "import sys, zipfile\nd = 'made_up-2.0.dist-info/'\n\
                 z = zipfile.ZipFile(sys.argv[1], 'w')\n\
                 z.writestr(d + 'METADATA', 'Metadata-Version: 2.1\\nName: made-up\\nVersion: 2.0\\n')\n\
                 z.writestr(d + 'WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n\
                 z.writestr(d + 'RECORD', '')\nz.close()\n";
    let file = bench.path("index/made_up-2.0-py3-none-any.whl");
    let made = std::process::Command::new("python3").args(["-c", wheel, file.as_str()]).output()?;
    ensure!(made.status.success(), "{}", said(&made));
    let output = build()?;
    ensure!(
        said(&output).contains("  not as it was locked: made-up 1.0 -> 2.0\n"),
        "{}",
        said(&output)
    );
    let inside = docker(&["run", "--rm", "--network=none", &bench.tag()])?;
    ensure!(
        inside.contains("\nmade-up==2.0 --hash=sha256:") && !inside.contains("==1.0"),
        "{inside}"
    );
    ensure!(inside.ends_with("/wheels/made_up-2.0-py3-none-any.whl"), "{inside}");
    Ok(())
}

#[test]
fn an_interrupted_build_leaves_no_container() -> Result<()> {
    let bench = Bench::new()?;
    bench.recipe(&format!("RUN echo {}; sleep 600\n", bench.name()))?;
    let mut child = bench
        .command(&["images", "build", bench.name()])
        .stderr(std::process::Stdio::null())
        .spawn()?;
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
    let said = bench.ends(2, &["images", "build", "nonesuch"])?;
    ensure!(said.contains(&format!("there are: {}", bench.name())), "{said}");
    Ok(())
}

/// Containers of any state whose command or image has the test's name in it.
fn containers(bench: &Bench) -> Result<Vec<String>> {
    let all =
        docker(&["ps", "--all", "--no-trunc", "--format", "{{.ID}} {{.Image}} {{.Command}}"])?;
    Ok(all.lines().filter(|line| line.contains(bench.name())).map(str::to_owned).collect())
}
