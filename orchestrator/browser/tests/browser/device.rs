//! Pages and servers see the device of their task, and the next episode sees nothing of it.

use std::time::Duration;

use actions::{Action, Dialect};
use browser::{ActionError, Determinism, Device, Error, Geolocation, Launch, Pace, Session};
use in_flight::InFlight;

use crate::bench::{Bench, LOG};
use crate::web::Web;

/// On `localhost`, which counts as secure: other pages without TLS may not ask for their location.
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
    assert!(
        usual.contains(&"1280 720 en-US en-US 0 1,234.5 UTC false 0 false".to_owned()),
        "{usual:?}"
    );
    assert!(
        usual.contains(&"worker en-US false 0".to_owned())
            && usual.contains(&"refused 1".to_owned()),
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
    bench.session.reset_with_device(Some(crate::bench::world()), telephone).await.unwrap();
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

    bench.session.reset_with_device(Some(crate::bench::world()), Device::default()).await.unwrap();
    bench.heard = 0;
    bench.act("goto('http://localhost/')").await;
    bench.act("click('{Look}')").await;
    // The replies of the browser and of a server come in either order.
    let sorted = |mut said: Vec<String>| {
        said.sort();
        said
    };
    assert_eq!(sorted(bench.said().await), sorted(usual));
}

#[tokio::test]
async fn a_page_that_does_not_take_the_worlds_device_ends_the_episode() {
    let web = Web::serve(&[("shop.test/", "<p>Shop</p>")]).await;
    for device in [
        Device {
            geolocation: Some(Geolocation { latitude: 500.0, longitude: 0.0, accuracy: 1.0 }),
            ..Device::default()
        },
        Device { locale: "not a locale".to_owned(), ..Device::default() },
    ] {
        let world = Determinism { clock_start: "2026-03-01T09:00:00Z".parse().unwrap(), seed: 7 };
        let launch = Launch { determinism: Some(world), device, ..Launch::new(web.address, "") };
        let opened = async {
            let mut session = Session::start(&launch).await?;
            let goto = Action::Goto { url: "http://shop.test/".to_owned() };
            if let Err(ActionError::Browser(error)) = session.act(&goto).await {
                return Err(error);
            }
            session.settle(&InFlight::default(), Duration::from_secs(20)).await
        };
        let error = opened.await.expect_err(&format!("{:?}", launch.device));
        assert!(matches!(error, Error::NotPrepared { .. }), "{error:?}");
        assert!(error.to_string().contains("a page"), "{error}");
    }
}

#[tokio::test]
async fn workers_that_end_at_once_are_no_failure() {
    let page = "<p id=p>0</p><script>
        for (let n = 0; n < 40; n++) { const worker = new Worker(URL.createObjectURL(new Blob(['postMessage(1)']))); if (n % 2) worker.terminate(); }
        setTimeout(() => p.textContent = 'done', 1000)</script>";
    let web = Web::serve(&[("shop.test/", page)]).await;
    let world = Determinism { clock_start: "2026-03-01T09:00:00Z".parse().unwrap(), seed: 7 };
    let launch = Launch {
        determinism: Some(world),
        pace: Pace::steady(Duration::from_secs(5)),
        ..Launch::new(web.address, "")
    };
    let mut session = Session::start(&launch).await.unwrap();
    session.act(&Action::Goto { url: "http://shop.test/".to_owned() }).await.unwrap();
    session.settle(&InFlight::default(), Duration::from_secs(60)).await.unwrap();
    assert_eq!(session.page_text().await.unwrap(), "done");
    session.close().await.unwrap();
}
