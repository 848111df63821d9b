//! Pages of one file each: what the report and the viewer of traces have in common.
//!
//! A page asks for nothing but pictures beside it, and can be read without its script. What pages, agents and models have said is escaped by the
//! template engine; the script is the only one that the page's policy lets run.

pub(crate) mod download;
pub(crate) mod png;
pub(crate) mod requests;
pub(crate) mod words;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use camino::Utf8Path;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, context};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::Error;
use crate::results::files;

/// Shows and hides what has `data-filter`, by what is chosen and typed into `.filter`, and sorts
/// tables by their columns.
pub(crate) const TABLES: &str = concat!(include_str!("filter.js"), include_str!("sort.js"));

/// A kind of page.
pub(crate) struct Template {
    /// Its name, which ends in `.html`: that turns escaping on.
    pub(crate) name: &'static str,
    pub(crate) source: &'static str,
    /// Templates of its own that it takes macros from, by their names.
    pub(crate) macros: &'static [(&'static str, &'static str)],
    /// Style that it has besides that of all pages.
    pub(crate) style: &'static str,
    pub(crate) script: &'static str,
}

impl Template {
    /// Draws the page.
    pub(crate) fn draw<P: Serialize>(&self, page: &P) -> Result<String, Error> {
        self.render(page).map_err(|source| Error::Template { source })
    }

    /// Draws the page into a file, which is whole at any time.
    pub(crate) fn write<P: Serialize>(&self, page: &P, path: &Utf8Path) -> Result<(), Error> {
        let html = self.draw(page)?;
        let beside = path.with_extension("html.new");
        let failed = |source| Error::Write { path: path.to_owned(), source };
        files::write(&beside, html.as_bytes()).map_err(failed)?;
        std::fs::rename(&beside, path).map_err(failed)
    }

    fn render<P: Serialize>(&self, page: &P) -> Result<String, minijinja::Error> {
        let mut environment = Environment::new();
        environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
        environment.add_template("head.html", include_str!("head.html"))?;
        environment.add_template("macros.html", include_str!("macros.html"))?;
        for (name, source) in self.macros {
            environment.add_template(name, source)?;
        }
        environment.add_template(self.name, self.source)?;
        environment.get_template(self.name)?.render(context! {
            page => Serde(page),
            style => [include_str!("base.css"), self.style].concat(),
            script => self.script,
            policy => policy(self.script),
        })
    }
}

/// What a page may do: run this script, and show pictures that are in it or beside it.
fn policy(script: &str) -> String {
    let script = STANDARD.encode(Sha256::digest(script));
    format!(
        "default-src 'none'; img-src 'self' file: data:; style-src 'unsafe-inline'; script-src 'sha256-{script}'"
    )
}
