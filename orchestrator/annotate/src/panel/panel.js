'use strict';
// Texts come from pages of others. They are only ever set as text, never as HTML.
const RULES = {
    url_included_match: 'address contains',
    url_exactly_match: 'address is exactly',
    url_semantic_match: 'address means (judge)',
    element_path_exactly_match: 'this element is acted on',
    element_value_exactly_match: 'value is exactly',
    element_value_included_match: 'value contains',
    element_value_semantic_match: 'value means (judge)',
    final_answer_exact_match: 'answer is exactly',
    final_answer_included_match: 'answer contains',
};
const OF_URL = name => name.startsWith('url_'), OF_ANSWER = name => name.startsWith('final_');
const OF_VALUE = name => name.startsWith('element_value');
const REACHED = {
    yes: ['reached', 'pass'], no: ['not reached', 'fail'], judge: ['a judge decides', 'open'], unknown: ['not seen', 'open'],
};
const VALUES = { fill: 'Text', select: 'Options, one a line', press: 'Key', goto: 'Address', answer: 'Answer' };
const FIELDS = ['reference', 'key', 'netloc', 'path'];

const find = (selector, root = document) => root.querySelector(selector);
const copy = id => find(`template#${id}`).content.firstElementChild.cloneNode(true);
let view = null, isOver = false, isLost = false;

// Changes arrive in the order in which they were made.
let queue = Promise.resolve();
function post(path, body) {
    queue = queue.then(() => send(path, body));
    return queue;
}
async function send(path, body) {
    try {
        const answer = await fetch(path, { method: 'POST', body: body && JSON.stringify(body) });
        if (!answer.ok) say(await answer.text(), 'bad');
    } catch {
        say('The command has ended; the draft is on disk.', 'bad');
    }
}
const edit = change => post('edit', change);

function say(text, kind = '', code = '') {
    const state = find('#state');
    const lines = [document.createTextNode(text)];
    if (code) {
        const line = document.createElement('code');
        line.textContent = code;
        lines.push(line);
    }
    if (state.textContent !== text + code) state.replaceChildren(...lines);
    state.className = `state ${kind}`;
}

// What the person is writing at the moment is not overwritten.
function set(field, value) {
    if (document.activeElement !== field && field.value !== value) field.value = value;
}

// A change is told once the person stops writing for a moment, and when the field is left.
function watch(field, tell) {
    let timer = 0;
    const now = () => {
        clearTimeout(timer);
        timer = 0;
        tell(field.value);
    };
    field.addEventListener('input', () => {
        clearTimeout(timer);
        timer = setTimeout(now, 400);
    });
    field.addEventListener('change', () => now());
}

function options(select, entries) {
    select.replaceChildren(...entries.map(([value, label]) => new Option(label, value)));
}

function problems(list, texts) {
    const items = texts.map(text => {
        const item = document.createElement('li');
        item.textContent = text;
        return item;
    });
    list.replaceChildren(...items);
}

// Elements with keys, in the order of `items`: those that are there stay, with their focus.
function keyed(parent, items, make, update) {
    const there = new Map([...parent.children].map(child => [child.dataset.number, child]));
    const wanted = items.map(item => {
        const key = String(item.number);
        const child = there.get(key) ?? make(item);
        there.delete(key);
        child.dataset.number = key;
        return [child, item];
    });
    there.forEach(child => child.remove());
    wanted.forEach(([child, item], place) => {
        if (parent.children[place] !== child) parent.insertBefore(child, parent.children[place] ?? null);
        update(child, item, place);
    });
}

function makeNode(item) {
    const node = copy('node');
    node.state = item;
    const rule = find('.rule select', node);
    rule.addEventListener('change', () => edit({ edit: 'rule', node: item.number, rule: rule.value }));
    for (const name of FIELDS) {
        watch(find(`.${name} :is(input, textarea)`, node), value => {
            edit({ edit: 'node', node: item.number, fields: { ...node.state.fields, [name]: value } });
        });
    }
    find('.remove', node).addEventListener('click', () => edit({ edit: 'remove_node', node: item.number }));
    return node;
}

function updateNode(node, item, ofStep) {
    node.state = item;
    const { fields, reached } = item, rule = fields.rule;
    const select = find('.rule select', node);
    const fits = name => OF_ANSWER(name) ? !ofStep || OF_ANSWER(rule) : !OF_ANSWER(rule) || ofStep;
    const entries = Object.entries(RULES).filter(([name]) => fits(name));
    if (select.options.length !== entries.length) options(select, entries);
    set(select, rule);
    for (const name of FIELDS) set(find(`.${name} :is(input, textarea)`, node), fields[name]);
    find('.key', node).hidden = !OF_URL(rule);
    find('.netloc', node).hidden = OF_URL(rule) || OF_ANSWER(rule);
    find('.path', node).hidden = !OF_VALUE(rule);
    const badge = find('.badge', node), [label, kind] = REACHED[reached];
    badge.textContent = label;
    badge.className = `badge ${kind}`;
    problems(find('.problems', node), item.problems);
}

function makeStep(item) {
    const step = copy('step'), number = item.number;
    step.state = item;
    const field = name => find(`.${name} :is(input, select, textarea)`, step);
    const byName = () => edit({
        edit: 'name', step: number, role: field('role').value, name: field('name').value,
        nth: Math.max(0, (Number.parseInt(field('nth').value, 10) || 1) - 1),
    });
    for (const name of ['role', 'name', 'nth']) watch(field(name), byName);
    watch(field('css'), selector => edit({ edit: 'css', step: number, selector }));
    watch(field('value'), text => edit({ edit: 'value', step: number, text }));
    field('find').addEventListener('change', event => {
        if (event.target.value === 'css') {
            edit({ edit: 'css', step: number, selector: step.state.element.css });
        } else {
            const named = step.state.element.named ?? { role: '', name: '', nth: 0 };
            edit({ edit: 'name', step: number, role: named.role, name: named.name, nth: named.nth });
        }
    });
    find('.remove', step).addEventListener('click', () => {
        const next = step.nextElementSibling ?? step.previousElementSibling;
        edit({ edit: 'remove_step', step: number });
        (next ? find('.remove', next) : find('#save')).focus();
    });
    const add = find('.add select', step);
    add.addEventListener('change', () => {
        if (add.value) edit({ edit: 'add_node', step: number, rule: add.value });
        add.value = '';
    });
    return step;
}

function updateStep(step, item, place) {
    step.state = item;
    const { element, value } = item;
    const field = name => find(`.${name} :is(input, select, textarea)`, step);
    step.classList.toggle('bare', !item.has_picture);
    const picture = find('.picture', step);
    picture.hidden = !item.has_picture;
    if (item.has_picture && !picture.hasAttribute('href')) {
        picture.href = `picture/${item.number}`;
        find('img', picture).src = picture.href;
    }
    find('img', picture).alt = `The page at step ${place + 1}, with the element outlined`;
    find('.number', step).textContent = String(place + 1);
    find('.kind', step).textContent = item.held ? `${item.kind} (${item.held})` : item.kind;
    const named = element?.named && `${element.named.role} “${element.named.name}”`;
    find('.what', step).textContent = (element?.by_css ? item.text || item.tag : named) || '';
    find('.from', step).textContent = item.url;
    find('.to', step).textContent = item.url_after;
    find('.page', step).hidden = !item.url && !item.url_after;
    problems(find('.problems', step), item.problems);
    find('.password', step).hidden = !item.secret;
    const hide = (name, hidden) => { find(`.${name}`, step).hidden = hidden; };
    hide('find', !element);
    for (const name of ['role', 'name', 'nth']) hide(name, !element || element.by_css);
    hide('css', !element?.by_css);
    if (element) {
        set(field('find'), element.by_css ? 'css' : 'name');
        set(field('css'), element.css);
        set(field('role'), element.named?.role ?? '');
        set(field('name'), element.named?.name ?? '');
        set(field('nth'), String((element.named?.nth ?? 0) + 1));
        const alike = element.named?.alike ?? 0;
        find('.nth > span', step).textContent = alike > 1 ? `Which of ${alike}` : 'Which';
    }
    hide('value', value === null || item.secret);
    if (value !== null) {
        find('.value > span', step).textContent = VALUES[item.kind] ?? 'Value';
        set(field('value'), value);
    }
    hide('tree', !item.html);
    const html = find('.html', step);
    if (html.textContent !== item.html) html.textContent = item.html;
    find('.tree > summary', step).textContent = `The element <${item.tag}>`;
    keyed(find('.nodes', step), item.nodes, makeNode, (node, own) => updateNode(node, own, true));
    const add = find('.add select', step);
    const fits = name => !OF_ANSWER(name) && (OF_URL(name) || item.is_seen) && !(item.secret && OF_VALUE(name));
    const entries = Object.entries(RULES).filter(([name]) => fits(name));
    if (add.options.length !== entries.length + 1) options(add, [['', '+ Mark as key node …'], ...entries]);
    add.title = 'Mark this step as a key node';
    find('.add', step).hidden = !item.url && !item.is_seen;
}

function updateState() {
    const { status, notice, missing } = view;
    isOver = ['saved', 'discarded', 'kept', 'failed'].includes(status.state);
    const isBusy = status.state !== 'capturing';
    for (const button of document.querySelectorAll('button')) button.disabled = isBusy;
    find('#undo').disabled = isBusy || !view.can_undo;
    for (const field of document.querySelectorAll('input, select, textarea')) field.disabled = isBusy;
    for (const id of ['play', 'over', 'save']) find(`#${id}`).disabled ||= view.is_playing;
    if (status.state === 'capturing' && view.is_playing) say('The steps are played in the browser, or its start page is opened; wait before you go on there …');
    else if (status.state === 'saving') say('Writing the task …');
    else if (status.state === 'saved') say(`Saved: ${status.file}. Play it with`, 'good', status.play);
    else if (status.state === 'discarded') say('Discarded. You can close this page.');
    else if (status.state === 'kept') say('The browser was closed. The draft is kept; go on with', '', status.resume);
    else if (status.state === 'failed') say(status.why, 'bad');
    else if (notice) say(notice, 'bad');
    else if (missing.length) say(missing[0]);
    else say('Nothing is missing.', 'good');
}

function show() {
    set(find('#goal'), view.goal);
    set(find('#id'), view.task_id);
    set(find('#answer'), view.answer);
    const source = view.is_live ? 'The live web is recorded' : 'A snapshot is played';
    find('#where').textContent = `${view.is_edited ? 'An existing task is edited. ' : ''}${source}. The task begins at ${view.start_url}`;
    const count = view.steps.length;
    find('#count').textContent = count ? String(count) : '';
    find('#empty').hidden = count > 0;
    keyed(find('#steps'), view.steps, makeStep, updateStep);
    find('#others').hidden = !view.nodes.length && !view.answer.trim();
    find('#answer-node').hidden = !view.answer.trim();
    keyed(find('#nodes'), view.nodes, makeNode, (node, own) => updateNode(node, own, false));
    updateState();
}

watch(find('#goal'), text => edit({ edit: 'goal', text }));
watch(find('#id'), text => edit({ edit: 'id', text }));
watch(find('#answer'), text => edit({ edit: 'answer', text }));
find('#answer-node').addEventListener('click', () => {
    edit({ edit: 'add_node', step: null, rule: 'final_answer_included_match' });
});
find('#undo').addEventListener('click', () => post('undo'));
find('#play').addEventListener('click', () => post('play'));
find('#over').addEventListener('click', () => {
    if (!view.steps.length || confirm('Remove every step and begin at the start page?')) post('start-over');
});
find('#discard').addEventListener('click', () => {
    if (confirm('Throw away the steps, the pictures and what was recorded for them?')) post('discard');
});
find('#save').addEventListener('click', () => {
    say('Writing the task …');
    // What is still being written counts, too.
    document.activeElement?.blur();
    post('save');
});
addEventListener('keydown', event => {
    const inField = event.target.matches('input, textarea, select');
    if (event.ctrlKey && event.key === 'z' && !inField) post('undo');
    if (event.ctrlKey && event.key === 'Enter') find('#save').click();
});

(async () => {
    while (!isOver) {
        try {
            const answer = await fetch(`view?since=${view?.version ?? 0}`);
            view = await answer.json();
            isLost = false;
            show();
        } catch {
            if (isLost) break;
            isLost = true;
        }
    }
    // The command waits until its end was seen.
    if (view) fetch(`view?since=${view.version}`).catch(() => {});
    if (!isOver) say('The command has ended. The draft is on disk: go on with --resume.', 'bad');
})();
