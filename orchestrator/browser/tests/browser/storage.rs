//! Stored data goes from one episode to the next only where that is wanted.

use actions::Dialect;
use browser::StorageState;

use crate::bench::{Bench, LOG};

const KEEP: &str = r#"<!doctype html><title>Keep</title><button onclick="keep()">Keep</button><script>
const keep = () => {
    localStorage.setItem('basket', 'two "pears"'); localStorage.a = '1'; sessionStorage.tab = 'x';
    document.cookie = 'theme=dark; max-age=3600'; document.cookie = 'visit=1';
    say('kept');
};
onload = () => say(`${localStorage.basket} ${sessionStorage.tab} ${document.cookie}`);
</script><iframe src="http://other.test/frame"></iframe>"#;

#[tokio::test]
async fn what_pages_keep_is_read_and_given_to_another_episode() {
    let keep = format!("{KEEP}{LOG}");
    let pages = [
        ("keep.test/", &*keep),
        ("other.test/frame", "<script>localStorage.framed = 'yes'</script>"),
    ];
    let mut bench = Bench::open(Dialect::BrowserGym, &pages).await;
    let fresh = bench.said().await;
    bench.act("click('{Keep}')").await;
    let before = bench.web.requests().len();
    let state = bench.session.storage_state().await.unwrap();
    assert_eq!(bench.web.requests().len(), before, "no server hears of it");
    let written = serde_json::to_value(&state).unwrap();
    let cookies: Vec<(&str, &str, bool)> =
        state.cookies.iter().map(|c| (&*c.name, &*c.value, c.expires < 0.0)).collect();
    assert_eq!(cookies, [("theme", "dark", false), ("visit", "1", true)]);
    assert_eq!(
        written["origins"],
        serde_json::json!([
            {
                "origin": "http://keep.test",
                "localStorage": [{ "name": "a", "value": "1" }, { "name": "basket", "value": "two \"pears\"" }],
                "sessionStorage": [{ "name": "tab", "value": "x" }],
            },
        ]),
        "what a frame of another site has stored is that pair's own"
    );

    bench.session.reset(Some(crate::bench::world())).await.unwrap();
    let read: StorageState = serde_json::from_str(&written.to_string()).unwrap();
    assert_eq!(read, state);
    bench.session.set_storage_state(&read).await.unwrap();
    bench.heard = 0;
    bench.act("goto('http://keep.test/')").await;
    assert_eq!(bench.said().await, ["two \"pears\" x theme=dark; visit=1"]);

    bench.session.reset(Some(crate::bench::world())).await.unwrap();
    bench.heard = 0;
    bench.act("goto('http://keep.test/')").await;
    assert_eq!(bench.said().await, fresh, "nothing carries over by itself");
}

#[test]
fn what_playwright_writes_is_read() {
    let state: StorageState = serde_json::from_str(
        r#"{"cookies":[{"name":"s","value":"1","domain":".shop.test","path":"/","expires":1700000000.5,"httpOnly":true,"secure":true,"sameSite":"None"}],
        "origins":[{"origin":"https://shop.test","localStorage":[{"name":"k","value":"v"}],"indexedDB":[]}]}"#,
    )
    .unwrap();
    assert_eq!((&*state.cookies[0].domain, state.cookies[0].http_only), (".shop.test", true));
    assert_eq!(state.origins[0].local_storage[0].value, "v");
}
