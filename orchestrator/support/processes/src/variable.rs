//! A variable that the user lets a program see.

use std::env::{self, VarError};
use std::fmt;
use std::str::FromStr;

/// One variable, as `NAME`, which takes the value that it has here, or as `NAME=value`.
#[derive(Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// The text gives no variable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadVariable {
    /// There is no name in it.
    #[error("{0:?} has no name; write NAME, or NAME=value")]
    Nameless(String),
    /// It is not there to be passed on.
    #[error("the environment has no {0}; set it, or write {0}=value")]
    Unset(String),
    /// It cannot be passed on.
    #[error("the value of {0} is not UTF-8")]
    NotText(String),
}

impl FromStr for Variable {
    type Err = BadVariable;

    /// Looks the value up where none is given.
    fn from_str(text: &str) -> Result<Self, BadVariable> {
        read(text, |name| env::var(name))
    }
}

/// The value may be a secret.
impl fmt::Debug for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=...", self.name)
    }
}

fn read(
    text: &str,
    get: impl Fn(&str) -> Result<String, VarError>,
) -> Result<Variable, BadVariable> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (text, None),
    };
    if name.is_empty() || text.contains('\0') {
        return Err(BadVariable::Nameless(text.to_owned()));
    }
    let value = match value {
        Some(value) => value,
        None => get(name).map_err(|error| match error {
            VarError::NotPresent => BadVariable::Unset(name.to_owned()),
            VarError::NotUnicode(_) => BadVariable::NotText(name.to_owned()),
        })?,
    };
    Ok(Variable { name: name.to_owned(), value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_takes_the_value_that_is_there() {
        let get = |name: &str| match name {
            "KEY" => Ok("secret".to_owned()),
            _ => Err(VarError::NotPresent),
        };
        let variable =
            |name: &str, value: &str| Variable { name: name.to_owned(), value: value.to_owned() };
        assert_eq!(read("KEY", get), Ok(variable("KEY", "secret")));
        assert_eq!(read("KEY=a=b", get), Ok(variable("KEY", "a=b")));
        assert_eq!(read("EMPTY=", get), Ok(variable("EMPTY", "")));
        assert_eq!(read("OTHER", get), Err(BadVariable::Unset("OTHER".to_owned())));
        assert_eq!(read("=value", get), Err(BadVariable::Nameless("=value".to_owned())));
        assert_eq!(read("", get), Err(BadVariable::Nameless(String::new())));
        assert_eq!(format!("{:?}", variable("KEY", "secret")), "KEY=...");
    }
}
