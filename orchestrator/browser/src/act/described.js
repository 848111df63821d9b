// A node in words, such as `<button id="save"> "Save all"`: its tag, and what it is called. The
// properties of a form may be its fields.
(node) => {
  const element = node.nodeType === 1 ? node : node.parentElement ?? node.host ?? node.documentElement;
  if (!element) return node.nodeName;
  if (['html', 'body'].includes(element.localName)) return `<${element.localName}>`;
  const slotted = (element) => [...element.querySelectorAll('slot')].slice(0, 10)
    .flatMap((slot) => slot.assignedNodes({ flatten: true })).map((node) => node.textContent).join(' ').slice(0, 200);
  const isButton = element.localName === 'input' && ['button', 'submit', 'reset'].includes(element.type);
  const texts = [...['aria-label', 'alt', 'title', 'placeholder'].map((name) => element.getAttribute(name)),
    isButton ? element.value : element.labels?.[0]?.textContent,
    element.localName === 'select' ? '' : String(element.textContent).slice(0, 200), slotted(element)];
  const text = texts.map((text) => (text ?? '').trim().replace(/\s+/g, ' ')).find((text) => text) ?? '';
  const name = element.getAttribute('id');
  const id = name ? ` id="${name}"` : '';
  return `<${element.localName}${id}>${text ? ` ${JSON.stringify([...text].slice(0, 60).join(''))}` : ''}`;
}
