#![allow(clippy::unwrap_used)]

use scoring::solution::OracleStep;

use super::*;
use crate::draft::Step;

const SUITE: &str = "name: s\nworld:\n  snapshots: [a.wacz]\n  clock: 2026-03-12T08:30:00Z\n";
const TASK: &str = "id: old\ngoal: Go\nstart_url: https://a.test/\nscorer:\n  mind2web_live:\n    nodes:\n    \
    - url_included_match: {reference: a.test}\noracle:\n- goto: https://a.test/1\n- goto: https://a.test/2\n";

struct Folder {
    _folder: tempfile::TempDir,
    suite: Utf8PathBuf,
}

fn folder(files: &[(&str, &str)]) -> Folder {
    let folder = tempfile::tempdir().unwrap();
    let suite = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
    for (name, text) in files {
        let path = suite.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    Folder { _folder: folder, suite }
}

fn source(suite: &Utf8Path) -> Source {
    Source::Snapshots(vec![suite.join("a.wacz")])
}

fn read(path: &Utf8Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn pictures_of_earlier_steps_follow_the_task_and_its_id() {
    let rows = r#"[{"index": "old"}, {"index": "other"}]"#;
    let it = folder(&[
        ("suite.yaml", SUITE),
        ("old.yaml", TASK),
        ("mind2web-live.json", rows),
        ("screenshots/old/01.png", "one"),
        ("screenshots/old/02.png", "two"),
        ("screenshots/old/notes.txt", "mine"),
    ]);
    let (place, edited) = existing::load(&it.suite, Some("old")).unwrap();
    let (file, task) = edited.unwrap();
    let mut draft = Draft::of_task(task, &file, source(&it.suite), Timestamp::UNIX_EPOCH).unwrap();
    draft.steps.remove(0);
    draft.task_id = "new".to_owned();
    let journal = Journal::begin(&it.suite, &draft).unwrap();
    save(&draft, &journal, &place).unwrap();
    let pictures = it.suite.join("screenshots");
    assert_eq!(read(&pictures.join("new/01.png")), "two");
    assert_eq!(read(&pictures.join("new/notes.txt")), "mine");
    assert!(!pictures.join("new/02.png").exists() && !pictures.join("old").exists());
    let rows: serde_json::Value =
        serde_json::from_str(&read(&it.suite.join("mind2web-live.json"))).unwrap();
    assert_eq!((rows.as_array().unwrap().len(), &rows[0]["index"]), (2, &"new".into()));
    assert!(it.suite.join("new.yaml").exists() && !it.suite.join("old.yaml").exists());
}

#[test]
fn a_new_task_takes_no_folder_and_no_list_that_is_not_its_own() {
    let it = folder(&[("screenshots/a/01.png", "mine")]);
    let (place, _) = existing::load(&it.suite, None).unwrap();
    let mut draft = Draft::new(
        source(&it.suite),
        "a".to_owned(),
        "https://a.test/".to_owned(),
        Timestamp::UNIX_EPOCH,
    );
    let number = draft.next_number();
    draft.steps.push(Step::new(number, OracleStep::GoBack, "https://a.test/"));
    let journal = Journal::begin(&it.suite, &draft).unwrap();
    assert!(matches!(save(&draft, &journal, &place), Err(Error::Exists { .. })));
    assert_eq!(read(&it.suite.join("screenshots/a/01.png")), "mine");
    draft.task_id = "b".to_owned();
    fs::write(it.suite.join("mind2web-live.json"), "{").unwrap();
    assert!(matches!(save(&draft, &journal, &place), Err(Error::Malformed { .. })));
    assert!(!it.suite.join("suite.yaml").exists(), "nothing is written before all can be");
}

#[test]
fn a_suite_without_tasks_is_a_suite_and_other_files_of_yaml_are_none() {
    let it = folder(&[("suite.yaml", SUITE)]);
    for output in [it.suite.clone(), it.suite.join("suite.yaml")] {
        let (place, edited) = existing::load(&output, None).unwrap();
        assert_eq!((place.folder, edited.is_none()), (it.suite.clone(), true));
        assert_eq!(place.world.unwrap().snapshots, [it.suite.join("a.wacz")]);
    }
    let it = folder(&[("compose.yaml", "services: {}\n")]);
    let error = existing::load(&it.suite, None).unwrap_err().to_string();
    assert!(error.contains("compose.yaml") && error.contains("use another folder"), "{error}");
}

#[test]
fn an_edited_task_names_the_snapshots_that_it_was_annotated_in() {
    let own = format!("{TASK}snapshots: [\"own-{{date}}.wacz\"]\n");
    let it = folder(&[
        ("suite.yaml", SUITE),
        ("old.yaml", &own),
        ("own-2026-03-01.wacz", ""),
        ("own-2026-03-02.wacz", ""),
        ("b.wacz", ""),
    ]);
    let edited = |source: Option<Source>| {
        let (place, edited) = existing::load(&it.suite, Some("old")).unwrap();
        let (file, task) = edited.unwrap();
        let resolved = task.snapshots.clone().unwrap();
        assert_eq!(
            resolved,
            [it.suite.join("own-2026-03-02.wacz")],
            "the newest version is played"
        );
        let source = source.unwrap_or(Source::Snapshots(resolved));
        let draft = Draft::of_task(task, &file, source, Timestamp::UNIX_EPOCH).unwrap();
        existing::changed(&file, &draft, &place).unwrap().0
    };
    assert_eq!(
        edited(None).snapshots.unwrap(),
        ["own-{date}.wacz"],
        "as its author has written it"
    );
    let other = edited(Some(Source::Snapshots(vec![it.suite.join("b.wacz")])));
    assert_eq!(
        (other.snapshots.unwrap(), other.clock),
        (vec!["b.wacz".into()], Some(Timestamp::UNIX_EPOCH))
    );
    let live = edited(Some(Source::Live(it.suite.join("a.wacz"))));
    assert_eq!(live.snapshots, None, "it is the suite's");
}
