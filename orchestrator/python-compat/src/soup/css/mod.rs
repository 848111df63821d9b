//! Selectors, read as soupsieve 4 reads them; what it raises an exception on is no selector.

mod context;
mod names;
mod pseudo;
mod read;
mod steps;
mod token;

/// Alternatives, of which one has to match.
#[derive(Debug, Clone, Default)]
pub(super) struct List {
    pub(super) alternatives: Vec<Complex>,
}

/// Compounds and how they hang together; the last one is the element itself.
#[derive(Debug, Clone, Default)]
pub(super) struct Complex {
    /// The compounds to the left, each with the combinator after it.
    pub(super) before: Vec<(Compound, Combinator)>,
    pub(super) subject: Compound,
}

/// How two elements have to lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Combinator {
    Descendant,
    Child,
    Following,
    Next,
}

/// The conditions on one element.
#[derive(Debug, Clone, Default)]
pub(super) struct Compound {
    pub(super) tests: Vec<Test>,
    /// It holds a state of the screen that a page on paper is never in, such as `:hover`.
    pub(super) never: bool,
}

/// One condition.
#[derive(Debug, Clone)]
pub(super) enum Test {
    Name(String),
    /// `|name` and `prefix|name`: nothing here is without namespace, and none has a prefix.
    OtherNamespace,
    Id(String),
    Class(String),
    Attribute(AttributeTest),
    Nth(Nth),
    /// `:is`, `:where` and what is read like them.
    Any(List),
    Not(List),
    /// `:has`: one of these lies as its combinator says.
    Has(Vec<(Combinator, Compound)>),
    Contains {
        texts: Vec<String>,
        own: bool,
    },
    Lang(Vec<String>),
    Dir(Direction),
    State(State),
}

/// `[name]`, `[name=value]` and so on.
#[derive(Debug, Clone)]
pub(super) struct AttributeTest {
    /// In lower case.
    pub(super) name: String,
    pub(super) ignore_case: bool,
    pub(super) comparison: Option<(Comparison, String)>,
}

/// The operator of an attribute test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equals,
    Differs,
    Begins,
    Ends,
    Contains,
    Word,
    DashWord,
}

/// `:nth-child` and its relatives: the place is `a` times something and `b`.
#[derive(Debug, Clone)]
pub(super) struct Nth {
    pub(super) a: i128,
    pub(super) b: i128,
    pub(super) of_type: bool,
    pub(super) from_end: bool,
    pub(super) of: Option<List>,
}

/// The direction that `:dir()` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    LeftToRight,
    RightToLeft,
}

/// Pseudo-classes without parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Root,
    Scope,
    Empty,
    Defined,
    Link,
    Checked,
    Default,
    Indeterminate,
    Disabled,
    Enabled,
    Required,
    Optional,
    PlaceholderShown,
    ReadWrite,
    ReadOnly,
    InRange,
    OutOfRange,
    Open,
    Muted,
}

/// Reads a selector; nothing where soupsieve refuses it.
pub(super) fn parse(selector: &str) -> Option<List> {
    read::selectors(&selector.replace('\0', "\u{fffd}"))
}
