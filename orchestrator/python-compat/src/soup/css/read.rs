//! soupsieve's grammar: which pieces may follow which, and what they amount to.

use super::context::{Closes, Context};
use super::names::CASELESS;
use super::pseudo::pseudo_class;
use super::token::Cursor;
use super::{AttributeTest, Combinator, Comparison, List, Nth, State, Test};

/// As many pieces as soupsieve allows.
const PIECES_LIMIT: usize = 8192;
/// Selectors are nested less deeply than this; soupsieve would go on.
const NESTING_LIMIT: usize = 100;

pub(super) fn selectors(selector: &str) -> Option<List> {
    let mut cursor = Cursor { rest: selector };
    let mut stack = vec![Context::new(Closes::Nothing)];
    let mut pieces = 0;
    while !cursor.rest.is_empty() {
        let closed = cursor.attempt(|ahead| {
            ahead.spaces_and_comments();
            ahead.eat(")").then_some(())
        });
        if closed.is_some() {
            close(&mut stack)?;
            continue;
        }
        let is_first = cursor.rest.len() == selector.len();
        let context = stack.last_mut()?;
        if let Some(combined) = combinator(&mut cursor) {
            match combined {
                Combined::Separator(_) if is_first || cursor.rest.is_empty() => return None,
                Combined::Separator(separator) => context.combine(separator)?,
                Combined::Space if is_first || cursor.rest.is_empty() => {}
                Combined::Space => context.combine(Some(Combinator::Descendant))?,
                Combined::Comment => {}
            }
            continue;
        }
        if let Some(opened) = piece(&mut cursor, context)? {
            stack.push(Context::new(opened));
        }
        pieces += 1;
        if pieces > PIECES_LIMIT || stack.len() > NESTING_LIMIT {
            return None;
        }
    }
    let mut context = stack.pop().filter(|_| stack.is_empty())?;
    context.finish()?;
    Some(List { alternatives: context.done })
}

fn close(stack: &mut Vec<Context>) -> Option<()> {
    let mut context = stack.pop()?;
    context.finish()?;
    let parent = stack.last_mut()?;
    let list = List { alternatives: context.done };
    match context.closes {
        Closes::Nothing => return None,
        Closes::Any { .. } => parent.say(Test::Any(list)),
        Closes::Not => parent.say(Test::Not(list)),
        Closes::Has => parent.say(Test::Has(context.related)),
        Closes::Nth(nth) => parent.say(Test::Nth(Nth { of: Some(list), ..nth })),
        Closes::Discarded => {}
    }
    Some(())
}

enum Combined {
    /// A sign; nothing for the comma.
    Separator(Option<Combinator>),
    Space,
    Comment,
}

/// A sign with what is around it, white space, or comments alone.
fn combinator(cursor: &mut Cursor<'_>) -> Option<Combined> {
    cursor.attempt(|ahead| {
        let before = ahead.rest.len();
        while ahead.comment() {}
        let spaced = ahead.space();
        if spaced {
            ahead.spaces_and_comments();
        }
        let signs = [
            (",", None),
            (">", Some(Combinator::Child)),
            ("~", Some(Combinator::Following)),
            ("+", Some(Combinator::Next)),
        ];
        let sign = signs.into_iter().find(|(sign, _)| ahead.eat(sign));
        ahead.spaces_and_comments();
        match sign {
            Some((_, combinator)) => Some(Combined::Separator(combinator)),
            None if spaced => Some(Combined::Space),
            None => (ahead.rest.len() < before).then_some(Combined::Comment),
        }
    })
}

/// Reads one piece of a compound; gives the list that it opens, if it opens one.
fn piece(cursor: &mut Cursor<'_>, context: &mut Context) -> Option<Option<Closes>> {
    match cursor.rest.chars().next()? {
        ':' => return pseudo_class(cursor, context),
        '&' => {
            cursor.eat("&");
            context.say(Test::State(State::Scope));
        }
        '#' => {
            cursor.eat("#");
            context.say(Test::Id(cursor.identifier()?));
        }
        '.' => {
            cursor.eat(".");
            context.say(Test::Class(cursor.identifier()?));
        }
        '[' => context.say(Test::Attribute(attribute(cursor)?)),
        _ if context.begun => return None,
        _ => element(cursor, context)?,
    }
    Some(None)
}

/// `name`, `*`, `prefix|name` and so on.
fn element(cursor: &mut Cursor<'_>, context: &mut Context) -> Option<()> {
    let name = |cursor: &mut Cursor<'_>| {
        cursor.identifier().or_else(|| cursor.eat("*").then(|| "*".to_owned()))
    };
    let prefix = cursor.attempt(|ahead| {
        let prefix = name(ahead).unwrap_or_default();
        ahead.eat("|").then_some(prefix)
    });
    let name = name(cursor)?;
    if prefix.is_some_and(|prefix| prefix != "*") {
        context.say(Test::OtherNamespace);
    }
    context.begun = true;
    if name != "*" {
        context.say(Test::Name(name.to_ascii_lowercase()));
    }
    Some(())
}

fn attribute(cursor: &mut Cursor<'_>) -> Option<AttributeTest> {
    cursor.eat("[");
    cursor.spaces_and_comments();
    // A namespace says nothing in HTML.
    cursor.attempt(|ahead| {
        if ahead.identifier().is_none() {
            ahead.eat("*");
        }
        (ahead.eat("|") && !ahead.rest.starts_with('=')).then_some(())
    });
    let name = cursor.identifier()?.to_ascii_lowercase();
    let compared = cursor.attempt(|ahead| {
        ahead.spaces_and_comments();
        let operators = [
            ("!=", Comparison::Differs),
            ("~=", Comparison::Word),
            ("^=", Comparison::Begins),
            ("|=", Comparison::DashWord),
            ("*=", Comparison::Contains),
            ("$=", Comparison::Ends),
            ("=", Comparison::Equals),
        ];
        let (_, comparison) = operators.into_iter().find(|(operator, _)| ahead.eat(operator))?;
        ahead.spaces_and_comments();
        let value = ahead.value()?;
        let flag = ahead.attempt(|ahead| {
            ahead.spaces_and_comments();
            let flags = [("i", true), ("I", true), ("s", false), ("S", false)];
            flags.into_iter().find(|(flag, _)| ahead.eat(flag)).map(|(_, ignore)| ignore)
        });
        Some((comparison, value, flag))
    });
    cursor.spaces_and_comments();
    if !cursor.eat("]") {
        return None;
    }
    let flag = compared.as_ref().and_then(|(_, _, flag)| *flag);
    let ignore_case = flag.unwrap_or_else(|| CASELESS.contains(&name.as_str()));
    let comparison = compared.map(|(comparison, value, _)| {
        (comparison, if ignore_case { value.to_ascii_lowercase() } else { value })
    });
    Some(AttributeTest { name, ignore_case, comparison })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_soupsieve_refuses() {
        for good in [
            "a",
            " a ",
            "a>b",
            "*|a",
            "|a",
            "a /**/ b",
            "a/**/.b",
            "#\\31 x",
            ":is()",
            ":is(,a)",
            ":is(a,)",
            ":is(a >)",
            ":not(a b)",
            ":has(> a, + b)",
            ":nth-child( 2n + 1 of a, b )",
            ":nth-child(-N+3)",
            "a:hover",
            "[a|=b]",
            "[x|a='b' i]",
            "[a=bs]",
            ":contains(a, 'b')",
            ":contains(.a)",
            ":host(a)",
            "&.a",
            ":dir(up)",
            ":LANG('')",
        ] {
            assert!(selectors(good).is_some(), "{good}");
        }
        for bad in [
            "",
            " ",
            ">a",
            "a>",
            "a,",
            "a,,b",
            "a > > b",
            "#1",
            ".",
            "a::b",
            "@P",
            "a(",
            ":is(a",
            "a)",
            ":not()",
            ":is(b, a >)",
            ":has()",
            ":has(a b)",
            ":has(a >)",
            ":has(:has(a))",
            ":nth-child()",
            ":nth-child(n of)",
            ":nth-of-type(n of a)",
            ":eq(0)",
            ":--a",
            "[a=]",
            "[a=b",
            "[=b]",
            "[a='b' x]",
            "a*",
            ".b a|",
            "/*a",
            ":hover()",
            ":root(a)",
            ":is",
            ":lang()",
            "text=E",
        ] {
            assert!(selectors(bad).is_none(), "{bad}");
        }
        assert!(selectors(&":not(".repeat(100_000)).is_none());
    }
}
