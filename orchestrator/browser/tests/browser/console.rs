//! Console messages and errors of pages, which leave no trace for the page.

use actions::Dialect;
use browser::ConsoleMessage;

use crate::bench::{Bench, LOG};

/// The first button writes what tells a page of an open console: an object whose properties are
/// read when they are shown.
const PAGE: &str = r#"<!doctype html><title>Desk</title>
<button onclick="speak()">Write</button> <button onclick="missing.part">Throw</button>
<button onclick="reject()">Reject</button> <button onclick="flood()">Flood</button>
<script>
const probe = new Error('probe');
let reads = 0;
for (const name of ['stack', 'message', 'name']) {
  Object.defineProperty(probe, name, { get() { reads += name === 'stack'; return name; } });
}
function speak() {
  console.log('first', 2, probe, { get part() { reads += 1; return 1; } });
  console.warn('second');
  say(`reads ${reads}`);
}
function reject() {
  Promise.reject(new Error('no such seat'));
  Promise.reject(7);
  const trap = new Proxy(new Error('trap'), { getOwnPropertyDescriptor() { reads += 1; }, getPrototypeOf() { reads += 1; return null; } });
  Promise.reject(trap);
  setTimeout(() => say(`reads ${reads}`), 50);
}
function flood() { for (let number = 0; number < 300; number += 1) console.log(number); }
</script>"#;

fn short(messages: &[ConsoleMessage]) -> Vec<(&str, &str, &str)> {
    messages
        .iter()
        .map(|message| (message.source.as_str(), message.level.as_str(), message.text.as_str()))
        .collect()
}

#[tokio::test]
async fn messages_and_errors_are_kept_and_the_page_sees_nothing_of_it() {
    let desk = format!("{PAGE}{LOG}");
    let mut bench = Bench::open(Dialect::BrowserGym, &[("desk.test/", &*desk)]).await;
    bench.session.take_console();

    bench.act("click('{Write}')").await;
    let messages = bench.session.take_console();
    let expected = [
        ("console", "log", "first 2 name: message [object Object]"),
        ("console", "warning", "second"),
    ];
    assert_eq!(short(&messages), expected, "{messages:#?}");
    assert!(messages[0].url.ends_with("desk.test/") && messages[0].line.is_some(), "{messages:#?}");

    bench.act("click('{Throw}')").await;
    let messages = bench.session.take_console();
    assert_eq!(
        short(&messages),
        [("exception", "error", "Uncaught ReferenceError: missing is not defined")]
    );
    assert!(
        messages[0].url.ends_with("desk.test/") && messages[0].line == Some(2),
        "{messages:#?}"
    );

    bench.act("click('{Reject}')").await;
    let messages = bench.session.take_console();
    let expected = ["no such seat", "7", "an object"]
        .map(|what| ("exception", "error", format!("Uncaught (in promise) {what}")));
    let expected: Vec<_> =
        expected.iter().map(|(source, level, text)| (*source, *level, text.as_str())).collect();
    assert_eq!(short(&messages), expected);
    assert_eq!(bench.said().await, ["reads 0", "reads 0"]);

    bench.act("click('{Flood}')").await;
    let messages = bench.session.take_console();
    assert_eq!(messages.len(), 101);
    assert_eq!(messages[100].text, "200 more messages are not kept");
    assert!(bench.session.take_console().is_empty());
    bench.session.close().await.unwrap();
}
