(() => {
  const bar = document.querySelector('.filter');
  if (!bar) return;
  const rows = [...document.querySelectorAll('[data-filter]')];
  const [search, count] = [bar.querySelector('input'), bar.querySelector('output')];
  const choices = [...bar.querySelectorAll('select')];
  // Of an entry the row that is always shown, and not what is folded under it.
  const text = row => ((row.rows ? row.rows[0] : row).textContent + '\n' + (row.dataset.group ?? '') + '\n' + (row.dataset.more ?? '')).toLowerCase();
  const texts = new Map(rows.map(row => [row, text(row)]));
  const none = document.querySelector('.none');

  const apply = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = row =>
      words.every(word => texts.get(row).includes(word)) &&
      choices.every(({ name, value }) => !value || (row.dataset[name] ?? '').split('\n').includes(value));
    const shown = rows.filter(row => !(row.hidden = !fits(row)));
    count.value = shown.length === rows.length ? `${rows.length} ${bar.dataset.of}` : `${shown.length} of ${rows.length} ${bar.dataset.of}`;
    none.hidden = shown.length > 0;
  };

  bar.hidden = false;
  bar.addEventListener('input', apply);
  document.addEventListener('keydown', event => {
    if (event.key === '/' && !event.target.closest('input, select, textarea')) {
      event.preventDefault();
      search.focus();
    }
    if (event.key === 'Escape' && event.target === search) {
      search.value = '';
      apply();
    }
  });
  apply();
})();
