//! The macro `scorers!`, which makes all that names every benchmark's rule of one table
//! (`scorer.rs`).

/// Makes of a table of rules:
/// - `Scorer`, which is what a task's file says. The name of a line in snake case is its key in the
///   file, unless the line says otherwise by `#[serde(rename)]`.
/// - `Part`, which is a rule at work on an episode, and `Scorer::part`, with which it begins.
/// - `with_rule!(Enum, value, rule => ..., parts => ...)`, which does the same with whichever rule
///   a `Scorer` or a `Part` is, and something else with the parts of `all`.
///
/// A table begins with a `$`, because the macro that it makes needs the sign.
macro_rules! scorers {
    ($d:tt $($(#[$key:meta])* $name:ident($(#[$schema:meta])* $rule:ty),)*) => {
        /// The rule that decides the score of a task.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case", deny_unknown_fields)]
        pub enum Scorer {
            $($(#[$key])* $name($(#[$schema])* $rule),)*
            /// Our own: all of these, at least one. The score is the product of theirs.
            All(#[serde(deserialize_with = "read_parts")] Vec<Scorer>),
        }

        /// A rule of any benchmark with what it remembers of an episode, or several.
        #[derive(Debug, Clone)]
        pub(crate) enum Part {
            $($name(Tracked<$rule>),)*
            All(Vec<Assessment>),
        }

        impl Scorer {
            fn part(&self) -> Part {
                match self {
                    $(Scorer::$name(rule) => Part::$name(Tracked::new(rule.clone())),)*
                    Scorer::All(parts) => Part::All(parts.iter().map(Scorer::start).collect()),
                }
            }
        }

        macro_rules! with_rule {
            (
                $d of:ident, $d value:expr,
                $d one:ident => $d rule:expr, $d several:pat => $d parts:expr
            ) => {
                match $d value {
                    $($d of::$name($d one) => $d rule,)*
                    $d of::All($d several) => $d parts,
                }
            };
        }

        pub(crate) use with_rule;
    };
}

pub(crate) use scorers;
