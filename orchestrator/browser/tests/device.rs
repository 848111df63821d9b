//! A page sees the device that its task is done on, its servers are told, and the next episode knows nothing of it.

#![allow(clippy::unwrap_used)]

mod bench;
mod web;

use browser::{Device, Dialect, Geolocation};

use bench::{Bench, LOG};

/// On `localhost`, which counts as secure: other pages without TLS may not ask where they are.
const PAGE: &str = r#"<!doctype html><title>Here</title><meta name=viewport content="width=device-width"><button onclick="look()">Look</button>
<script>
const facts = () => [innerWidth, innerHeight, navigator.language, navigator.languages, new Date(0).getHours(), (1234.5).toLocaleString(),
    Intl.DateTimeFormat().resolvedOptions().timeZone, navigator.userAgent.includes('Teapot'), navigator.maxTouchPoints, matchMedia('(pointer: coarse)').matches];
const look = () => {
    say(facts().join(' '));
    const ask = `postMessage([navigator.language, navigator.userAgent.includes('Teapot'), new Date(0).getHours()].join(' '))`;
    new Worker(URL.createObjectURL(new Blob([ask]))).onmessage = e => say(`worker ${e.data}`);
    navigator.geolocation.getCurrentPosition(p => say(`at ${p.coords.latitude} ${p.coords.longitude}`), e => say(`refused ${e.code}`));
    fetch('/headers').then(a => a.text()).then(text => say(text));
};
</script>"#;

#[tokio::test]
async fn pages_workers_and_servers_see_the_device_of_the_episode() {
    let page = format!("{PAGE}{LOG}");
    let pages = [("localhost/", &*page), ("localhost/headers", "told %LANGUAGE% %AGENT%")];
    let mut bench = Bench::open(Dialect::BrowserGym, &pages).await;
    bench.act("click('{Look}')").await;
    let usual = bench.said().await;
    assert!(usual.contains(&"1280 720 en-US en-US 0 1,234.5 UTC false 0 false".to_owned()), "{usual:?}");
    assert!(
        usual.contains(&"worker en-US false 0".to_owned()) && usual.contains(&"refused 1".to_owned()),
        "{usual:?}"
    );

    let telephone = Device {
        viewport: (400, 800),
        locale: "de-DE".to_owned(),
        timezone: "Asia/Tokyo".to_owned(),
        user_agent: Some("Teapot/1.0".to_owned()),
        mobile: true,
        geolocation: Some(Geolocation { latitude: 52.5, longitude: 13.25, accuracy: 10.0 }),
    };
    bench.session.reset_as(Some(bench::world()), telephone).await.unwrap();
    bench.heard = 0;
    bench.act("goto('http://localhost/')").await;
    bench.act("click('{Look}')").await;
    let seen = bench.said().await;
    for expected in [
        "400 800 de-DE de-DE 9 1.234,5 Asia/Tokyo true 5 true",
        "worker de-DE true 9",
        "at 52.5 13.25",
        "told de-DE Teapot/1.0",
    ] {
        assert!(seen.contains(&expected.to_owned()), "{expected}: {seen:?}");
    }

    bench.session.reset_as(Some(bench::world()), Device::default()).await.unwrap();
    bench.heard = 0;
    bench.act("goto('http://localhost/')").await;
    bench.act("click('{Look}')").await;
    // What is asked of the browser and of a server is answered in either order.
    let sorted = |mut said: Vec<String>| {
        said.sort();
        said
    };
    assert_eq!(sorted(bench.said().await), sorted(usual));
}
