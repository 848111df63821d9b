//! A group of the sites that need no container: leases, resets and their proof, log-ins, probes,
//! clocks.

#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};
use sites::{
    Event, Events, Lease, Options, Phase, ResetMethod, Site, SiteGroup, SiteState, SiteTarget,
};

const SOON: Duration = Duration::from_secs(30);

struct Running {
    _keep: tempfile::TempDir,
    group: SiteGroup,
    events: Arc<Mutex<Vec<Event>>>,
    folder: Utf8PathBuf,
}

async fn running(names: &[&str], instances: usize) -> Running {
    running_with(names, instances, |_| {}).await
}

async fn running_with(names: &[&str], instances: usize, change: impl Fn(&mut Site)) -> Running {
    let keep = tempfile::tempdir().unwrap();
    let folder = Utf8PathBuf::from_path_buf(keep.path().to_owned()).unwrap();
    let manifests = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sites");
    let mut sites: Vec<Site> =
        names.iter().map(|name| Site::load(&manifests.join(name)).unwrap()).collect();
    sites.iter_mut().for_each(change);
    let events = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&events);
    let on: Events = Arc::new(move |event| heard.lock().unwrap().push(event.clone()));
    let options = Options { instances, ..Options::new("test", folder.clone()) };
    let group = SiteGroup::start(sites, options, on).await.unwrap();
    group.ready(SOON).await.unwrap();
    Running { _keep: keep, group, events, folder }
}

impl Running {
    async fn lease(&self, site: &str) -> Lease {
        self.group.lease(site, SOON).await.unwrap()
    }

    fn count(&self, is: impl Fn(&Event) -> bool) -> usize {
        self.events.lock().unwrap().iter().filter(|event| is(event)).count()
    }
}

/// A page of an instance, as the account that the line of cookies belongs to.
async fn page(lease: &Lease, path: &str, cookies: &str) -> String {
    let host = lease.site().canonical().to_owned();
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookies}\r\nConnection: close\r\n\r\n"
    );
    exchange(lease, &request).await
}

async fn exchange(lease: &Lease, request: &str) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = lease.upstream().connect().await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

/// Leaves a note on the desk.
async fn note(lease: &Lease, title: &str) {
    let pad = page(lease, "/scratchpad.html", "").await;
    let hidden = |name: &str| {
        let (_, rest) = pad.split_once(&format!("name=\"{name}\" value=\"")).unwrap_or(("", "\""));
        rest.split('"').next().unwrap_or_default().to_owned()
    };
    let cookie = pad.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap_or_default();
    let cookie = cookie.split(';').next().unwrap_or_default();
    let body = format!("token={}&title={title}&body=text", hidden("token"));
    let request = format!(
        "POST /scratchpad.html HTTP/1.1\r\nHost: desk.test\r\nCookie: {cookie}\r\nConnection: close\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let answer = exchange(lease, &request).await;
    assert!(answer.starts_with("HTTP/1.1 3"), "{answer}");
}

async fn notes(lease: &Lease) -> Vec<Value> {
    lease.probe("notes", &BTreeMap::new()).await.unwrap().as_array().unwrap().clone()
}

#[tokio::test]
async fn two_leases_never_see_each_others_writes_and_both_end_pristine() {
    let running = running(&["desk"], 2).await;
    for round in 0..20 {
        let (a, b) = (running.lease("desk").await, running.lease("desk").await);
        assert_ne!(a.instance(), b.instance());
        assert_ne!(a.upstream(), b.upstream());
        assert_eq!((a.difference().await.unwrap(), b.difference().await.unwrap()), (None, None));
        note(&a, &format!("round{round}")).await;
        assert_eq!(notes(&a).await.len(), 1);
        assert_eq!(notes(&b).await, [] as [Value; 0]);
        assert!(a.difference().await.unwrap().is_some());
        assert_ne!(a.digest().await.unwrap(), b.digest().await.unwrap());
        a.hand_back(true).await;
        b.hand_back(false).await;
    }
    // Answers once the last two are idle again.
    running.group.reset("desk").await.unwrap();
    let status = running.group.status();
    assert_eq!((status[0].drifts, status[0].state), (0, SiteState::Running));
    assert!(!status[0].resets_ms.is_empty());
    running.group.stop().await.unwrap();
    assert!(
        running.count(|event| matches!(event, Event::Recycled { how: ResetMethod::Restored, .. }))
            >= 40
    );
}

#[tokio::test]
async fn a_lease_that_is_dropped_counts_as_changed() {
    let running = running(&["desk"], 1).await;
    let lease = running.lease("desk").await;
    let used = lease.instance();
    note(&lease, "left").await;
    drop(lease);
    // All instances, that one among them.
    let (a, b) = (running.lease("desk").await, running.lease("desk").await);
    assert!([a.instance(), b.instance()].contains(&used));
    assert_eq!((notes(&a).await.len(), notes(&b).await.len()), (0, 0));
    running.group.stop().await.unwrap();
}

#[tokio::test]
async fn when_dirty_keeps_a_copy_that_nobody_changed() {
    let running =
        running_with(&["desk"], 1, |site| site.reset = sites::manifest::ResetPolicy::WhenDirty)
            .await;
    let lease = running.lease("desk").await;
    lease.set_clock("2030-01-01T00:00:00Z".parse().unwrap()).unwrap();
    lease.hand_back(false).await;
    running.lease("desk").await.hand_back(true).await;
    running.group.reset("desk").await.unwrap();
    let kept =
        running.count(|event| matches!(event, Event::Recycled { how: ResetMethod::Kept, .. }));
    assert_eq!(kept, 1);
    assert!(
        running.count(|event| matches!(event, Event::Recycled { how: ResetMethod::Restored, .. }))
            >= 1
    );
    running.group.stop().await.unwrap();
}

/// `sandbox up` opens it on loopback, where its own log-in is all that keeps others out.
#[tokio::test]
async fn a_service_desk_lets_in_whom_its_manifest_names_and_nobody_else() {
    let known = running(&["itsm"], 1).await;
    let own = running_with(&["itsm"], 1, |site| {
        site.accounts.get_mut("admin").unwrap().password = "made for one run".to_owned();
    })
    .await;
    let (known, lease) = (known.lease("itsm").await, own.lease("itsm").await);
    for account in ["admin", "agent"] {
        assert!(!lease.login(account).await.unwrap().cookies.is_empty(), "{account}");
        assert_eq!(lease.difference().await.unwrap(), None, "{account}");
    }
    let login = "/login.do?user_name=admin&user_password=admin&sys_action=sysverb_login";
    let enters = |answer: &str| answer.to_lowercase().contains("location: /now/nav/ui/home");
    assert!(enters(&page(&known, login, "").await));
    assert!(!enters(&page(&lease, login, "").await), "the password of the published manifest");
    let cookies = known.login("admin").await.unwrap().cookies;
    let line = format!("{}={}", cookies[0].name, cookies[0].value);
    let home = async |lease| page(lease, "/now/nav/ui/home", &line).await;
    assert!(home(&known).await.starts_with("HTTP/1.1 200"));
    assert!(!home(&lease).await.starts_with("HTTP/1.1 200"), "a cookie signed by another");
}

#[tokio::test]
async fn the_accounts_of_the_service_desk_log_in_and_nobody_else() {
    let running = running(&["itsm"], 1).await;
    let lease = running.lease("itsm").await;
    for account in ["admin", "agent"] {
        assert!(!lease.login(account).await.unwrap().cookies.is_empty(), "{account}");
        assert_eq!(lease.difference().await.unwrap(), None, "{account}");
    }
    let login = |password| {
        format!("/login.do?user_name=admin&user_password={password}&sys_action=sysverb_login")
    };
    let enters = async |password| {
        let answer = page(&lease, &login(password), "").await.to_lowercase();
        answer.contains("location: /now/nav/ui/home")
    };
    assert!(enters("admin").await && !enters("guess").await);
    running.group.stop().await.unwrap();
}

#[tokio::test]
async fn every_account_logs_in_and_leaves_no_trace() {
    let running = running(&["forum"], 1).await;
    let lease = running.lease("forum").await;
    let accounts: Vec<String> = lease.site().accounts.keys().cloned().collect();
    assert!(accounts.len() >= 3);
    let mut first = BTreeMap::new();
    for account in &accounts {
        let given = lease.login(account).await.unwrap();
        assert!(!given.cookies.is_empty(), "{account}");
        assert_eq!(lease.difference().await.unwrap(), None, "{account}");
        first.insert(account.clone(), given);
    }
    lease.hand_back(true).await;
    // Another instance honours what was kept.
    let (a, b) = (running.lease("forum").await, running.lease("forum").await);
    for lease in [&a, &b] {
        let given = lease.login(&accounts[0]).await.unwrap();
        assert_eq!(given, first[&accounts[0]]);
        let line: Vec<String> = given
            .cookies
            .iter()
            .map(|cookie| format!("{}={}", cookie.name, cookie.value))
            .collect();
        let who = &lease.site().accounts[&accounts[0]].username;
        assert!(page(lease, "/", &line.join("; ")).await.contains(who.as_str()));
        assert!(!page(lease, "/", "").await.contains(&format!("/user/{who}/account")));
    }
    let error = a.login("nobody").await.unwrap_err().to_string();
    assert!(error.starts_with("log nobody in to forum: no such account; there are: "), "{error}");
    running.group.stop().await.unwrap();
}

#[tokio::test]
async fn a_wrong_password_is_told_with_what_was_seen() {
    let spoil = |site: &mut Site| {
        site.accounts.values_mut().for_each(|account| account.password = "wrong".to_owned());
    };
    let running = running_with(&["forum"], 1, spoil).await;
    let lease = running.lease("forum").await;
    let account = lease.site().accounts.keys().next().unwrap().clone();
    let error = lease.login(&account).await.unwrap_err().to_string();
    assert!(error.contains(&format!("log {account} in to forum: ")), "{error}");
    assert!(error.contains("does not look logged in") || error.contains("status"), "{error}");
    running.group.stop().await.unwrap();
}

#[tokio::test]
async fn probes_answer_by_name_and_miss_their_parameters() {
    let running = running(&["forum"], 1).await;
    let lease = running.lease("forum").await;
    let parameters = |name: &str, value: Value| BTreeMap::from([(name.to_owned(), value)]);
    let found = lease.probe("forum", &parameters("forum", json!("BOOKS"))).await.unwrap();
    assert_eq!(found[0]["name"], "books");
    let error = lease.probe("forum", &BTreeMap::new()).await.unwrap_err().to_string();
    assert_eq!(error, "ask the probe forum of forum: the parameter `forum` is missing");
    let error = lease.probe("nonesuch", &BTreeMap::new()).await.unwrap_err().to_string();
    assert!(error.contains("no such probe; there are: "), "{error}");
    running.group.stop().await.unwrap();
}

/// A deleted row is no longer there for a probe. A probe with a wrong question is the fault of its
/// suite.
#[tokio::test]
async fn a_probe_that_finds_something_else_is_told_from_one_that_was_not_asked() {
    let running = running_with(&["forum"], 1, |site| {
        for (name, path) in [("order", "/orders/:id"), ("front", "/")] {
            let probe = json!({ "get": path, "json": true });
            site.probes.insert(name.to_owned(), serde_json::from_value(probe).unwrap());
        }
    })
    .await;
    let lease = running.lease("forum").await;
    let id = BTreeMap::from([("id".to_owned(), json!(5))]);
    for (probe, parameters, says) in [
        ("order", &id, "ask the probe order of forum: /orders/5 has status 404"),
        ("front", &BTreeMap::new(), "ask the probe front of forum: the answer is no JSON: "),
    ] {
        let error = lease.probe(probe, parameters).await.unwrap_err();
        assert!(matches!(error, sites::Error::ProbeAnswer { .. }), "{error:?}");
        assert!(error.to_string().starts_with(says), "{error}");
    }
    for probe in ["order", "nonesuch"] {
        let error = lease.probe(probe, &BTreeMap::new()).await.unwrap_err();
        assert!(matches!(error, sites::Error::Probe { .. }), "{error:?}");
    }
    running.group.stop().await.unwrap();
}

#[tokio::test]
async fn the_clock_is_the_leases_and_starts_anew_for_the_next() {
    let running = running(&["desk"], 1).await;
    let lease = running.lease("desk").await;
    let used = lease.instance();
    lease.set_clock("2031-02-03T04:05:06Z".parse().unwrap()).unwrap();
    note(&lease, "late").await;
    assert!(page(&lease, "/scratchpad.html", "").await.contains("2031"), "the clock was moved");
    lease.hand_back(true).await;
    running.group.reset("desk").await.unwrap();
    let (a, b) = (running.lease("desk").await, running.lease("desk").await);
    let again = if a.instance() == used { &a } else { &b };
    assert_eq!(again.instance(), used);
    note(again, "early").await;
    let pad = page(again, "/scratchpad.html", "").await;
    assert!(pad.contains("2023") && !pad.contains("2031"), "{pad}");
    running.group.stop().await.unwrap();
}

#[tokio::test]
async fn a_lease_waits_for_a_free_copy_and_says_for_what() {
    let running =
        running_with(&["desk"], 1, |site| site.reset = sites::manifest::ResetPolicy::Never).await;
    let only = running.lease("desk").await;
    let error =
        running.group.lease("desk", Duration::from_millis(50)).await.unwrap_err().to_string();
    assert_eq!(error, "wait 0.05 s for a free instance of desk: instance 1 is leased");
    let (waiting, ()) = tokio::join!(running.group.lease("desk", SOON), only.hand_back(true));
    assert_eq!(waiting.unwrap().instance(), 1);
    let error = running.group.lease("shop", SOON).await.unwrap_err().to_string();
    assert_eq!(error, "find the site \"shop\"; there are: desk");
    running.group.stop().await.unwrap();
}

#[tokio::test]
async fn a_condition_that_never_holds_is_named() {
    let keep = tempfile::tempdir().unwrap();
    let manifests = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sites");
    let mut site = Site::load(&manifests.join("desk")).unwrap();
    site.ready.values_mut().for_each(|condition| condition.contains = Some("nonesuch".to_owned()));
    site.ready_within = sites::manifest::Period(Duration::from_millis(200));
    let folder = Utf8PathBuf::from_path_buf(keep.path().to_owned()).unwrap();
    let options = Options { instances: 2, ..Options::new("test", folder) };
    let group = SiteGroup::start(vec![site], options, Arc::new(|_| {})).await.unwrap();
    let error = group.ready(SOON).await.unwrap_err().to_string();
    assert!(error.contains("desk failed to use desk, which failed 3 times in a row"), "{error}");
    assert!(error.contains("`home page` (status 200, but nowhere \"nonesuch\")"), "{error}");
    let again = group.lease("desk", SOON).await.unwrap_err().to_string();
    assert!(again.contains("failed 3 times in a row"), "{again}");
    assert_eq!(group.status()[0].state, SiteState::Failed);
    group.stop().await.unwrap();
}

#[tokio::test]
async fn after_stop_nothing_is_left_and_leases_say_so() {
    let running = running(&["desk", "forum"], 1).await;
    let lease = running.lease("forum").await;
    let upstream = lease.upstream();
    let SiteTarget::Socket(socket) = &upstream else { panic!("a socket") };
    assert_eq!(std::fs::metadata(socket).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(
        std::fs::metadata(running.folder.join("copies")).unwrap().permissions().mode() & 0o777,
        0o700
    );
    assert_eq!(running.group.status().len(), 2);
    let leased = running.group.status()[1]
        .instances
        .iter()
        .filter(|instance| instance.phase == Phase::Leased)
        .count();
    assert_eq!(leased, 1);
    running.group.stop().await.unwrap();
    running.group.stop().await.unwrap();
    assert_eq!(lease.health().unwrap_err().to_string(), "use forum: it has been stopped");
    assert_eq!(
        running.group.lease("forum", SOON).await.unwrap_err().to_string(),
        "use forum: it has been stopped"
    );
    assert!(upstream.connect().await.is_err());
    assert_eq!(running.folder.join("copies").read_dir_utf8().map_or(0, Iterator::count), 0);
    lease.hand_back(true).await;
    let text = serde_json::to_string(&running.group.status()).unwrap();
    assert!(text.contains("\"state\":\"stopped\""), "{text}");
}

#[tokio::test]
async fn a_folder_of_files_is_a_site_that_never_changes() {
    let keep = tempfile::tempdir().unwrap();
    let folder = Utf8PathBuf::from_path_buf(keep.path().to_owned()).unwrap();
    std::fs::create_dir_all(folder.join("guide/html")).unwrap();
    std::fs::write(folder.join("guide/html/one.html"), "<h1>One</h1>").unwrap();
    let manifest = "title: Guide\nabout: A guide.\ndriver: embedded\nembedded: {static: ./html}\nhosts: [guide.test]\n\
        ready: {page: {get: /one.html, contains: One}}\n";
    let load = |text: &str| {
        std::fs::write(folder.join("guide/site.yaml"), text).unwrap();
        Site::load(&folder.join("guide")).map_err(|error| error.to_string())
    };
    let error = load(manifest).unwrap_err();
    assert!(error.ends_with("reset: files do not change, so it is `never`"), "{error}");
    let error = load(&manifest.replace("static", "statik")).unwrap_err();
    assert!(error.contains("/site.yaml:4:12: embedded: unknown variant `statik`"), "{error}");
    let error =
        load(&format!("{manifest}reset: never\nprobes: {{a: {{query: select 1}}}}")).unwrap_err();
    assert!(error.ends_with("probes: files have no state to ask for"), "{error}");
    let site = load(&format!("{manifest}reset: never")).unwrap();

    let options = Options::new("test", folder.join("data"));
    let group =
        SiteGroup::start(vec![site.clone()], options.clone(), Arc::new(|_| {})).await.unwrap();
    group.ready(SOON).await.unwrap();
    for _ in 0..2 {
        let lease = group.lease("guide", SOON).await.unwrap();
        assert!(page(&lease, "/one.html", "").await.ends_with("<h1>One</h1>"));
        lease.hand_back(true).await;
    }
    group.stop().await.unwrap();

    std::fs::remove_dir_all(folder.join("guide/html")).unwrap();
    let gone =
        SiteGroup::start(vec![site], options, Arc::new(|_| {})).await.err().unwrap().to_string();
    assert!(
        gone.contains("site.yaml: embedded.static: ") && gone.contains("put the folder there"),
        "{gone}"
    );
}
