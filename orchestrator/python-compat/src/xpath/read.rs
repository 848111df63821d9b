//! XPath 1.0, read as libxml2 reads it.

use super::expression::{Axis, Expression, NodeTest, Operator, Path, Start, Step};
use super::lexer::Cursor;

/// Expressions are nested less deeply than this; libxml2 would go on a little.
const NESTING_LIMIT: usize = 100;

const AXES: [(&str, Axis); 13] = [
    ("ancestor", Axis::Ancestor),
    ("ancestor-or-self", Axis::AncestorOrSelf),
    ("attribute", Axis::Attribute),
    ("child", Axis::Child),
    ("descendant", Axis::Descendant),
    ("descendant-or-self", Axis::DescendantOrSelf),
    ("following", Axis::Following),
    ("following-sibling", Axis::FollowingSibling),
    ("namespace", Axis::Namespace),
    ("parent", Axis::Parent),
    ("preceding", Axis::Preceding),
    ("preceding-sibling", Axis::PrecedingSibling),
    ("self", Axis::This),
];

const EVERYTHING_BELOW: Step =
    Step { axis: Axis::DescendantOrSelf, test: NodeTest::Node, predicates: Vec::new() };

/// Reads a whole expression; nothing where libxml2 finds it invalid.
pub(super) fn parse(text: &str) -> Option<Expression> {
    let mut reader = Reader { cursor: Cursor { rest: text }, depth: 0 };
    let expression = reader.or()?;
    reader.cursor.rest.is_empty().then_some(expression)
}

struct Reader<'a> {
    cursor: Cursor<'a>,
    depth: usize,
}

impl Reader<'_> {
    fn or(&mut self) -> Option<Expression> {
        self.depth += 1;
        if self.depth > NESTING_LIMIT {
            return None;
        }
        let mut parts = vec![self.and()?];
        while self.cursor.eat("or") {
            parts.push(self.and()?);
        }
        self.depth -= 1;
        Some(if parts.len() == 1 { parts.remove(0) } else { Expression::Or(parts) })
    }

    fn and(&mut self) -> Option<Expression> {
        let mut parts = vec![self.equality()?];
        while self.cursor.eat("and") {
            parts.push(self.equality()?);
        }
        Some(if parts.len() == 1 { parts.remove(0) } else { Expression::And(parts) })
    }

    fn chain(
        &mut self,
        operators: &[(&str, Operator)],
        operand: impl Fn(&mut Self) -> Option<Expression>,
    ) -> Option<Expression> {
        let first = operand(self)?;
        let mut more = Vec::new();
        while let Some((_, operator)) = operators.iter().find(|(sign, _)| self.cursor.eat(sign)) {
            more.push((*operator, operand(self)?));
        }
        Some(if more.is_empty() { first } else { Expression::Chain(Box::new(first), more) })
    }

    fn equality(&mut self) -> Option<Expression> {
        self.chain(&[("=", Operator::Equal), ("!=", Operator::Unequal)], Self::comparison)
    }

    fn comparison(&mut self) -> Option<Expression> {
        let signs = [
            ("<=", Operator::LessOrEqual),
            ("<", Operator::Less),
            (">=", Operator::GreaterOrEqual),
            (">", Operator::Greater),
        ];
        self.chain(&signs, Self::sum)
    }

    fn sum(&mut self) -> Option<Expression> {
        self.chain(&[("+", Operator::Plus), ("-", Operator::Minus)], Self::product)
    }

    fn product(&mut self) -> Option<Expression> {
        let signs = [("*", Operator::Times), ("div", Operator::Div), ("mod", Operator::Mod)];
        self.chain(&signs, Self::negation)
    }

    fn negation(&mut self) -> Option<Expression> {
        let mut signs = 0;
        self.cursor.skip_space();
        while self.cursor.eat("-") {
            signs += 1;
        }
        let expression = self.union()?;
        Some(match signs {
            0 => expression,
            // Twice negated is a number all the same.
            _ if signs % 2 == 0 => {
                Expression::Negated(Box::new(Expression::Negated(Box::new(expression))))
            }
            _ => Expression::Negated(Box::new(expression)),
        })
    }

    fn union(&mut self) -> Option<Expression> {
        let mut parts = vec![self.path()?];
        while self.cursor.eat("|") {
            parts.push(self.path()?);
        }
        Some(if parts.len() == 1 { parts.remove(0) } else { Expression::Union(parts) })
    }

    /// A path or a value that one may begin with.
    fn path(&mut self) -> Option<Expression> {
        self.cursor.skip_space();
        let Some(primary) = self.primary()? else {
            let path = self.location()?;
            return Some(Expression::Path(Box::new(path)));
        };
        let predicates = self.predicates()?;
        let mut steps = Vec::new();
        if self.cursor.eat("//") {
            steps.push(EVERYTHING_BELOW);
            self.steps(&mut steps)?;
        } else if self.cursor.eat("/") {
            self.steps(&mut steps)?;
        }
        if predicates.is_empty() && steps.is_empty() {
            return Some(primary);
        }
        Some(Expression::Path(Box::new(Path { start: Start::Of(primary, predicates), steps })))
    }

    /// Something that is no path; nothing inside when a path begins here.
    fn primary(&mut self) -> Option<Option<Expression>> {
        let expression = if self.cursor.eat("(") {
            let inner = self.or()?;
            if !self.cursor.eat(")") {
                return None;
            }
            inner
        } else if self.cursor.eat("$") {
            self.cursor.qualified_name()?;
            Expression::Broken
        } else if self.cursor.rest.starts_with(['"', '\'']) {
            Expression::Text(self.cursor.literal()?)
        } else if let Some(number) = self.cursor.number() {
            Expression::Number(number?)
        } else {
            return self.call();
        };
        self.cursor.skip_space();
        Some(Some(expression))
    }

    fn call(&mut self) -> Option<Option<Expression>> {
        const NODE_TYPES: [&str; 4] = ["comment", "node", "processing-instruction", "text"];
        let mut ahead = self.cursor;
        let Some((prefix, name)) = ahead.qualified_name() else { return Some(None) };
        if !ahead.eat("(") || (prefix.is_none() && NODE_TYPES.contains(&name.as_str())) {
            return Some(None);
        }
        self.cursor = ahead;
        let mut arguments = Vec::new();
        self.cursor.skip_space();
        if !self.cursor.eat(")") {
            loop {
                arguments.push(self.or()?);
                if self.cursor.eat(")") {
                    break;
                }
                if !self.cursor.eat(",") {
                    return None;
                }
            }
        }
        Some(Some(if prefix.is_some() {
            Expression::Broken
        } else {
            Expression::Call(name, arguments)
        }))
    }

    fn predicates(&mut self) -> Option<Vec<Expression>> {
        let mut predicates = Vec::new();
        while self.cursor.eat("[") {
            predicates.push(self.or()?);
            if !self.cursor.eat("]") {
                return None;
            }
        }
        Some(predicates)
    }

    fn location(&mut self) -> Option<Path> {
        let mut steps = Vec::new();
        let mut start = Start::Here;
        if self.cursor.eat("//") {
            start = Start::Document;
            steps.push(EVERYTHING_BELOW);
            self.steps(&mut steps)?;
        } else if self.cursor.eat("/") {
            start = Start::Document;
            if self.cursor.begins_step() {
                self.steps(&mut steps)?;
            }
        } else {
            self.steps(&mut steps)?;
        }
        Some(Path { start, steps })
    }

    /// A slash or two more than needed in front are taken for what they are elsewhere.
    fn steps(&mut self, steps: &mut Vec<Step>) -> Option<()> {
        if self.cursor.eat("//") {
            steps.push(EVERYTHING_BELOW);
        } else {
            self.cursor.eat("/");
        }
        loop {
            self.cursor.skip_space();
            steps.push(self.step()?);
            if self.cursor.eat("//") {
                steps.push(EVERYTHING_BELOW);
            } else if !self.cursor.eat("/") {
                return Some(());
            }
        }
    }

    fn step(&mut self) -> Option<Step> {
        let abbreviated = |axis| Some(Step { axis, test: NodeTest::Node, predicates: Vec::new() });
        if self.cursor.eat("..") {
            return abbreviated(Axis::Parent);
        }
        if self.cursor.eat(".") {
            return abbreviated(Axis::This);
        }
        let axis = self.axis()?;
        let test = self.node_test()?;
        self.cursor.skip_space();
        Some(Step { axis, test, predicates: self.predicates()? })
    }

    fn axis(&mut self) -> Option<Axis> {
        if self.cursor.eat("@") {
            return Some(Axis::Attribute);
        }
        let mut ahead = self.cursor;
        match ahead.name() {
            Some(name) if ahead.eat_after_space("::") => {
                ahead.skip_space();
                self.cursor = ahead;
                AXES.iter().find(|(known, _)| *known == name).map(|(_, axis)| *axis)
            }
            _ => Some(Axis::Child),
        }
    }

    fn node_test(&mut self) -> Option<NodeTest> {
        self.cursor.skip_space();
        if self.cursor.eat("*") {
            return Some(NodeTest::Any);
        }
        let name = self.cursor.name()?;
        if self.cursor.eat_after_space("(") {
            self.cursor.skip_space();
            let mut test = match name.as_str() {
                "node" => NodeTest::Node,
                "text" => NodeTest::Text,
                "comment" => NodeTest::Comment,
                "processing-instruction" => NodeTest::ProcessingInstruction,
                _ => return None,
            };
            if test == NodeTest::ProcessingInstruction && !self.cursor.rest.starts_with(')') {
                self.cursor.literal()?;
                self.cursor.skip_space();
                test = NodeTest::ProcessingInstruction;
            }
            return self.cursor.eat(")").then_some(test);
        }
        if !self.cursor.rest.starts_with("::") && self.cursor.rest.starts_with(':') {
            self.cursor.skip(1);
            if !self.cursor.eat("*") {
                self.cursor.name()?;
            }
            return Some(if name == "xml" { NodeTest::XmlName } else { NodeTest::UnknownPrefix });
        }
        Some(NodeTest::Name(name))
    }
}
