//! `sandbox images save` and `sandbox images load`.

use std::io::Write;

use anyhow::{Result, ensure};

use crate::harness::{Bench, docker};

#[test]
fn an_image_survives_the_way_through_a_file() -> Result<()> {
    let bench = Bench::new()?;
    bench.recipe(
        "RUN echo kept > /kept\nCMD [\"/bin/sh\", \"-c\", \"read l < /kept; echo $l\"]\n",
    )?;
    bench.ends(0, &["images", "build", bench.name()])?;
    let said = bench.ends(0, &["images", "save", bench.name(), "-o", "image.tar"])?;
    ensure!(said.starts_with(&format!("image.tar: {}, ", bench.tag())), "{said}");

    let names: Vec<_> = std::fs::read_dir(bench.path(""))?
        .map(|entry| Ok(entry?.file_name()))
        .collect::<Result<_>>()?;
    ensure!(!names.iter().any(|name| name.to_string_lossy().ends_with(".part")), "{names:?}");

    let whole = std::fs::read(bench.path("image.tar"))?;
    let file = std::fs::File::create(bench.path("image.tar.gz"))?;
    let mut packed = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    packed.write_all(&whole)?;
    packed.finish()?;
    for file in ["image.tar", "image.tar.gz"] {
        docker(&["image", "rm", &bench.tag()])?;
        let said = bench.ends(0, &["images", "load", file])?;
        ensure!(said == format!("{}: loaded\n", bench.tag()), "{said}");
        ensure!(docker(&["run", "--rm", "--network=none", &bench.tag()])? == "kept");
    }
    Ok(())
}

#[test]
fn all_images_go_to_another_machine_in_one_file() -> Result<()> {
    let bench = Bench::new()?;
    bench.recipe("RUN echo first > /kept\n")?;
    let second = bench.second("RUN echo second > /kept\n")?;
    bench.ends(0, &["images", "build", bench.name()])?;
    let said = bench.ends(3, &["images", "save", "--all", "set.tar"])?;
    ensure!(
        said.contains(&format!(
            "failed to save sandbox/{second}:1: it is not built; build it with `sandbox images build`"
        )),
        "{said}"
    );
    ensure!(!bench.path("set.tar").exists(), "a set with a hole");

    bench.ends(0, &["images", "build"])?;
    let tags = [bench.tag(), format!("sandbox/{second}:1")];
    let said = bench.ends(0, &["images", "save", "--all", "set.tar"])?;
    ensure!(said.starts_with(&format!("set.tar: {}, {}, ", tags[0], tags[1])), "{said}");
    for tag in &tags {
        docker(&["image", "rm", tag])?;
    }
    let said = bench.ends(0, &["images", "load", "set.tar"])?;
    ensure!(tags.iter().all(|tag| said.contains(&format!("{tag}: loaded"))), "{said}");
    // The other machine has nothing to build.
    let said = bench.ends(0, &["images", "build"])?;
    ensure!(said.matches("up to date").count() == 2, "{said}");
    Ok(())
}

#[test]
fn no_file_is_overwritten() -> Result<()> {
    let bench = Bench::new()?;
    bench.recipe("")?;
    std::fs::write(bench.path("mine.tar"), "mine")?;
    let said =
        bench.ends(2, &["images", "save", &format!("{}:base", bench.name()), "-o", "mine.tar"])?;
    ensure!(said.contains("mine.tar: it exists; --force replaces it"), "{said}");
    ensure!(std::fs::read_to_string(bench.path("mine.tar"))? == "mine");
    Ok(())
}

#[test]
fn what_is_no_image_is_wrong_input() -> Result<()> {
    let bench = Bench::new()?;
    bench.recipe("")?;
    std::fs::write(bench.path("letter.txt"), "Dear engine,\n".repeat(100))?;
    let said = bench.ends(2, &["images", "load", "letter.txt"])?;
    ensure!(said.contains("letter.txt"), "{said}");
    // A tar, but of a file system.
    let said = bench.ends(2, &["images", "load", "base.tar"])?;
    ensure!(said.contains("base.tar"), "{said}");
    std::fs::write(bench.path("packed.tar"), [0x28, 0xb5, 0x2f, 0xfd, 0, 0, 0, 0])?;
    let said = bench.ends(2, &["images", "load", "packed.tar"])?;
    ensure!(said.contains("zstd -d"), "{said}");
    bench.ends(2, &["images", "load", "nonesuch.tar"])?;
    let said = bench.ends(2, &["images", "save", "nonesuch:7", "-o", "x.tar"])?;
    ensure!(said.contains(&format!("{}:base", bench.name())), "{said}");
    Ok(())
}
