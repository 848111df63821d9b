//! A name leads to its own site or to nothing, whatever somebody else does to containers.

use std::time::{Duration, Instant};

use crate::harness::{Bench, SOON, docker};
use crate::up::Up;

/// The instances of a site of ours that run now, by the ids of their containers.
fn containers(site: &str) -> Vec<String> {
    let site = format!("label=sandbox.site={site}");
    let owner = format!("label=sandbox.pid={}", std::process::id());
    let found = docker(&["ps", "--quiet", "--filter", &site, "--filter", &owner]).unwrap();
    found.lines().map(str::to_owned).collect()
}

/// What came of a page, which only one site says: the year that its clock shows.
fn judge(name: &str, year: &str, answer: &str) -> bool {
    let status = answer.split(' ').nth(1).unwrap_or_default();
    if status == "200" {
        assert!(answer.contains(year), "{name} was answered by another site: {answer}");
        return true;
    }
    assert!(answer.contains("sandbox-error: "), "{name}: {answer}");
    if status == "503" {
        assert!(
            answer.contains(&format!("the site {name} ")) && answer.contains("try again"),
            "{answer}"
        );
    }
    false
}

#[tokio::test]
async fn a_name_never_leads_to_another_site_when_copies_are_removed_by_somebody_else() {
    let bench = Bench::new();
    let sites =
        [("ant", "2001", "spare"), ("bee", "2002", "recreate"), ("cat", "2003", "recreate")];
    let manifests: Vec<(String, String)> = sites
        .iter()
        .map(|(name, year, reset)| {
            let text = format!(
                "title: T\nabout: A.\ndriver: docker\nport: 8000\nhosts: [{name}.test]\nclock: {year}-06-15T09:00:00Z\n\
                 ready: {{front: {{get: /, contains: a small site}}}}\nstate: {{trees: [/state/lines]}}\n\
                 reset: {reset}\nimage: {}\n",
                bench.image()
            );
            ((*name).to_owned(), text)
        })
        .collect();
    let manifests: Vec<(&str, &str)> =
        manifests.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let up = Up::start(&bench.path("town"), &manifests).await;
    let mut unavailable = 0;
    for round in 0..6 {
        // Two of three at once, so that what is freed is taken by another's.
        let hit: Vec<&str> = (0..2).map(|more| sites[(round + more) % 3].0).collect();
        let ids: Vec<String> = hit.iter().flat_map(|site| containers(site)).collect();
        assert!(!ids.is_empty());
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        docker(&[&["rm", "--force"], ids.as_slice()].concat()).unwrap();
        let deadline = Instant::now() + SOON;
        let mut polls = tokio::time::interval(Duration::from_millis(20));
        let (mut answered, mut last) = (0, String::new());
        while answered < sites.len() {
            assert!(Instant::now() < deadline, "not every site came back: {last}");
            polls.tick().await;
            (answered, last) = (0, String::new());
            for (name, year, _) in &sites {
                let answer = up.page(&format!("http://{name}.test/clock")).await;
                unavailable += usize::from(answer.starts_with("http/1.1 503"));
                match judge(name, year, &answer) {
                    true => answered += 1,
                    false => last.push_str(&answer),
                }
            }
        }
    }
    assert!(unavailable > 0, "nobody was told that a site is being started anew");
    up.end().await;
}
