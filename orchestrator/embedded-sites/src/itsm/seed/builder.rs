//! A world that grows: records are found by what is shown of them, and made when they are named
//! for the first time.

use std::collections::{BTreeMap, BTreeSet};

use ring::digest::{SHA256, digest};

use super::base::{self, Place};
use super::{Item, Record};
use crate::Error;
use crate::itsm::schema::{Choice, Column, Kind, Schema, Table};

/// The user name and the password of the administrator.
pub(super) const ADMIN: &str = "admin";
/// What the administrator is called.
pub(super) const ADMIN_NAME: &str = "System Administrator";

pub(super) struct Builder {
    pub(super) schema: Schema,
    pub(super) records: Vec<Record>,
    /// Columns whose choices are ours: the first label from the user's data replaces them.
    samples: BTreeSet<Place>,
    /// Columns all of whose choices are known: another label is one of an old record.
    settled: BTreeSet<Place>,
    /// The ids of records that are known by name, before the records are made.
    ids: BTreeMap<(String, String), String>,
    /// The root of the table, and what is shown.
    by_name: BTreeMap<(String, String), Vec<usize>>,
    by_id: BTreeMap<String, usize>,
}

impl Builder {
    /// The tables, and the records that every desk has.
    pub(super) fn new() -> Result<Builder, Error> {
        let (schema, samples) = base::schema()?;
        let mut world = Builder {
            schema,
            samples,
            records: Vec::new(),
            settled: BTreeSet::new(),
            ids: BTreeMap::new(),
            by_name: BTreeMap::new(),
            by_id: BTreeMap::new(),
        };
        base::common(&mut world)?;
        Ok(world)
    }

    /// The id that a name will have, if no record has it yet.
    pub(super) fn know_id(&mut self, table: &str, name: &str, id: &str) {
        self.ids.entry((table.to_owned(), name.to_owned())).or_insert_with(|| id.to_owned());
    }

    /// Adds a record, or adds the fields to the record with this id.
    pub(super) fn insert(
        &mut self,
        table: &str,
        sys_id: Option<String>,
        fields: BTreeMap<String, String>,
    ) -> usize {
        let shown = fields.get(self.schema.display(table)).cloned().unwrap_or_default();
        let sys_id = sys_id.unwrap_or_else(|| self.new_id(table, &shown));
        let fields = fields.into_iter().filter(|(_, value)| !value.is_empty());
        if let Some(index) = self.by_id.get(&sys_id) {
            self.records[*index].fields.extend(fields);
            return *index;
        }
        let index = self.records.len();
        self.by_id.insert(sys_id.clone(), index);
        self.by_name.entry((self.root(table), shown)).or_default().push(index);
        let fields = fields.collect();
        self.records.push(Record { table: table.to_owned(), sys_id, fields });
        index
    }

    /// A record with the defaults of its table, which is not in the user's data.
    pub(super) fn invent(&mut self, table: &str, mut fields: BTreeMap<String, String>) -> usize {
        for column in self.schema.columns(table) {
            if !column.default.is_empty() {
                fields.entry(column.name.clone()).or_insert_with(|| column.default.clone());
            }
        }
        self.insert(table, None, fields)
    }

    /// [`Builder::invent`], whose references are given by what is shown of them.
    pub(super) fn insert_shown(
        &mut self,
        table: &str,
        shown: BTreeMap<String, String>,
    ) -> Result<usize, Error> {
        let mut fields = BTreeMap::new();
        for (name, text) in shown {
            let column = self.schema.column(table, &name).ok_or_else(|| Error::BuiltIn {
                what: "records of the desk",
                reason: format!("{table} has no column {name}"),
            })?;
            let value = match (column.kind, column.reference.clone()) {
                (Kind::Reference | Kind::List, Some(target)) => self.reference(&target, &text),
                _ => text,
            };
            fields.insert(name, value);
        }
        Ok(self.invent(table, fields))
    }

    /// The id of the record of a table, or of one that extends it, that is shown so. It is made if
    /// there is none.
    pub(super) fn reference(&mut self, table: &str, name: &str) -> String {
        if let Some(index) = self.find(table, name) {
            return self.records[index].sys_id.clone();
        }
        let index = match table {
            "sys_user" => self.person(name),
            "task" => {
                let table = self.table_of_number(name);
                self.invent(&table, BTreeMap::from([("number".to_owned(), name.to_owned())]))
            }
            _ => {
                let display = self.schema.display(table).to_owned();
                self.invent(table, BTreeMap::from([(display, name.to_owned())]))
            }
        };
        self.records[index].sys_id.clone()
    }

    /// The first record of a table, or of one that extends it, that is shown so.
    pub(super) fn find(&self, table: &str, name: &str) -> Option<usize> {
        let found = self.by_name.get(&(self.root(table), name.to_owned()))?;
        found.iter().copied().find(|index| self.schema.is_a(&self.records[*index].table, table))
    }

    /// A user of this name. The user name, the password and the address follow from it.
    fn person(&mut self, name: &str) -> usize {
        let (first, last) = name.split_once(' ').unwrap_or((name, ""));
        let user = user_name(name);
        self.invent(
            "sys_user",
            BTreeMap::from([
                ("name".to_owned(), name.to_owned()),
                ("first_name".to_owned(), first.to_owned()),
                ("last_name".to_owned(), last.to_owned()),
                ("email".to_owned(), format!("{user}@example.com")),
                ("user_name".to_owned(), user),
            ]),
        )
    }

    /// The table whose numbers begin as this one does.
    fn table_of_number(&self, number: &str) -> String {
        let prefix = number.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let mut tables = self.schema.tables();
        let found = tables.find(|table| table.prefix.as_deref() == Some(prefix));
        found.map_or("task", |table| &table.name).to_owned()
    }

    /// The indices of a table's records, and of those that extend it.
    pub(super) fn of(&self, table: &str) -> Vec<usize> {
        let family: BTreeSet<&str> = self.schema.family(table).into_iter().collect();
        let all = self.records.iter().enumerate();
        all.filter(|(_, record)| family.contains(record.table.as_str())).map(|one| one.0).collect()
    }

    /// The stored value for what is shown of a choice. The choice is added if there is none.
    pub(super) fn choice(&mut self, table: &str, name: &str, label: &str) -> String {
        if label.is_empty() || label == "None" || label == "-- None --" {
            return String::new();
        }
        let place = (table.to_owned(), name.to_owned());
        let owner = self.owner(table, name);
        let is_sample = self.samples.contains(&(owner, name.to_owned()));
        let is_settled = self.settled.contains(&place);
        if !is_sample {
            let column = self.schema.column(table, name);
            let mut known = column.iter().flat_map(|it| it.choices.iter().chain(&it.former));
            if let Some(choice) = known.find(|choice| choice.label == label) {
                return choice.value.clone();
            }
        }
        let Some(column) = self.own_column(table, name) else { return label.to_owned() };
        if is_sample {
            column.choices.clear();
        }
        let is_former = is_settled || label.starts_with('(');
        let choice = Choice { value: column.free_value(label), label: label.to_owned() };
        let value = choice.value.clone();
        if is_former {
            column.former.push(choice)
        } else {
            column.choices.push(choice)
        }
        self.samples.remove(&place);
        value
    }

    /// Says which choices a column has.
    pub(super) fn settle(&mut self, table: &str, name: &str, choices: Vec<Choice>) {
        let place = (table.to_owned(), name.to_owned());
        if let Some(column) = self.own_column(table, name) {
            column.choices = choices;
        }
        self.samples.remove(&place);
        self.settled.insert(place);
    }

    /// The table of the lineage that has the column itself.
    fn owner(&self, table: &str, name: &str) -> String {
        let lineage = self.schema.lineage(table);
        let has = |table: &&&Table| table.columns.iter().any(|column| column.name == name);
        lineage.iter().find(has).map_or(table, |found| &found.name).to_owned()
    }

    /// The column of the table itself: its parent's is copied, and then differs from it.
    pub(super) fn own_column(&mut self, table: &str, name: &str) -> Option<&mut Column> {
        let inherited = self.schema.column(table, name)?.clone();
        let own = self.schema.table_mut(table)?;
        let found = own.columns.iter().position(|column| column.name == name);
        let index = found.unwrap_or_else(|| {
            own.columns.push(inherited);
            own.columns.len() - 1
        });
        own.columns.get_mut(index)
    }

    /// The records of the options of the catalogue's items. Items without an id get that of the
    /// record of their name; categories are given by their titles.
    pub(super) fn add_catalogue(&mut self, items: &mut [Item]) {
        for item in items {
            if item.id.is_empty() {
                item.id = self.reference("sc_cat_item", &item.name);
            }
            item.category = self.reference("sc_category", &item.category);
            for (order, option) in item.options.iter_mut().enumerate() {
                option.id = id("item_option_new", &format!("{}/{}", item.name, option.label));
                let fields = BTreeMap::from([
                    ("cat_item".to_owned(), item.id.clone()),
                    ("question_text".to_owned(), option.label.clone()),
                    ("name".to_owned(), value_of(&option.label)),
                    ("type".to_owned(), option.control.stored().to_owned()),
                    ("order".to_owned(), format!("{}00", order + 1)),
                ]);
                self.insert("item_option_new", Some(option.id.clone()), fields);
            }
        }
    }

    fn root(&self, table: &str) -> String {
        self.schema.lineage(table).last().map_or(table, |root| &root.name).to_owned()
    }

    /// The known id of a name, or one that follows from it. A second record of a name gets another.
    fn new_id(&self, table: &str, shown: &str) -> String {
        let lineage = self.schema.lineage(table);
        let mut known = lineage.iter().map(|one| (one.name.clone(), shown.to_owned()));
        if let Some(found) = known.find_map(|key| self.ids.get(&key)) {
            return found.clone();
        }
        let count = self.by_name.get(&(self.root(table), shown.to_owned())).map_or(0, Vec::len);
        if count == 0 { id(table, shown) } else { id(table, &format!("{shown}/{count}")) }
    }
}

impl Column {
    /// A value for a new label.
    fn free_value(&self, label: &str) -> String {
        let value = value_of(label);
        let is_used = self.choices.iter().chain(&self.former).any(|one| one.value == value);
        if is_used { label.to_lowercase() } else { value }
    }
}

/// The first 32 hexadecimal digits of SHA-256 over the table and a key.
pub(super) fn id(table: &str, key: &str) -> String {
    let mut digits = hex::encode(digest(&SHA256, format!("{table}\0{key}").as_bytes()));
    digits.truncate(32);
    digits
}

/// `abel.tuter` for `Abel Tuter`.
pub(super) fn user_name(name: &str) -> String {
    if name == ADMIN_NAME {
        return ADMIN.to_owned();
    }
    name.to_lowercase().replace(' ', ".")
}

/// `known_error` for `Known error`, and `2` for `(2)`. What is a value already stays as it is.
fn value_of(label: &str) -> String {
    let inner = label.trim_matches(['(', ')']);
    if inner.starts_with('-') {
        return inner.to_owned();
    }
    let words = inner.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_").to_lowercase()
}
