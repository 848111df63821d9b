//! An instance's life when nothing goes wrong.

use sites::{Event, ResetMethod};

use crate::harness::{Bench, Running, docker, page, wait_for};

#[tokio::test]
async fn a_copy_is_put_back_below_the_running_application() {
    let bench = Bench::new();
    let running = bench.group("reset: restore", 1).await;
    for round in 0..10 {
        let lease = running.lease().await;
        assert_eq!(lease.difference().await.unwrap(), None);
        assert_eq!(page(&lease, "/lines").await, "golden\n");
        assert_eq!(page(&lease, "/clock").await, "2023-06-15 09:00:00\n");
        lease.set_clock("2024-01-01T00:00:00Z".parse().unwrap()).unwrap();
        assert_eq!(page(&lease, "/clock").await, "2024-01-01 00:00:00\n");
        assert_eq!(page(&lease, &format!("/add?{round}")).await, "added");
        assert_eq!(page(&lease, "/lines").await, format!("golden\n{round}\n"));
        let difference = lease.difference().await.unwrap();
        assert_eq!(difference.as_deref(), Some("lines/all has changed"));
        lease.hand_back(true).await;
    }
    running.group.reset("small").await.unwrap();
    running.group.stop().await.unwrap();
    let restored =
        |event: &&Event| matches!(event, Event::Recycled { how: ResetMethod::Restored, .. });
    assert!(running.events().iter().filter(restored).count() >= 10);
    assert!(
        !running
            .events()
            .iter()
            .any(|event| matches!(event, Event::Drifted { .. } | Event::Failed { .. }))
    );
}

#[tokio::test]
async fn what_a_reset_does_not_reach_is_told_and_the_copy_replaced() {
    let bench = Bench::new();
    let running = bench.group("reset: restore", 1).await;
    let lease = running.lease().await;
    let (bad, id) = (lease.upstream(), lease.instance());
    assert_eq!(page(&lease, "/stray?x").await, "written");
    lease.hand_back(true).await;
    let drifted = |event: &Event| matches!(event, Event::Drifted { difference, .. } if difference == "stray was added");
    running.hears("the drift is told", drifted).await;
    running.group.reset("small").await.unwrap();
    for lease in [running.lease().await, running.lease().await] {
        assert_ne!((lease.instance(), lease.upstream()), (id, bad.clone()));
        assert_eq!(lease.difference().await.unwrap(), None);
    }
    assert_eq!(running.group.status()[0].drifts, 1);
    running.group.stop().await.unwrap();
}

#[tokio::test]
async fn temporary_files_and_processes_do_not_outlive_a_reset() {
    let bench = Bench::new();
    let running = bench.group("reset: restore", 1).await;
    for _ in 0..3 {
        let lease = running.lease().await;
        for folder in ["/tmp", "/run"] {
            assert_eq!(page(&lease, &format!("/list?{folder}")).await, "", "{folder}");
            assert_eq!(page(&lease, &format!("/write?{folder}/left")).await, "written");
        }
        lease.hand_back(true).await;
    }
    let drift = |event: &Event| matches!(event, Event::Drifted { .. });
    assert!(!running.events().iter().any(drift), "what can be put back is no drift");
    let lease = running.lease().await;
    assert_eq!(page(&lease, "/leave").await, "left");
    lease.hand_back(true).await;
    let left = |event: &Event| match event {
        Event::Drifted { difference, .. } => {
            difference.contains("/ld-linux") && difference.ends_with(" was left running")
        }
        _ => false,
    };
    running.hears("the process is told", left).await;
    running.group.stop().await.unwrap();
}

#[tokio::test]
async fn every_policy_gives_a_pristine_copy() {
    let bench = Bench::new();
    for policy in ["spare", "recreate", "when-dirty", "restore"] {
        let running = bench.group(&format!("reset: {policy}"), 1).await;
        running.group.ready(crate::harness::SOON).await.unwrap();
        for _ in 0..3 {
            let lease = running.lease().await;
            assert_eq!(page(&lease, "/lines").await, "golden\n", "{policy}");
            page(&lease, "/add?x").await;
            lease.hand_back(true).await;
        }
        running.group.stop().await.unwrap();
    }
}

#[tokio::test]
async fn a_spare_is_there_at_once() {
    let bench = Bench::new();
    let running = bench.group("reset: spare", 1).await;
    for _ in 0..5 {
        // Answers when both instances are ready.
        running.group.reset("small").await.unwrap();
        let first = running.lease().await;
        page(&first, "/add?x").await;
        let begun = |event: &&Event| matches!(event, Event::Starting { .. });
        let before = running.events().iter().filter(begun).count();
        let second = running.lease().await;
        assert_eq!(
            running.events().iter().filter(begun).count(),
            before,
            "it was started only now"
        );
        assert_eq!(page(&second, "/lines").await, "golden\n");
        first.hand_back(true).await;
        second.hand_back(true).await;
    }
    running.group.stop().await.unwrap();
}

#[tokio::test]
async fn logs_and_memory_can_be_seen_and_limits_hold() {
    let bench = Bench::new();
    let running = bench.group("limits: {memory: 32M, pids: 20, cpus: 0.5}\nreset: spare", 1).await;
    let lease = running.lease().await;
    let logs = running.group.logs("small", 10).await.unwrap();
    assert!(logs.iter().any(|(_, lines)| lines == &["a small site begins"]), "{logs:?}");
    running.group.measure().await;
    let measured = |running: &Running| {
        let memory = |instance: &sites::InstanceStatus| {
            instance.id == lease.instance() && instance.memory.is_some_and(|it| it > 0)
        };
        running.group.status()[0].instances.iter().any(memory)
    };
    wait_for("the memory of the instance is known", || measured(&running)).await;
    let inspected = docker(&[
        "inspect",
        "--format",
        "{{.HostConfig.Memory}} {{.HostConfig.MemorySwap}} {{.HostConfig.PidsLimit}} {{.HostConfig.NanoCpus}}",
        &container_of(&lease),
    ]);
    assert_eq!(inspected.unwrap(), "33554432 33554432 20 500000000");
    drop(lease);
    running.group.stop().await.unwrap();
}

/// The container with a lease's address.
pub(crate) fn container_of(lease: &sites::Lease) -> String {
    if matches!(lease.upstream(), sites::SiteTarget::Socket(_)) {
        // A container without network: no other test of this process runs meanwhile.
        let own = format!("label=sandbox.pid={}", std::process::id());
        let instance = format!("label=sandbox.copy={}", lease.instance());
        return docker(&["ps", "--quiet", "--filter", &own, "--filter", &instance]).unwrap();
    }
    let sites::SiteTarget::Address(address) = lease.upstream() else { panic!("an address") };
    let format = "{{.Id}} {{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}";
    let ids = docker(&["ps", "--quiet", "--filter", "label=sandbox.site=small"]).unwrap();
    let find = |id: &str| docker(&["inspect", "--format", format, id]).unwrap_or_default();
    let found = ids.lines().map(find).find(|line| line.ends_with(&format!(" {}", address.ip())));
    found.unwrap().split(' ').next().unwrap().to_owned()
}
