// Answers a banner that asks for consent to cookies: clicks its button, and tells what the button
// says; null where no banner is found.
((answer) => {
  const BANNERS = '#onetrust-banner-sdk, #CybotCookiebotDialog, #didomi-host, #usercentrics-root, .fc-consent-root, '
    + '#truste-consent-track, .cc-window, .qc-cmp2-container, #cmpbox, .osano-cm-window, [id*="cookie" i], [class*="cookie" i], '
    + '[id*="consent" i], [class*="consent" i], [id*="gdpr" i], [class*="gdpr" i], dialog[open], [role=dialog], [role=alertdialog]';
  const WORDS = {
    accept: /^(i )?(accept|agree|allow)( all| all cookies| cookies| and continue| & continue)?$|^(alle akzeptieren|akzeptieren|zustimmen|tout accepter|accepter|j'accepte|aceptar|aceptar todo|accetta|accetta tutto)$/i,
    reject: /^(reject|decline|refuse|deny)( all| all cookies| cookies)?$|^(only necessary|necessary only|only essential|essential only|use necessary cookies only|continue without accepting|ablehnen|alle ablehnen|tout refuser|refuser|rechazar|rechazar todo|rifiuta|rifiuta tutto)$/i,
  };
  // Words that many other things say, too. They count where the banner speaks of cookies.
  const SHORT = { accept: /^(ok|okay|got it|i understand)$/i, reject: /^(no|no thanks)$/i };
  // A banner is no whole page.
  const LONGEST = 4000;
  const TOPIC = /cookie|consent|privacy|gdpr|datenschutz|confidentialit/i;
  const is_shown = (element) => element.getClientRects().length > 0 && getComputedStyle(element).visibility !== 'hidden';
  const label = (element) => (element.innerText || element.value || element.getAttribute('aria-label') || '').trim().replace(/\s+/g, ' ');
  const roots = (root) => [root, ...[...root.querySelectorAll('*')].filter((element) => element.shadowRoot)
    .flatMap((element) => roots(element.shadowRoot))];
  for (const root of roots(document)) {
    // What is inside comes first: the classes of a whole page may have such words as well.
    for (const banner of [...root.querySelectorAll(BANNERS)].reverse()) {
      const said = banner.textContent;
      if (banner.matches('html, body, main') || said.length > LONGEST || !TOPIC.test(said)) continue;
      const fits = (label) => WORDS[answer].test(label) || SHORT[answer].test(label) && /cookie/i.test(said);
      // A link that leads elsewhere is none.
      const buttons = banner.querySelectorAll('button, [role=button], input[type=button], input[type=submit], a:not([href]), a[href^="#"]');
      const button = [...buttons].find((button) => is_shown(button) && fits(label(button)));
      if (!button) continue;
      button.click();
      return label(button);
    }
  }
  return null;
})
