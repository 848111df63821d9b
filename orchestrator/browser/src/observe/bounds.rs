//! Bounds on what an observation holds. A page may have a label of 50 MB; an agent, a prompt and a
//! result need not.

use crate::Observation;
use crate::trees::bounds::{LONGEST_FORMAT, LONGEST_STRING, LONGEST_TEXT, cut, each_string};

/// Cuts everything in an observation that is too long.
pub(crate) fn bound(observation: &mut Observation) {
    each_text(observation, &mut cut);
}

/// Visits every text that a page can put into an observation, with its longest length in bytes.
/// There is no wildcard here: a new field has to be visited too.
pub(crate) fn each_text(observation: &mut Observation, visit: &mut dyn FnMut(&mut String, usize)) {
    let Observation {
        url,
        title,
        axtree,
        focused,
        last_action,
        last_action_error,
        dialogs,
        downloads,
        notices,
        tabs,
        active_tab: _,
        elapsed_ms: _,
        elements,
        boxes: _,
        properties: _,
        webarena,
        visualwebarena,
        webcanvas,
        turkingbench,
        html,
        pruned_html,
        dom,
        axtree_object,
    } = observation;
    for text in [url, title].into_iter().chain(focused).chain(last_action).chain(last_action_error)
    {
        visit(text, LONGEST_TEXT);
    }
    for dialog in dialogs {
        visit(&mut dialog.message, LONGEST_TEXT);
        dialog.entered.iter_mut().for_each(|text| visit(text, LONGEST_TEXT));
    }
    for download in downloads {
        visit(&mut download.name, LONGEST_TEXT);
        visit(&mut download.url, LONGEST_TEXT);
    }
    notices.iter_mut().for_each(|text| visit(text, LONGEST_TEXT));
    for tab in tabs {
        visit(&mut tab.url, LONGEST_TEXT);
        visit(&mut tab.title, LONGEST_TEXT);
    }
    elements.iter_mut().for_each(|element| visit(&mut element.name, LONGEST_TEXT));
    for field in turkingbench.iter_mut().flatten() {
        visit(&mut field.name, LONGEST_TEXT);
        field.html.iter_mut().for_each(|html| visit(html, LONGEST_TEXT));
    }
    let formats = [webarena, visualwebarena, webcanvas, pruned_html];
    for text in formats.into_iter().flatten().chain([axtree]) {
        visit(text, LONGEST_FORMAT);
    }
    for document in html.iter_mut().flatten() {
        visit(&mut document.html, LONGEST_FORMAT);
        visit(&mut document.url, LONGEST_TEXT);
    }
    for value in [dom, axtree_object].into_iter().flatten() {
        each_string(value, &mut |text| visit(text, LONGEST_STRING));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Dialog, Element, Tab};

    /// An observation in all formats, with this text wherever a page can put one.
    fn observation(text: &str) -> Observation {
        let own = || text.to_owned();
        let dialog = Dialog {
            kind: "prompt".to_owned(),
            message: own(),
            accepted: true,
            entered: Some(own()),
        };
        Observation {
            url: own(),
            title: own(),
            axtree: own(),
            dialogs: vec![dialog],
            notices: vec![own()],
            tabs: vec![Tab { url: own(), title: own() }],
            elements: vec![Element { bid: "1".to_owned(), role: "link".to_owned(), name: own() }],
            webarena: Some(own()),
            visualwebarena: Some(own()),
            webcanvas: Some(own()),
            pruned_html: Some(own()),
            dom: Some(json!({ "strings": [text] })),
            axtree_object: Some(json!([{ "name": { "value": text } }])),
            ..Observation::default()
        }
    }

    #[test]
    fn what_is_of_ordinary_size_stays_as_it_is() {
        let mut page = observation(&"ö".repeat(LONGEST_TEXT / 2));
        bound(&mut page);
        assert_eq!(page, observation(&"ö".repeat(LONGEST_TEXT / 2)));
    }

    #[test]
    fn what_is_longer_is_cut_and_marked_in_every_format() {
        let mut page = observation(&"ö".repeat(LONGEST_FORMAT));
        bound(&mut page);
        let written = format!("{page:?}");
        assert!(written.len() < 6 * LONGEST_FORMAT, "{}", written.len());
        assert_eq!(written.matches("bytes more]").count(), 15, "each text is marked");
        assert!(
            page.title.len() < LONGEST_TEXT + 64
                && page.title.ends_with("… [cut: 33488896 bytes more]")
        );
    }
}
