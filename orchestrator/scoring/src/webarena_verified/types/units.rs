//! Lengths in text: the part of Pint's expressions that says how long something is.
//!
//! Numbers and units with `+ - * / // **` and parentheses; side by side they multiply. Units are
//! those of length alone, with their prefixes, so that what has others in it, even if they cancel
//! out, is not read.

use super::decimal::Decimal;

/// Metres in each unit of Pint 0.25, after its definitions.
const UNITS: [(&str, f64); 74] = [
    ("m", 1.0),
    ("meter", 1.0),
    ("metre", 1.0),
    ("mi", 1609.344),
    ("mile", 1609.344),
    ("ft", 0.30479999999999996),
    ("foot", 0.30479999999999996),
    ("feet", 0.30479999999999996),
    ("yd", 0.9144),
    ("yard", 0.9144),
    ("in", 0.0254),
    ("inch", 0.0254),
    ("inches", 0.0254),
    ("nmi", 1852.0),
    ("nautical_mile", 1852.0),
    ("a0", 5.291772105438828e-11),
    ("a_0", 5.291772105438828e-11),
    ("a_u_length", 5.291772105438828e-11),
    ("angstrom", 1e-10),
    ("astronomical_unit", 149597870700.0),
    ("atomic_unit_of_length", 5.291772105438828e-11),
    ("au", 149597870700.0),
    ("big_point", 0.00035277777777777776),
    ("bohr", 5.291772105438828e-11),
    ("bohr_radius", 5.291772105438828e-11),
    ("bp", 0.00035277777777777776),
    ("cables_length", 219.45643891287781),
    ("chain", 20.116840233680467),
    ("cicero", 0.004511278195488722),
    ("classical_electron_radius", 2.8179403204619567e-15),
    ("css_pixel", 0.0002645833333333333),
    ("didot", 0.00037593984962406017),
    ("fathom", 1.828803657607315),
    ("fermi", 1e-15),
    ("fm", 1e-15),
    ("fur", 201.16840233680466),
    ("furlong", 201.16840233680466),
    ("hand", 0.1016),
    ("international_feet", 0.30479999999999996),
    ("international_foot", 0.30479999999999996),
    ("international_inch", 0.0254),
    ("international_mile", 1609.344),
    ("international_yard", 0.9144),
    ("league", 4828.041656083312),
    ("li", 0.20116840233680466),
    ("light_year", 9460730472580800.0),
    ("lightyear", 9460730472580800.0),
    ("link", 0.20116840233680466),
    ("ly", 9460730472580800.0),
    ("micron", 1e-06),
    ("mil_length", 2.5399999999999997e-05),
    ("parsec", 3.0856775814671916e+16),
    ("pc", 3.0856775814671916e+16),
    ("perch", 5.029210058420117),
    ("pica", 0.004233333333333333),
    ("point", 0.00035277777777777776),
    ("pole", 5.029210058420117),
    ("pp", 0.00035277777777777776),
    ("px", 0.0002645833333333333),
    ("rd", 5.029210058420117),
    ("rod", 5.029210058420117),
    ("scaled_point", 5.362851005776947e-09),
    ("sft", 0.3048006096012192),
    ("smi", 1609.3472186944373),
    ("survey_foot", 0.3048006096012192),
    ("survey_link", 0.20116840233680466),
    ("survey_mile", 1609.3472186944373),
    ("tex_cicero", 0.004512780329311036),
    ("tex_didot", 0.0003760650274425863),
    ("tex_pica", 0.004217517642175176),
    ("tex_point", 0.000351459803514598),
    ("th", 2.5399999999999997e-05),
    ("thou", 2.5399999999999997e-05),
    ("us_statute_mile", 1609.3472186944373),
];

const PREFIXES: [(&str, f64); 53] = [
    ("quecto", 1e-30),
    ("q", 1e-30),
    ("ronto", 1e-27),
    ("r", 1e-27),
    ("yocto", 1e-24),
    ("y", 1e-24),
    ("zepto", 1e-21),
    ("z", 1e-21),
    ("atto", 1e-18),
    ("a", 1e-18),
    ("femto", 1e-15),
    ("f", 1e-15),
    ("pico", 1e-12),
    ("p", 1e-12),
    ("nano", 1e-9),
    ("n", 1e-9),
    ("micro", 1e-6),
    ("u", 1e-6),
    ("mu", 1e-6),
    ("mc", 1e-6),
    ("milli", 1e-3),
    ("m", 1e-3),
    ("centi", 0.01),
    ("c", 0.01),
    ("deci", 0.1),
    ("d", 0.1),
    ("deca", 10.0),
    ("da", 10.0),
    ("deka", 10.0),
    ("hecto", 100.0),
    ("h", 100.0),
    ("kilo", 1e3),
    ("k", 1e3),
    ("mega", 1e6),
    ("giga", 1e9),
    ("tera", 1e12),
    ("peta", 1e15),
    ("exa", 1e18),
    ("zetta", 1e21),
    ("yotta", 1e24),
    ("ronna", 1e27),
    ("quetta", 1e30),
    ("kibi", 1024.0),
    ("mebi", 1048576.0),
    ("gibi", 1073741824.0),
    ("tebi", 1099511627776.0),
    ("pebi", 1125899906842624.0),
    ("exbi", 1152921504606846976.0),
    ("zebi", 1.1805916207174113e21),
    ("yobi", 1.2089258196146292e24),
    ("semi", 0.5),
    ("demi", 0.5),
    ("sesqui", 1.5),
];

/// Nested parentheses beyond this are no length.
const DEPTH_LIMIT: usize = 50;

/// A number as Python keeps it.
#[derive(Debug, Clone, Copy)]
enum Number {
    Int(i128),
    Float(f64),
}

/// So many of a unit, which is a length to a power.
#[derive(Debug, Clone, Copy)]
struct Quantity {
    number: Number,
    unit: Number,
    power: i32,
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number(String),
    Name(String),
    Sign(&'static str),
}

/// `parse_expression(text).to(meter).magnitude`; nothing where it raises.
pub(super) fn metres(text: &str) -> Option<Decimal> {
    let tokens = tokens(&text.replace(',', "").replace(" per ", "/").replace('^', "**"))?;
    let mut reader = Reader { tokens: &tokens, depth: 0 };
    let quantity = reader.sum()?;
    if !reader.tokens.is_empty() || quantity.power != 1 {
        return None;
    }
    match product(quantity.number, quantity.unit) {
        Number::Int(number) => Decimal::parse(&number.to_string()),
        Number::Float(number) => Some(Decimal::of_float(number)),
    }
}

fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = if c.is_ascii_digit()
            || (c == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()))
        {
            let length = number_length(rest);
            tokens.push(Token::Number(rest[..length].replace('_', "")));
            length
        } else if c.is_ascii_alphabetic() || c == '_' {
            let end =
                rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            tokens.push(Token::Name(rest[..end].to_owned()));
            end
        } else if let Some(sign) = ["**", "//", "+", "-", "*", "/", "(", ")"]
            .into_iter()
            .find(|sign| rest.starts_with(sign))
        {
            tokens.push(Token::Sign(sign));
            sign.len()
        } else if c == '%' {
            tokens.push(Token::Name("percent".to_owned()));
            1
        } else if c == '"' || !c.is_ascii() {
            return None;
        } else {
            // White space, and signs that mean nothing to Pint.
            c.len_utf8()
        };
        rest = &rest[length..];
    }
    Some(tokens)
}

fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(|b| b.is_ascii_digit() || *b == b'_') {
            at += 1;
        }
        at
    };
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if bytes.get(end + 1 + sign).is_some_and(u8::is_ascii_digit) {
            end = digits(end + 1 + sign);
        }
    }
    end
}

struct Reader<'a> {
    tokens: &'a [Token],
    depth: usize,
}

impl Reader<'_> {
    fn eat(&mut self, signs: &[&'static str]) -> Option<&'static str> {
        let (first, rest) = self.tokens.split_first()?;
        let sign = signs.iter().find(|sign| *first == Token::Sign(sign))?;
        self.tokens = rest;
        Some(sign)
    }

    fn sum(&mut self) -> Option<Quantity> {
        let mut left = self.term()?;
        while let Some(sign) = self.eat(&["+", "-"]) {
            let right = self.term()?;
            left = add(left, if sign == "-" { negated(right) } else { right })?;
        }
        Some(left)
    }

    fn term(&mut self) -> Option<Quantity> {
        let mut left = self.factor()?;
        loop {
            let sign = match self.tokens.first() {
                Some(Token::Number(_) | Token::Name(_) | Token::Sign("(")) => "*",
                _ => match self.eat(&["*", "//", "/"]) {
                    Some(sign) => sign,
                    None => return Some(left),
                },
            };
            let right = self.factor()?;
            left = combine(left, sign, right)?;
        }
    }

    fn factor(&mut self) -> Option<Quantity> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return None;
        }
        let value = match self.eat(&["+", "-"]) {
            Some("-") => self.factor().map(negated),
            Some(_) => self.factor(),
            None => {
                let base = self.atom()?;
                match self.eat(&["**"]) {
                    Some(_) => power(base, self.factor()?),
                    None => Some(base),
                }
            }
        };
        self.depth -= 1;
        value
    }

    fn atom(&mut self) -> Option<Quantity> {
        if self.eat(&["("]).is_some() {
            let inside = self.sum()?;
            self.eat(&[")"])?;
            return Some(inside);
        }
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        match first {
            Token::Number(digits) => number(digits).map(plain),
            Token::Name(name) => unit(name),
            Token::Sign(_) => None,
        }
    }
}

fn number(digits: &str) -> Option<Number> {
    if digits.bytes().all(|b| b.is_ascii_digit()) {
        return match digits.parse() {
            Ok(number) => Some(Number::Int(number)),
            Err(_) => digits.parse().ok().map(Number::Float),
        };
    }
    digits.parse().ok().map(Number::Float)
}

fn plain(number: Number) -> Quantity {
    Quantity { number, unit: Number::Int(1), power: 0 }
}

fn unit(name: &str) -> Option<Quantity> {
    let of = |metres: Number| Quantity { number: Number::Int(1), unit: metres, power: 1 };
    match name {
        "inf" | "infinity" => return Some(plain(Number::Float(f64::INFINITY))),
        "nan" => return Some(plain(Number::Float(f64::NAN))),
        "percent" => return Some(plain(Number::Float(0.01))),
        "pi" => return Some(plain(Number::Float(std::f64::consts::PI))),
        // Minutes and the like have the same letters as small lengths.
        "min" | "mins" => return None,
        _ => {}
    }
    let exact =
        |name: &str| UNITS.iter().find(|(unit, _)| *unit == name).map(|(_, metres)| *metres);
    let singular = name.strip_suffix('s').filter(|name| !name.ends_with("ps"));
    // `ms` is short for milliseconds, whatever stands before it.
    let singular =
        singular.filter(|name| *name == "fathom" || !(name.ends_with('m') && is_metre(name)));
    let singular = singular.filter(|name| !name.ends_with("bp"));
    if let Some(metres) = exact(name).or_else(|| singular.and_then(exact)) {
        let whole = metres.fract() == 0.0
            && ["m", "meter", "metre", "nmi", "nautical_mile", "au"]
                .contains(&name.trim_end_matches('s'));
        return Some(of(if whole { Number::Int(metres as i128) } else { Number::Float(metres) }));
    }
    [Some(name), singular].into_iter().flatten().find_map(|name| {
        PREFIXES.iter().find_map(|(prefix, scale)| {
            let metres = exact(name.strip_prefix(prefix)?)?;
            Some(of(Number::Float(scale * metres)))
        })
    })
}

/// Whether it is the sign of a metre with a prefix, or without.
fn is_metre(name: &str) -> bool {
    name.strip_suffix('m')
        .is_some_and(|prefix| prefix.is_empty() || PREFIXES.iter().any(|(p, _)| *p == prefix))
}

fn float(number: Number) -> f64 {
    match number {
        Number::Int(number) => number as f64,
        Number::Float(number) => number,
    }
}

fn product(one: Number, other: Number) -> Number {
    if let (Number::Int(one), Number::Int(other)) = (one, other)
        && let Some(product) = one.checked_mul(other)
    {
        return Number::Int(product);
    }
    Number::Float(float(one) * float(other))
}

fn negated(quantity: Quantity) -> Quantity {
    let number = match quantity.number {
        Number::Int(number) => Number::Int(-number),
        Number::Float(number) => Number::Float(-number),
    };
    Quantity { number, ..quantity }
}

fn add(one: Quantity, other: Quantity) -> Option<Quantity> {
    if one.power != other.power {
        return None;
    }
    let number = match (one.number, other.number) {
        (Number::Int(a), Number::Int(b)) if float(one.unit) == float(other.unit) => {
            Number::Int(a.checked_add(b)?)
        }
        (a, b) => Number::Float(float(a) + float(b) * (float(other.unit) / float(one.unit))),
    };
    Some(Quantity { number, ..one })
}

fn combine(one: Quantity, sign: &str, other: Quantity) -> Option<Quantity> {
    let unit =
        |quantity: Quantity| if quantity.power == 0 { Number::Int(1) } else { quantity.unit };
    match sign {
        "*" => Some(Quantity {
            number: product(one.number, other.number),
            unit: product(unit(one), unit(other)),
            power: one.power.checked_add(other.power)?,
        }),
        "/" => {
            let divisor = float(other.number);
            if divisor == 0.0 {
                return None;
            }
            let unit = match other.power {
                0 => unit(one),
                _ => Number::Float(float(unit(one)) / float(unit(other))),
            };
            Some(Quantity {
                number: Number::Float(float(one.number) / divisor),
                unit,
                power: one.power.checked_sub(other.power)?,
            })
        }
        "//" if one.power == 0 && other.power == 0 => match (one.number, other.number) {
            (Number::Int(a), Number::Int(b)) => {
                // Python rounds down; the Euclidean division does so only for positive divisors.
                let floor = a.checked_div_euclid(b)?;
                let floor = if b < 0 && a.checked_rem_euclid(b)? != 0 { floor - 1 } else { floor };
                Some(plain(Number::Int(floor)))
            }
            (a, b) => Some(plain(Number::Float((float(a) / float(b)).floor()))),
        },
        _ => None,
    }
}

fn power(base: Quantity, exponent: Quantity) -> Option<Quantity> {
    let Quantity { number: Number::Int(exponent), power: 0, .. } = exponent else { return None };
    let exponent = i32::try_from(exponent).ok()?;
    let number = match base.number {
        Number::Int(number) if exponent >= 0 => {
            Number::Int(number.checked_pow(u32::try_from(exponent).ok()?)?)
        }
        number => Number::Float(float(number).powi(exponent)),
    };
    let unit =
        if exponent == 1 { base.unit } else { Number::Float(float(base.unit).powi(exponent)) };
    Some(Quantity { number, unit, power: base.power.checked_mul(exponent)? })
}

#[cfg(test)]
mod tests {
    use super::metres;

    #[test]
    fn lengths_are_read() {
        for (text, expect) in [
            ("5 km", Some("5000.0")),
            ("748m", Some("748")),
            ("1/2 mile", Some("804.672")),
            ("5km + 300m", Some("5300.0")),
            ("2 nmi", Some("3704")),
            ("1,200 m", Some("1200")),
            ("~5 km.", Some("5000.0")),
            ("5 km/h", None),
            ("5 km 300 m", None),
            ("5 minutes", None),
            ("5 ms", None),
            ("5", None),
            ("((((5", None),
        ] {
            assert_eq!(metres(text).map(|metres| metres.to_text()).as_deref(), expect, "{text}");
        }
    }
}
