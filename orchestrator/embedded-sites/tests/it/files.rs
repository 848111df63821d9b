//! Tests of a folder as a site: it serves its files and nothing else.

use std::fs;
use std::os::unix::fs::symlink;

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode, header};
use embedded_sites::{Clock, Files};
use tower::ServiceExt as _;

struct Ground {
    keep: tempfile::TempDir,
    files: Files,
}

/// `site/` with some files and links, and `secret.txt` beside it.
fn ground() -> Ground {
    let keep = tempfile::tempdir().unwrap();
    let site = keep.path().join("site");
    fs::create_dir_all(site.join("pages/two words")).unwrap();
    fs::write(keep.path().join("secret.txt"), "secret").unwrap();
    for (name, text) in [
        ("index.html", "<h1>Front</h1>"),
        ("pages/index.html", "<h1>Pages</h1>"),
        ("pages/two words/säule.js", "let a = 1;"),
        ("film.mp4", "0123456789"),
    ] {
        fs::write(site.join(name), text).unwrap();
    }
    symlink(keep.path().join("secret.txt"), site.join("link.txt")).unwrap();
    symlink(keep.path(), site.join("out")).unwrap();
    let files = Files::open(&site).unwrap();
    Ground { keep, files }
}

impl Ground {
    async fn ask(
        &self,
        method: &str,
        path: &str,
        range: Option<&str>,
    ) -> (StatusCode, HeaderMap, String) {
        let router = self.files.router(Clock::fixed("2023-06-15T09:00:00Z".parse().unwrap()));
        let mut request = Request::builder().method(method).uri(path);
        if let Some(range) = range {
            request = request.header(header::RANGE, range);
        }
        let response = router.oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        let (head, body) = response.into_parts();
        let body = to_bytes(body, 1 << 20).await.unwrap();
        (head.status, head.headers, String::from_utf8(body.to_vec()).unwrap())
    }
}

#[tokio::test]
async fn files_are_served_by_their_type_and_without_a_time_of_their_own() {
    let ground = ground();
    for (path, kind, text) in [
        ("/", "text/html", "<h1>Front</h1>"),
        ("/index.html?a=b", "text/html", "<h1>Front</h1>"),
        ("/pages/", "text/html", "<h1>Pages</h1>"),
        ("/pages/two%20words/s%C3%A4ule.js", "text/javascript", "let a = 1;"),
    ] {
        let (status, head, body) = ground.ask("GET", path, None).await;
        assert_eq!((status, body.as_str()), (StatusCode::OK, text), "{path}");
        assert_eq!(head[header::CONTENT_TYPE], kind, "{path}");
        assert_eq!(head[header::DATE], "Thu, 15 Jun 2023 09:00:00 GMT");
        assert!(!head.contains_key(header::LAST_MODIFIED));
    }
    let (status, head, _) = ground.ask("GET", "/pages", None).await;
    assert_eq!(
        (status, &head[header::LOCATION]),
        (StatusCode::MOVED_PERMANENTLY, &"./pages/".parse().unwrap())
    );
}

#[tokio::test]
async fn a_part_of_a_file_can_be_asked_for() {
    let (status, head, body) = ground().ask("GET", "/film.mp4", Some("bytes=3-5")).await;
    assert_eq!((status, body.as_str()), (StatusCode::PARTIAL_CONTENT, "345"));
    assert_eq!(head[header::CONTENT_RANGE], "bytes 3-5/10");
    let (status, ..) = ground().ask("GET", "/film.mp4", Some("bytes=20-30")).await;
    assert_eq!(status, StatusCode::RANGE_NOT_SATISFIABLE);
}

#[tokio::test]
async fn no_path_leads_out_of_the_folder_and_nothing_is_written() {
    let ground = ground();
    for path in [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "/pages/../../secret.txt",
        "//secret.txt",
        "/link.txt",
        "/out/secret.txt",
        "/pages/%ff",
        "/none.html",
        "/pages/../index.html",
    ] {
        let (status, _, body) = ground.ask("GET", path, None).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
        assert!(!body.contains("secret"), "{path}");
    }
    let (status, ..) = ground.ask("PUT", "/index.html", None).await;
    assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED);
    let (status, _, body) = ground.ask("HEAD", "/index.html", None).await;
    assert_eq!((status, body.as_str()), (StatusCode::OK, ""));
}

#[tokio::test]
async fn what_was_put_in_the_place_of_a_file_later_does_not_lead_out_either() {
    let ground = ground();
    let site = ground.keep.path().join("site");
    fs::remove_file(site.join("index.html")).unwrap();
    symlink("../secret.txt", site.join("index.html")).unwrap();
    fs::remove_dir_all(site.join("pages")).unwrap();
    symlink("..", site.join("pages")).unwrap();
    fs::write(ground.keep.path().join("index.html"), "secret").unwrap();
    fs::remove_file(site.join("film.mp4")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        site.join("film.mp4"),
        rustix::fs::FileType::Fifo,
        0o600.into(),
        0,
    )
    .unwrap();
    for path in ["/", "/index.html", "/pages/", "/pages/index.html", "/film.mp4"] {
        let (status, _, body) = ground.ask("GET", path, None).await;
        assert_eq!((status, body.contains("secret")), (StatusCode::NOT_FOUND, false), "{path}");
    }
    // The folder itself counts, and not what has its name now.
    fs::rename(&site, ground.keep.path().join("moved")).unwrap();
    fs::create_dir(&site).unwrap();
    fs::write(site.join("index.html"), "secret").unwrap();
    let (status, ..) = ground.ask("GET", "/", None).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let error = Files::open("/nonesuch/html".as_ref()).unwrap_err().to_string();
    assert!(error.starts_with("list the files of /nonesuch/html: No such file"), "{error}");
}

#[tokio::test]
async fn hosts_have_a_folder_each() {
    let ground = ground();
    let clock = Clock::fixed("2023-06-15T09:00:00Z".parse().unwrap());
    for (host, path, expect) in [
        ("pages", "/two%20words/s%C3%A4ule.js?v=1", StatusCode::OK),
        ("PAGES:443", "/index.html", StatusCode::OK),
        ("pages", "/film.mp4", StatusCode::NOT_FOUND),
        ("pages", "/../film.mp4", StatusCode::NOT_FOUND),
        ("other", "/index.html", StatusCode::NOT_FOUND),
        ("..", "/secret.txt", StatusCode::NOT_FOUND),
    ] {
        let request = Request::get(path).header(header::HOST, host).body(Body::empty()).unwrap();
        let response = ground.files.router_by_host(clock.clone()).oneshot(request).await.unwrap();
        assert_eq!(response.status(), expect, "{host} {path}");
        assert_eq!(response.headers()[header::ACCESS_CONTROL_ALLOW_ORIGIN], "*");
    }
}
