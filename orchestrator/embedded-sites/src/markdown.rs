//! Renders Markdown of visitors and manuals to safe HTML. Raw HTML is shown as text, and links
//! cannot execute scripts.

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, html};

/// Renders `text`. Nothing in the result can execute: tags are escaped, and links lead to http,
/// https or a path of the site.
pub(crate) fn render(text: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let events = Parser::new_ext(text, options).map(|event| match event {
        Event::Html(raw) | Event::InlineHtml(raw) => Event::Text(raw),
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            Event::Start(Tag::Link { link_type, dest_url: harmless(dest_url), title, id })
        }
        // Pages never load images of other hosts.
        Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
            let dest_url = if dest_url.starts_with('/') { dest_url } else { CowStr::Borrowed("") };
            Event::Start(Tag::Image { link_type, dest_url, title, id })
        }
        other => other,
    });
    let mut page = String::with_capacity(text.len() * 3 / 2);
    html::push_html(&mut page, events);
    page
}

fn harmless(url: CowStr<'_>) -> CowStr<'_> {
    let lower = url.trim_start().to_ascii_lowercase();
    let safe = ["http://", "https://", "/", "#"].iter().any(|start| lower.starts_with(start));
    if safe { url } else { CowStr::Borrowed("#") }
}

#[cfg(test)]
mod tests {
    use super::render;

    #[test]
    fn markdown_becomes_paragraphs_and_links() {
        assert_eq!(render("a *b*\n\n- c"), "<p>a <em>b</em></p>\n<ul>\n<li>c</li>\n</ul>\n");
        assert_eq!(render("[x](https://a.test/)"), "<p><a href=\"https://a.test/\">x</a></p>\n");
    }

    #[test]
    fn nothing_a_visitor_writes_can_run() {
        for hostile in
            ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "a <b onclick=x>b</b>"]
        {
            let page = render(hostile);
            assert!(page.contains("&lt;"), "{page}");
            assert!(
                !page.contains("<script") && !page.contains("<img") && !page.contains("<b "),
                "{page}"
            );
        }
        for hostile in [
            "[x](javascript:alert(1))",
            "[x](  JavaScript:alert(1))",
            "<javascript:alert(1)>",
            "[x](data:text/html,x)",
        ] {
            let page = render(hostile);
            assert!(
                !page.to_lowercase().contains("href=\"javascript") && !page.contains("href=\"data"),
                "{page}"
            );
        }
        assert!(!render("![x](http://outside.test/a.png)").contains("outside.test"));
    }
}
