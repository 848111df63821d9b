//! The navigator: applications, sections and modules.

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;
use serde::Deserialize;

use super::super::builder::Builder;
use super::super::{Entry, Module};
use super::lists::ensure_table;
use super::{Folder, MARK};
use crate::Error;

/// What the addresses of nearly all modules begin with.
pub(super) const TARGET: &str = "/now/nav/ui/classic/params/target/";

/// Modules that tasks of several parts go to, and that the file does not have: the application, the
/// way below it, and the page.
const MORE: [(&str, &str, &str); 7] = [
    ("Change", "All", "change_request_list.do"),
    ("Open Records", "Open Records > Items", "sc_req_item_list.do"),
    ("Problem", "All", "problem_list.do"),
    (
        "Problem",
        "Assigned to me",
        "problem_list.do%3Fsysparm_query%3Dactive%253Dtrue%255Eassigned_to%253Djavascript%253A\
         gs.getUserID%2528%2529",
    ),
    ("Self-Service", "Knowledge", "%24knowledge.do"),
    ("Service Desk", "Incidents", "incident_list.do"),
    (
        "Service Desk",
        "My Work",
        "task_list.do%3Fsysparm_query%3Dactive%253Dtrue%255Eassigned_to%253Djavascript%253A\
         getMyAssignments%2528%2529%255Estate%2521%253D-5",
    ),
];

#[derive(Deserialize)]
struct Link {
    application: String,
    /// Labels with ` > ` between them.
    module: String,
    url: String,
}

/// A tree in the order of the labels.
#[derive(Default)]
struct Node {
    modules: BTreeMap<String, String>,
    sections: BTreeMap<String, Node>,
}

/// Reads the menu, and adds the tables to whose lists it leads.
pub(super) fn read(world: &mut Builder, folder: &Folder) -> Result<Vec<Entry>, Error> {
    let links: Vec<Link> = folder.json(MARK)?;
    let mut root = Node::default();
    for link in links {
        root.add(&link.application, &link.module, link.url);
    }
    for (application, module, page) in MORE {
        root.add(application, module, format!("{TARGET}{page}"));
    }
    root.tables(world);
    Ok(root.entries())
}

impl Node {
    /// Keeps what is there.
    fn add(&mut self, application: &str, module: &str, address: String) {
        let mut node = self.sections.entry(application.to_owned()).or_default();
        let (sections, label) = match module.rsplit_once('>') {
            Some((sections, label)) => (Some(sections), label),
            None => (None, module),
        };
        for section in sections.into_iter().flat_map(|sections| sections.split('>')) {
            node = node.sections.entry(section.trim().to_owned()).or_default();
        }
        node.modules.entry(label.trim().to_owned()).or_insert(address);
    }

    fn tables(&self, world: &mut Builder) {
        for address in self.modules.values() {
            if let Some(table) = listed(address) {
                ensure_table(world, &table);
            }
        }
        for section in self.sections.values() {
            section.tables(world);
        }
    }

    fn entries(self) -> Vec<Entry> {
        let entry = |(label, node): (String, Node)| {
            let modules = node.modules.clone().into_iter();
            Entry {
                label,
                modules: modules.map(|(label, address)| Module { label, address }).collect(),
                sections: node.entries(),
            }
        };
        self.sections.into_iter().map(entry).collect()
    }
}

/// The table whose list an address shows.
pub(super) fn listed(address: &str) -> Option<String> {
    let page = percent_decode_str(address.strip_prefix(TARGET)?).decode_utf8().ok()?;
    let page = page.split(['?', '#']).next()?;
    let table = page.strip_suffix("_list.do")?;
    let is_name = table.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then(|| table.to_owned())
}
