//! The arguments of a Python call, by the parameter names of its form.

use crate::python::{Call, Literal};
use crate::{Action, Button, Modifier, ParseError, Point};

/// The arguments of a call by name, whether positional or not.
pub(super) struct Arguments {
    arguments: Vec<(String, Literal)>,
    fits: bool,
    form: &'static str,
}

impl Arguments {
    pub(super) fn new(call: Call, form: &'static str) -> Self {
        let parameters = form.split(['(', ')']).nth(1).unwrap_or_default().split(", ");
        let names: Vec<&str> = parameters
            .filter_map(|name| name.split('=').next())
            .filter(|name| !name.is_empty())
            .collect();
        let fits = call.positional.len() <= names.len();
        let mut arguments: Vec<(String, Literal)> =
            names.iter().map(|&name| name.to_owned()).zip(call.positional).collect();
        arguments.extend(call.keywords);
        Self { arguments, fits, form }
    }

    /// The error for wrong arguments.
    pub(super) fn wrong(&self) -> ParseError {
        ParseError::Arguments { form: self.form }
    }

    pub(super) fn optional(&mut self, name: &str) -> Option<Literal> {
        let at = self.arguments.iter().position(|(argument, _)| argument == name)?;
        Some(self.arguments.remove(at).1)
    }

    pub(super) fn text(&mut self, name: &str) -> Result<String, ParseError> {
        match self.optional(name) {
            Some(Literal::Text(text)) => Ok(text),
            // Models often write a bid as a number.
            Some(Literal::Number(number)) if number.fract() == 0.0 => Ok(number.to_string()),
            _ => Err(self.wrong()),
        }
    }

    /// `None` if it is not given, or is Python's `None`.
    pub(super) fn text_or_none(&mut self, name: &str) -> Result<Option<String>, ParseError> {
        match self.optional(name) {
            None | Some(Literal::None) => Ok(None),
            Some(Literal::Text(text)) => Ok(Some(text)),
            Some(_) => Err(self.wrong()),
        }
    }

    /// A string, or a list of strings.
    pub(super) fn texts(&mut self, name: &str) -> Result<Vec<String>, ParseError> {
        let text = |item| match item {
            Literal::Text(text) => Some(text),
            _ => None,
        };
        let texts = match self.optional(name) {
            Some(Literal::List(items)) => items.into_iter().map(text).collect(),
            Some(item) => text(item).map(|text| vec![text]),
            None => None,
        };
        texts.ok_or_else(|| self.wrong())
    }

    /// False if it is not given.
    pub(super) fn flag(&mut self, name: &str) -> Result<bool, ParseError> {
        match self.optional(name) {
            None => Ok(false),
            Some(Literal::Bool(set)) => Ok(set),
            Some(_) => Err(self.wrong()),
        }
    }

    pub(super) fn number(&mut self, name: &str) -> Result<f64, ParseError> {
        match self.optional(name) {
            Some(Literal::Number(number)) => Ok(number),
            _ => Err(self.wrong()),
        }
    }

    pub(super) fn number_or(&mut self, name: &str, default: f64) -> Result<f64, ParseError> {
        match self.optional(name) {
            None => Ok(default),
            Some(Literal::Number(number)) => Ok(number),
            Some(_) => Err(self.wrong()),
        }
    }

    pub(super) fn index(&mut self, name: &str) -> Result<usize, ParseError> {
        let number = self.number(name)?;
        if number.fract() != 0.0 || !(0.0..1e6).contains(&number) {
            return Err(self.wrong());
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole and small"
        )]
        Ok(number as usize)
    }

    pub(super) fn point(&mut self, x: &str, y: &str) -> Result<Point, ParseError> {
        Ok(Point { x: self.number(x)?, y: self.number(y)? })
    }

    pub(super) fn button(&mut self) -> Result<Button, ParseError> {
        let named = |name: &str| Button::ALL.into_iter().find(|button| button.as_str() == name);
        match self.optional("button") {
            None => Ok(Button::Left),
            Some(Literal::Text(name)) => named(&name).ok_or_else(|| self.wrong()),
            Some(_) => Err(self.wrong()),
        }
    }

    pub(super) fn modifiers(&mut self) -> Result<Vec<Modifier>, ParseError> {
        if self.arguments.iter().all(|(name, _)| name != "modifiers") {
            return Ok(Vec::new());
        }
        let named =
            |name: &String| Modifier::ALL.into_iter().find(|modifier| modifier.as_str() == name);
        let names = self.texts("modifiers")?;
        names.iter().map(named).collect::<Option<_>>().ok_or_else(|| self.wrong())
    }

    /// The action, unless arguments are left over.
    pub(super) fn done(self, action: Action) -> Result<Action, ParseError> {
        if self.fits && self.arguments.is_empty() { Ok(action) } else { Err(self.wrong()) }
    }
}
