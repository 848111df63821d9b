//! Tests with many visitors: they wait for the database without a thread each.

use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use embedded_sites::{Clock, Golden, Options, forum};
use tower::ServiceExt as _;

/// What the names of this test's threads begin with. A thread that is given no name has that of the
/// thread that starts it.
const NAME: &str = "crowd";

/// How many threads this test has; other tests have theirs in the same process.
fn threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    // A thread that has ended since has no name any more.
    let names =
        tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|name| name.starts_with(NAME)).count()
}

#[test]
fn visitors_wait_without_a_thread_each() {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).thread_name(NAME).enable_all().build().unwrap();
    runtime.block_on(visit());
}

async fn visit() {
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
    assert!((1..before + 20).contains(&most), "{most} threads, {before} before");
}
