//! `JSEvaluator`: whether Python holds for true what `page.evaluate(script)` of Playwright hands
//! over.
//!
//! Playwright gives the script to `eval`, so that it may be statements, calls what that gives if it
//! is a function, and copies the value: of objects their own keys, of nodes and windows a text. A
//! promise is not waited for, and earns nothing: none of the benchmark's scripts for development
//! gives one.

use std::borrow::Cow;
use std::sync::LazyLock;

use fancy_regex::Regex;
use serde_json::json;

use super::super::mode::ScoringMode;

/// Whether a value is true once Playwright has copied it into Python: empty lists and objects are
/// not, and NaN is.
const TRUTH: &str = "value => {
    if (typeof value === 'function' || typeof value === 'symbol' || value === null) return false;
    if (typeof value !== 'object') return Boolean(value) || Number.isNaN(value);
    if (typeof value.then === 'function') throw new Error('a promise is not waited for');
    const is = type => typeof type === 'function' && value instanceof type;
    if (is(Node) || is(Window) || is(Date) || is(URL) || is(RegExp) || is(Error)) return true;
    if (Array.isArray(value)) return value.length > 0;
    return Object.keys(value).length > 0 || (typeof value.toJSON === 'function' && truth(value.toJSON()));
}";

/// `document`, as one script for development has it in its beginning.
static CUT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?<![\w.$])ocument\.").expect("the pattern is right"));
/// A selector that was written down without its quotes.
static BARE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(querySelector(?:All)?)\(\s*([#.][\w-]+)\s*\)").expect("the pattern is right")
});

/// The expression whose value is the verdict.
pub(super) fn expression(script: &str, mode: ScoringMode) -> String {
    let script = match mode {
        ScoringMode::Faithful => Cow::Borrowed(script),
        ScoringMode::Fixed => {
            let quoted = BARE.replace_all(script, "$1('$2')");
            CUT.replace_all(&quoted, "document.").into_owned().into()
        }
    };
    // Playwright makes an expression of what begins as a function's declaration.
    let trimmed = script.trim();
    let head = trimmed.strip_prefix("async").unwrap_or(trimmed).trim_start();
    let is_function = head
        .strip_prefix("function")
        .is_some_and(|rest| rest.starts_with(['(', ' ', '\t', '\n', '\r']));
    let script = if is_function { format!("({trimmed})") } else { trimmed.to_owned() };
    format!(
        "(() => {{ const truth = {TRUTH}; const given = (0, eval)({});
return truth(typeof given === 'function' ? given() : given); }})()",
        json!(script)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_mended_by_fixed_rules_only() {
        let script = "(document.querySelector(#expenseItems).scrollTop > 0)";
        assert!(expression(script, ScoringMode::Faithful).contains("querySelector(#expenseItems)"));
        assert!(expression(script, ScoringMode::Fixed).contains("querySelector('#expenseItems')"));
        let script = "ocument.querySelector('a').x === document.y";
        let mended = expression(script, ScoringMode::Fixed);
        assert!(mended.contains("\"document.querySelector('a').x === document.y\""), "{mended}");
        assert!(expression(script, ScoringMode::Faithful).contains("\"ocument."));
        let right = "document.querySelector('#a').x == querySelector(id)";
        assert_eq!(expression(right, ScoringMode::Faithful), expression(right, ScoringMode::Fixed));
    }

    #[test]
    fn functions_are_made_expressions_and_statements_stay() {
        assert!(
            expression("function () { return 1 }", ScoringMode::Faithful)
                .contains("\"(function () { return 1 })\"")
        );
        assert!(
            expression("a.some(x => x); ", ScoringMode::Faithful).contains("\"a.some(x => x);\"")
        );
        assert!(expression("functional(1)", ScoringMode::Faithful).contains("\"functional(1)\""));
    }
}
