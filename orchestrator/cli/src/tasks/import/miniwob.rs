//! MiniWoB++: pages that are served as they are, with the manifest of their site.

use anyhow::{Context as _, bail};
use camino::{Utf8Path, Utf8PathBuf};
use runs::counted;
use tasks::import::miniwob;

use super::Written;
use crate::failure::{OrFail, Outcome};

/// Writes the suite, and says what is in it.
pub(super) fn import(folder: &Utf8Path, output: &Utf8Path, seed: u64) -> Outcome {
    let html = find_html(folder).or_input("import MiniWoB++")?;
    let pages = names(&html.join(miniwob::PAGES)).or_input("import MiniWoB++")?;
    let import = miniwob::miniwob(&pages, seed);
    let manifests = vec![(miniwob::SITE, manifest(&html))];
    let suite = Written {
        name: miniwob::SITE,
        world: miniwob::world(seed),
        manifests,
        files: Vec::new(),
        import: &import,
    };
    suite.write(output).or_input("write the suite")?;
    println!("{output}: {}, served from {html}", counted(import.tasks.len(), "task"));
    suite.say_rest(output);
    Ok(())
}

/// The folder that is served: it has the pages and what they share.
fn find_html(folder: &Utf8Path) -> anyhow::Result<Utf8PathBuf> {
    for inside in ["", "html", "miniwob/html"] {
        let html = folder.join(inside);
        if html.join(miniwob::PAGES).is_dir() && html.join("core/core.js").is_file() {
            return Ok(html.canonicalize_utf8()?);
        }
    }
    bail!("{folder} has neither core/core.js nor the folder miniwob; name the folder `html` of the package")
}

fn names(folder: &Utf8Path) -> anyhow::Result<Vec<String>> {
    let entries = folder.read_dir_utf8().with_context(|| folder.to_string())?;
    Ok(entries.map(|entry| Ok(entry?.file_name().to_owned())).collect::<std::io::Result<_>>()?)
}

/// The manifest of the site. A JSON text is a YAML text, too, whatever is in a path.
fn manifest(html: &Utf8Path) -> String {
    let html = serde_json::Value::from(html.as_str());
    format!(
        "title: MiniWoB++
about: Small tasks, one on each page, which reward themselves.
driver: embedded                     # files of yours, served from where they are
embedded: {{static: {html}}}
hosts: [{host}]
ready:
  shared script: {{get: /core/core.js, status: 200, contains: startEpisodeReal}}
reset: never
",
        host = miniwob::HOST,
    )
}
