//! What happens when instances do not start, end by themselves, or eat too much.

use sites::{Error, Event, SiteState};

use crate::harness::{Bench, SOON, ask_at, page, wait_for};

#[tokio::test]
async fn a_site_that_never_answers_is_given_up_with_its_last_words() {
    let bench = Bench::new();
    let running = bench.group("env: {SILENT: '1'}\nready_within: 300ms", 1).await;
    let error = running.group.ready(SOON).await.unwrap_err().to_string();
    assert!(error.contains("failed 3 times in a row"), "{error}");
    assert!(error.contains("still waited for `front` ("), "{error}");
    assert!(error.contains("a small site begins\n  and keeps silent"), "{error}");
    let error = running.group.lease("small", SOON).await.unwrap_err().to_string();
    assert!(error.contains("and keeps silent"), "{error}");
    assert_eq!(running.group.status()[0].state, SiteState::Failed);
    running.group.stop().await.unwrap();
}

#[tokio::test]
async fn a_program_that_is_not_there_and_an_image_that_is_not_there_are_told() {
    let bench = Bench::new();
    let running = bench.group("command: [/nonesuch]", 1).await;
    let error = running.group.ready(SOON).await.unwrap_err().to_string();
    assert!(error.contains("nonesuch"), "{error}");
    running.group.stop().await.unwrap();

    let folder = bench.manifest("");
    let text = std::fs::read_to_string(folder.join("site.yaml")).unwrap();
    std::fs::write(folder.join("site.yaml"), text.replace(bench.image(), "sandbox/nonesuch:1"))
        .unwrap();
    let site = sites::Site::load(&folder).unwrap();
    let options = sites::Options {
        helper: crate::harness::helper(),
        ..sites::Options::new("test", bench.path("data"))
    };
    let group =
        sites::SiteGroup::start(vec![site], options, std::sync::Arc::new(|_| {})).await.unwrap();
    let error = group.ready(SOON).await.unwrap_err().to_string();
    assert!(
        error.contains("there is no image sandbox/nonesuch:1; make it with `sandbox images build`"),
        "{error}"
    );
    assert!(!error.contains("times in a row"), "{error}");
    group.stop().await.unwrap();
}

#[tokio::test]
async fn a_copy_that_fills_the_disk_is_ended_named_and_replaced_and_costs_nobody_else() {
    let bench = Bench::new();
    let running = bench.group("reset: restore\nlimits: {disk: 16M}", 2).await;
    for path in ["/fill", "/litter"] {
        let (bad, other) = (running.lease().await, running.lease().await);
        let upstream = bad.upstream();
        let owner = bench.path("data/copies").read_dir_utf8().unwrap().next().unwrap().unwrap();
        let folder = owner.path().join(format!("small-{}", bad.instance()));
        assert!(folder.is_dir());
        // It has no answer.
        let filling = tokio::spawn(async move { ask_at(&upstream, path).await });
        let error = tokio::time::timeout(SOON, bad.ended()).await.unwrap().to_string();
        assert!(
            error.contains("grown to more than 17 MiB, which its `limits.disk` allows"),
            "{error}"
        );
        filling.abort();
        assert_eq!(page(&other, "/add?x").await, "added");
        other.hand_back(true).await;
        bad.hand_back(true).await;
        wait_for("what it wrote is gone", || !folder.exists()).await;
    }
    running.group.stop().await.unwrap();
}

#[tokio::test]
async fn a_copy_that_eats_too_much_is_killed_named_and_replaced() {
    let bench = Bench::new();
    let running = bench.group("limits: {memory: 24M}\nreset: restore", 1).await;
    for _ in 0..4 {
        let lease = running.lease().await;
        lease.health().unwrap();
        let answer = page(&lease, "/grow").await;
        assert_eq!(answer, "");
        let error = tokio::time::timeout(SOON, lease.ended()).await.unwrap().to_string();
        let named = format!(
            "keep small running: instance {} was killed: it used more memory",
            lease.instance()
        );
        assert!(error.starts_with(&named), "{error}");
        assert_eq!(lease.health().unwrap_err().to_string(), error);
        let error = lease.probe("any", &Default::default()).await.unwrap_err().to_string();
        assert!(error.starts_with(&named), "{error}");
        lease.hand_back(true).await;
    }
    // More than the failures in a row after which a site is given up: what episodes do does not
    // speak against it.
    let lease = running.lease().await;
    assert_eq!(page(&lease, "/lines").await, "golden\n");
    running.group.stop().await.unwrap();
}

#[tokio::test]
async fn a_copy_that_ends_is_told_with_its_exit_code_and_last_words() {
    let bench = Bench::new();
    let running = bench.group("reset: spare", 1).await;
    let lease = running.lease().await;
    lease.check().await.unwrap();
    page(&lease, "/end?7").await;
    // The engine has not told of it yet. The page's connection ends a moment before the program.
    let error = lease.check().await.unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains(
            "ended with exit code 7; its last words:\n  a small site begins\n  told to end"
        ),
        "{text}"
    );
    let Error::Shared(shared) = error else { panic!("{error:?}") };
    assert!(matches!(&*shared, Error::Died { instance, .. } if *instance == lease.instance()));
    let failed = |event: &Event| matches!(event, Event::Failed { given_up: false, .. });
    running.hears("the end is told", failed).await;
    let next = running.lease().await;
    assert_ne!(next.instance(), lease.instance());
    assert_eq!(page(&next, "/lines").await, "golden\n");
    running.group.stop().await.unwrap();
}
