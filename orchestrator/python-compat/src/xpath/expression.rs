//! The syntax tree of expressions of XPath 1.0.

#[derive(Debug, Clone)]
pub(super) enum Expression {
    Or(Vec<Expression>),
    And(Vec<Expression>),
    /// Operators of one rank, from left to right.
    Chain(Box<Expression>, Vec<(Operator, Expression)>),
    Negated(Box<Expression>),
    Union(Vec<Expression>),
    Text(String),
    Number(f64),
    Call(String, Vec<Expression>),
    Path(Box<Path>),
    /// An expression that libxml2 reads, but cannot evaluate.
    Broken,
}

/// Operators that take two operands, but for `and`, `or` and `|`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Plus,
    Minus,
    Times,
    Div,
    Mod,
}

/// A path: its start and its steps.
#[derive(Debug, Clone)]
pub(super) struct Path {
    pub(super) start: Start,
    pub(super) steps: Vec<Step>,
}

#[derive(Debug, Clone)]
pub(super) enum Start {
    Here,
    Document,
    /// The nodes of an expression, and what has to be so of them.
    Of(Expression, Vec<Expression>),
}

#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) axis: Axis,
    pub(super) test: NodeTest,
    pub(super) predicates: Vec<Expression>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Axis {
    Ancestor,
    AncestorOrSelf,
    Attribute,
    Child,
    Descendant,
    DescendantOrSelf,
    Following,
    FollowingSibling,
    Namespace,
    Parent,
    Preceding,
    PrecedingSibling,
    This,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NodeTest {
    Any,
    Name(String),
    /// A name in the one namespace that has a prefix here, which nothing is in.
    XmlName,
    /// A prefix that stands for nothing.
    UnknownPrefix,
    Node,
    Text,
    Comment,
    ProcessingInstruction,
}
