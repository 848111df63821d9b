//! Rules that look at a page: on whole episodes, and on any page and any selector.

use proptest::prelude::*;
use scoring::turkingbench::{Cell, field};
use scoring::{KeyNode, KeyNodes, Method, PathNode, ScoreError, Scorer, Step, ValueNode};

const PAGE: &str = "<html><body><ul id=seats><li class=free><a href=/1><span>1A</span></a></li>\
    <li><a href=/2><span id=two>2B</span></a></li></ul><input id=name value=x></body></html>";

fn path_node(reference: &str, method: Method) -> KeyNode {
    KeyNode::ElementPathExactlyMatch(PathNode {
        reference: reference.to_owned(),
        netloc: "rail".to_owned(),
        method,
    })
}

fn score(node: &KeyNode, html: &str, selector: &str) -> Result<f64, ScoreError> {
    let (selector, html) = (Some(selector), Some(html));
    node.score(&Step {
        url: "https://rail.test/",
        selector,
        html,
        value: Some("x"),
        ..Step::default()
    })
}

#[test]
fn the_element_acted_on_may_be_around_the_text_that_is_meant() {
    use ScoreError::Raised;
    for (reference, method, selector, expect) in [
        ("#two", Method::Selector, "#two", Ok(1.0)),
        ("#two", Method::Selector, "li:nth-of-type(2) > a", Ok(1.0)),
        ("#two", Method::Selector, "#seats", Ok(1.0)),
        ("#two", Method::Selector, "body", Ok(0.0)),
        ("#two", Method::Selector, "li > a", Ok(0.0)),
        ("a[href='/2']", Method::Selector, "li:last-child", Ok(0.0)),
        ("#two", Method::Selector, "#two[", Ok(0.0)),
        ("//span[. = '2B']", Method::Xpath, "//li[2]/a", Ok(1.0)),
        ("//span[. = '2B']", Method::Xpath, "//li[3]", Err(Raised("IndexError"))),
        ("//span[", Method::Xpath, "//li", Err(Raised("UnboundLocalError"))),
        ("count(//span)", Method::Xpath, "//li", Err(Raised("TypeError"))),
        ("//@href", Method::Xpath, "//@href", Ok(0.0)),
    ] {
        let node = path_node(reference, method);
        assert_eq!(score(&node, PAGE, selector), expect, "{reference} {selector}");
    }
}

#[test]
fn a_value_may_be_asked_of_one_element() {
    let value = |path: &str| {
        KeyNode::ElementValueExactlyMatch(ValueNode {
            reference: "x".to_owned(),
            netloc: "rail".to_owned(),
            path: Some(path.to_owned()),
        })
    };
    assert_eq!(score(&value("input"), PAGE, "#name"), Ok(1.0));
    assert_eq!(score(&value("a"), PAGE, "#name"), Ok(0.0));
    let scorer = Scorer::Mind2WebLive(KeyNodes { nodes: vec![value("input")] });
    assert!(scorer.needs().html && Scorer::All(vec![scorer.clone()]).needs().html);
    let mut state = scorer.start();
    let step = Step {
        url: "https://rail.test/",
        selector: Some("#name"),
        value: Some("x"),
        ..Step::default()
    };
    state.observe(&step);
    assert_eq!(state.key_nodes(), [0.0]);
    state.observe(&Step { html: Some(PAGE), ..step });
    assert_eq!(state.key_nodes(), [1.0]);
}

#[test]
fn the_size_of_a_page_is_all_it_costs() {
    const SIZE: usize = 200_000;
    for piece in [
        "<div>",
        "<div class=a>x",
        "</",
        "</p>",
        "<",
        "<!--x>",
        "<!--",
        "<![CDATA[x",
        "<a b='",
        "<a b='>' ",
        "<a b=\"'\" c='\"' ",
        "<a =",
        "<p//",
        "&#x;",
        "&amp",
        "&",
        "<script>",
        "<script><!--",
        "<!",
        "<?x",
        "<b><p>",
        "</b",
        "<td><table>",
        "<select><option selected>",
        "<form><input>",
        "-",
        "]",
        "<template><i>",
    ] {
        let page = piece.repeat(SIZE / piece.len());
        for (method, path) in [
            (
                Method::Selector,
                "* > *:nth-child(n):not(.b *) ~ :has(x), :checked, :disabled *, :lang(en):dir(ltr):default",
            ),
            (Method::Xpath, "//*[1]//text()/.."),
        ] {
            let _ = score(&path_node(path, method), &page, path);
        }
    }
    let deep = ["(", ":not(", ":is(", "-", "//*", "a ", "a[", "@", "(a)"];
    for piece in deep {
        let path = piece.repeat(SIZE / piece.len());
        let _ = score(&path_node(&path, Method::Selector), PAGE, &path);
        let _ = score(&path_node(&path, Method::Xpath), PAGE, &path);
    }
}

fn html() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "<p>",
        "</p>",
        "<div class='a b'>",
        "</div>",
        "<li",
        ">",
        "<a id=x href=\"y\">",
        "</a>",
        "<br/>",
        "<td>",
        "<table>",
        "x",
        " ",
        "&amp;",
        "&#65",
        "<!--",
        "-->",
        "<script>",
        "</script>",
        "'",
        "\"",
        "=",
        "<",
        "/",
        "<body>",
        "<head>",
        "é",
        "\0",
        "<![",
        "]]>",
        "<template>",
        "</template>",
        "<input type=radio name=n checked>",
        "<select><option>",
    ]);
    prop_oneof![
        any::<String>(),
        prop::collection::vec(pieces, 0..40).prop_map(|pieces| pieces.concat())
    ]
}

fn selector() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "a",
        "p",
        "*",
        ".a",
        "#x",
        "[href]",
        "[class~='a' i]",
        ":not(",
        ":is(",
        ":has(",
        ")",
        ">",
        " ",
        "+",
        "~",
        ",",
        ":nth-child(2n+1)",
        ":root",
        ":checked",
        "::x",
        "//",
        "/",
        "[1]",
        "[@id='x']",
        "..",
        ".",
        "text()",
        "position()",
        "=",
        "'x'",
        "(",
        "count(",
        "|",
        "ancestor::",
        "é",
        "\\",
        "1",
        "-",
    ]);
    prop_oneof![
        any::<String>(),
        prop::collection::vec(pieces, 0..10).prop_map(|pieces| pieces.concat())
    ]
}

fn cell() -> impl Strategy<Value = Cell> {
    prop_oneof![
        Just(Cell::Empty),
        any::<bool>().prop_map(Cell::Bool),
        (-1e9..1e9).prop_map(Cell::Number),
        "[a-c1.| &-]{0,6}".prop_map(Cell::Text),
        any::<String>().prop_map(Cell::Text),
    ]
}

proptest! {
    #[test]
    fn any_page_and_selector_have_a_score_or_an_error(html in html(), one in selector(), other in selector()) {
        for method in [Method::Selector, Method::Xpath] {
            if let Ok(score) = score(&path_node(&one, method), &html, &other) {
                prop_assert!(score == 0.0 || score == 1.0);
            }
        }
    }

    #[test]
    fn what_is_found_is_itself(html in html(), selector in selector()) {
        let node = path_node(&selector, Method::Selector);
        let found = score(&node, &html, &selector).unwrap() == 1.0;
        // Then so does a list with it twice, and nothing does without it.
        let twice = format!("{selector},{selector}");
        prop_assert_eq!(score(&node, &html, &twice).unwrap() == 1.0, found);
        prop_assert_eq!(score(&node, &html, ":hover"), Ok(0.0));
    }

    #[test]
    fn any_field_has_a_score_or_an_error(
        kind in prop::sample::select(vec!["text", "textarea", "hidden", "radio", "select", "checkbox", "range", "date"]),
        golds in prop::collection::vec(cell(), 0..5),
        held in "[a-c1.| &-]{0,6}",
    ) {
        if let Ok(score) = field(kind, &golds, &held) {
            prop_assert!(score.is_finite() && score <= 1.0);
            prop_assert!(kind == "range" || score >= 0.0);
        }
    }

    #[test]
    fn texts_are_as_close_one_way_as_the_other(one in "[a-z ]{1,30}", other in "[a-z ]{1,30}") {
        let score = |gold: &str, held: &str| field("text", &[Cell::Text(gold.to_owned())], held);
        prop_assume!(![&one, &other].iter().any(|text| text.as_str() == "nan"));
        prop_assert!((score(&one, &other).unwrap() - score(&other, &one).unwrap()).abs() < 1e-9);
        prop_assert_eq!(score(&one, &one), Ok(1.0));
    }
}
