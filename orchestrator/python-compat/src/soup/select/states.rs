//! Pseudo-classes without parameters: most of them are written as other selectors, as in soupsieve.

use super::super::css::{self, State};
use super::{Page, Set, keep, range};
use crate::text::is_space;
use crate::tree::{Kind, NodeId};

/// The kinds of `input` that are not simply text, in the order in which the first half is typed
/// into.
macro_rules! typed {
    () => {
        "[type=search],[type=url],[type=tel],[type=email],[type=password],[type=number]"
    };
}
macro_rules! dated {
    () => {
        "[type=date],[type=datetime-local],[type=month],[type=time],[type=week]"
    };
}
macro_rules! buttons {
    () => {
        "[type=hidden],[type=range],[type=color],[type=submit],[type=image],[type=reset],[type=button]"
    };
}
macro_rules! plain_text {
    () => {
        concat!(
            ":not(",
            typed!(),
            ",",
            dated!(),
            ",",
            buttons!(),
            ",[type=checkbox],[type=radio],[type=file])"
        )
    };
}

const LINK: &str = ":is(a,area)[href]";
const OPEN: &str = ":is(details,dialog)[open]";
const MUTED: &str = ":is(video,audio)[muted]";
const DISABLED: &str = ":is(input,button,select,textarea,fieldset,optgroup,option)[disabled],\
    optgroup[disabled]>option,fieldset[disabled]>:is(input,button,select,textarea,fieldset),\
    fieldset[disabled]>:not(legend:nth-of-type(1)) :is(input,button,select,textarea,fieldset),\
    :is(select[disabled],fieldset[disabled]>select,fieldset[disabled]>:not(legend:nth-of-type(1)) select)\
     :is(optgroup,option)";
const ENABLED: &str = ":is(input,button,select,textarea,fieldset,optgroup,option):not(:disabled)";
const REQUIRED: &str =
    concat!("input:not(", buttons!(), ")[required],:is(textarea,select)[required]");
const OPTIONAL: &str =
    concat!(":is(input,textarea,select):not([required]),input:is(", buttons!(), ")");
const CHECKED: &str = "input[type=checkbox][checked]";
const DEFAULT: &str = "input:is([type=checkbox],[type=radio])[checked],option[selected]";
const SUBMITS: &str = "button:is([type=submit],:not([type=button],[type=reset],[commandfor],[command])),\
    input:is([type=submit],[type=image])";
const INDETERMINATE: &str = "input[type=checkbox][indeterminate],\
    input[type=radio]:is(:not([name]),[name='']):not([checked]),progress:not([value])";
const UNSET_RADIO: &str = "input[type=radio][name]:not([name='']):not([checked])";
const PLACEHOLDER: &str = concat!(
    ":is(input:is(",
    plain_text!(),
    ",",
    typed!(),
    "),textarea)[placeholder]:not([placeholder=''])"
);
const WRITABLE: &str = concat!(
    ":is(textarea,input:is(",
    plain_text!(),
    ",",
    typed!(),
    ",",
    dated!(),
    ")):not([readonly],:disabled)"
);
const EDITABLE: &str = ":not(input,textarea,[contenteditable='false' i])";
const READ_ONLY: &str = ":not(:read-write)";
const RANGED: &str = concat!(
    "input:is(:is(",
    dated!(),
    ",[type=number]):is([min],[max]),[type=range])",
    ":not(:disabled,[readonly],datalist *)"
);

impl Page<'_> {
    pub(super) fn state(&self, state: State) -> Set {
        match state {
            State::Root => self.set(|id| self.root == Some(id) && self.is_alone(id)),
            State::Scope => self.set(|id| self.root == Some(id)),
            State::Empty => self.set(|id| self.is_empty(id)),
            State::Defined => self.set(|id| self.is_defined(id)),
            State::Link => self.selected(LINK),
            State::Open => self.selected(OPEN),
            State::Muted => self.selected(MUTED),
            State::Disabled => self.selected(DISABLED),
            State::Enabled => self.selected(ENABLED),
            State::Required => self.selected(REQUIRED),
            State::Optional => self.selected(OPTIONAL),
            State::ReadOnly => self.selected(READ_ONLY),
            // From here on soupsieve has a selector for what one element shows, and code for the
            // rest.
            State::Checked => either(self.selected(CHECKED), self.chosen()),
            State::Default => {
                let mut submits = self.selected(SUBMITS);
                keep(&mut submits, &self.default_buttons());
                either(self.selected(DEFAULT), submits)
            }
            State::Indeterminate => {
                let mut radios = self.selected(UNSET_RADIO);
                keep(&mut radios, &self.in_unset_groups());
                either(self.selected(INDETERMINATE), radios)
            }
            State::PlaceholderShown => {
                let mut shown = self.selected(PLACEHOLDER);
                keep(&mut shown, &self.set(|id| self.shows_placeholder(id)));
                shown
            }
            State::ReadWrite => {
                let mut editable = self.selected(EDITABLE);
                keep(&mut editable, &self.editable());
                either(self.selected(WRITABLE), editable)
            }
            State::InRange | State::OutOfRange => {
                let mut ranged = self.selected(RANGED);
                let inside = state == State::InRange;
                keep(
                    &mut ranged,
                    &self.set(|id| {
                        self.tree
                            .element(id)
                            .and_then(range::is_in_range)
                            .is_some_and(|found| found == inside)
                    }),
                );
                ranged
            }
        }
    }

    fn selected(&self, selector: &str) -> Set {
        css::parse(selector).map_or_else(|| vec![false; self.tree.len()], |list| self.list(&list))
    }

    /// Nothing but space and comments stands beside the root.
    fn is_alone(&self, root: NodeId) -> bool {
        self.tree.node(0).children.iter().filter(|&&id| id != root).all(|&id| {
            match &self.tree.node(id).kind {
                Kind::Text(text) => text.chars().all(is_space),
                Kind::Comment(_) => true,
                Kind::Element(_) | Kind::CData | Kind::Document => false,
            }
        })
    }

    fn is_empty(&self, id: NodeId) -> bool {
        let is_blank = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n' | '\u{c}');
        self.content(id).iter().all(|&child| match &self.tree.node(child).kind {
            Kind::Text(text) => text.chars().all(is_blank),
            Kind::Element(_) => false,
            Kind::CData | Kind::Comment(_) | Kind::Document => true,
        })
    }

    /// Built-in elements are, and what is named like a prefix.
    fn is_defined(&self, id: NodeId) -> bool {
        self.tree.element(id).is_some_and(|element| {
            let built_in = !element.name.contains('-') && element.attribute("is").is_none();
            built_in || element.name.contains(':')
        })
    }

    fn shows_placeholder(&self, id: NodeId) -> bool {
        let Some(element) = self.tree.element(id) else { return false };
        if element.name != "input" {
            let text: String =
                self.content(id).iter().filter_map(|&child| self.text(child)).collect();
            let has_elements =
                self.content(id).iter().any(|&child| self.tree.element(child).is_some());
            return element.name == "textarea"
                && !has_elements
                && matches!(text.as_str(), "" | "\n");
        }
        let value = element.attribute("value").unwrap_or_default().replace(['\r', '\n'], "");
        let kind = element.attribute("type").unwrap_or_default().to_ascii_lowercase();
        match kind.as_str() {
            "url" | "email" => value.trim_matches([' ', '\t', '\u{c}']).is_empty(),
            "number" => range::read("number", &value).is_none(),
            _ => value.is_empty(),
        }
    }

    /// Elements that `contenteditable` makes editable, themselves or through what they are in.
    fn editable(&self) -> Set {
        let mut editable = vec![false; self.tree.len()];
        for id in (1..self.tree.len()).filter(|&id| self.visible[id]) {
            let said =
                self.tree.element(id).and_then(|element| element.attribute("contenteditable"));
            editable[id] = match said.map(str::to_ascii_lowercase).as_deref() {
                Some("" | "true" | "plaintext-only") => true,
                Some("false") => false,
                _ => self.parent(id).is_some_and(|parent| editable[parent]),
            };
        }
        editable
    }
}

fn either(mut one: Set, other: Set) -> Set {
    one.iter_mut().zip(other).for_each(|(found, more)| *found |= more);
    one
}
