(() => {
  const steps = [...document.querySelectorAll('.step')];
  if (!steps.length) return;
  const find = selector => document.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const [nav, strip, moves, help, tabs, views, peek] = ['nav', '.strip', '.moves', 'dialog', '.tabs', '.views', '.peek'].map(find);
  const links = all('.strip a');
  const spans = all('.spans a');
  const buttons = all('[data-move]', moves);
  const lists = all('.list');
  const PANELS = all('button', tabs).map(tab => tab.dataset.tab);
  const VIEWS = all('button', views).map(view => view.dataset.view);
  const title = document.title;
  const state = { step: 0, panel: 'page', view: 'action', scope: 'step' };

  // The address: #step=4&panel=network, and more where it is not as usual. #step-4 works as well.
  const readAddress = () => {
    const text = location.hash.replace(/^#step-/, '#step=').slice(1);
    const given = new URLSearchParams(text);
    const index = steps.findIndex(step => step.dataset.step === given.get('step'));
    if (index >= 0) state.step = index;
    const take = (name, known) => known.includes(given.get(name)) && (state[name] = given.get(name));
    take('panel', PANELS);
    take('view', VIEWS);
    take('scope', ['step', 'episode']);
  };
  // Not by the location, which would scroll, and fill the history with steps.
  const writeAddress = () => {
    const parts = [`step=${steps[state.step].dataset.step}`, `panel=${state.panel}`];
    if (state.view !== 'action') parts.push(`view=${state.view}`);
    if (state.scope !== 'step') parts.push(`scope=${state.scope}`);
    history.replaceState(null, '', '#' + parts.join('&'));
  };

  // The picture after an action is the one before the next.
  const showView = () => {
    const seen = steps[state.step].querySelector('.seen');
    const next = steps[state.step + 1]?.querySelector('.shot[href]:not(.later)');
    const view = state.view === 'after' && !next ? 'action' : state.view;
    if (view === 'after' && !seen.querySelector('.later')) {
      const later = next.cloneNode(true);
      later.classList.add('later');
      all('i', later).forEach(mark => mark.remove());
      later.querySelector('img').loading = 'eager';
      seen.append(later);
    }
    seen.dataset.view = view;
    seen.prepend(views);
    views.hidden = !seen.querySelector('.shot[href]');
    all('button', views).forEach(button => {
      button.setAttribute('aria-pressed', button.dataset.view === view);
      button.disabled = button.dataset.view === 'after' && !next;
    });
  };

  const texts = new Map();
  const text = row => texts.get(row) ?? texts.set(row, row.textContent.toLowerCase()).get(row);
  // The rows of the step, or of all steps, that have the words.
  const filter = list => {
    const [search, only] = all('input', list);
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const step = steps[state.step].dataset.step;
    let [inScope, shown] = [0, 0];
    for (const group of all('.group', list)) {
      const own = group.dataset.step === step || (group.dataset.step === '0' && state.step === 0);
      group.hidden = state.scope === 'step' && !own;
      if (group.hidden) continue;
      const rows = all('.row', group);
      const fits = row => (!only.checked || 'only' in row.dataset) && words.every(word => text(row).includes(word));
      const fitting = rows.filter(row => !(row.hidden = !fits(row)));
      inScope += rows.length;
      shown += fitting.length;
      group.hidden = !fitting.length;
    }
    list.querySelector('output').value = shown === inScope ? `${shown}` : `${shown} of ${inScope}`;
    const empty = list.querySelector('.group') && list.querySelector('.empty');
    if (empty) empty.hidden = shown > 0;
    all('[data-scope]', list).forEach(button => button.setAttribute('aria-pressed', button.dataset.scope === state.scope));
  };

  const showPanels = () => {
    const step = steps[state.step];
    const did = step.querySelector('.did');
    did.querySelector('.panel').before(tabs);
    lists.forEach(list => did.append(list));
    all('.panel', did).forEach(panel => (panel.hidden = panel.dataset.panel !== state.panel));
    const { requests, unanswered, messages, thrown, calls, events } = step.dataset;
    const counts = { model: [calls], network: [requests, unanswered], console: [messages, thrown], score: [events] };
    all('button', tabs).forEach(tab => {
      const [count = '0', alarming = '0'] = counts[tab.dataset.tab] ?? [];
      tab.setAttribute('aria-pressed', tab.dataset.tab === state.panel);
      const badge = tab.querySelector('.count');
      badge.textContent = count === '0' ? '' : count;
      badge.classList.toggle('alarming', alarming !== '0');
    });
    lists.filter(list => list.dataset.panel === state.panel).forEach(filter);
  };

  const mark = (links, attribute) => links.forEach((link, at) => (at === state.step ? link.setAttribute(attribute, 'step') : link.removeAttribute(attribute)));
  const draw = () => {
    steps.forEach((step, at) => step.classList.toggle('current', at === state.step));
    mark(links, 'aria-current');
    mark(spans, 'data-current');
    showView();
    showPanels();
    // The strip alone: `scrollIntoView` would move the page as well.
    strip.scrollLeft = links[state.step].offsetLeft - (strip.clientWidth - links[state.step].offsetWidth) / 2;
    moves.querySelector('output').value = `${state.step + 1} of ${steps.length}`;
    buttons.forEach(button => (button.disabled = !steps[state.step + Number(button.dataset.move)]));
    document.title = `${state.step + 1}/${steps.length} · ${title}`;
    // The next picture is there before it is asked for.
    steps[state.step + 1]?.querySelector('.shot img')?.setAttribute('loading', 'eager');
  };
  const set = change => {
    Object.assign(state, change);
    draw();
    writeAddress();
  };
  const go = index => {
    set({ step: Math.min(Math.max(index, 0), steps.length - 1) });
    const below = nav.getBoundingClientRect();
    if (below.top <= 0) scrollTo({ top: scrollY + steps[state.step].getBoundingClientRect().top - below.height });
  };
  const toggleScope = () => set({ scope: state.scope === 'step' ? 'episode' : 'step' });
  const nextView = () => {
    const open = all('button:not(:disabled)', views).map(button => button.dataset.view);
    set({ view: open[(open.indexOf(state.view) + 1) % open.length] });
  };
  const toggleTrees = () => {
    const open = !steps[state.step].querySelector('details.tree')?.open;
    all('details.tree').forEach(tree => (tree.open = open));
  };
  const toggleHelp = () => (help.open ? help.close() : help.showModal());
  const search = () => {
    if (!lists.some(list => list.dataset.panel === state.panel)) set({ panel: 'network' });
    lists.find(list => list.dataset.panel === state.panel).querySelector('input').focus();
  };

  const keys = {
    ArrowRight: () => go(state.step + 1), j: () => go(state.step + 1),
    ArrowLeft: () => go(state.step - 1), k: () => go(state.step - 1),
    Home: () => go(0), End: () => go(steps.length - 1),
    v: nextView, e: toggleScope, '/': search,
    t: toggleTrees, z: () => document.body.classList.toggle('wide'), '?': toggleHelp,
  };
  PANELS.forEach((panel, at) => (keys[at + 1] = () => set({ panel })));
  document.addEventListener('keydown', event => {
    const typing = event.target.closest('input[type=search]');
    if (typing && event.key === 'Escape') {
      typing.value = '';
      typing.blur();
      filter(typing.closest('.list'));
    }
    const action = keys[event.key];
    if (typing || !action || event.ctrlKey || event.metaKey || event.altKey || (help.open && event.key !== '?')) return;
    event.preventDefault();
    action();
  });

  // The picture of a step, large, where the mouse is on the strip.
  const showPeek = link => {
    const picture = link?.querySelector('img');
    peek.hidden = !picture;
    if (!picture) return;
    const [image, caption] = peek.children;
    image.src = picture.src;
    caption.textContent = `${link.querySelector('.n').textContent} · ${link.dataset.caption}`;
    const [place, around] = [link.getBoundingClientRect(), nav.getBoundingClientRect()];
    const left = Math.min(Math.max(place.left + place.width / 2 - peek.offsetWidth / 2, 8), innerWidth - peek.offsetWidth - 8);
    peek.style.left = `${left - around.left}px`;
  };
  strip.addEventListener('mouseover', event => showPeek(event.target.closest('a')));
  strip.addEventListener('mouseleave', () => showPeek());

  [links, spans].forEach(links => links.forEach((link, at) => link.addEventListener('click', event => {
    event.preventDefault();
    showPeek();
    go(at);
  })));
  all('.link a').forEach(link => link.addEventListener('click', event => {
    event.preventDefault();
    set({ panel: /^#(\w+)-/.exec(link.getAttribute('href'))[1] });
  }));
  buttons.forEach(button => button.addEventListener('click', () => go(state.step + Number(button.dataset.move))));
  tabs.addEventListener('click', event => {
    const tab = event.target.closest('button');
    if (tab) set({ panel: tab.dataset.tab });
  });
  views.addEventListener('click', event => {
    const button = event.target.closest('button');
    if (button) set({ view: button.dataset.view });
  });
  lists.forEach(list => {
    list.addEventListener('input', () => filter(list));
    list.querySelector('.scope').addEventListener('click', event => {
      const button = event.target.closest('button');
      if (button) set({ scope: button.dataset.scope });
    });
  });
  moves.querySelector('.help').addEventListener('click', toggleHelp);
  addEventListener('hashchange', () => {
    readAddress();
    draw();
  });

  document.body.classList.add('one');
  [moves, tabs, ...all('.bar-of')].forEach(part => (part.hidden = false));
  readAddress();
  draw();
})();
