// Answers a banner that asks for consent to cookies: clicks its button, and tells what the button
// says; null where no banner is found.
((answer) => {
  const BANNERS = '#onetrust-banner-sdk, #CybotCookiebotDialog, #didomi-host, #usercentrics-root, .fc-consent-root, '
    + '#truste-consent-track, .cc-window, .qc-cmp2-container, #cmpbox, .osano-cm-window, [id*="cookie" i], [class*="cookie" i], '
    + '[id*="consent" i], [class*="consent" i], [id*="gdpr" i], [class*="gdpr" i], dialog[open], [role=dialog], [role=alertdialog]';
  const WORDS = {
    accept: /^(accept|agree|allow|ok|okay|got it|i accept|i agree|yes|accept all|accept all cookies|accept cookies|allow all|allow all cookies|allow cookies|agree and continue|accept and continue|accept & continue|agree & continue|continue|alle akzeptieren|akzeptieren|zustimmen|tout accepter|accepter|j'accepte|aceptar|aceptar todo|accetta|accetta tutto)$/i,
    reject: /^(reject|decline|refuse|deny|no|no thanks|reject all|reject all cookies|decline all|refuse all|deny all|only necessary|necessary only|only essential|essential only|use necessary cookies only|continue without accepting|ablehnen|alle ablehnen|tout refuser|refuser|rechazar|rechazar todo|rifiuta|rifiuta tutto)$/i,
  };
  const TOPIC = /cookie|consent|privacy|gdpr|datenschutz|confidentialit/i;
  const is_shown = (element) => element.getClientRects().length > 0 && getComputedStyle(element).visibility !== 'hidden';
  const label = (element) => (element.innerText || element.value || element.getAttribute('aria-label') || '').trim().replace(/\s+/g, ' ');
  const roots = (root) => [root, ...[...root.querySelectorAll('*')].filter((element) => element.shadowRoot)
    .flatMap((element) => roots(element.shadowRoot))];
  for (const root of roots(document)) {
    for (const banner of root.querySelectorAll(BANNERS)) {
      if (!TOPIC.test(banner.textContent)) continue;
      const buttons = banner.querySelectorAll('button, [role=button], input[type=button], input[type=submit], a');
      const button = [...buttons].find((button) => is_shown(button) && WORDS[answer].test(label(button)));
      if (!button) continue;
      button.click();
      return label(button);
    }
  }
  return null;
})
