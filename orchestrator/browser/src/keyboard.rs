//! The keyboard, and filling in forms.

use serde_json::{Value, json};

use crate::{
    ActionError, Session,
    element::Handle,
    keys::{self, Combination, Key},
    watch::Page,
};

/// Makes an element ready to be typed into, with all it holds selected. Inputs that are not typed into get their value at once.
/// Returns `type`, `done`, or why it cannot be filled.
const PREPARE: &str = "function(value) {
    let element = this;
    if (element.localName === 'label' && element.control) element = element.control;
    if (element.disabled) return 'it is disabled';
    if (element.readOnly || element.getAttribute('aria-readonly') === 'true') return 'it is read-only';
    if (element.localName === 'input') {
        const type = element.type;
        if (['color', 'date', 'time', 'datetime-local', 'month', 'range', 'week'].includes(type)) {
            // By the prototype's setter: frameworks put their own on the element and would take the change for theirs.
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

/// Chooses options by value or label. Returns null, or why not.
const CHOOSE: &str = "function(wanted) {
    let element = this;
    if (element.localName === 'label' && element.control) element = element.control;
    if (element.localName !== 'select') return `a <${element.localName}> has no options`;
    if (element.disabled) return 'it is disabled';
    if (wanted.length > 1 && !element.multiple) return 'only one option can be chosen';
    const label = option => option.label.trim().replace(/\\s+/g, ' ');
    const options = [...element.options];
    const chosen = wanted.map(name => options.find(o => o.value === name) ?? options.find(o => label(o) === name.trim()));
    const missing = chosen.indexOf(undefined);
    if (missing >= 0) return `there is no option ${JSON.stringify(wanted[missing])}; there are ${options.slice(0, 20).map(o => JSON.stringify(label(o))).join(', ')}`;
    const disabled = chosen.find(option => option.disabled || option.parentElement.disabled);
    if (disabled) return `the option ${JSON.stringify(label(disabled))} is disabled`;
    element.focus();
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
        element: &Handle,
        value: &str,
    ) -> Result<(), ActionError> {
        let ready = self.call_on(page, element, PREPARE, json!([{ "value": value }])).await?;
        match ready.as_str().unwrap_or_default() {
            "done" => Ok(()),
            "type" if value.is_empty() => {
                let delete = keys::parse("Delete").map_err(|key| unknown("Delete", key))?;
                self.strike(page, &delete).await
            }
            "type" => {
                let typed =
                    self.cdp().call(Some(&page.session), "Input.insertText", json!({ "text": value }));
                self.unless_closed(page, typed.await)
            }
            reason => Err(ActionError::Unfit { bid: bid.to_owned(), reason: reason.to_owned() }),
        }
    }

    pub(crate) async fn choose(
        &self,
        page: &Page,
        bid: &str,
        element: &Handle,
        options: &[String],
    ) -> Result<(), ActionError> {
        match self.call_on(page, element, CHOOSE, json!([{ "value": options }])).await? {
            Value::String(reason) => Err(ActionError::Unfit { bid: bid.to_owned(), reason }),
            _ => Ok(()),
        }
    }

    pub(crate) async fn press(&self, page: &Page, element: &Handle, keys: &str) -> Result<(), ActionError> {
        let combination = keys::parse(keys).map_err(|key| unknown(keys, key))?;
        self.call_on(page, element, "function() { this.focus?.(); }", json!([])).await?;
        self.strike(page, &combination).await
    }

    /// Presses the modifiers, the key, and lets go of them in the opposite order.
    async fn strike(&self, page: &Page, combination: &Combination) -> Result<(), ActionError> {
        let mut held = 0;
        let mut events = Vec::new();
        for (key, bit) in &combination.modifiers {
            held |= bit;
            events.push(event("rawKeyDown", key, held));
        }
        let down = if combination.key.text.is_some() { "keyDown" } else { "rawKeyDown" };
        events.push(event(down, &combination.key, held));
        events.push(event("keyUp", &combination.key, held));
        for (key, bit) in combination.modifiers.iter().rev() {
            held &= !bit;
            events.push(event("keyUp", key, held));
        }
        let struck = events
            .into_iter()
            .map(|params| self.cdp().call(Some(&page.session), "Input.dispatchKeyEvent", params));
        for result in futures_util::future::join_all(struck).await {
            self.unless_closed(page, result)?;
        }
        Ok(())
    }
}

fn unknown(keys: &str, key: String) -> ActionError {
    ActionError::Key { keys: keys.to_owned(), key }
}

fn event(kind: &str, key: &Key, modifiers: u32) -> Value {
    let mut event = json!({
        "type": kind,
        "modifiers": modifiers,
        "key": key.key,
        "code": key.code,
        "windowsVirtualKeyCode": key.number,
    });
    if kind == "keyDown" {
        event["text"] = json!(key.text);
    }
    event
}
