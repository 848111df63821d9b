//! Dialogs, downloads and uploads.

use std::fs;

use actions::Dialect;
use browser::{Dialog, Observation};

use crate::bench::{Bench, LOG};

const PAGE: &str = r#"<!doctype html><title>Desk</title>
<button onclick="say(`removed ${confirm('Remove it?')}`)">Remove</button>
<button onclick="say(`named ${prompt('Which name?', 'old')}`)">Name</button>
<button onclick="alert('Be careful'); say('warned')">Warn</button>
<button onclick="onbeforeunload = e => { e.preventDefault(); return ''; }">Hold</button>
<a href="/other">Other</a> <a href="/report.zip">Report</a> <a download="../../notes.txt" href="data:text/plain,hello">Notes</a>
<input type="file" aria-label="One" onchange="told(this)"> <input type="file" aria-label="Many" multiple onchange="told(this)">
<input type="file" id="unseen" style="display: none" onchange="told(this)"><button onclick="unseen.click()">Attach</button>
<script>
const told = async input => { for (const file of input.files) say(`${file.name} ${(await file.text()).split('\n')[0].slice(0, 30)}`); };
</script>"#;

async fn open() -> Bench {
    let desk = format!("{PAGE}{LOG}");
    let pages = [
        ("desk.test/", &*desk),
        ("desk.test/other", "<title>Other</title>"),
        ("desk.test/report.zip", "PK of a kind"),
    ];
    Bench::open(Dialect::BrowserGym, &pages).await
}

async fn seen(bench: &mut Bench) -> Observation {
    bench.session.observe().await.unwrap()
}

fn dialog(kind: &str, message: &str, accepted: bool, entered: Option<&str>) -> Dialog {
    let entered = entered.map(str::to_owned);
    Dialog { kind: kind.to_owned(), message: message.to_owned(), accepted, entered }
}

#[tokio::test]
async fn dialogs_are_answered_as_the_agent_says_and_seen_with_their_answers() {
    let mut bench = open().await;
    bench.act("click('{Remove}')").await;
    assert_eq!(seen(&mut bench).await.dialogs, [dialog("confirm", "Remove it?", false, None)]);
    bench.act("click('{Name}')").await;
    bench.act("click('{Warn}')").await;
    assert_eq!(seen(&mut bench).await.dialogs, [dialog("alert", "Be careful", true, None)]);
    assert_eq!(bench.said().await, ["removed false", "named null", "warned"]);

    bench.act("handle_dialogs(True)").await;
    assert_eq!(seen(&mut bench).await.dialogs, []);
    bench.act("click('{Remove}')").await;
    bench.act("click('{Name}')").await;
    assert_eq!(
        seen(&mut bench).await.dialogs,
        [dialog("prompt", "Which name?", true, Some("old"))]
    );
    bench.act("handle_dialogs(True, 'new')").await;
    bench.act("click('{Name}')").await;
    assert_eq!(bench.said().await, ["removed true", "named old", "named new"]);

    bench.act("click('{Hold}')").await;
    bench.act("handle_dialogs(False)").await;
    bench.act("click('{Other}')").await;
    assert_eq!(seen(&mut bench).await.dialogs, [dialog("beforeunload", "", false, None)]);
    assert_eq!(bench.title().await, "Desk");
    bench.act("handle_dialogs(True)").await;
    bench.act("click('{Other}')").await;
    assert_eq!(bench.title().await, "Other");
}

#[tokio::test]
async fn downloads_are_whole_when_the_page_has_settled_and_gone_with_the_episode() {
    let mut bench = open().await;
    bench.act("click('{Report}')").await;
    let first = seen(&mut bench).await.downloads;
    assert_eq!(
        (first.len(), &*first[0].name, &*first[0].url),
        (1, "report.zip", "http://desk.test/report.zip")
    );
    let path = first[0].path.clone().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "PK of a kind");
    bench.act("click('{Report}')").await;
    assert_eq!(seen(&mut bench).await.downloads[0].name, "report (1).zip");
    bench.act("noop()").await;
    assert_eq!(seen(&mut bench).await.downloads, []);
    bench.act("click('{Notes}')").await;
    let notes = seen(&mut bench).await.downloads.remove(0);
    assert!(
        !notes.name.contains('/') && notes.path.as_ref().unwrap().parent() == path.parent(),
        "{notes:?}"
    );
    bench.act(&format!("upload_file('{{One}}', '{}')", notes.name)).await;
    assert_eq!(bench.said().await, [format!("{} hello", notes.name)]);
    bench.session.reset(Some(crate::bench::world())).await.unwrap();
    assert!(!path.exists());
}

#[tokio::test]
async fn a_page_gets_the_files_of_its_task_and_no_others() {
    let mut bench = open().await;
    bench.act("upload_file('{One}', 'mod.rs')").await;
    bench.act("upload_file('{Attach}', 'mod.rs')").await;
    // The page shows the first 30 characters of a file.
    let expected = format!("mod.rs {}", &include_str!("bench/mod.rs")[..30]);
    assert_eq!(bench.said().await, [expected.clone(), expected.clone()]);
    bench.act("upload_file('{Many}', ['mod.rs', './mod.rs'])").await;
    assert_eq!(bench.said().await, [expected.clone(), expected]);
    for (text, expected) in [
        ("upload_file('{Remove}', 'mod.rs')", "upload a file: a click there does not ask for one"),
        (
            "upload_file('{One}', ['mod.rs', 'mod.rs'])",
            "upload 2 files: the page asks for a single file",
        ),
        (
            "upload_file('{One}', 'missing.txt')",
            "upload missing.txt: neither the task nor its downloads have a file of that name",
        ),
        (
            "upload_file('{One}', '../web/mod.rs')",
            "upload ../web/mod.rs: only files of the task and its downloads can be given to a page",
        ),
        (
            "upload_file('{One}', '/etc/hostname')",
            "upload /etc/hostname: only files of the task and its downloads can be given to a page",
        ),
    ] {
        assert_eq!(bench.try_to(text).await.unwrap_err(), expected);
    }
    assert_eq!(bench.said().await, ["removed false"], "the click itself was one");
}
