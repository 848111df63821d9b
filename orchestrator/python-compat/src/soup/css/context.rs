//! Lists of selectors while they are being read.

use super::{Combinator, Complex, Compound, Nth, Test};

/// A list that is being read.
pub(super) struct Context {
    pub(super) closes: Closes,
    pub(super) subject: Compound,
    /// Something has been said of the subject.
    pub(super) begun: bool,
    pub(super) before: Vec<(Compound, Combinator)>,
    pub(super) done: Vec<Complex>,
    /// For `:has`: how the subject has to lie, and what has been read.
    pub(super) leading: Combinator,
    pub(super) related: Vec<(Combinator, Compound)>,
}

/// The meaning of a list that is closed.
pub(super) enum Closes {
    /// It is the selector itself.
    Nothing,
    Any {
        forgiving: bool,
    },
    Not,
    Has,
    Nth(Nth),
    Discarded,
}

impl Context {
    pub(super) fn new(closes: Closes) -> Context {
        Context {
            closes,
            subject: Compound::default(),
            begun: false,
            before: Vec::new(),
            done: Vec::new(),
            leading: Combinator::Descendant,
            related: Vec::new(),
        }
    }

    pub(super) fn forgives(&self) -> bool {
        matches!(self.closes, Closes::Any { forgiving: true })
    }

    pub(super) fn say(&mut self, test: Test) {
        self.subject.tests.push(test);
        self.begun = true;
    }

    pub(super) fn combine(&mut self, combinator: Option<Combinator>) -> Option<()> {
        let begun = std::mem::take(&mut self.begun);
        let subject = std::mem::take(&mut self.subject);
        match (&self.closes, combinator) {
            (Closes::Has, None) if begun => {
                self.related.push((self.leading, subject));
                self.leading = Combinator::Descendant;
            }
            (Closes::Has, Some(combinator)) if !begun && self.leading == Combinator::Descendant => {
                self.leading = combinator;
            }
            (Closes::Has, _) => return None,
            (_, None) if begun => {
                self.done.push(Complex { before: std::mem::take(&mut self.before), subject });
            }
            (_, Some(combinator)) if begun => self.before.push((subject, combinator)),
            (_, None) if self.forgives() => self.before.clear(),
            _ => return None,
        }
        Some(())
    }

    pub(super) fn finish(&mut self) -> Option<()> {
        if self.begun {
            return self.combine(None);
        }
        if self.forgives() && (self.done.is_empty() || self.before.is_empty()) {
            self.before.clear();
            self.done.push(Complex {
                before: Vec::new(),
                subject: Compound { never: true, ..Compound::default() },
            });
            return Some(());
        }
        None
    }
}
