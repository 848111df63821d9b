// What the browser shows: `nothing` of a document without contents; `popup`, where it may
// show one on top of the page: the list of a `<select>`, the calendar of a date; else `page`. What
// scripts cannot see into counts as open while it has the focus.
(() => {
  const OPEN = 'select:open, input:open';
  const mayBeOpen = (root) => {
    const focused = root.activeElement;
    if (focused?.localName.includes('-') && !focused.shadowRoot) return true;
    if (root.querySelector(OPEN)) return true;
    return [...root.querySelectorAll('*')].some((element) => {
      if (element.shadowRoot) return mayBeOpen(element.shadowRoot);
      if (!('contentDocument' in element)) return false;
      return element.contentDocument ? mayBeOpen(element.contentDocument) : element === focused;
    });
  };
  const root = document.documentElement;
  if (!root || root.localName === 'html' && !document.body) return 'nothing';
  return mayBeOpen(document) ? 'popup' : 'page';
})()
