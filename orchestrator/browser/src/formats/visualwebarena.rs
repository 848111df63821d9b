//! VisualWebArena's text beside a picture with numbers: `[12] [BUTTON] [Add to cart]`, `[]
//! [StaticText] [Only two left]`. Follows `ImageObservationProcessor` of web-arena-x/visualwebarena
//! (`browser_env/processors.py`: `get_page_bboxes`, `draw_bounding_boxes`), including its oddities:
//!
//! - Interactive elements are those that its list of CSS selectors finds, including `no-mobile` and
//!   special places of Reddit and of the classifieds. Texts are those that a second list finds in
//!   elements that are not in the first.
//! - An element is in view if it touches the window and is not larger than 0.8 of it.
//! - An interactive element has a line, and a number on the picture, only if it is at least eight
//!   pixels wide and high.
//! - A text has at most 200 characters, without line feeds, tabs and double quotes. A text that
//!   already has a line is not repeated, and one that looks like a style sheet is left out.
//!
//! Differences from the original: ids are our bids, and an element without one shows that of the
//! nearest element around it. Images get no generated captions. The original reads the elements
//! from a CSV, in which `NA`, `null` and the like are empty; here they are text.

use std::collections::HashSet;

use serde::Deserialize;

/// Smaller elements get no number, in pixels.
const SMALLEST: f64 = 8.0;
const LARGEST: f64 = 0.8;
const LONGEST: usize = 200;

/// The elements of a document, with `marks` for the object of `marks.js`. See [`PageElement`].
pub(crate) const ELEMENTS: &str = r#"((marks) => {
    const used = ['a[href]:not(:has(img))', 'a[href] img', 'button', 'input:not([type="hidden"])', 'textarea', 'select',
        '[tabindex]:not([tabindex="-1"])', '[contenteditable="true"]', '[role="button"]', '[role="link"]', '[role="checkbox"]',
        '[role="menuitem"]', '[role="tab"]', '[draggable="true"]', '.btn', 'no-mobile', 'a[href="/notifications"]',
        'a[href="/submit"]', '.fa.fa-star.is-rating-item', 'input[type="checkbox"]'].join(', ');
    const texts = ['p', 'span', 'div:not(:has(*))', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'li', 'article']
        .map((text) => `:not(${used}):not(style) > ${text}`);
    const named = (element) => element && (marks.bid(element) ?? named(element.parentElement));
    return [...document.querySelectorAll([used, ...texts].join(', '))].flatMap((element) => {
        const { left, top, width, height } = element.getBoundingClientRect();
        if (width === 0 || height === 0) return [];
        const alt = element.tagName === 'IMG' ? element.getAttribute('alt') ?? '' : '';
        return [[named(element) ?? '', element.tagName, [left, top, width, height], alt, element.textContent ?? '', element.matches(used)]];
    });
})"#;

/// An element: bid, tag, left, top, width and height on the screen, alternative text of an image,
/// text content, and whether it is interactive.
#[derive(Debug, Deserialize)]
pub(crate) struct PageElement(String, String, [f64; 4], String, String, bool);

impl PageElement {
    fn is_in_view(&self, window: (u32, u32)) -> bool {
        let [left, top, width, height] = self.2;
        let (right, bottom) = (f64::from(window.0), f64::from(window.1));
        left + width >= 0.0
            && left <= right
            && top + height >= 0.0
            && top <= bottom
            && width * height <= LARGEST * right * bottom
    }

    fn is_numbered(&self) -> bool {
        let [_, _, width, height] = self.2;
        self.5 && width >= SMALLEST && height >= SMALLEST
    }

    fn words(&self) -> String {
        let text = self.4.replace('"', "");
        let text = text.trim().replace(['\n', '\t'], "");
        let text: String = text.chars().take(LONGEST).collect();
        format!("{}{text}", self.3.replace('"', ""))
    }
}

/// The text, and the numbered elements with their bounds on the picture.
pub(crate) fn write(
    elements: &[PageElement],
    window: (u32, u32),
) -> (String, Vec<(String, [f64; 4])>) {
    let (mut lines, mut numbered) = (Vec::new(), Vec::new());
    let mut shown_texts: HashSet<String> = HashSet::new();
    for element in elements.iter().filter(|element| element.is_in_view(window)) {
        let words = element.words();
        let PageElement(bid, tag, at, _, _, used) = element;
        if element.is_numbered() {
            lines.push(format!("[{bid}] [{tag}] [{words}]"));
            numbered.push((bid.clone(), *at));
            shown_texts.insert(words);
        } else if !used {
            let is_style = words.starts_with('.') && words.contains('{');
            if !words.is_empty() && !is_style && !shown_texts.contains(&words) {
                lines.push(format!("[] [StaticText] [{words}]"));
                shown_texts.insert(words);
            }
        }
    }
    (lines.join("\n"), numbered)
}
