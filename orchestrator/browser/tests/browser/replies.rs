//! Replies of other threads and processes enter the page at their place, and the replacements of
//! the browser's own functions behave as those do.

use actions::Dialect;

use crate::bench::{Bench, LOG};

/// Plays a page on which each line of `expected` is said, in this order.
async fn says(script: &str, expected: &[&str]) {
    let page =
        format!("<!doctype html><title>Replies</title>{LOG}<script type=module>{script}</script>");
    let large = "x".repeat(200_000);
    // As in a secure context, where locks, caches and keys are.
    let pages =
        [("localhost/", &*page), ("localhost/large", &large), ("localhost/small", "{\"n\": 7}")];
    let mut bench = Bench::open(Dialect::BrowserGym, &pages).await;
    assert_eq!(bench.said().await, expected, "{script}");
    bench.session.close().await.unwrap();
}

#[tokio::test]
async fn no_timer_overtakes_a_reply_and_results_have_the_order_of_the_calls() {
    let script = "
        setTimeout(() => say('timer'));
        requestIdleCallback(() => say('idle'));
        crypto.subtle.digest('SHA-256', new Uint8Array(1 << 22)).then(() => say('long'));
        crypto.subtle.digest('SHA-256', new Uint8Array(1)).then(() => say('short'));
        navigator.locks.request('a', () => say('lock'));
        const channel = new MessageChannel();
        channel.port1.onmessage = () => say('own');
        channel.port2.postMessage(0);";
    says(script, &["own", "long", "short", "lock", "timer", "idle"]).await;
}

#[tokio::test]
async fn a_cleared_timer_does_not_run_and_text_is_a_script_as_ever() {
    let script = "
        globalThis.say = say;
        setTimeout('say(`text`)');
        const timer = setTimeout(() => say('cleared timer'));
        const idle = requestIdleCallback(() => say('cleared idle'));
        const twice = setInterval(() => { say('again'); if (again++) clearInterval(twice); }, 5);
        let again = 0;
        AbortSignal.timeout(20).onabort = event => say(event.target.reason.name);
        scheduler.postTask(() => say('delayed'), { delay: 30 });
        crypto.subtle.digest('SHA-256', new Uint8Array(9)).then(() => {
            clearTimeout(timer);
            cancelIdleCallback(idle);
        });";
    says(script, &["text", "again", "again", "TimeoutError", "delayed"]).await;
}

/// As zone.js does: the class is no child of the browser's, and its `then` is another.
#[tokio::test]
async fn a_library_may_have_promises_of_its_own() {
    let script = "
        const Native = Promise, nativeThen = Promise.prototype.then;
        globalThis.Promise = class {
            constructor(run) { this.inner = new Native(run); }
            then(...handlers) { return Reflect.apply(nativeThen, this.inner, handlers); }
            static resolve(value) { return new Promise(done => done(value)); }
            static race(all) { return new Promise((done, fail) => { for (const one of all) one.then(done, fail); }); }
        };
        Native.prototype.then = function (...handlers) {
            return new Promise((done, fail) => Reflect.apply(nativeThen, this, [done, fail])).then(...handlers);
        };
        const reader = (await fetch('/large')).body.getReader();
        say(`piece of ${(await reader.read()).value.length}`);
        say(`lock gives ${await navigator.locks.request('a', async () => 7)}`);
        await cookieStore.getAll();
        document.cookie = 'a=1';
        say(document.cookie);
        history.pushState(0, '', '/there');
        addEventListener('popstate', () => say('went back'));
        history.back();
        say(`database ${await new Native(done => { indexedDB.open('d').onsuccess = e => done(e.target.result.name); })}`);";
    says(script, &["piece of 65536", "lock gives 7", "a=1", "went back", "database d"]).await;
}

#[tokio::test]
async fn a_page_whose_own_tasks_do_not_end_gets_its_results() {
    let script = "
        let done = false;
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => { if (!done) port2.postMessage(0); };
        port2.postMessage(0);
        await crypto.subtle.digest('SHA-256', new Uint8Array(9));
        done = true;
        say('digested');";
    says(script, &["digested"]).await;
}

#[tokio::test]
async fn bodies_are_read_as_ever_in_pieces_of_one_size() {
    let script = "
        const sizes = async stream => {
            const found = [];
            for await (const piece of stream) found.push(piece.length);
            return found.join(' ');
        };
        say(await sizes((await fetch('/large')).body));
        const piped = (await fetch('/large')).body.pipeThrough(new TransformStream());
        say(await sizes(piped));
        say((await (await fetch('/small')).json()).n);
        const broken = await fetch('/small');
        try { broken.body.pipeThrough(undefined); } catch (error) { say(error.name); }
        say(`locked ${broken.body.locked}`);
        const cancelled = (await fetch('/large')).body.getReader();
        await cancelled.read();
        await cancelled.cancel();
        say(`after cancel ${(await cancelled.read()).done}`);
        // A stream of the page's own is not cut, and goes on with the page's time.
        const own = new Response(new ReadableStream({
            start(controller) {
                controller.enqueue(new Uint8Array(3));
                setTimeout(() => { controller.enqueue(new Uint8Array(4)); controller.close(); }, 100);
            },
        }));
        say(await sizes(own.body));
        await (await caches.open('c')).put('/kept', await fetch('/small'));
        say((await (await caches.match('/kept')).json()).n);";
    let expected = [
        "65536 65536 65536 3392",
        "65536 65536 65536 3392",
        "7",
        "TypeError",
        "locked false",
        "after cancel true",
        "3 4",
        "7",
    ];
    says(script, &expected).await;
}

#[tokio::test]
async fn a_lock_that_was_given_up_or_taken_away_keeps_nobody_waiting() {
    let script = "
        const giving = new AbortController();
        let release;
        const holding = navigator.locks.request('a', () => new Promise(done => { release = done; }));
        const given = navigator.locks.request('a', { signal: giving.signal }, () => say('never'));
        given.catch(error => say(error.name));
        await new Promise(done => setTimeout(done, 10));
        giving.abort();
        await new Promise(done => setTimeout(done, 10));
        release();
        await holding;
        await navigator.locks.request('a', () => say('free'));
        const stolen = navigator.locks.request('a', () => new Promise(() => {}));
        stolen.catch(error => say(`stolen ${error.name}`));
        await navigator.locks.request('a', { steal: true }, () => say('mine'));
        await navigator.locks.request('a', () => say('free again'));";
    says(script, &["AbortError", "free", "stolen AbortError", "mine", "free again"]).await;
}
