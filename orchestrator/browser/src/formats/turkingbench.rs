//! TurkingBench's observation of each field: the HTML around it. Follows `TextBaseline.get_html` of
//! JHU-CLSP/turking-bench (`src/evaluation/baselines.py`) with `use_relevant_html`. It takes the
//! HTML of the field's grandparent element and splits it behind each `>`. Five pieces before the
//! field and nine behind it are shown, one a line.
//!
//! Oddities of the original are kept. The end of the HTML gets a `>` too many. A field is found
//! only if it is one whole piece (not a `select`, a `textarea`, or an `input` behind a text);
//! otherwise the first nine pieces are shown.
//!
//! Without `use_relevant_html` the original shows the HTML that the server sent. Here that is
//! [`ObservationOptions::html`](crate::ObservationOptions), the present page. Nothing is cut to a
//! length.
//!
//! Fields are those of the page and its frames that have a name and are displayed, each name once,
//! without those that `Evaluation` excludes (`src/evaluation_class.py`, which skips hidden fields,
//! too). The original names fields by the columns of the task's answers, and looks for them in one
//! document.

use serde::Deserialize;

use crate::Field;

/// How many pieces are shown before the field, and from it on.
const PIECES_BEFORE: usize = 5;
const PIECES_FROM: usize = 10;

/// The fields of a document: name, type, HTML, and the HTML of the grandparent element. If several
/// elements have a name, the first one counts, field or not.
pub(crate) const FIELDS: &str = "(() => {
    const passed = new Set(['csrfmiddlewaretoken', 'worker_ip', 'ee']), fields = new Map();
    for (const field of document.querySelectorAll('input, textarea, select')) {
        const name = field.getAttribute('name');
        if (!name || passed.has(name) || fields.has(name)) continue;
        const first = document.getElementsByName(name)[0] ?? field;
        const { width, height } = first.getBoundingClientRect();
        if (!width || !height || !first.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
        const kind = field.localName === 'input' ? field.type : field.localName;
        fields.set(name, [name, kind, first.outerHTML, first.parentElement?.parentElement?.outerHTML ?? null]);
    }
    return [...fields.values()];
})()";

/// A field as [`FIELDS`] returns it.
#[derive(Debug, Deserialize)]
pub(crate) struct FieldRecord(String, String, String, Option<String>);

impl FieldRecord {
    pub(crate) fn into_field(self) -> Field {
        let FieldRecord(name, kind, own, around) = self;
        Field { name, kind, html: around.map(|around| window(&own, &around)) }
    }
}

fn window(field: &str, around: &str) -> String {
    let pieces: Vec<String> = around.split('>').map(|piece| format!("{piece}>")).collect();
    let found = pieces.iter().rposition(|piece| piece == field);
    let (start, end) = match found {
        Some(found) => (found.saturating_sub(PIECES_BEFORE), found + PIECES_FROM),
        // The original counts from -1.
        None => (0, PIECES_FROM - 1),
    };
    pieces[start..end.min(pieces.len())].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pieces_around_a_field_are_shown() {
        let around = "<div><p>1</p><p>2</p><p>3</p><span><input name=\"q\"></span><b>4</b><b>5</b><b>6</b><b>7</b><b>8</b></div>";
        let shown = "<p>\n2</p>\n<p>\n3</p>\n<span>\n<input name=\"q\">\n</span>\n<b>\n4</b>\n<b>\n5</b>\n<b>\n6</b>\n<b>\n7</b>";
        assert_eq!(window("<input name=\"q\">", around), shown);
        let unfound = "<div>\n<p>\n1</p>\n<p>\n2</p>\n<p>\n3</p>\n<span>\n<input name=\"q\">";
        assert_eq!(window("<select name=\"q\"></select>", around), unfound);
        assert_eq!(
            window("<input>", "<div><a><input></a></div>"),
            "<div>\n<a>\n<input>\n</a>\n</div>\n>"
        );
        assert_eq!(
            window("<input>", "<div><a>x <input></a></div>"),
            "<div>\n<a>\nx <input>\n</a>\n</div>\n>"
        );
    }
}
