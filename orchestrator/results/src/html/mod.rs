//! Shared parts of the HTML pages about a run: the report and the viewer.
//!
//! Each page is one file that loads nothing but images beside it, and works without its script. The
//! template engine escapes texts of pages, agents and models. The page's policy allows only its own
//! script.

pub(crate) mod download;
pub(crate) mod png;
pub(crate) mod requests;
pub mod words;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use camino::Utf8Path;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, context};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::Error;
use crate::stored::files;

/// A script that filters elements with `data-filter` by the inputs of `.filter`, and sorts tables
/// by column.
pub const TABLES: &str = concat!(include_str!("filter.js"), include_str!("sort.js"));

/// The template of a kind of page.
pub struct Template {
    /// Its name. It ends in `.html`, which enables escaping.
    pub name: &'static str,
    /// Its text.
    pub source: &'static str,
    /// Its own templates with macros, by name.
    pub macros: &'static [(&'static str, &'static str)],
    /// Additional style besides the shared one.
    pub style: &'static str,
    /// Its script, whose digest is in the page's policy.
    pub script: &'static str,
}

impl Template {
    /// Renders the page.
    ///
    /// # Errors
    /// If the template and the page do not fit.
    pub fn draw<P: Serialize>(&self, page: &P) -> Result<String, Error> {
        self.render(page).map_err(|source| Error::Template { source })
    }

    /// Renders the page into a file atomically.
    ///
    /// # Errors
    /// As [`Template::draw`], and if the file cannot be written.
    pub fn write<P: Serialize>(&self, page: &P, path: &Utf8Path) -> Result<(), Error> {
        let html = self.draw(page)?;
        let beside = path.with_extension("html.new");
        let failed = |source| Error::Write { path: path.to_owned(), source };
        files::write(&beside, html.as_bytes()).map_err(failed)?;
        std::fs::rename(&beside, path).map_err(failed)
    }

    fn render<P: Serialize>(&self, page: &P) -> Result<String, minijinja::Error> {
        let mut environment = Environment::new();
        environment
            .set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
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

/// The content security policy: this script, and images inside or beside the page.
fn policy(script: &str) -> String {
    let script = STANDARD.encode(Sha256::digest(script));
    format!(
        "default-src 'none'; img-src 'self' file: data:; style-src 'unsafe-inline'; script-src 'sha256-{script}'"
    )
}
