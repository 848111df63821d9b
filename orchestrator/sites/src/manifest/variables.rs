//! Environment variables in the values of a manifest.
//!
//! A manifest gets those variables alone that its user has given. The environment of this process
//! is not looked at: a manifest may be somebody else's, and so may be the server that gets a value.

use processes::Variable;

use super::{Application, DriverSpec, Site, Volume};

/// A place of a manifest in which variables are replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilledValue {
    /// The key, such as `accounts.emma.password`.
    pub key: String,
    /// The text, with `${NAME}` for each variable.
    pub text: String,
    /// The names of its variables.
    pub variables: Vec<String>,
}

impl Site {
    /// The values of the manifest that take variables.
    pub fn variables(&self) -> Vec<FilledValue> {
        let mut found = Vec::new();
        // The walk is the one that fills them in, so that none is taken that is not named here.
        let _ = self.clone().each_value(&mut |key, text| {
            let variables = names(text).map_err(|why| format!("{key}: {why}"))?;
            if !variables.is_empty() {
                found.push(FilledValue { key: key.to_owned(), text: text.clone(), variables });
            }
            Ok(())
        });
        found
    }

    /// The site with these variables in the place of `${NAME}`.
    ///
    /// # Errors
    /// When a variable is not among them. The text names the key and the flag.
    pub fn with_variables(mut self, variables: &[Variable]) -> Result<Site, String> {
        let value = |name: &str| {
            variables.iter().rev().find(|given| given.name == name).map(|given| given.value.clone())
        };
        self.each_value(&mut |key, text| {
            *text = filled(text, value).map_err(|why| format!("{key}: {why}"))?;
            Ok(())
        })?;
        Ok(self)
    }

    /// Every value that may have variables, by its key.
    fn each_value(
        &mut self,
        visit: &mut impl FnMut(&str, &mut String) -> Result<(), String>,
    ) -> Result<(), String> {
        for (name, account) in &mut self.accounts {
            visit(&format!("accounts.{name}.password"), &mut account.password)?;
        }
        match &mut self.driver {
            DriverSpec::Docker(container) => {
                let sidecars = container.sidecars.iter_mut();
                let theirs = sidecars.flat_map(|(name, sidecar)| {
                    let key = format!("sidecars.{name}.volumes");
                    sidecar
                        .volumes
                        .iter_mut()
                        .map(move |(path, volume)| (format!("{key}.{path}"), volume))
                });
                let own = container.volumes.iter_mut();
                let own = own.map(|(path, volume)| (format!("volumes.{path}"), volume));
                for (key, volume) in own.chain(theirs) {
                    if let Volume { folder: Some(folder), .. } = volume {
                        visit(&format!("{key}.folder"), folder)?;
                    }
                }
            }
            DriverSpec::Embedded(Application::Static(folder)) => visit("embedded.static", folder)?,
            DriverSpec::Embedded(Application::Hosts(folder)) => visit("embedded.hosts", folder)?,
            DriverSpec::Embedded(Application::TurkingBench(folder)) => {
                visit("embedded.turkingbench", folder)?
            }
            DriverSpec::Embedded(Application::ItsmOf(folder)) => visit("embedded.itsm", folder)?,
            DriverSpec::Embedded(Application::Forum | Application::Desk | Application::Itsm)
            | DriverSpec::Process(_)
            | DriverSpec::External(_) => {}
        }
        Ok(())
    }
}

/// The names of the variables in a text.
fn names(text: &str) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    filled(text, |name| {
        found.push(name.to_owned());
        Some("-".to_owned())
    })?;
    Ok(found)
}

/// Replaces the variables `${NAME}` in a text. The error names the missing variable.
fn filled(text: &str, mut variable: impl FnMut(&str) -> Option<String>) -> Result<String, String> {
    let (mut done, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("${") {
        let (name, after) =
            after.split_once('}').ok_or_else(|| format!("`{text}` has a `${{` without `}}`"))?;
        let value = variable(name).filter(|value| !value.is_empty());
        let value = value
            .ok_or_else(|| format!("${{{name}}} is not given; give it with --site-env {name}"))?;
        done = done + before + &value;
        rest = after;
    }
    Ok(done + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_filled_in_and_what_is_missing_is_told_with_its_cure() {
        let variable = |name: &str| match name {
            "MAPS" => Some("/srv/maps".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        assert_eq!(filled("data", variable).unwrap(), "data");
        assert_eq!(filled("${MAPS}/car/${MAPS}", variable).unwrap(), "/srv/maps/car//srv/maps");
        for (text, message) in [
            ("${NONE}/car", "${NONE} is not given; give it with --site-env NONE"),
            ("${EMPTY}", "${EMPTY} is not given; give it with --site-env EMPTY"),
            ("${MAPS", "`${MAPS` has a `${` without `}`"),
        ] {
            assert_eq!(filled(text, variable).unwrap_err(), message);
        }
    }

    #[test]
    fn the_environment_of_the_process_is_no_source() {
        let none = |_: &str| None;
        let error = filled("${PATH}", none).unwrap_err();
        assert!(error.contains("--site-env PATH"), "{error}");
    }
}
