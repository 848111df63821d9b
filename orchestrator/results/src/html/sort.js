(() => {
  // A cell says what it is sorted by where that is not its text, or the number at its beginning.
  const keyOf = cell => cell?.dataset.key ?? cell?.textContent.trim() ?? '';
  const byText = (a, b) => a.localeCompare(b, undefined, { numeric: true });
  const byNumber = (a, b) => {
    const [x, y] = [parseFloat(a), parseFloat(b)];
    // What has no number stands after what has one.
    return (Number.isNaN(x) - Number.isNaN(y)) || x - y || 0;
  };
  for (const table of document.querySelectorAll('table.tasks')) {
    const bodies = [...table.tBodies];
    // A body that is filtered is one entry with all that is folded under it.
    const entries = bodies.some(body => body.dataset.filter !== undefined) ? bodies : bodies.flatMap(body => [...body.rows]);
    if (entries.length < 2) continue;
    const keys = entry => (entry.rows ? entry.rows[0] : entry).cells;
    const heads = [...table.tHead.rows[0].cells];
    const sort = (head, at) => {
      const order = { ascending: 'descending', descending: 'none' }[head.getAttribute('aria-sort')] ?? 'ascending';
      heads.forEach(other => other.removeAttribute('aria-sort'));
      const keyed = entries.map(entry => [keyOf(keys(entry)[at]), entry]);
      // The third time the order is that of the suite again.
      if (order !== 'none') {
        head.setAttribute('aria-sort', order);
        const [sign, compare] = [order === 'descending' ? -1 : 1, head.classList.contains('n') ? byNumber : byText];
        keyed.sort(([a], [b]) => sign * compare(a, b));
      }
      for (const [, entry] of keyed) entry.parentNode.append(entry);
    };
    heads.forEach((head, at) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.title = 'Sort by ' + head.textContent.toLowerCase();
      button.append(...head.childNodes);
      button.addEventListener('click', () => sort(head, at));
      head.append(button);
    });
    table.classList.add('sorted');
  }
})();
