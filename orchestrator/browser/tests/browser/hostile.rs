//! Pages that try to break out (`tests/hostile/page/pages`), in a frozen episode and in attach
//! mode.

use std::time::Duration;

use browser::{Launch, Pace, Session};

use crate::hostile_pages::{DOWNLOADS, Outside, serve, tried, world};

async fn all_are_held(attach_mode: bool) {
    let (web, outside) = (serve().await, Outside::new().await);
    let launch = Launch {
        determinism: Some(world()),
        pace: Pace::steady(Duration::from_secs(5)),
        attach_mode,
        downloads: DOWNLOADS,
        ..Launch::new(web.address, "")
    };
    for page in ["addresses", "handlers", "webrtc", "transports", "service-worker", "devices"] {
        let mut session = Session::start(&launch).await.unwrap();
        let report = tried(&mut session, &format!("{page}.html"), &outside.query()).await;
        assert!(report.starts_with("held\n"), "{page}, attach mode {attach_mode}: {report}");
        assert!(report.lines().count() > 4, "{page} has tried: {report}");
        outside.nobody_came(page).await;
        session.close().await.unwrap();
    }
    let strange: Vec<String> =
        web.requests().into_iter().filter(|line| line.contains("prefetched.hostile")).collect();
    assert_eq!(strange, Vec::<String>::new());
    assert!(
        web.requests().iter().any(|line| line.contains("/beacon")),
        "what is sent comes to the gateway"
    );
}

#[tokio::test]
async fn pages_of_a_frozen_episode_are_held() {
    all_are_held(false).await;
}

#[tokio::test]
async fn pages_of_an_open_episode_are_held() {
    all_are_held(true).await;
}
