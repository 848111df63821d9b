//! Tests with requests that their clients abort half-way.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use gateway::{CertificateAuthority, Config};
use sites::{Options, Phase, Site};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{interval, timeout};

use super::*;

/// Whoever gets there, at so many instances.
fn direct(instances: usize) -> DirectSettings {
    DirectSettings { admission: doors::Admission::Anyone, instances }
}

const SOON: Duration = Duration::from_secs(20);

/// A web server whose responses are delayed while its gate is closed.
struct Origin {
    open: watch::Sender<bool>,
    /// The number of requests it has received.
    requests: watch::Receiver<usize>,
    address: std::net::SocketAddr,
}

impl Origin {
    async fn start() -> Origin {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (open, (count, requests)) = (watch::Sender::new(true), watch::channel(0));
        let opened = open.subscribe();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, count.clone(), opened.clone()));
            }
        });
        Origin { open, requests, address }
    }

    /// Runs `work` until the origin delays a request of it, and then drops it.
    async fn drop_midway<T>(&mut self, work: impl Future<Output = T>) {
        self.open.send_replace(false);
        self.requests.mark_unchanged();
        let midway = tokio::select! {
            midway = timeout(SOON, self.requests.changed()) => midway,
            _ = work => panic!("it ended without an answer of the site"),
        };
        midway.unwrap().unwrap();
    }
}

async fn answer(
    mut stream: TcpStream,
    count: watch::Sender<usize>,
    mut open: watch::Receiver<bool>,
) {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && stream.read_exact(&mut byte).await.is_ok() {
        head.push(byte[0]);
    }
    count.send_modify(|count| *count += 1);
    let _ = open.wait_for(|open| *open).await;
    let _ = stream
        .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        .await;
}

/// A router with one site, served by the origin.
async fn router(origin: &Origin) -> (tempfile::TempDir, Arc<SiteRouter>) {
    let keep = tempfile::tempdir().unwrap();
    let folder = Utf8PathBuf::from_path_buf(keep.path().to_owned()).unwrap();
    // One instance at a time, so that no other instance sends requests to the origin.
    let site = Site { reset: ResetPolicy::Recreate, ..load(&folder, origin) };
    let options = Options::new("test", folder.join("town"));
    let group = SiteGroup::start(vec![site], options, Arc::new(|_| {})).await.unwrap();
    let authority = CertificateAuthority::in_memory().unwrap();
    let gateway = Gateway::start(Config::new(Arc::new(authority), Routes::new())).await.unwrap();
    let router = SiteRouter::new(group, gateway, direct(1), CancellationToken::new());
    router.route_new_sites();
    (keep, router)
}

fn load(folder: &Utf8Path, origin: &Origin) -> Site {
    let manifest = format!(
        "title: Notes\nabout: Notes.\ndriver: external\nurl: http://{}\nhosts: [notes.test]\n\
         ready: {{front page: {{get: /, status: 200}}}}\naccounts: {{ann: {{username: ann, password: secret}}}}\n\
         login: {{ann: {{cookie: {{who: \"{{username}}\"}}, check: {{get: /account, status: 200}}}}}}\n",
        origin.address
    );
    std::fs::create_dir(folder.join("notes")).unwrap();
    std::fs::write(folder.join("notes/site.yaml"), manifest).unwrap();
    Site::load(&folder.join("notes")).unwrap()
}

async fn until(condition: &str, holds: impl Fn() -> bool) {
    let waiting = async {
        let mut polls = interval(Duration::from_millis(5));
        while !holds() {
            polls.tick().await;
        }
    };
    timeout(SOON, waiting).await.unwrap_or_else(|_| panic!("waited {SOON:?} for {condition}"));
}

/// The number of the instance that the site's hosts are routed to, if it is still leased.
fn in_use(router: &SiteRouter) -> Option<u32> {
    let routed = router.routed("notes")?;
    let instance = routed.lock().as_ref()?.instance();
    let leased = router
        .sites()
        .iter()
        .flat_map(|site| &site.instances)
        .any(|status| status.id == instance && status.phase == Phase::Leased);
    leased.then_some(instance)
}

/// What is answered at a direct address to a request for its log-in page with this header field.
async fn ask(own: &DirectAddress, field: &str) -> String {
    let address = own.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "GET /login.do HTTP/1.1\r\nHost: {address}\r\n{field}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn each_instance_of_a_service_desk_has_an_address_that_outlives_resets() {
    let keep = tempfile::tempdir().unwrap();
    let folder = Utf8PathBuf::from_path_buf(keep.path().to_owned()).unwrap();
    let manifests = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sites");
    let sites = vec![Site::load(&manifests.join("itsm")).unwrap()];
    let (counts, options) = (counts(&sites, 2), Options::new("test", folder.join("town")));
    let group = SiteGroup::start_each(sites, &counts, options, Arc::new(|_| {})).await.unwrap();
    let authority = CertificateAuthority::in_memory().unwrap();
    let gateway = Gateway::start(Config::new(Arc::new(authority), Routes::new())).await.unwrap();
    let stop = CancellationToken::new();
    let router = SiteRouter::new(group, gateway, direct(2), stop.clone());
    router.route_new_sites();
    until("both to be in use", || router.direct().iter().all(|own| own.is_up)).await;

    let both = router.direct();
    let names: Vec<&str> = both.iter().map(|own| own.instance.as_str()).collect();
    assert_eq!(names, ["itsm", "itsm:2"]);
    assert_ne!(both[0].url, both[1].url);
    for own in &both {
        assert_eq!((own.username.as_str(), own.password.as_str()), ("admin", "admin"));
        assert!(ask(own, "Accept: */*").await.starts_with("HTTP/1.1 200"));
        let page = ask(own, "Origin: https://evil.test").await;
        assert!(page.starts_with("HTTP/1.1 403"), "a web page of somebody else: {page}");
    }
    let instance = |name| router.routed(name).unwrap().lock().as_ref().unwrap().instance();
    let (first, second) = (instance("itsm"), instance("itsm:2"));
    timeout(SOON, router.reset("itsm:2")).await.unwrap().unwrap();
    assert!(instance("itsm") == first && instance("itsm:2") != second);
    let second = instance("itsm:2");
    timeout(SOON, router.reset("itsm")).await.unwrap().unwrap();
    assert!(instance("itsm") != first && instance("itsm:2") != second);
    let none = router.reset("itsm:3").await.unwrap_err().to_string();
    assert!(none.contains("itsm:3") && none.contains("itsm:2"), "{none}");
    assert_eq!(router.direct(), both);
    assert!(ask(&both[1], "Accept: */*").await.starts_with("HTTP/1.1 200"));
    stop.cancel();
    router.group.stop().await.unwrap();
}

#[tokio::test]
async fn a_log_in_whose_client_leaves_keeps_the_instance_in_use() {
    let mut origin = Origin::start().await;
    let (_keep, router) = router(&origin).await;
    until("an instance to be in use", || in_use(&router).is_some()).await;
    let instance = in_use(&router);

    origin.drop_midway(router.login("notes", "ann")).await;
    assert_eq!(in_use(&router), instance, "the instance was handed back");
    origin.open.send_replace(true);
    let given = timeout(SOON, router.login("notes", "ann")).await.unwrap().unwrap();
    assert_eq!(given.cookies.len(), 1);
    assert_eq!(in_use(&router), instance);
    // The instance is given back when nobody holds a reference to it.
    timeout(SOON, router.reset("notes")).await.unwrap().unwrap();
    until("another instance to be in use", || {
        in_use(&router).is_some_and(|now| Some(now) != instance)
    })
    .await;
    router.group.stop().await.unwrap();
}

#[tokio::test]
async fn a_copy_that_is_reset_during_a_log_in_is_given_back_after_it() {
    let mut origin = Origin::start().await;
    let (_keep, router) = router(&origin).await;
    until("an instance to be in use", || in_use(&router).is_some()).await;
    let instance = in_use(&router);

    origin.drop_midway(router.login("notes", "ann")).await;
    let reset = router.reset("notes");
    let open = async { origin.open.send_replace(true) };
    timeout(SOON, async { tokio::join!(reset, open).0 }).await.unwrap().unwrap();
    assert!(in_use(&router).is_some_and(|now| Some(now) != instance));
    router.group.stop().await.unwrap();
}

#[tokio::test]
async fn a_reset_whose_client_leaves_goes_on_to_its_end() {
    let mut origin = Origin::start().await;
    let (_keep, router) = router(&origin).await;
    until("an instance to be in use", || in_use(&router).is_some()).await;
    let instance = in_use(&router);

    // The instance was given back, and the next one waits for its front page.
    origin.drop_midway(router.reset("notes")).await;
    assert_eq!(in_use(&router), None);
    origin.open.send_replace(true);
    until("another instance to be in use", || {
        in_use(&router).is_some_and(|now| Some(now) != instance)
    })
    .await;
    router.group.stop().await.unwrap();
}
