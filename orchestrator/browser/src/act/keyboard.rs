//! The keyboard, and filling in form fields.

use serde_json::{Value, json};

use crate::act::element::ElementHandle;
use crate::act::input::key;
use crate::act::keys::{self, Combination};
use crate::cdp::tracker::Page;
use crate::{ActionError, Session};

/// Prepares an element for typing, with all of its content selected. Inputs without typing get
/// their value at once. Returns `type`, `done`, or why it cannot be filled.
const PREPARE: &str = "function(value) {
    let element = this;
    if (element.localName === 'label' && element.control) element = element.control;
    if (element.disabled) return 'it is disabled';
    if (element.readOnly || element.getAttribute('aria-readonly') === 'true') return 'it is read-only';
    if (element.localName === 'input') {
        const type = element.type;
        if (['color', 'date', 'time', 'datetime-local', 'month', 'range', 'week'].includes(type)) {
            // With the prototype's setter: frameworks put their own on the element, and would take
            // the change for theirs.
            const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set;
            const before = element.value;
            element.focus();
            set.call(element, value.trim());
            if (element.value !== value.trim()) {
                set.call(element, before);
                return `${JSON.stringify(value)} is no ${type}`;
            }
            element.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
            element.dispatchEvent(new Event('change', { bubbles: true }));
            return 'done';
        }
        if (!['', 'email', 'number', 'password', 'search', 'tel', 'text', 'url'].includes(type)) return `an input of type ${type} cannot be filled`;
        if (type === 'number' && isNaN(Number(value.trim()))) return `${JSON.stringify(value)} is no number`;
        element.focus();
        element.select();
        return 'type';
    }
    if (element.localName === 'textarea') { element.focus(); element.select(); return 'type'; }
    if (element.isContentEditable) {
        element.focus();
        const range = document.createRange();
        range.selectNodeContents(element);
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        return 'type';
    }
    return `a <${element.localName}> cannot be filled`;
}";

/// Selects options by value or label, or by their numbers from 0. Returns null, or why not.
const SELECT_OPTIONS: &str = "function(wanted) {
    let element = this;
    if (element.localName === 'label' && element.control) element = element.control;
    if (element.localName !== 'select') return `a <${element.localName}> has no options`;
    if (element.disabled) return 'it is disabled';
    if (wanted.length > 1 && !element.multiple) return 'only one option can be chosen';
    const label = option => option.label.trim().replace(/\\s+/g, ' ');
    const options = [...element.options];
    const chosen = wanted.map(name => typeof name === 'number' ? options[name] : options.find(o => o.value === name) ?? options.find(o => label(o) === name.trim()));
    const missing = chosen.indexOf(undefined);
    if (missing >= 0) return `there is no option ${JSON.stringify(wanted[missing])}; there are ${options.slice(0, 20).map(o => JSON.stringify(label(o))).join(', ')}`;
    const disabled = chosen.find(option => option.disabled || option.parentElement.disabled);
    if (disabled) return `the option ${JSON.stringify(label(disabled))} is disabled`;
    for (const option of options) option.selected = chosen.includes(option);
    element.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
    element.dispatchEvent(new Event('change', { bubbles: true }));
    return null;
}";

impl Session {
    pub(crate) async fn fill(
        &self,
        page: &Page,
        bid: &str,
        element: &ElementHandle,
        value: &str,
        by_keys: bool,
    ) -> Result<(), ActionError> {
        let ready = self.call_on(page, element, PREPARE, json!([{ "value": value }])).await?;
        match ready.as_str().unwrap_or_default() {
            "done" => Ok(()),
            // As in Playwright: the old text is selected, and inserting nothing would leave it.
            "type" if value.is_empty() => {
                let delete = keys::parse("Delete").map_err(|key| unknown("Delete", key))?;
                self.press_combination(page, &delete).await
            }
            "type" if by_keys => self.type_text(page, value).await,
            "type" => self.insert_text(page, value).await,
            reason => Err(ActionError::Unfit { bid: bid.to_owned(), reason: reason.to_owned() }),
        }
    }

    /// Selects options, given as an array of strings or of numbers.
    pub(crate) async fn select_options(
        &self,
        page: &Page,
        bid: &str,
        element: &ElementHandle,
        options: Value,
    ) -> Result<(), ActionError> {
        match self.call_on(page, element, SELECT_OPTIONS, json!([{ "value": options }])).await? {
            Value::String(reason) => Err(ActionError::Unfit { bid: bid.to_owned(), reason }),
            _ => Ok(()),
        }
    }

    pub(crate) async fn press(
        &self,
        page: &Page,
        element: &ElementHandle,
        keys: &str,
    ) -> Result<(), ActionError> {
        let combination = keys::parse(keys).map_err(|key| unknown(keys, key))?;
        self.focus(page, element).await?;
        self.press_combination(page, &combination).await
    }

    pub(crate) async fn focus(
        &self,
        page: &Page,
        element: &ElementHandle,
    ) -> Result<(), ActionError> {
        self.call_on(page, element, "function() { this.focus?.(); }", json!([])).await?;
        Ok(())
    }

    /// Presses keys on the focused element.
    pub(crate) async fn press_keys(&self, page: &Page, keys: &str) -> Result<(), ActionError> {
        let combination = keys::parse(keys).map_err(|key| unknown(keys, key))?;
        self.press_combination(page, &combination).await
    }

    /// Presses a key that stays down, or releases it.
    pub(crate) async fn press_or_release_key(
        &mut self,
        page: &Page,
        name: &str,
        down: bool,
    ) -> Result<(), ActionError> {
        let pressed = keys::single(name).ok_or_else(|| unknown(name, name.to_owned()))?;
        let bit = keys::bit(&pressed);
        let event = if down {
            self.input_state.modifiers |= bit;
            key(
                if pressed.text.is_some() { "keyDown" } else { "rawKeyDown" },
                &pressed,
                self.input_state.modifiers,
            )
        } else {
            self.input_state.modifiers &= !bit;
            key("keyUp", &pressed, self.input_state.modifiers)
        };
        self.send_input(page, vec![event]).await
    }

    /// Types a text key by key. A character without a key is inserted.
    pub(crate) async fn type_text(&self, page: &Page, text: &str) -> Result<(), ActionError> {
        let mut events = Vec::new();
        for c in text.chars() {
            let name = if c == '\n' { "Enter".to_owned() } else { c.to_string() };
            match keys::single(&name).filter(|key| !key.code.is_empty()) {
                Some(pressed_key) => {
                    events.push(key("keyDown", &pressed_key, self.input_state.modifiers));
                    events.push(key("keyUp", &pressed_key, self.input_state.modifiers));
                }
                None => events.push(("Input.insertText", json!({ "text": name }))),
            }
        }
        self.send_input(page, events).await
    }

    /// Inserts a text into the focused element.
    pub(crate) async fn insert_text(&self, page: &Page, text: &str) -> Result<(), ActionError> {
        self.send_input(page, vec![("Input.insertText", json!({ "text": text }))]).await
    }

    /// Presses the modifiers and the key, and releases them in reverse order.
    async fn press_combination(
        &self,
        page: &Page,
        combination: &Combination,
    ) -> Result<(), ActionError> {
        let mut modifiers = self.input_state.modifiers;
        let mut events = Vec::new();
        for (modifier, bit) in &combination.modifiers {
            modifiers |= bit;
            events.push(key("rawKeyDown", modifier, modifiers));
        }
        // `rawKeyDown` is for keys that insert no text.
        let down = if combination.key.text.is_some() { "keyDown" } else { "rawKeyDown" };
        events.push(key(down, &combination.key, modifiers));
        events.push(key("keyUp", &combination.key, modifiers));
        for (modifier, bit) in combination.modifiers.iter().rev() {
            modifiers &= !bit;
            events.push(key("keyUp", modifier, modifiers));
        }
        self.send_input(page, events).await
    }
}

fn unknown(keys: &str, key: String) -> ActionError {
    ActionError::Key { keys: keys.to_owned(), key }
}
