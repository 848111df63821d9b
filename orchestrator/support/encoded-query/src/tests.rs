#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

type Row = BTreeMap<&'static str, &'static str>;

fn row(columns: &[(&'static str, &'static str)]) -> Row {
    columns.iter().copied().collect()
}

fn value(row: &Row, column: &str) -> String {
    row.get(column).copied().unwrap_or_default().to_owned()
}

fn wanted(query: &str, row: &Row) -> bool {
    EncodedQuery::parse(query).unwrap().matches(|column| value(row, column))
}

#[test]
fn operators_compare_as_on_an_instance() {
    let row = row(&[("name", "Grey Oak"), ("number", "12"), ("note", "a^b"), ("empty", "")]);
    for (query, expect) in [
        ("", true),
        ("name=grey oak", true),
        ("name!=grey oak", false),
        ("nameLIKEy o^number>9", true),
        ("nameNOT LIKEy o", false),
        ("nameSTARTSWITHgr^nameENDSWITHAK", true),
        ("numberIN3, 12", true),
        ("numberNOT IN3,12", false),
        ("number>=12^number<=12^number<100", true),
        ("emptyISEMPTY^missingISEMPTY^emptyEMPTYSTRING", true),
        ("nameISNOTEMPTY^emptyANYTHING", true),
        ("note=a^^b", true),
        ("number=1^ORnumber=12^name=grey oak", true),
        ("number=1^ORnumber=12^name=oak", false),
        ("number=1^NQname=grey oak^EQ", true),
        ("number=1^NQname=oak^ORempty=x", false),
        ("name=grey oak^ORDERBYnumber", true),
    ] {
        assert_eq!(wanted(query, &row), expect, "{query}");
    }
}

#[test]
fn what_is_not_known_is_refused() {
    for query in ["name", "=3", "nameSAMEASx", "a=1^GROUPBYb", "Name=3"] {
        assert!(EncodedQuery::parse(query).is_err(), "{query}");
    }
    let error = EncodedQuery::parse("a=1^bDYNAMICx").unwrap_err().to_string();
    assert!(error.contains("`bDYNAMICx` of the query `a=1^bDYNAMICx`"), "{error}");
}

#[test]
fn records_are_sorted_by_the_first_key_that_tells_them_apart() {
    let query = EncodedQuery::parse("ORDERBYkind^ORDERBYDESCnumber").unwrap();
    let (left, right) =
        (row(&[("kind", "b"), ("number", "9")]), row(&[("kind", "B"), ("number", "10")]));
    let order = query.compare(|column| value(&left, column), |column| value(&right, column));
    assert_eq!(order, Ordering::Greater);
}

const COLUMNS: [&str; 3] = ["a", "b_1", "c.d"];
const VALUES: [&str; 7] = ["", "x", "X", "xy", "7", "10", "a^b=c,x"];

fn condition() -> impl Strategy<Value = Condition> {
    let parts = (0..COLUMNS.len(), 0..Operator::ALL.len(), 0..VALUES.len());
    parts.prop_map(|(column, operator, value)| {
        let operator = Operator::ALL[operator];
        let bare = matches!(
            operator,
            Operator::IsEmpty | Operator::IsNotEmpty | Operator::EmptyString | Operator::Anything
        );
        let value = if bare { "" } else { VALUES[value] };
        Condition { column: COLUMNS[column].to_owned(), operator, value: value.to_owned() }
    })
}

fn query() -> impl Strategy<Value = EncodedQuery> {
    let alternatives = prop::collection::vec(condition(), 1..3);
    let queries = prop::collection::vec(prop::collection::vec(alternatives, 1..4), 1..3);
    let order = (0..COLUMNS.len(), any::<bool>())
        .prop_map(|(column, descending)| Order { column: COLUMNS[column].to_owned(), descending });
    (queries, prop::collection::vec(order, 0..3))
        .prop_map(|(queries, order)| EncodedQuery { queries, order })
}

fn record() -> impl Strategy<Value = Row> {
    prop::collection::vec(0..VALUES.len(), 3).prop_map(|values| {
        COLUMNS.iter().zip(values).map(|(column, value)| (*column, VALUES[value])).collect()
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(query in query()) {
        prop_assert_eq!(EncodedQuery::parse(&query.to_string()).unwrap(), query);
    }

    #[test]
    fn no_text_makes_it_panic(text in "[aA=^!<>NQORLIKE,. ]{0,40}") {
        if let Ok(query) = EncodedQuery::parse(&text) {
            query.matches(|_| String::new());
        }
    }

    /// Every operator has its opposite, and `^NQ` and `^OR` only ever add records, `^` only takes
    /// some away.
    #[test]
    fn joints_widen_and_narrow(left in condition(), right in condition(), row in record()) {
        let read = |column: &str| value(&row, column);
        let holds = |condition: &Condition| condition.holds(&read(&condition.column));
        let both = (holds(&left), holds(&right));
        prop_assert_eq!(wanted(&format!("{left}^{right}"), &row), both.0 && both.1);
        prop_assert_eq!(wanted(&format!("{left}^OR{right}"), &row), both.0 || both.1);
        prop_assert_eq!(wanted(&format!("{left}^NQ{right}"), &row), both.0 || both.1);
        let opposite = |operator| match operator {
            Operator::Equal => Some(Operator::NotEqual),
            Operator::Above => Some(Operator::AtMost),
            Operator::Below => Some(Operator::AtLeast),
            Operator::Like => Some(Operator::NotLike),
            Operator::In => Some(Operator::NotIn),
            Operator::IsEmpty => Some(Operator::IsNotEmpty),
            _ => None,
        };
        if let Some(operator) = opposite(left.operator) {
            prop_assert_ne!(holds(&Condition { operator, ..left.clone() }), both.0);
        }
    }

    #[test]
    fn an_order_is_an_order(query in query(), mut rows in prop::collection::vec(record(), 0..12)) {
        let compare = |a: &Row, b: &Row| query.compare(|c| value(a, c), |c| value(b, c));
        rows.sort_by(compare);
        for (i, a) in rows.iter().enumerate() {
            for b in &rows[i..] {
                prop_assert!(compare(a, b).is_le());
                prop_assert_eq!(compare(a, b), compare(b, a).reverse());
            }
        }
    }
}
