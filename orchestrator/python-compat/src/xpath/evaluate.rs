//! The evaluation of expressions.

use std::collections::BTreeSet;

use super::expression::{Axis, Expression, NodeTest, Operator, Path, Start, Step};
use super::node::{Node, Page, Part};
use super::value::Value;
use super::{LxmlError, functions};

/// So many nodes are looked at for one expression, and no more.
const WORK_LIMIT: usize = 50_000_000;

/// The context of an expression. Outside of conditions there is no position, and it is an error to
/// ask for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context {
    pub(super) node: Node,
    pub(super) position: Option<usize>,
    pub(super) size: Option<usize>,
}

/// An evaluation of one expression.
pub(super) struct Evaluation<'a> {
    pub(super) page: &'a Page,
    work: usize,
}

pub(super) fn evaluate(page: &Page, expression: &Expression) -> Result<Value, LxmlError> {
    let node = Node { id: page.context, part: Part::Whole };
    Evaluation { page, work: 0 }.value(expression, Context { node, position: None, size: None })
}

impl Evaluation<'_> {
    /// Counts nodes that are looked at.
    pub(super) fn look_at(&mut self, nodes: usize) -> Result<(), LxmlError> {
        self.work += nodes + 1;
        if self.work > WORK_LIMIT { Err(LxmlError) } else { Ok(()) }
    }

    pub(super) fn value(
        &mut self,
        expression: &Expression,
        context: Context,
    ) -> Result<Value, LxmlError> {
        self.look_at(0)?;
        match expression {
            Expression::Broken => Err(LxmlError),
            Expression::Text(text) => Ok(Value::Text(text.clone())),
            Expression::Number(number) => Ok(Value::Number(*number)),
            Expression::Or(parts) => self.any(parts, context, true),
            Expression::And(parts) => self.any(parts, context, false),
            Expression::Negated(inner) => {
                Ok(Value::Number(-self.value(inner, context)?.number(self.page)))
            }
            Expression::Chain(first, more) => {
                let mut value = self.value(first, context)?;
                for (operator, operand) in more {
                    let operand = self.value(operand, context)?;
                    value = self.operate(*operator, &value, &operand)?;
                }
                Ok(value)
            }
            Expression::Union(parts) => {
                let mut all = BTreeSet::new();
                for part in parts {
                    let Value::Nodes(nodes) = self.value(part, context)? else {
                        return Err(LxmlError);
                    };
                    all.extend(nodes);
                }
                Ok(Value::Nodes(all.into_iter().collect()))
            }
            Expression::Call(name, arguments) => functions::call(self, name, arguments, context),
            Expression::Path(path) => self.path(path, context).map(Value::Nodes),
        }
    }

    /// Whether one part is true, or one is not.
    fn any(
        &mut self,
        parts: &[Expression],
        context: Context,
        wanted: bool,
    ) -> Result<Value, LxmlError> {
        for part in parts {
            if self.value(part, context)?.truth() == wanted {
                return Ok(Value::Truth(wanted));
            }
        }
        Ok(Value::Truth(!wanted))
    }

    fn path(&mut self, path: &Path, context: Context) -> Result<Vec<Node>, LxmlError> {
        let mut nodes = match &path.start {
            Start::Here => vec![context.node],
            Start::Document => vec![Node { id: 0, part: Part::Whole }],
            Start::Of(expression, predicates) => {
                let Value::Nodes(mut nodes) = self.value(expression, context)? else {
                    return Err(LxmlError);
                };
                for predicate in predicates {
                    nodes = self.filtered(nodes, predicate)?;
                }
                nodes
            }
        };
        let mut steps = path.steps.as_slice();
        while let [step, rest @ ..] = steps {
            steps = rest;
            // `//name` without conditions is one walk instead of one a node.
            if let [next, rest @ ..] = rest
                && is_everything_below(step)
                && next.axis == Axis::Child
                && next.predicates.is_empty()
            {
                let walk = Step {
                    axis: Axis::Descendant,
                    test: next.test.clone(),
                    predicates: Vec::new(),
                };
                nodes = self.step(&nodes, &walk)?;
                steps = rest;
                continue;
            }
            nodes = self.step(&nodes, step)?;
        }
        Ok(nodes)
    }

    fn step(&mut self, from: &[Node], step: &Step) -> Result<Vec<Node>, LxmlError> {
        if step.test == NodeTest::UnknownPrefix {
            return Err(LxmlError);
        }
        let mut all: Vec<Node> = Vec::new();
        for node in from {
            let reach = match step.axis {
                Axis::This | Axis::Parent | Axis::Attribute | Axis::Namespace => 1,
                Axis::Following | Axis::Preceding => self.page.tree.len(),
                _ => 0,
            };
            self.look_at(reach)?;
            let mut found = self.page.on_axis(*node, step.axis, &step.test);
            self.look_at(found.len())?;
            for predicate in &step.predicates {
                found = self.filtered(found, predicate)?;
            }
            all.extend(found);
        }
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }

    /// The nodes of which a predicate is true: a number is true of its position.
    fn filtered(
        &mut self,
        nodes: Vec<Node>,
        predicate: &Expression,
    ) -> Result<Vec<Node>, LxmlError> {
        let size = nodes.len();
        let mut kept = Vec::new();
        for (at, node) in nodes.into_iter().enumerate() {
            let position = at + 1;
            let context = Context { node, position: Some(position), size: Some(size) };
            let keep = match self.value(predicate, context)? {
                Value::Number(number) => number == position as f64,
                other => other.truth(),
            };
            if keep {
                kept.push(node);
            }
        }
        Ok(kept)
    }

    fn operate(
        &mut self,
        operator: Operator,
        left: &Value,
        right: &Value,
    ) -> Result<Value, LxmlError> {
        let numbers = || (left.number(self.page), right.number(self.page));
        Ok(match operator {
            Operator::Plus => Value::Number(numbers().0 + numbers().1),
            Operator::Minus => Value::Number(numbers().0 - numbers().1),
            Operator::Times => Value::Number(numbers().0 * numbers().1),
            Operator::Div => Value::Number(numbers().0 / numbers().1),
            Operator::Mod => Value::Number(numbers().0 % numbers().1),
            _ => Value::Truth(self.compare(operator, left, right)?),
        })
    }

    /// Sets of nodes compare if any of their nodes does.
    fn compare(
        &mut self,
        operator: Operator,
        left: &Value,
        right: &Value,
    ) -> Result<bool, LxmlError> {
        let texts = |nodes: &[Node]| -> Vec<Value> {
            nodes.iter().map(|node| Value::Text(self.page.text(*node))).collect()
        };
        let (left_values, right_values) = match (left, right) {
            (Value::Truth(_), _) | (_, Value::Truth(_)) => (None, None),
            (Value::Nodes(left), Value::Nodes(right)) => (Some(texts(left)), Some(texts(right))),
            (Value::Nodes(left), _) => (Some(texts(left)), None),
            (_, Value::Nodes(right)) => (None, Some(texts(right))),
            _ => (None, None),
        };
        let lefts = left_values.as_deref().unwrap_or(std::slice::from_ref(left));
        let rights = right_values.as_deref().unwrap_or(std::slice::from_ref(right));
        self.look_at(lefts.len().saturating_mul(rights.len()))?;
        let page = self.page;
        Ok(lefts
            .iter()
            .any(|left| rights.iter().any(|right| compare_single(operator, left, right, page))))
    }
}

fn compare_single(operator: Operator, left: &Value, right: &Value, page: &Page) -> bool {
    let is_equality = matches!(operator, Operator::Equal | Operator::Unequal);
    if is_equality {
        let equal = match (left, right) {
            (Value::Truth(_), _) | (_, Value::Truth(_)) => left.truth() == right.truth(),
            (Value::Number(_), _) | (_, Value::Number(_)) => {
                left.number(page) == right.number(page)
            }
            _ => left.text(page) == right.text(page),
        };
        return equal == (operator == Operator::Equal);
    }
    let number = |value: &Value, other: &Value| match (value, other) {
        // Against a truth value a set of nodes is one itself.
        (Value::Nodes(nodes), Value::Truth(_)) => f64::from(u8::from(!nodes.is_empty())),
        _ => value.number(page),
    };
    let (a, b) = (number(left, right), number(right, left));
    match operator {
        Operator::Less => a < b,
        Operator::LessOrEqual => a <= b,
        Operator::Greater => a > b,
        _ => a >= b,
    }
}

fn is_everything_below(step: &Step) -> bool {
    step.axis == Axis::DescendantOrSelf && step.test == NodeTest::Node && step.predicates.is_empty()
}
