//! The set-up and the clean-up of a task on an instance: a user of its own, and the records that
//! the user has made.

use python_compat::url::quote;
use serde_json::{Value, json};

use super::Failure;
use crate::evidence::{User, Visit};
use crate::tables::{Display, Input, Lookup, Record, Tables, kept, shown};

/// The role that users of all these tasks have: `user_roles` of `AbstractServiceNowTask`.
const ROLE: &str = "admin";
const PASSWORD: &str = "Quiet-Harbour-4471";
const THEME: &str = "WorkArena";
const THEME_PREFERENCE: &str = "glide.ui.polaris.theme.variant";

const FIRST_NAMES: [&str; 12] = [
    "Ada", "Bela", "Carin", "Dario", "Edda", "Femi", "Greta", "Hugo", "Imre", "Jonna", "Kofi",
    "Lior",
];
const LAST_NAMES: [&str; 12] = [
    "Aldous", "Brandt", "Castell", "Dorsey", "Ekman", "Farrow", "Grieve", "Hollis", "Ibsen",
    "Jarvis", "Keller", "Lindt",
];

/// One of the names that `seed` stands for.
pub fn first_name(seed: u64) -> &'static str {
    FIRST_NAMES[(seed % FIRST_NAMES.len() as u64) as usize]
}

/// Another one.
pub fn last_name(seed: u64) -> &'static str {
    LAST_NAMES[(seed / 16 % LAST_NAMES.len() as u64) as usize]
}

impl Visit {
    /// Returns the address at which the browser logs in as the user: `url_login` of `utils.py`.
    pub fn login_url(&self) -> String {
        let User { name, password, .. } = &self.user;
        format!(
            "{}/login.do?user_name={}&user_password={}&sys_action=sysverb_login",
            self.address,
            quote(name, "/"),
            quote(password, "/")
        )
    }

    /// The page that the task begins on.
    pub fn start_url(&self) -> String {
        format!("{}{}", self.address, self.start)
    }

    /// Makes the user, with the role and a theme of the benchmark: `create_user` of `api/user.py`.
    /// What was made is removed again where the rest cannot be.
    pub(super) async fn begin<T: Tables>(
        tables: &mut T,
        address: &str,
        seed: u64,
    ) -> Result<Visit, Failure<T::Error>> {
        let address = address.trim_end_matches('/').to_owned();
        let user =
            User { name: String::new(), password: PASSWORD.to_owned(), sys_id: String::new() };
        let mut visit = Visit { address, start: String::new(), user, made: Vec::new() };
        match visit.make_user(tables, seed).await {
            Ok(()) => Ok(visit),
            Err(failure) => {
                // What has failed is what matters; who looks at the instance finds the rest.
                let _ = visit.remove_made(tables).await;
                Err(failure)
            }
        }
    }

    async fn make_user<T: Tables>(
        &mut self,
        tables: &mut T,
        seed: u64,
    ) -> Result<(), Failure<T::Error>> {
        let (first, last) = (first_name(seed), last_name(seed));
        let mut number = seed % 9000;
        // An episode that broke off may have left a user behind, and others may go on at the same
        // time.
        self.user.name = loop {
            let name = format!("{first}.{last}.{}", 1000 + number % 9000);
            let same = Lookup::new("sys_user", format!("user_name={name}")).fields(&["sys_id"]);
            if tables.get(&same).await?.is_empty() {
                break name;
            }
            number += 1;
        };
        let name = &self.user.name;
        let values = record(json!({
            "user_name": name,
            "first_name": first,
            "last_name": last,
            "email": format!("{name}@workarena.com").to_lowercase(),
            "user_password": self.user.password,
            "active": true,
        }));
        self.user.sys_id = self.make(tables, "sys_user", &values, Input::Shown).await?;
        let roles = Lookup::new("sys_user_role", format!("name={ROLE}")).fields(&["sys_id"]);
        let roles = tables.get(&roles).await?;
        let role =
            roles.first().ok_or_else(|| Failure::set_up(format!("it has no role `{ROLE}`")))?;
        let values = record(json!({"user": self.user.sys_id, "role": kept(role, "sys_id")}));
        self.make(tables, "sys_user_has_role", &values, Input::Kept).await?;
        let theme = theme(tables, seed).await?;
        let values = record(json!({
            "name": THEME_PREFERENCE,
            "value": theme,
            "user": self.user.sys_id,
            "system": false,
        }));
        self.make(tables, "sys_user_preference", &values, Input::Kept).await?;
        Ok(())
    }

    /// Makes a record that goes with the episode.
    pub(super) async fn make<T: Tables>(
        &mut self,
        tables: &mut T,
        table: &str,
        values: &Record,
        input: Input,
    ) -> Result<String, Failure<T::Error>> {
        let made = tables.create(table, values, input).await?;
        let sys_id = kept(&made, "sys_id").to_owned();
        if sys_id.is_empty() {
            return Err(Failure::set_up(format!(
                "it made a record in `{table}` and does not say which"
            )));
        }
        self.made.push((table.to_owned(), sys_id.clone()));
        Ok(sys_id)
    }

    /// Removes what was made for the task, the last first.
    pub(super) async fn remove_made<T: Tables>(&mut self, tables: &mut T) -> Result<(), T::Error> {
        while let Some((table, sys_id)) = self.made.last() {
            tables.delete(table, sys_id).await?;
            self.made.pop();
        }
        Ok(())
    }

    /// The records of a table that the user has made. What was only sent or looked at may be
    /// somebody else's, and stays.
    pub(super) async fn records_made<T: Tables>(
        &self,
        tables: &mut T,
        table: &str,
    ) -> Result<Vec<String>, T::Error> {
        let own =
            Lookup::new(table, format!("sys_created_by={}", self.user.name)).fields(&["sys_id"]);
        Ok(tables.get(&own).await?.iter().map(|record| kept(record, "sys_id").to_owned()).collect())
    }
}

/// One of the themes that the benchmark installs: `get_workarena_theme_variants` of
/// `api/ui_themes.py`.
async fn theme<T: Tables>(tables: &mut T, seed: u64) -> Result<String, Failure<T::Error>> {
    let lookup = Lookup::new("m2m_theme_style", "style.type=variant").display(Display::Shown);
    let found = tables.get(&lookup.fields(&["theme.name", "style.sys_id"])).await?;
    let ours = found.iter().filter(|theme| shown(theme, "theme.name") == THEME);
    let mut styles: Vec<&str> = ours.map(|theme| shown(theme, "style.sys_id")).collect();
    styles.sort();
    let place = seed.checked_rem(styles.len() as u64);
    place.and_then(|place| styles.get(place as usize)).map(|&style| style.to_owned()).ok_or_else(
        || {
            Failure::set_up(format!(
                "its theme `{THEME}` has no variants; run the benchmark's `workarena-install`"
            ))
        },
    )
}

/// The entries of an object.
pub(super) fn record(value: Value) -> Record {
    match value {
        Value::Object(entries) => entries,
        _ => Record::new(),
    }
}
