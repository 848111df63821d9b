// What the pages here share: each attempt either gets out or is held, and the page says which did.
//
// `document.title` is `trying`, then `held` or `ESCAPED: <names>`; the body has a line for each
// attempt. An attempt that returns something has got out; one that throws, returns nothing, or does
// not end in time (two seconds) is held. What can only be seen from outside (packets, files,
// processes) is for whoever runs the pages to look at.
document.title = 'trying';
const attempts = [];
const attempt = (name, what, within = 2000) => attempts.push([name, what, within]);
const later = milliseconds => new Promise(done => setTimeout(done, milliseconds));
// Addresses of this machine for whoever runs the pages to listen at, as
// `?tcp=127.0.0.1:1&udp=127.0.0.1:2`.
const given = name => new URLSearchParams(location.search).get(name);

addEventListener('load', async () => {
  const results = document.body.appendChild(document.createElement('pre'));
  const escaped = [];
  for (const [name, what, within] of attempts) {
    let result;
    try {
      const got = await Promise.race([what(), later(within).then(() => null)]);
      result = got ? `ESCAPED ${String(got).slice(0, 200)}` : 'held';
      if (got) escaped.push(name);
    } catch (error) {
      result = `held (${error.name}: ${String(error.message).slice(0, 80)})`;
    }
    results.textContent += `${name}: ${result}\n`;
  }
  document.title = escaped.length ? `ESCAPED: ${escaped.join(', ')}` : 'held';
});
