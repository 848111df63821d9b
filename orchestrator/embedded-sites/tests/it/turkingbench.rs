//! Tests of the TurkingBench site: pages are made on request, and forms are kept until the next
//! reset.

use std::fs;

use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode, header};
use camino::Utf8Path;
use embedded_sites::turkingbench::{Library, start};
use embedded_sites::{Clock, EmbeddedInstance, Golden, Options};
use serde_json::json;
use tower::ServiceExt as _;

struct Ground {
    _keep: tempfile::TempDir,
    copy: EmbeddedInstance,
}

fn ground() -> Ground {
    let keep = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(keep.path()).unwrap();
    let task = root.join("tasks/Boats & birds");
    fs::create_dir_all(&task).unwrap();
    fs::write(task.join("template.html"), "<p>${thing}: ${count}</p><input name=why>").unwrap();
    fs::write(
        task.join("batch.csv"),
        "thing,count,Answer.why\n<b>boat</b>,1,x\nbird,,y\nbird,,z\n",
    )
    .unwrap();
    let golden = Golden::open(keep.path().join("golden")).unwrap();
    let options = Options::new(Clock::fixed("2024-02-16T09:00:00Z".parse().unwrap()));
    let copy = start(&golden, &options, &Library::open(root).unwrap()).unwrap();
    Ground { _keep: keep, copy }
}

impl Ground {
    async fn get(&self, path: &str) -> (StatusCode, String) {
        self.ask(Request::get(path).body(Body::empty()).unwrap()).await
    }

    async fn post(&self, path: &str, form: &str) -> (StatusCode, String) {
        let kind = "application/x-www-form-urlencoded";
        let request = Request::post(path).header(header::CONTENT_TYPE, kind);
        self.ask(request.body(Body::from(form.to_owned())).unwrap()).await
    }

    /// The status, with the body or the redirect's URL.
    async fn ask(&self, request: Request<Body>) -> (StatusCode, String) {
        let response = self.copy.router().oneshot(request).await.unwrap();
        let (head, body) = response.into_parts();
        if let Some(place) = head.headers.get(header::LOCATION) {
            return (head.status, place.to_str().unwrap().to_owned());
        }
        let body = to_bytes(body, 1 << 20).await.unwrap();
        (head.status, String::from_utf8(body.to_vec()).unwrap())
    }
}

#[tokio::test]
async fn pages_are_made_of_the_template_and_a_row() {
    let ground = ground();
    let (status, page) = ground.get("/boats-birds/0").await;
    assert_eq!(status, StatusCode::OK);
    assert!(
        page.contains("<p><b>boat</b>: 1.0</p>") && page.contains("action=\"/boats-birds/0\""),
        "{page}"
    );
    assert!(ground.get("/boats-birds/1").await.1.contains("<p>bird: </p>"));
    assert!(ground.get("/").await.1.contains("<a href=\"/boats-birds/0\">Boats &amp; birds</a>"));
    for missing in [
        "/boats-birds/2",
        "/boats-birds/x",
        "/boats-birds/-1",
        "/other/0",
        "/boats-birds/7/sent.json",
        "/x",
    ] {
        assert_eq!(ground.get(missing).await.0, StatusCode::NOT_FOUND, "{missing}");
    }
    assert_eq!(ground.post("/boats-birds/9", "why=x").await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn what_is_sent_is_kept_until_the_next_reset() {
    let ground = ground();
    assert_eq!(ground.get("/boats-birds/0/sent.json").await.1, "null");
    for form in ["why=first", "why=two%0D%0Alines&box=a&box=b"] {
        let led = (StatusCode::SEE_OTHER, "/boats-birds/0/sent".to_owned());
        assert_eq!(ground.post("/boats-birds/0", form).await, led);
    }
    assert!(ground.get("/boats-birds/0/sent").await.1.contains("have been sent"));
    let sent: serde_json::Value =
        serde_json::from_str(&ground.get("/boats-birds/0/sent.json").await.1).unwrap();
    assert_eq!(sent, json!([["why", "two\r\nlines"], ["box", "a"], ["box", "b"]]));
    assert_eq!(ground.get("/boats-birds/1/sent.json").await.1, "null");
    let rows =
        ground.copy.query("select task, instance, fields from sent order by id", &[]).unwrap();
    assert_eq!(
        (rows.len(), &rows[0]["task"], &rows[0]["instance"]),
        (2, &json!("boats-birds"), &json!(0))
    );

    assert_ne!(ground.copy.digest().unwrap(), ground.copy.pristine());
    ground.copy.reset().unwrap();
    assert_eq!(ground.copy.digest().unwrap(), ground.copy.pristine());
    assert_eq!(ground.get("/boats-birds/0/sent.json").await.1, "null");
}
