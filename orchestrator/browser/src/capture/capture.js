// Reports what a person does in a page. It runs in an isolated world of every document, before any
// script of the page: the page sees neither it nor the function that it reports to. Only events
// that come from the person's devices count (`isTrusted`).
(() => {
    'use strict';
    const report = globalThis[REPORT];
    if (!report) return;
    const TEXT_TYPES = new Set(['text', 'search', 'email', 'url', 'tel', 'number', 'password', 'date', 'datetime-local',
        'month', 'week', 'time', 'color', 'range', '']);
    const KEYS = new Set(['Enter', 'Escape', 'ArrowDown', 'ArrowUp', 'ArrowLeft', 'ArrowRight']);
    const WIDGETS = new Set(['button', 'checkbox', 'combobox', 'link', 'menuitem', 'menuitemcheckbox', 'menuitemradio',
        'option', 'radio', 'searchbox', 'slider', 'spinbutton', 'switch', 'tab', 'textbox', 'treeitem']);
    // Roles that the browser computes have no name outside of it for these. The tree that agents
    // see has its own.
    const OWN_ROLES = { summary: 'DisclosureTriangle', label: 'LabelText', legend: 'Legend', iframe: 'Iframe' };
    const OWN_INPUTS = { date: 'Date', 'datetime-local': 'DateTime', month: 'DateTime', week: 'DateTime',
        time: 'InputTime', color: 'ColorWell' };
    const MAX_HTML = 8 << 20, MAX_PART = 10000, MAX_TEXT = 1000, MAX_ALIKE = 20000;

    const roleOf = element => element.computedRole
        || (element.localName === 'input' ? OWN_INPUTS[element.type] : OWN_ROLES[element.localName]) || '';
    const nameOf = element => (element.computedName || '').trim();
    const isShown = element => element.checkVisibility({ visibilityProperty: true })
        && !element.closest('[aria-hidden="true"], [inert]');

    const typeOf = element => (element.localName === 'input' ? element.type : '');
    const isField = element => element instanceof Element && (element.localName === 'textarea'
        || (element.localName === 'input' && TEXT_TYPES.has(element.type)) || element.isContentEditable);
    // Names of password fields that were seen: a page may put another field in their place.
    const secretNames = new Set();
    const namesOf = field => [field.name && `name ${field.name}`, field.id && `id ${field.id}`].filter(Boolean);
    const isSecret = element => typeOf(element) === 'password'
        || (element.localName === 'input' && (/\b(current|new)-password\b/i.test(element.autocomplete)
            || namesOf(element).some(name => secretNames.has(name))));
    // A field that shows its password is a password still.
    const secrets = new WeakSet();
    const textOf = element => String(element.value ?? element.innerText ?? element.textContent ?? '');

    // The root of an editable region: what lies in it is not named by itself.
    const editable = element => {
        let found = element;
        while (found.parentElement?.isContentEditable) found = found.parentElement;
        return found;
    };

    const isWidget = element => WIDGETS.has(roleOf(element)) || element.matches('summary, [onclick]')
        || (element.tabIndex >= 0 && element.localName !== 'body' && element.localName !== 'iframe');

    // What a click on an element is meant for: the link or button around it.
    const acted = element => {
        for (let node = element; node; node = node.parentElement) {
            if (isWidget(node)) return node;
        }
        return element;
    };

    const isOnly = (root, selector, element) => {
        try {
            const found = root.querySelectorAll(selector);
            return found.length === 1 && found[0] === element;
        } catch {
            return false;
        }
    };
    const quoted = text => `"${text.replace(/["\\]/g, '\\$&')}"`;
    // Names that programs make up differ the next time.
    const isMadeUp = name => /\d{4,}|[0-9a-f]{12,}|^[:_]|[:«»]/.test(name);

    // Selectors of an element by what its author called it, the most lasting first.
    const named = element => {
        const tag = CSS.escape(element.localName);
        const of = (name, prefix = tag) => {
            const value = element.getAttribute(name);
            return value && value.length <= 120 && !/[\n\r]|>>/.test(value) ? [`${prefix}[${name}=${quoted(value)}]`] : [];
        };
        return [
            ...(element.id && !isMadeUp(element.id) ? [`#${CSS.escape(element.id)}`] : []),
            ...['data-testid', 'data-test', 'data-test-id', 'data-qa', 'data-cy'].flatMap(name => of(name)),
            // A value may be a password, or what was typed; of these it is the author's.
            ...(of('name').flatMap(found => [found,
                ...(['radio', 'checkbox', 'submit', 'button'].includes(typeOf(element)) ? of('value', found) : [])])),
            ...of('aria-label'),
            ...(element.localName === 'a' ? of('href') : []),
            ...of('placeholder'),
            ...of('title'),
        ];
    };
    const place = element => {
        const tag = CSS.escape(element.localName);
        const alike = element.parentElement
            ? [...element.parentElement.children].filter(other => other.localName === element.localName) : [element];
        return alike.length > 1 ? `${tag}:nth-of-type(${alike.indexOf(element) + 1})` : tag;
    };
    const selectorOf = element => {
        const root = element.getRootNode();
        const own = named(element).find(selector => isOnly(root, selector, element));
        if (own) return own;
        const path = [];
        for (let node = element; node; node = node.parentElement) {
            const anchor = node === element ? undefined
                : named(node).find(selector => isOnly(root, selector, node));
            path.unshift(anchor ?? place(node));
            if (isOnly(root, path.join(' > '), element)) break;
            if (anchor) break;
        }
        return path.join(' > ');
    };

    // Selectors from the page down: each but the last to a frame or the host of a shadow root.
    const locatorOf = element => {
        const parts = [selectorOf(element)];
        const outerOf = node => {
            const root = node.getRootNode();
            return root.host ?? root.defaultView?.frameElement;
        };
        for (let outer = outerOf(element); outer; outer = outerOf(outer)) parts.unshift(selectorOf(outer));
        return parts.join(' >> ');
    };

    // All elements that an agent can tell apart, in the order of the page, through shadow roots and
    // frames of the same origin.
    function* everyElement(root) {
        const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            yield node;
            if (node.shadowRoot) yield* everyElement(node.shadowRoot);
            if (node.localName === 'iframe' || node.localName === 'frame') {
                let inner = null;
                try { inner = node.contentDocument; } catch { /* another origin's */ }
                if (inner) yield* everyElement(inner);
            }
        }
    }
    const topDocument = () => {
        let window = globalThis;
        try {
            while (window !== window.parent && window.parent.document) window = window.parent;
        } catch { /* another origin's */ }
        return window.document;
    };
    // Which one of its role and name an element is, and how many there are.
    const alikeOf = (element, role, name) => {
        let nth = 0, count = 0, seen = false, looked = 0;
        for (const other of everyElement(topDocument())) {
            if (++looked > MAX_ALIKE) break;
            if (other === element) {
                [nth, seen] = [count, true];
                count++;
            } else if (roleOf(other) === role && nameOf(other) === name && isShown(other)) {
                count++;
            }
        }
        return seen ? { nth, alike: count } : { nth: 0, alike: 1 };
    };

    // Where an element is in the page's visible part, through frames of the same origin.
    const boxOf = element => {
        const { x, y, width, height } = element.getBoundingClientRect();
        let [left, top] = [x, y];
        for (let window = element.ownerDocument.defaultView; window !== window.parent; window = window.parent) {
            const outer = window.frameElement;
            // It is in a page of another origin.
            if (!outer) return null;
            const box = outer.getBoundingClientRect();
            left += box.x + outer.clientLeft;
            top += box.y + outer.clientTop;
        }
        return [left, top, width, height];
    };

    const path = element => {
        const parts = [];
        for (let node = element; node && node.nodeType === 1; node = node.parentElement) parts.unshift(place(node));
        return parts.join(' > ');
    };

    // Tells elements apart whose paths are the same: in shadow roots, frames and earlier documents.
    const DOCUMENT = Array.from(crypto.getRandomValues(new Uint32Array(2)), part => part.toString(36)).join('');
    const identities = new WeakMap();
    let lastIdentity = 0;
    const identityOf = element => {
        if (!identities.has(element)) identities.set(element, `${DOCUMENT}-${++lastIdentity}`);
        return identities.get(element);
    };

    // The HTML of an element without passwords: some pages copy what is typed into the attribute.
    const htmlOf = root => {
        const inner = root.querySelectorAll('input');
        const places = [...inner].flatMap((field, index) => (isSecret(field) || secrets.has(field) ? [index] : []));
        const isItself = isSecret(root) || secrets.has(root);
        if (!places.length && !isItself) return root.outerHTML;
        // In a document without scripts, so that no element of the page's is made by this.
        const copy = document.implementation.createHTMLDocument('').importNode(root, true);
        const copies = copy.querySelectorAll('input');
        for (const field of [...places.map(index => copies[index]), ...(isItself ? [copy] : [])]) {
            field.removeAttribute('value');
        }
        return copy.outerHTML;
    };

    const describe = element => {
        const role = roleOf(element), name = nameOf(element);
        const secret = isSecret(element) || secrets.has(element);
        const label = element.innerText ?? element.textContent ?? '';
        // A tree of accessibility has no line for an element without role and name.
        const isNamed = role && role !== 'generic' && element.localName !== 'label' && isShown(element);
        return {
            role, name, ...(isNamed ? alikeOf(element, role, name) : { nth: 0, alike: 0 }),
            named: Boolean(isNamed),
            css: selectorOf(element),
            locator: locatorOf(element),
            path: path(element),
            identity: identityOf(element),
            shadow: element.getRootNode() !== element.ownerDocument,
            tag: element.localName,
            text: secret ? '' : label.trim().replace(/\s+/g, ' ').slice(0, 200),
            html: secret ? '' : htmlOf(element).slice(0, MAX_PART),
            value: secret ? '' : textOf(element).slice(0, MAX_TEXT),
            secret,
            box: boxOf(element),
        };
    };

    // Fields that hold a password. Where one is no password field now, a picture would show it.
    const secretFields = root => [...everyElement(root)].filter(element => element.localName === 'input'
        && element.value && (isSecret(element) || secrets.has(element)));

    const send = (kind, element, more = {}) => {
        const root = document.documentElement;
        const html = kind === 'point' || !root ? '' : htmlOf(root);
        const fields = secretFields(topDocument());
        report(JSON.stringify({
            kind, passwords: fields.map(field => field.value),
            shows_secret: fields.some(field => field.type !== 'password'), url: location.href, frame: globalThis.parent !== globalThis,
            element: element ? describe(element) : null,
            html: html.length > MAX_HTML ? '' : html,
            ...more,
        }));
    };
    const target = event => event.composedPath().find(node => node instanceof Element)
        ?? (event.target instanceof Element ? event.target : null);

    // Fields that the person works in, with what they held before. A page can write into a field
    // that has the focus, in a way that looks like typing; so the keys, or the mouse, come first.
    const touched = new WeakSet();
    const dirty = new Map();
    const flush = except => {
        for (const field of [...dirty.keys()]) {
            if (field === except) continue;
            const before = dirty.get(field);
            dirty.delete(field);
            const value = textOf(field);
            if (value === before && !isSecret(field)) continue;
            send('fill', field, { value: isSecret(field) || secrets.has(field) ? '' : value });
        }
    };
    // Before a person can have a field show its password, there is this event.
    const learnSecrets = event => {
        const roots = event.composedPath().filter(node => node instanceof ShadowRoot);
        for (const field of [document, ...roots].flatMap(root => [...root.querySelectorAll('input[type="password"]')])) {
            secrets.add(field);
            namesOf(field).forEach(name => secretNames.add(name));
        }
    };
    const touch = event => {
        if (event.isTrusted) learnSecrets(event);
        const element = event.isTrusted && target(event);
        if (!element || !isField(element)) return;
        const field = element.isContentEditable ? editable(element) : element;
        touched.add(field);
        if (isSecret(field)) secrets.add(field);
    };

    const linkOf = event => event.composedPath().find(node => node instanceof Element && node.matches('a[href], area[href]'));
    const heldKeys = event => [
        ...(event.altKey ? ['Alt'] : []),
        ...(event.ctrlKey ? ['Control'] : []),
        ...(event.metaKey ? ['Meta'] : []),
        ...(event.shiftKey ? ['Shift'] : []),
    ];

    let enter = null;
    const on = (type, handle) => addEventListener(type, event => {
        if (event.isTrusted) handle(event);
    }, { capture: true, passive: true });

    for (const type of ['keydown', 'paste', 'drop', 'cut', 'compositionstart', 'pointerdown']) on(type, touch);
    const before = event => {
        const element = target(event);
        if (!element || !isField(element)) return;
        // Enter in a field of one line writes nothing.
        if (element.localName === 'input' && event.inputType === 'insertLineBreak') return;
        const field = element.isContentEditable ? editable(element) : element;
        if (touched.has(field) && !dirty.has(field)) dirty.set(field, textOf(field));
    };
    on('beforeinput', before);
    on('input', event => {
        const element = target(event);
        if (!element || !isField(element)) return;
        const field = element.isContentEditable ? editable(element) : element;
        // Some fields, such as those of dates, do not say that they are about to change.
        if (touched.has(field) && !dirty.has(field)) dirty.set(field, undefined);
    });
    on('change', event => {
        const element = target(event);
        if (element?.localName === 'select') {
            const options = [...element.selectedOptions].map(option => option.label);
            send('select', element, { options });
        } else if (typeOf(element) === 'file') {
            send('upload', element);
        } else if (element && dirty.has(element)) {
            flush();
        }
    });
    on('focusout', event => {
        const element = target(event);
        if (element?.isContentEditable && dirty.has(editable(element))) flush();
    });
    on('blur', event => {
        if (event.target === window || event.target === document) flush();
    });
    on('pointerdown', event => {
        const element = target(event);
        const link = event.button === 1 && linkOf(event);
        if (!element || !(event.button === 0 || link)) return;
        flush(isField(element) ? element : undefined);
        if (!['html', 'body'].includes(element.localName)) send('point', link || acted(element));
    });
    // The wheel opens a link in a new tab. Elsewhere it does nothing that a solution needs.
    on('auxclick', event => {
        const link = event.button === 1 && linkOf(event);
        if (!link) return;
        flush();
        send('click', link, { button: 'middle', modifiers: heldKeys(event) });
    });
    on('click', event => {
        const element = target(event);
        if (event.button !== 0 || !element || ['html', 'body', 'select', 'option'].includes(element.localName)) return;
        // Enter in a field presses the form's button, too.
        if (event.detail === 0 && enter && event.timeStamp - enter.time < 500 && enter.element !== element) return;
        if (typeOf(element) === 'range') return;
        // A label passes the click on to its field, which is what counts.
        const widget = acted(element);
        const label = element.closest('label');
        if (label?.control && label.control !== element && !label.control.disabled
            && !(widget !== label && label.contains(widget) && isWidget(widget))) return;
        flush(isField(widget) ? widget : undefined);
        send('click', widget.isContentEditable ? editable(widget) : widget, { modifiers: heldKeys(event) });
    });
    on('keydown', event => {
        const element = target(event);
        if (!element || !KEYS.has(event.key) || event.isComposing || event.ctrlKey || event.altKey || event.metaKey
            || event.repeat) return;
        const tag = element.localName, isArrow = event.key.startsWith('Arrow');
        if (event.key === 'Enter') {
            enter = { element, time: event.timeStamp };
            // Enter on these is a click, in these it is a line break.
            if (tag === 'textarea' || element.isContentEditable) return;
            if (['a', 'button', 'select', 'summary'].includes(tag) || (tag === 'input' && !isField(element))) return;
        }
        if (isArrow) {
            // In these the arrows move the cursor or change the value, which is told by itself.
            const opens = element.getAttribute('role') === 'combobox' || element.hasAttribute('aria-autocomplete')
                || element.hasAttribute('aria-controls') || element.hasAttribute('list');
            if (tag === 'select' || tag === 'input' && !(opens && event.key.length < 10 && /Up|Down/.test(event.key))
                || tag === 'textarea' || element.isContentEditable) return;
        }
        if (tag === 'body' || tag === 'html') return;
        flush();
        send('press', element, { keys: event.key });
    });

    // For what is typed and not yet told when the annotation ends.
    globalThis.flushCaptured = () => flush();
})();
