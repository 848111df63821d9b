//! The names of blobs in observations.
//!
//! The browser makes up the name of a blob, such as
//! `blob:https://a.test/907f19d3-92ae-4020-8d5c-1f7a0c8e2b11`. A page may put it into a link or
//! show it. In observations its blobs are numbered instead, in the order in which an episode first
//! shows them.

use std::collections::HashMap;

use crate::Observation;
use crate::observe::bounds;

const SCHEME: &str = "blob:";
/// The longest origin with a name, in bytes.
const LONGEST: usize = 400;
/// The length of a name.
const NAME: usize = 36;

/// The blobs that an episode has shown, by their names.
#[derive(Debug, Default)]
pub(crate) struct BlobNames(HashMap<String, usize>);

impl BlobNames {
    /// Numbers the blobs in an observation.
    pub(crate) fn number(&mut self, observation: &mut Observation) {
        bounds::each_text(observation, &mut |text, _| self.number_in(text));
    }

    fn number_in(&mut self, text: &mut String) {
        let mut from = 0;
        while let Some(begin) = text[from..].find(SCHEME).map(|place| from + place + SCHEME.len()) {
            from = begin;
            // The origin ends with the last slash before the name: `https://a.test/`, or `null/`.
            let ends = |letter: char| letter.is_whitespace() || "'\"<>()".contains(letter);
            let end = text[begin..]
                .char_indices()
                .find(|&(place, letter)| place > LONGEST || ends(letter));
            let url = &text[begin..end.map_or(text.len(), |(end, _)| begin + end)];
            let Some(place) = url.char_indices().find_map(|(place, letter)| {
                let name = url.get(place + 1..place + 1 + NAME)?;
                (letter == '/' && is_name(name)).then_some(begin + place + 1)
            }) else {
                continue;
            };
            let next = self.0.len() + 1;
            let number = *self.0.entry(text[place..place + NAME].to_owned()).or_insert(next);
            text.replace_range(
                place..place + NAME,
                &format!("00000000-0000-4000-8000-{number:012}"),
            );
            from = place + NAME;
        }
    }
}

fn is_name(text: &str) -> bool {
    text.bytes().enumerate().all(|(place, letter)| match place {
        8 | 13 | 18 | 23 => letter == b'-',
        _ => letter.is_ascii_hexdigit(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blobs_are_numbered_by_their_first_appearance() {
        let mut names = BlobNames::default();
        let one = "907f19d3-92ae-4020-8d5c-1f7a0c8e2b11";
        let two = "2b7e1516-28ae-4d2a-abf7-158809cf4f3c";
        let mut text = format!(
            "a blob: url='blob:https://a.test/{two}', <a href=\"blob:null/{one}#x\">, (blob:https://a.test:8/{two})"
        );
        names.number_in(&mut text);
        let number = |number: usize| format!("00000000-0000-4000-8000-{number:012}");
        let (first, second) = (number(1), number(2));
        assert_eq!(
            text,
            format!(
                "a blob: url='blob:https://a.test/{first}', <a href=\"blob:null/{second}#x\">, (blob:https://a.test:8/{first})"
            )
        );
        // The same number later, and none for what is no blob.
        let mut text =
            format!("blob:https://a.test/{one} https://a.test/{two} blob:https://ö.test/{one}");
        names.number_in(&mut text);
        assert_eq!(
            text,
            format!(
                "blob:https://a.test/{second} https://a.test/{two} blob:https://ö.test/{second}"
            )
        );
    }
}
