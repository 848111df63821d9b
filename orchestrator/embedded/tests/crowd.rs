//! Tests with many visitors: they wait for the database without a thread each.

#![allow(clippy::unwrap_used, missing_docs)]

use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use embedded::{Clock, Golden, Options, forum};
use tower::ServiceExt as _;

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn visitors_wait_without_a_thread_each() {
    let folder = tempfile::tempdir().unwrap();
    let golden = Golden::open(folder.path()).unwrap();
    let clock = Clock::new(|| "2023-06-15T09:00:00Z".parse().unwrap());
    let site = forum::start(&golden, &Options::new(clock)).unwrap();
    let before = threads();
    let visits: Vec<_> = (0..200)
        .map(|_| {
            let router = site.router();
            tokio::spawn(async move {
                let ask =
                    Request::get("/").header("host", "forum.test").body(Body::empty()).unwrap();
                let answer = router.oneshot(ask).await.unwrap();
                assert_eq!(answer.status(), StatusCode::OK);
                let page = to_bytes(answer.into_body(), 1 << 20).await.unwrap();
                (page, threads())
            })
        })
        .collect();
    let mut most = 0;
    for visit in visits {
        let (page, threads) = visit.await.unwrap();
        assert!(!page.is_empty());
        most = most.max(threads);
    }
    assert!(most < before + 20, "{most} threads, {before} before");
}
