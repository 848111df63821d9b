(() => {
  // The entry that the address names is unfolded.
  const unfold = () => {
    const entry = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const fold = entry && entry.querySelector('details');
    if (fold) fold.open = true;
  };
  addEventListener('hashchange', unfold);
  // A second click on the name that is there already changes no address.
  for (const link of document.querySelectorAll('.tasks th a')) link.addEventListener('click', () => link.hash === location.hash && unfold());
  unfold();
})();
