//! The two knowledge bases.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::super::builder::{ADMIN_NAME, Builder};
use super::Folder;
use crate::Error;

pub(super) const GENERAL: &str = "setup_files/knowledge/knowledge_base.json";
pub(super) const PROTOCOLS: &str = "setup_files/knowledge/protocols.json";

#[derive(Deserialize)]
struct Article {
    item: String,
    /// HTML.
    article: String,
}

/// Adds the articles as the package's installation does (`install.py`, `create_knowledge_base`):
/// those of the first base have numbers for titles.
pub(super) fn insert(world: &mut Builder, folder: &Folder) -> Result<(), Error> {
    let general: Vec<Article> = folder.json(GENERAL)?;
    let protocols: Vec<Article> = folder.json(PROTOCOLS)?;
    let numbers = (1..).map(|number| format!("Article {number}"));
    let general = numbers.zip(general.iter().map(|article| article.article.as_str()));
    let protocols = protocols.iter().map(|one| (one.item.clone(), one.article.as_str()));
    let general: Vec<_> = general.collect();
    base(world, "General Knowledge", 1, general);
    base(world, "Company Protocols", 1001, protocols.collect());
    Ok(())
}

fn base(world: &mut Builder, title: &str, first: usize, articles: Vec<(String, &str)>) {
    let disabled = [
        "disable_commenting",
        "disable_mark_as_helpful",
        "disable_rating",
        "disable_suggesting",
        "disable_category_editing",
    ];
    let mut fields: BTreeMap<String, String> =
        disabled.iter().map(|name| ((*name).to_owned(), "true".to_owned())).collect();
    fields.insert("title".to_owned(), title.to_owned());
    let base = world.invent("kb_knowledge_base", fields);
    let base = world.records[base].sys_id.clone();
    let author = world.reference("sys_user", ADMIN_NAME);
    for (index, (title, text)) in articles.into_iter().enumerate() {
        world.invent(
            "kb_knowledge",
            BTreeMap::from([
                ("number".to_owned(), format!("KB{:07}", first + index)),
                ("short_description".to_owned(), title),
                ("text".to_owned(), text.to_owned()),
                ("kb_knowledge_base".to_owned(), base.clone()),
                ("author".to_owned(), author.clone()),
            ]),
        );
    }
}
