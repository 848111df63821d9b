(() => {
  const steps = [...document.querySelectorAll('.step')];
  if (!steps.length) return;
  const strip = document.querySelector('.strip');
  const links = [...document.querySelectorAll('.strip a')];
  const [nav, moves, help] = [document.querySelector('nav'), document.querySelector('.moves'), document.querySelector('dialog')];
  const buttons = [...moves.querySelectorAll('[data-move]')];
  const title = document.title;
  let current = 0;

  const named = () => steps.findIndex(step => '#' + step.id === location.hash);
  const show = index => {
    current = Math.min(Math.max(index, 0), steps.length - 1);
    steps.forEach((step, at) => step.classList.toggle('current', at === current));
    links.forEach((link, at) => (at === current ? link.setAttribute('aria-current', 'step') : link.removeAttribute('aria-current')));
    // The strip alone: `scrollIntoView` would move the page as well.
    strip.scrollLeft = links[current].offsetLeft - (strip.clientWidth - links[current].offsetWidth) / 2;
    moves.querySelector('output').value = `${current + 1} of ${steps.length}`;
    buttons.forEach(button => (button.disabled = !steps[current + Number(button.dataset.move)]));
    document.title = `${current + 1}/${steps.length} · ${title}`;
    // The next picture is there before it is asked for.
    steps[current + 1]?.querySelector('img')?.setAttribute('loading', 'eager');
  };
  const go = index => {
    show(index);
    // Not by the location, which would scroll, and fill the history with steps.
    history.replaceState(null, '', '#' + steps[current].id);
    const below = nav.getBoundingClientRect();
    if (below.top <= 0) scrollTo({ top: scrollY + steps[current].getBoundingClientRect().top - below.height });
  };
  const toggleTrees = () => {
    const closed = [...document.querySelectorAll('details.tree')];
    const open = !steps[current].querySelector('details.tree')?.open;
    closed.forEach(tree => (tree.open = open));
  };
  const toggleHelp = () => (help.open ? help.close() : help.showModal());

  const keys = {
    ArrowRight: () => go(current + 1), j: () => go(current + 1),
    ArrowLeft: () => go(current - 1), k: () => go(current - 1),
    Home: () => go(0), End: () => go(steps.length - 1),
    t: toggleTrees, z: () => document.body.classList.toggle('wide'), '?': toggleHelp,
  };
  document.addEventListener('keydown', event => {
    const action = keys[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey || (help.open && event.key !== '?')) return;
    event.preventDefault();
    action();
  });
  buttons.forEach(button => button.addEventListener('click', () => go(current + Number(button.dataset.move))));
  moves.querySelector('.help').addEventListener('click', toggleHelp);
  addEventListener('hashchange', () => named() >= 0 && show(named()));

  document.body.classList.add('one');
  moves.hidden = false;
  show(Math.max(named(), 0));
})();
