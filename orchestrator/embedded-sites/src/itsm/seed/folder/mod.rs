//! The user's folder: `data_files` of the package `browsergym-workarena`. What its tasks ask for by
//! name goes into the world: columns with labels and choices, records, items, articles, modules and
//! charts.
//!
//! Nothing is taken from anywhere else, and nothing of it is in this program. Numbers of charts are
//! invented: the package has only their labels.

mod articles;
mod charts;
mod forms;
mod items;
mod lists;
mod menu;
mod reports;

use std::fs;
use std::path::{Path, PathBuf};

use ring::digest::Context;
use serde::de::DeserializeOwned;

use super::builder::Builder;
use super::{World, finish};
use crate::Error;

/// A file that only this folder has.
const MARK: &str = "task_configs/all_menu.json";

/// The files that are read, except those of [`lists`] and [`forms`].
const FILES: [&str; 17] = [
    MARK,
    articles::GENERAL,
    articles::PROTOCOLS,
    charts::FILES[0],
    charts::FILES[1],
    charts::FILES[2],
    charts::FILES[3],
    forms::PEOPLE,
    items::FILES[0],
    items::FILES[1],
    items::FILES[2],
    items::FILES[3],
    items::FILES[4],
    items::FILES[5],
    items::FILES[6],
    items::FILES[7],
    items::FILES[8],
];

/// The folder `data_files`.
pub(super) struct Folder {
    root: PathBuf,
}

impl Folder {
    /// Takes `data_files` itself, the package, or the folder in which it is installed.
    pub(super) fn find(path: &Path) -> Result<Folder, Error> {
        let places = ["", "data_files", "workarena/data_files", "browsergym/workarena/data_files"];
        let mut roots = places.iter().map(|place| path.join(place));
        match roots.find(|root| root.join(MARK).is_file()) {
            Some(root) => Ok(Folder { root }),
            None => Err(Error::ServiceDesk {
                path: path.to_owned(),
                reason: format!("it has no {MARK}"),
            }),
        }
    }

    /// Adds names, sizes and contents of the files that are read to a digest.
    pub(super) fn digest(&self, digest: &mut Context) -> Result<(), Error> {
        let of_lists = lists::LISTS.iter().flat_map(lists::List::files);
        let of_forms = forms::FORMS.iter().flat_map(forms::Form::files);
        let of_lists = of_lists.chain(lists::other_files());
        let mut files: Vec<&str> = FILES.into_iter().chain(of_lists).chain(of_forms).collect();
        files.sort_unstable();
        for name in files {
            let bytes = self.bytes(name)?;
            digest.update(format!("{name}\0{}\0", bytes.len()).as_bytes());
            digest.update(&bytes);
        }
        Ok(())
    }

    fn json<T: DeserializeOwned>(&self, name: &str) -> Result<T, Error> {
        let bytes = self.bytes(name)?;
        serde_json::from_slice(&bytes).map_err(|error| self.error(name, &error))
    }

    fn bytes(&self, name: &str) -> Result<Vec<u8>, Error> {
        fs::read(self.root.join(name)).map_err(|error| self.error(name, &error))
    }

    fn error(&self, name: &str, reason: &dyn ToString) -> Error {
        Error::ServiceDesk { path: self.root.join(name), reason: reason.to_string() }
    }
}

/// The world of a folder.
pub(super) fn world(folder: &Folder) -> Result<World, Error> {
    let mut world = Builder::new()?;
    let lists = lists::read(folder)?;
    for list in &lists {
        list.columns(&mut world);
    }
    lists::visible(&mut world, folder)?;
    forms::visible(&mut world, folder)?;
    forms::records(&mut world, folder)?;
    let mut catalogue = items::read(&mut world, folder, &lists)?;
    for list in &lists {
        list.names(&mut world);
    }
    world.add_catalogue(&mut catalogue);
    articles::insert(&mut world, folder)?;
    let charts = charts::read(folder)?;
    charts.reports_as_records(&mut world);
    reports::fill(&mut world, charts.counted());
    let menu = menu::read(&mut world, folder)?;
    let (dashboards, reports) = charts.drawn();
    finish::finish(&mut world);
    let (schema, records) = (world.schema, world.records);
    Ok(World { schema, records, menu, catalogue, dashboards, reports })
}
