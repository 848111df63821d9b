//! XPath's core functions. lxml offers no others without a prefix.

use super::LxmlError;
use super::evaluate::{Context, Evaluation};
use super::expression::Expression;
use super::node::Node;
use super::value::{Value, read};

const SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

pub(super) fn call(
    evaluation: &mut Evaluation<'_>,
    name: &str,
    arguments: &[Expression],
    context: Context,
) -> Result<Value, LxmlError> {
    let page = evaluation.page;
    // Arguments are evaluated before anybody asks whether there is such a function.
    let mut values = Vec::with_capacity(arguments.len());
    for argument in arguments {
        values.push(evaluation.value(argument, context)?);
    }
    let text_at = |at: usize| values.get(at).map(|value| value.text(page)).unwrap_or_default();
    let number_at = |at: usize| values.get(at).map_or(f64::NAN, |value| value.number(page));
    // Most functions of one value are about the context when there is none.
    let text = || match values.first() {
        Some(value) => value.text(page),
        None => page.text(context.node),
    };
    let named = || match values.first() {
        Some(Value::Nodes(nodes)) => Ok(nodes.first().copied()),
        Some(_) => Err(LxmlError),
        None => Ok(Some(context.node)),
    };
    let count = values.len();
    Ok(match (name, count) {
        ("last", 0) => Value::Number(context.size.ok_or(LxmlError)? as f64),
        ("position", 0) => Value::Number(context.position.ok_or(LxmlError)? as f64),
        ("true", 0) => Value::Truth(true),
        ("false", 0) => Value::Truth(false),
        ("count", 1) => match &values[0] {
            Value::Nodes(nodes) => Value::Number(nodes.len() as f64),
            _ => return Err(LxmlError),
        },
        ("sum", 1) => match &values[0] {
            Value::Nodes(nodes) => {
                Value::Number(nodes.iter().map(|node| read(&page.text(*node))).sum())
            }
            _ => return Err(LxmlError),
        },
        ("id", 1) => {
            let texts = match &values[0] {
                Value::Nodes(nodes) => nodes.iter().map(|node| page.text(*node)).collect(),
                other => vec![other.text(page)],
            };
            let ids: Vec<&str> = texts
                .iter()
                .flat_map(|text| text.split(SPACE))
                .filter(|id| !id.is_empty())
                .collect();
            evaluation.look_at(page.tree.len())?;
            Value::Nodes(page.with_ids(&ids))
        }
        ("name" | "local-name", 0 | 1) => {
            let name = |node: Node| page.full_name(node).unwrap_or_default().to_owned();
            Value::Text(named()?.map(name).unwrap_or_default())
        }
        ("namespace-uri", 0 | 1) => {
            named()?;
            Value::Text(String::new())
        }
        ("string", 0 | 1) => Value::Text(text()),
        ("string-length", 0 | 1) => Value::Number(text().chars().count() as f64),
        ("normalize-space", 0 | 1) => {
            let text = text();
            let words: Vec<&str> = text.split(SPACE).filter(|word| !word.is_empty()).collect();
            Value::Text(words.join(" "))
        }
        ("number", 0) => Value::Number(read(&page.text(context.node))),
        ("number", 1) => Value::Number(number_at(0)),
        ("boolean", 1) => Value::Truth(values[0].truth()),
        ("not", 1) => Value::Truth(!values[0].truth()),
        // Languages are those of XML, which nothing here has.
        ("lang", 1) => Value::Truth(false),
        ("concat", 2..) => Value::Text((0..count).map(text_at).collect()),
        ("starts-with", 2) => Value::Truth(text_at(0).starts_with(&text_at(1))),
        ("contains", 2) => Value::Truth(text_at(0).contains(&text_at(1))),
        ("substring-before", 2) => Value::Text(
            text_at(0)
                .split_once(&text_at(1))
                .map(|(before, _)| before.to_owned())
                .unwrap_or_default(),
        ),
        ("substring-after", 2) => Value::Text(
            text_at(0)
                .split_once(&text_at(1))
                .map(|(_, after)| after.to_owned())
                .unwrap_or_default(),
        ),
        ("substring", 2 | 3) => {
            let start = round(number_at(1));
            let end = if count == 3 { start + round(number_at(2)) } else { f64::INFINITY };
            let text = text_at(0);
            let kept = text.chars().enumerate().filter(|(at, _)| {
                let place = (*at + 1) as f64;
                place >= start && place < end
            });
            Value::Text(kept.map(|(_, c)| c).collect())
        }
        ("translate", 3) => {
            let mut map = std::collections::HashMap::new();
            let to = text_at(2);
            let mut to = to.chars();
            for from in text_at(1).chars() {
                let becomes = to.next();
                map.entry(from).or_insert(becomes);
            }
            Value::Text(
                text_at(0)
                    .chars()
                    .filter_map(|c| map.get(&c).copied().unwrap_or(Some(c)))
                    .collect(),
            )
        }
        ("floor", 1) => Value::Number(number_at(0).floor()),
        ("ceiling", 1) => Value::Number(number_at(0).ceil()),
        ("round", 1) => Value::Number(round(number_at(0))),
        _ => return Err(LxmlError),
    })
}

/// Halves go up.
fn round(number: f64) -> f64 {
    let floor = number.floor();
    if number - floor >= 0.5 { floor + 1.0 } else { floor }
}
