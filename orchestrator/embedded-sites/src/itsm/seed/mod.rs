//! The golden state of the desk: a small neutral base of our own, and what the user's folder adds.
//!
//! The folder is `data_files` of the package `browsergym-workarena`. Nothing of it is in this
//! program; what its tasks ask for by name is read from it when the golden database is made.

mod base;
mod builder;
#[cfg(test)]
mod feasible;
mod finish;
mod folder;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};

use self::builder::Builder;
use self::folder::Folder;
use super::schema::Schema;
use crate::Error;

/// Everything that a golden database holds. The same folder gives the same world, byte for byte.
#[derive(Debug, Default)]
pub(super) struct World {
    pub(super) schema: Schema,
    /// In the order in which lists without an order show them.
    pub(super) records: Vec<Record>,
    /// The modules of the navigator.
    pub(super) menu: Vec<Entry>,
    /// The items of the catalogue. Each is a record of `sc_cat_item` too.
    pub(super) catalogue: Vec<Item>,
    /// By the id in `sysparm_dashboard`.
    pub(super) dashboards: BTreeMap<String, Dashboard>,
    /// Stored reports whose numbers are not counted from records, by the id in `jvar_report_id`.
    pub(super) reports: BTreeMap<String, Chart>,
}

/// A record. Columns without a value are not listed.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Record {
    /// The table itself, not one that it extends.
    pub(super) table: String,
    /// 32 hexadecimal digits.
    pub(super) sys_id: String,
    /// The stored values: of a reference the id, of a choice its value.
    pub(super) fields: BTreeMap<String, String>,
}

/// An application or a section of the navigator: its own modules come first.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) label: String,
    pub(super) modules: Vec<Module>,
    pub(super) sections: Vec<Entry>,
}

/// A link of the navigator.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Module {
    pub(super) label: String,
    /// A path of this site, literally as the user's data has it.
    pub(super) address: String,
}

/// An item of the catalogue.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Item {
    /// The `sys_id` of its record.
    pub(super) id: String,
    /// As its page calls it.
    pub(super) name: String,
    /// The line below the name, which a request's item has as its `short_description`.
    pub(super) description: String,
    /// The `sys_id` of its `sc_category`.
    pub(super) category: String,
    pub(super) options: Vec<Choosable>,
}

/// An option of an item. It is a record of `item_option_new` too.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Choosable {
    /// The `sys_id` of its record.
    pub(super) id: String,
    pub(super) label: String,
    pub(super) control: Control,
    /// The labels of radio buttons or of a menu.
    pub(super) choices: Vec<String>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Control {
    #[default]
    Text,
    TextArea,
    CheckBox,
    Radio,
    Select,
}

/// A dashboard.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Dashboard {
    pub(super) title: String,
    pub(super) charts: Vec<Chart>,
}

/// A chart with its numbers.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Chart {
    pub(super) title: String,
    pub(super) shape: Shape,
    /// At least one. All have the same labels.
    pub(super) series: Vec<Series>,
}

#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Series {
    /// Empty if the chart has but one.
    pub(super) name: String,
    pub(super) points: Vec<(String, u64)>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Shape {
    Area,
    Bar,
    #[default]
    Column,
    Line,
    Pie,
    Spline,
}

/// Changes whenever this module makes another world of the same files.
const VERSION: &str = "2";

/// Reports count the records that were made before this day, and so all of the golden state. The
/// property `workarena.report.filter.config` has it.
#[cfg(test)]
pub(super) const REPORT_DATE: &str = "2025-06-01";

/// The world of a folder, or the neutral base alone.
pub(super) fn world(folder: Option<&Path>) -> Result<World, Error> {
    if let Some(path) = folder {
        return folder::world(&Folder::find(path)?);
    }
    let mut world = Builder::new()?;
    base::company(&mut world)?;
    let mut catalogue = base::catalogue()?;
    world.add_catalogue(&mut catalogue);
    let charts = base::charts()?;
    finish::finish(&mut world);
    Ok(World {
        schema: world.schema,
        records: world.records,
        menu: base::menu()?,
        catalogue,
        dashboards: charts.dashboards,
        reports: charts.reports,
    })
}

/// A name for the golden file of a folder: 16 hexadecimal digits that depend on all that is read.
pub(super) fn fingerprint(folder: Option<&Path>) -> Result<String, Error> {
    let mut digest = Context::new(&SHA256);
    digest.update(VERSION.as_bytes());
    base::digest(&mut digest);
    if let Some(path) = folder {
        Folder::find(path)?.digest(&mut digest)?;
    }
    let mut digits = hex::encode(digest.finish());
    digits.truncate(16);
    Ok(digits)
}

impl Control {
    /// As a record of `item_option_new` has it in `type`.
    fn stored(self) -> &'static str {
        match self {
            Control::TextArea => "2",
            Control::Radio => "3",
            Control::Select => "5",
            Control::Text => "6",
            Control::CheckBox => "7",
        }
    }
}
