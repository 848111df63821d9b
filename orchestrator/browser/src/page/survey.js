// What a crawler asks a page: its links, the forms of its own search, whether it is a wall in front
// of the content, and which button answers its banner about cookies.
(() => {
  const text = (element) => String(element.innerText ?? element.textContent ?? '').trim().replace(/\s+/g, ' ');
  const name = (element) => text(element) || element.getAttribute('aria-label') || element.title || element.value || '';
  const is_shown = (element) => element.getClientRects().length > 0;

  const attribute = (element, name) => Element.prototype.getAttribute.call(element, name) ?? '';

  const NEXT = /^(next|next page|older|more|load more|show more|\d{1,3}|[›»>→])$/i;
  const links = new Map();
  for (const link of document.querySelectorAll('a[href], area[href]')) {
    const url = String(link.href).split('#')[0];
    if (!/^https?:/.test(url) || links.has(url) || !URL.canParse(url)) continue;
    const to = new URL(url);
    const label = name(link).slice(0, 200);
    const same_list = to.origin === location.origin && to.pathname === location.pathname && to.search !== '';
    const kind = link.relList?.contains('next') || NEXT.test(label) ? 'next' : same_list ? 'filter' : 'link';
    links.set(url, { url, kind, label });
  }

  const SEARCH = /search|query|keyword/i;
  const searches = [];
  // Fields may have the names of a form's own properties.
  const own = (name) => Object.getOwnPropertyDescriptor(HTMLFormElement.prototype, name).get;
  const [method, action, elements] = ['method', 'action', 'elements'].map(own);
  for (const form of document.querySelectorAll('form')) {
    const target = action.call(form);
    if (method.call(form) !== 'get' || !/^https?:/.test(target)) continue;
    const says_search = (element) => ['role', 'id', 'class', 'action', 'name', 'placeholder', 'aria-label']
      .some((name) => SEARCH.test(attribute(element, name)));
    const field = [...elements.call(form)].find((element) => element.name && (element.type === 'search'
      || element.type === 'text' && (/^(q|s|k|query|keywords?|term|search)$/i.test(element.name)
        || says_search(element) || says_search(form))));
    if (!field) continue;
    const fields = [...new FormData(form)].filter(([, value]) => typeof value === 'string');
    searches.push({ action: target.split(/[?#]/)[0], field: field.name, fields });
  }

  const CAPTCHA = 'iframe[src*="recaptcha/"], iframe[src*="hcaptcha.com"], iframe[src*="challenges.cloudflare.com"], '
    + 'iframe[src*="captcha-delivery.com"], iframe[src*="arkoselabs.com"], #px-captcha, #challenge-form, #challenge-running, '
    + '.g-recaptcha, .h-captcha, .cf-turnstile, form[action*="captcha" i], img[src*="captcha" i]';
  const CHALLENGE = /^(just a moment|attention required|checking your browser|are you (a )?(human|robot)|robot check|verify (that )?you are|human verification|security check|pardon our interruption|access denied|access to this page has been denied)/i;
  const body = document.body ? text(document.body) : '';
  const is_short = body.length < 800;
  // Many a form ends with a CAPTCHA. One that stands before a page has hardly a field of its own.
  const fields = [...document.querySelectorAll('input:not([type=hidden]), select, textarea')].filter(is_shown);
  // A badge says only that visitors are watched.
  const asks = (element) => is_shown(element) && !element.closest('.grecaptcha-badge, [data-size=invisible]')
    && !/[?&]size=invisible/.test(attribute(element, 'src'));
  const has_captcha = [...document.querySelectorAll(CAPTCHA)].some(asks);
  const password = [...document.querySelectorAll('input[type=password]')].some(is_shown);
  const wall = CHALLENGE.test(document.title) || is_short && fields.length < 2 && has_captcha ? 'captcha'
    : password && is_short ? 'log-in' : null;

  const status = performance.getEntriesByType('navigation')[0]?.responseStatus ?? 0;
  return { address: location.href, links: [...links.values()], searches, wall, has_password: password, status };
})()
