//! `DOMContentLoaded`, `load` and what workers tell come at points that do not depend on how fast
//! another process replies.

use actions::Dialect;

use crate::bench::{Bench, LOG};

/// Plays a page with this script, a classic one, and `worker` at `/worker.js`. Each line of
/// `expected` is said, in this order.
async fn says(script: &str, worker: &str, expected: &[&str]) {
    let page = format!("<!doctype html><title>Lifecycle</title>{LOG}<script>{script}</script>");
    // As in a secure context.
    let pages = [("localhost/", &*page), ("localhost/worker.js", worker)];
    let mut bench = Bench::open(Dialect::BrowserGym, &pages).await;
    assert_eq!(bench.said().await, expected, "{script}");
    bench.session.close().await.unwrap();
}

const TELL: &str = "
    const tell = event => say(`${event.type} ${document.readyState} ${event.target === document}`);
    for (const type of ['readystatechange', 'DOMContentLoaded']) document.addEventListener(type, tell);
    for (const type of ['load', 'pageshow']) addEventListener(type, tell);";

#[tokio::test]
async fn a_document_is_loaded_when_nothing_is_awaited() {
    let script = format!(
        "{TELL}
        const open = indexedDB.open('d');
        open.onupgradeneeded = () => {{
            say('upgrade');
            open.result.createObjectStore('s');
        }};
        let left = 3;
        const write = () => {{
            const writing = open.result.transaction('s', 'readwrite');
            writing.objectStore('s').put(0, left);
            writing.oncomplete = () => {{
                say(`written ${{document.readyState}}`);
                const own = new MessageChannel();
                own.port1.onmessage = () => --left && write();
                own.port2.postMessage(0);
            }};
        }};
        open.onsuccess = write;
        onload = ({{ target, type }}) => {{
            say(`handler ${{target === document}} ${{type}}`);
            crypto.subtle.digest('SHA-1', new Uint8Array(1)).then(() => say('result'));
        }};
        document.onreadystatechange = () => {{}};
        setTimeout(() => say('timer'));"
    );
    let expected = [
        "upgrade",
        "written loading",
        "written loading",
        "written loading",
        "readystatechange interactive true",
        "DOMContentLoaded interactive true",
        "readystatechange complete true",
        "load complete true",
        "handler true load",
        "pageshow complete true",
        "result",
        "timer",
    ];
    says(&script, "", &expected).await;
}

#[tokio::test]
async fn a_document_that_awaits_nothing_has_the_browsers_own_events() {
    let script = format!(
        "{TELL} onload = ({{ isTrusted, eventPhase }}) => say(`trusted ${{isTrusted}} ${{eventPhase}}`);"
    );
    let expected = [
        "readystatechange interactive true",
        "DOMContentLoaded interactive true",
        "readystatechange complete true",
        "load complete true",
        "trusted true 2",
        "pageshow complete true",
    ];
    says(&script, "", &expected).await;
}

/// A style sheet in a URL is there at once, a database takes a while.
#[tokio::test]
async fn an_element_is_loaded_when_no_event_is_awaited() {
    let script = "
        for (const type of ['success', 'upgradeneeded']) {
            (globalThis.asked ??= indexedDB.open('d')).addEventListener(type, () => say(type));
        }
        const add = (name, values) => {
            const element = Object.assign(document.createElement(name), values);
            for (const type of ['load', 'error']) {
                element.addEventListener(type, ({ target }) => say(`${type} ${target === element}`));
            }
            document.head.append(element);
        };
        add('link', { rel: 'stylesheet', href: 'data:text/css,p{}' });
        add('img', { src: 'data:text/plain,' });
        addEventListener('error', ({ target }) => say(`window ${target.localName}`), true);
        onload = () => say('page');";
    let expected = ["upgradeneeded", "success", "load true", "window img", "error true", "page"];
    says(script, "", &expected).await;
}

/// They are read by us, since Chromium would stop the time meanwhile.
#[tokio::test]
async fn bodies_of_a_scripts_own_responses_wait_for_the_time() {
    let script = "
        const later = () => new Promise(done => setTimeout(done, 1));
        const own = (...parts) => new Response(new ReadableStream({
            async pull(controller) {
                await later();
                const part = parts.shift();
                if (part instanceof Error) controller.error(part);
                else if (part === undefined) controller.close();
                else controller.enqueue(part);
            },
        }), { headers: { 'Content-Type': 'text/x-own' } });
        const bytes = text => new TextEncoder().encode(text);
        (async () => {
            say(await own(bytes('a'), bytes('b')).text());
            say((await own(bytes('[1]')).json())[0]);
            const blob = await own(bytes('abc')).blob();
            say(`${blob.type} ${blob.size}`);
            const one = own(bytes('twice')), other = one.clone();
            say(await one.text() + await other.text());
            say(`${one.bodyUsed} ${await one.text().catch(error => error.name)}`);
            say(await own(bytes('a'), new RangeError('own')).text().catch(error => `${error}`));
            say(await own('no bytes').text().catch(error => `${error}`));
            say((await new Response('plain').arrayBuffer()).byteLength);
        })();";
    let expected = [
        "ab",
        "1",
        "text/x-own 3",
        "twicetwice",
        "true TypeError",
        "TypeError: Failed to fetch",
        "TypeError: Failed to fetch",
        "5",
    ];
    says(script, "", &expected).await;
}

/// A page may await something that waits for the page's own work after its load.
#[tokio::test]
async fn a_document_is_loaded_where_what_it_awaits_does_not_come() {
    let script = "
        const first = indexedDB.open('d', 1);
        first.onsuccess = () => {
            const second = indexedDB.open('d', 2);
            second.onsuccess = () => say('second');
            addEventListener('load', () => { say('load'); first.result.close(); });
        };";
    says(script, "", &["load", "second"]).await;
}

/// A page that hears of the `load` of a frame expects that the frame has heard of it.
#[tokio::test]
async fn a_frame_has_its_events_before_the_page_around_it() {
    let frame = "<!doctype html><script>
        indexedDB.open('d');
        document.addEventListener('DOMContentLoaded', () => { globalThis.isReady = true; });
        </script>";
    let page = format!(
        "<!doctype html><title>Frame</title>{LOG}<iframe src=/frame></iframe><script>
        document.querySelector('iframe').onload = event => say(event.target.contentWindow.isReady);
        </script>"
    );
    let mut bench =
        Bench::open(Dialect::BrowserGym, &[("localhost/", &*page), ("localhost/frame", frame)])
            .await;
    assert_eq!(bench.said().await, ["true"]);
    bench.session.close().await.unwrap();
}

#[tokio::test]
async fn a_document_that_is_written_anew_is_loaded_once() {
    // As a page's script must write it.
    let log = LOG.replace("</", "<\\/").replace("\\n", "\\\\n");
    let script = format!(
        "indexedDB.open('d').onsuccess = () => {{
            document.open();
            document.write(`{log}<script>
                indexedDB.open('e').onsuccess = () => say('opened');
                for (const type of ['DOMContentLoaded', 'load']) addEventListener(type, () => say(type));
            <\\/script>`);
            document.close();
        }};"
    );
    says(&script, "", &["opened", "DOMContentLoaded", "load"]).await;
}

#[tokio::test]
async fn a_message_that_cannot_be_sent_loses_no_other() {
    let worker = "
        const channel = new BroadcastChannel('c'), { port1, port2 } = new MessageChannel();
        onmessage = () => {
            postMessage({ port: port2 }, [port2]);
            port1.postMessage('by a port that leaves');
            postMessage({ port: port1 }, [port1]);
            channel.close();
            try { channel.postMessage('closed'); } catch (error) { postMessage(error.name); }
            close();
            setTimeout(() => postMessage('after the end'));
            postMessage('last');
        };";
    let script = "
        const worker = new Worker('/worker.js'), all = [];
        const hear = ({ data }) => {
            if (data.port) data.port.onmessage = hear; else all.push(data);
        };
        worker.onmessage = hear;
        worker.postMessage(0);
        setTimeout(() => say(all.sort().join(', ')), 2000);";
    says(script, worker, &["InvalidStateError, by a port that leaves, last"]).await;
}

#[tokio::test]
async fn all_that_a_worker_tells_has_the_order_of_its_calls() {
    let worker = "
        const channel = new BroadcastChannel('c');
        onmessage = ({ ports: [port] }) => {
            postMessage('one');
            port.postMessage('two');
            channel.postMessage('three');
            const inner = new MessageChannel(), outer = new MessageChannel();
            inner.port1.onmessage = ({ data }) => {
                if (data < 50) return inner.port2.postMessage(data + 1);
                postMessage(`${data} by itself`);
                outer.port1.postMessage('last by a port');
                port.close();
                channel.close();
                close();
            };
            inner.port2.postMessage(0);
            postMessage({ port: outer.port2 }, [outer.port2]);
            try { postMessage(() => {}); } catch (error) { postMessage(error.name); }
            try { channel.postMessage(() => {}); } catch (error) { postMessage(error.name); }
        };";
    let script = "
        const worker = new Worker('/worker.js'), port = new MessageChannel(), channel = new BroadcastChannel('c');
        const hear = ({ data }) => {
            if (!data.port) return say(data);
            say('a port');
            data.port.onmessage = hear;
        };
        worker.onmessage = port.port1.onmessage = channel.onmessage = hear;
        worker.postMessage(0, [port.port2]);";
    let expected = [
        "one",
        "two",
        "a port",
        "DataCloneError",
        "DataCloneError",
        "50 by itself",
        "last by a port",
        "three",
    ];
    says(script, worker, &expected).await;
}
