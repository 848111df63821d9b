//! Pseudo-classes, with and without parameters.

use super::context::{Closes, Context};
use super::names::{NEVER, STATES};
use super::steps::steps;
use super::token::Cursor;
use super::{Direction, Nth, Test};

/// Reads one from its colon on; gives the list that it opens, if it opens one.
pub(super) fn pseudo_class(
    cursor: &mut Cursor<'_>,
    context: &mut Context,
) -> Option<Option<Closes>> {
    cursor.eat(":");
    let name = cursor.identifier()?.to_ascii_lowercase();
    if !cursor.eat("(") {
        return simple(&name, context).map(|()| None);
    }
    cursor.spaces_and_comments();
    let opened = match name.as_str() {
        "nth-child" | "nth-last-child" | "nth-of-type" | "nth-last-of-type" => {
            return nth(&name, cursor, context);
        }
        "lang" => {
            let ranges = closed_values(cursor)?;
            context.say(Test::Lang(ranges));
            return Some(None);
        }
        "dir" => {
            direction(cursor, context)?;
            return Some(None);
        }
        "contains" | "-soup-contains" | "-soup-contains-own" => {
            if let Some(texts) = cursor.attempt(closed_values) {
                context.say(Test::Contains { texts, own: name.ends_with("own") });
                return Some(None);
            }
            // What is no text is read as selectors.
            Closes::Any { forgiving: false }
        }
        "is" | "where" => Closes::Any { forgiving: true },
        "matches" => Closes::Any { forgiving: false },
        "not" => Closes::Not,
        "has" if matches!(context.closes, Closes::Has) => return None,
        "has" => Closes::Has,
        "current" | "host" | "host-context" => {
            context.subject.never = true;
            Closes::Discarded
        }
        _ => return None,
    };
    context.begun = true;
    Some(Some(opened))
}

fn simple(name: &str, context: &mut Context) -> Option<()> {
    let mut place = |of_type, from_end| {
        context.say(Test::Nth(Nth { a: 0, b: 1, of_type, from_end, of: None }));
    };
    match name {
        "first-child" => place(false, false),
        "last-child" => place(false, true),
        "first-of-type" => place(true, false),
        "last-of-type" => place(true, true),
        "only-child" => [false, true].into_iter().for_each(|from_end| place(false, from_end)),
        "only-of-type" => [false, true].into_iter().for_each(|from_end| place(true, from_end)),
        _ if NEVER.contains(&name) => {
            context.subject.never = true;
            context.begun = true;
        }
        _ => {
            let (_, state) = STATES.into_iter().find(|(known, _)| *known == name)?;
            context.say(Test::State(state));
        }
    }
    Some(())
}

/// Values up to the closing bracket.
fn closed_values(cursor: &mut Cursor<'_>) -> Option<Vec<String>> {
    let mut values = vec![cursor.value()?];
    loop {
        cursor.spaces_and_comments();
        if cursor.eat(")") {
            return Some(values);
        }
        if !cursor.eat(",") {
            return None;
        }
        cursor.spaces_and_comments();
        values.push(cursor.value()?);
    }
}

fn direction(cursor: &mut Cursor<'_>, context: &mut Context) -> Option<()> {
    let name = cursor.identifier()?.to_ascii_lowercase();
    cursor.spaces_and_comments();
    if !cursor.eat(")") {
        return None;
    }
    context.begun = true;
    match name.as_str() {
        "ltr" => context.say(Test::Dir(Direction::LeftToRight)),
        "rtl" => context.say(Test::Dir(Direction::RightToLeft)),
        _ => context.subject.never = true,
    }
    Some(())
}

fn nth(name: &str, cursor: &mut Cursor<'_>, context: &mut Context) -> Option<Option<Closes>> {
    let (a, b) = steps(cursor)?;
    let nth =
        Nth { a, b, of_type: name.ends_with("of-type"), from_end: name.contains("last"), of: None };
    let of = cursor.attempt(|ahead| {
        while ahead.comment() {}
        let spaced = ahead.space();
        ahead.spaces_and_comments();
        let of = ["of", "Of", "oF", "OF"].iter().any(|of| ahead.eat(of));
        while ahead.comment() {}
        let apart = ahead.space();
        ahead.spaces_and_comments();
        (!nth.of_type && spaced && of && apart).then_some(())
    });
    if of.is_some() {
        context.begun = true;
        return Some(Some(Closes::Nth(nth)));
    }
    cursor.spaces_and_comments();
    if !cursor.eat(")") {
        return None;
    }
    context.say(Test::Nth(nth));
    Some(None)
}
