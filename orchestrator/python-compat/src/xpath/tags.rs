//! The properties of HTML's elements in libxml2.

/// How the content of an element is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// As markup.
    Plain,
    /// As text with character references.
    References,
    /// As text.
    Raw,
    /// As text to the end of the page.
    Endless,
    /// As text in which comments may hide end tags.
    Script,
}

/// Elements that never have content.
pub(super) const EMPTY: [&str; 13] = [
    "area", "base", "basefont", "br", "col", "frame", "hr", "img", "input", "isindex", "link",
    "meta", "param",
];

pub(super) fn content(name: &str) -> Mode {
    match name {
        "textarea" | "title" => Mode::References,
        "iframe" | "noembed" | "noframes" | "style" | "xmp" => Mode::Raw,
        "plaintext" => Mode::Endless,
        "script" => Mode::Script,
        _ => Mode::Plain,
    }
}

/// An end tag closes nothing that is more important than itself.
pub(super) fn importance(name: &str) -> u8 {
    match name {
        "div" => 1,
        "td" | "th" => 2,
        "tr" => 3,
        "thead" | "tbody" | "tfoot" => 4,
        "table" => 5,
        "head" | "body" => 6,
        "html" => 7,
        _ => 0,
    }
}

/// Elements and the start tags that close them.
const CLOSED_BY: [(&str, &str); 29] = [
    ("a", "a fieldset table td th"),
    ("address", "dd dl dt form li ul"),
    ("b i", "center p td th"),
    ("big s small strike tt", "p"),
    ("caption col", "col colgroup tbody tfoot thead tr"),
    ("colgroup", "colgroup tbody tfoot thead tr"),
    ("dd", "dt"),
    ("dir menu", "dd dl dt form ul"),
    ("dl", "form li"),
    ("dt", "dd dl"),
    ("font", "center td th"),
    ("form hr ol", "form"),
    ("h1 h2 h3 h4 h5 h6", "fieldset form li p table"),
    (
        "head",
        "a abbr acronym address b bdo big blockquote body br center cite code dd dfn dir div dl dt em \
         fieldset font form frameset h1 h2 h3 h4 h5 h6 hr i iframe img kbd li listing map menu ol p \
         pre q s samp small span strike strong sub sup table tt u ul var xmp",
    ),
    ("legend", "fieldset"),
    ("li", "li"),
    ("link style title", "body frameset"),
    ("listing pre xmp", "dd dl dt fieldset form li table ul"),
    ("option", "optgroup option"),
    (
        "p",
        "address blockquote body caption center col colgroup dd dir div dl dt fieldset form frameset \
         h1 h2 h3 h4 h5 h6 head hr li listing menu ol p pre table tbody td tfoot th title tr ul xmp",
    ),
    ("script", "noscript"),
    ("span", "td th"),
    ("tbody", "tbody tfoot"),
    ("td th", "tbody td tfoot th tr"),
    ("tfoot", "tbody"),
    ("thead", "tbody tfoot"),
    ("tr", "tbody tfoot tr"),
    ("u", "p td th"),
    ("ul", "address form menu pre"),
];

/// Whether the start tag of one element closes another that is open.
pub(super) fn closes(start: &str, open: &str) -> bool {
    CLOSED_BY.iter().any(|(closed, by)| is_one_of(open, closed) && is_one_of(start, by))
}

/// Whether a name is one of some that are divided by spaces.
pub(super) fn is_one_of(name: &str, names: &str) -> bool {
    names.split(' ').any(|one| one == name)
}
