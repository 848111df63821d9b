// The worker of service-worker.html: fetches what it is told to, and says what it got.
addEventListener('install', () => skipWaiting());
addEventListener('message', async event => {
  try {
    const answer = await fetch(event.data);
    event.ports[0].postMessage(answer.ok ? (await answer.text()).slice(0, 200) : null);
  } catch {
    event.ports[0].postMessage(null);
  }
});
