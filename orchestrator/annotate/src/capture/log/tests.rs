use jiff::Timestamp;

use super::*;
use crate::Source;

/// A draft whose browser shows its start page.
struct Bench {
    log: StepLog,
    draft: Draft,
    now: Instant,
}

fn bench() -> Bench {
    let start = "https://a.test/".to_owned();
    let draft =
        Draft::new(Source::Snapshots(Vec::new()), "a".to_owned(), start, Timestamp::UNIX_EPOCH);
    let mut bench = Bench { log: StepLog::new(), draft, now: Instant::now() };
    bench.open("one", false);
    bench.navigate("one", "https://a.test/", &[1], 0, "typed");
    assert!(bench.draft.steps.is_empty(), "the start page is no step");
    bench
}

impl Bench {
    fn open(&mut self, tab: &str, by_page: bool) {
        self.add(CapturedEvent::TabOpened { tab: tab.to_owned(), by_page });
    }

    fn close(&mut self, tab: &str) {
        self.add(CapturedEvent::TabClosed { tab: tab.to_owned() });
    }

    fn navigate(&mut self, tab: &str, url: &str, ids: &[i64], current_index: usize, kind: &str) {
        let entry = |id: &i64| HistoryEntry {
            id: *id,
            url: url.to_owned(),
            typed_url: String::new(),
            transition_type: kind.to_owned(),
        };
        let history = Some(TabHistory { current_index, entries: ids.iter().map(entry).collect() });
        self.add(CapturedEvent::Navigated { tab: tab.to_owned(), url: url.to_owned(), history });
    }

    fn input(&mut self, tab: &str, kind: InputKind, path: &str, value: &str) -> Option<StepFiles> {
        self.input_of(tab, kind, path, path, value)
    }

    /// `identity` names the element whose path this is.
    fn input_of(
        &mut self,
        tab: &str,
        kind: InputKind,
        path: &str,
        identity: &str,
        value: &str,
    ) -> Option<StepFiles> {
        let element = PersonTarget {
            role: "link".to_owned(),
            name: path.to_owned(),
            nth: 0,
            alike: 1,
            named: true,
            css: format!("#{path}"),
            locator: format!("#{path}"),
            path: path.to_owned(),
            identity: identity.to_owned(),
            shadow: false,
            tag: "a".to_owned(),
            text: String::new(),
            html: String::new(),
            value: value.to_owned(),
            secret: path == "secret",
            bounds: None,
        };
        let input = PersonInput {
            kind,
            url: "https://a.test/".to_owned(),
            frame: false,
            element,
            html: "<p>".to_owned(),
            value: value.to_owned(),
            options: Vec::new(),
            keys: "Enter".to_owned(),
            button: if path == "wheel" { Button::Middle } else { Button::Left },
            modifiers: if path == "held" { vec![Modifier::Control] } else { Vec::new() },
            passwords: Vec::new(),
            shows_secret: false,
        };
        let input = Box::new(input);
        self.add(CapturedEvent::Input {
            tab: tab.to_owned(),
            input,
            picture: Some(path.as_bytes().to_vec()),
        })
    }

    fn click(&mut self, tab: &str, path: &str) {
        self.input(tab, InputKind::Click, path, "");
    }

    fn add(&mut self, happening: CapturedEvent) -> Option<StepFiles> {
        self.log.add(&mut self.draft, happening, self.now)
    }

    /// The actions, in short.
    fn actions(&self) -> Vec<String> {
        let action = |step: &Step| match &step.action {
            OracleStep::Click(click) => format!("click {}", click.element.name),
            OracleStep::Fill(fill) => format!("fill {} {}", fill.element.name, fill.value),
            OracleStep::Press(press) => format!("press {}", press.keys),
            other => format!("{other:?}"),
        };
        self.draft.steps.iter().map(action).collect()
    }
}

#[test]
fn a_text_takes_the_place_of_the_click_and_of_the_text_before() {
    let mut bench = bench();
    bench.click("one", "from");
    bench.input("one", InputKind::Fill, "from", "Al");
    bench.input("one", InputKind::Fill, "from", "Alton");
    bench.input("one", InputKind::Press, "from", "");
    bench.input("one", InputKind::Fill, "secret", "hunter2");
    assert_eq!(bench.actions(), ["fill from Alton", "press Enter", "fill secret PASSWORD"]);
    bench.input("one", InputKind::Press, "secret", "hunter2");
    let kept = serde_json::to_string(&bench.draft).unwrap_or_default();
    assert!(!kept.is_empty() && !kept.contains("hunter2"), "{kept}");
    assert!(bench.draft.steps[2].secret);
}

#[test]
fn fields_with_the_same_path_keep_their_own_texts() {
    let mut bench = bench();
    bench.input_of("one", InputKind::Fill, "input", "shadow-1", "Ada");
    bench.input_of("one", InputKind::Fill, "input", "shadow-2", "Marsh");
    assert_eq!(bench.actions(), ["fill input Ada", "fill input Marsh"]);
}

#[test]
fn an_error_page_is_no_step_and_no_address() {
    let mut bench = bench();
    bench.click("one", "next");
    bench.navigate("one", "chrome-error://chromewebdata/", &[1, 2], 1, "typed");
    assert_eq!(bench.actions(), ["click next"]);
    assert!(!bench.draft.steps[0].url_after.starts_with("chrome-error"));
}

#[test]
fn a_click_has_the_picture_of_the_moment_in_which_the_button_went_down() {
    let mut bench = bench();
    bench.input("one", InputKind::Point, "go", "");
    let Some(files) = bench.input("one", InputKind::Click, "go", "") else { panic!("a step") };
    assert_eq!(files.picture.as_deref(), Some(&b"go"[..]));
    assert_eq!((files.number, files.html.as_str()), (bench.draft.steps[0].number, "<p>"));
}

#[test]
fn a_navigation_belongs_to_the_click_or_to_the_address_bar() {
    let mut bench = bench();
    bench.click("one", "next");
    bench.navigate("one", "https://a.test/next", &[1, 2], 1, "link");
    assert_eq!(bench.draft.steps[0].url_after, "https://a.test/next");
    bench.navigate("one", "https://b.test/", &[1, 2, 3], 2, "typed");
    bench.navigate("one", "https://a.test/next", &[1, 2, 3], 1, "link");
    bench.navigate("one", "https://b.test/", &[1, 2, 3], 2, "typed");
    let expected = ["click next", "Goto(\"https://b.test/\")", "GoBack", "GoForward"];
    assert_eq!(bench.actions(), expected);
    assert_eq!(bench.draft.steps[2].url_after, "https://a.test/next");
}

#[test]
fn a_page_that_goes_back_for_a_click_is_no_step() {
    let mut bench = bench();
    bench.click("one", "next");
    bench.navigate("one", "https://a.test/next", &[1, 2], 1, "link");
    bench.click("one", "back");
    bench.navigate("one", "https://a.test/", &[1, 2], 0, "typed");
    assert_eq!(bench.actions(), ["click next", "click back"]);
    bench.click("one", "next");
    bench.navigate("one", "https://a.test/next", &[1, 3], 1, "link");
    bench.click("one", "nothing");
    bench.now += ECHO;
    bench.navigate("one", "https://a.test/", &[1, 3], 0, "typed");
    assert_eq!(bench.actions()[2..], ["click next", "click nothing", "GoBack"]);
}

#[test]
fn tabs_are_those_of_the_oracle() {
    let mut bench = bench();
    bench.click("one", "out");
    bench.open("two", true);
    bench.navigate("two", "https://b.test/", &[1], 0, "link");
    assert_eq!(bench.draft.steps[0].url_after, "https://b.test/");
    bench.click("two", "more");
    bench.click("one", "again");
    bench.now += ECHO;
    bench.close("two");
    bench.open("three", false);
    bench.navigate("three", "https://c.test/", &[1], 0, "typed");
    let expected = [
        "click out",
        "click more",
        "FocusTab(0)",
        "click again",
        "FocusTab(1)",
        "CloseTab",
        "NewTab",
        "Goto(\"https://c.test/\")",
    ];
    assert_eq!(bench.actions(), expected);
    bench.now += ECHO;
    bench.close("three");
    bench.close("one");
    assert_eq!(bench.actions().len(), expected.len(), "a window that closes is no step");
}

#[test]
fn a_link_that_the_mouse_opens_in_a_tab_is_one_step() {
    let mut bench = bench();
    for (link, tab) in [("wheel", "two"), ("held", "three")] {
        bench.click("one", link);
        // No page is told to have opened it.
        bench.open(tab, false);
        bench.navigate(tab, "https://b.test/", &[1], 0, "link");
    }
    assert_eq!(bench.actions(), ["click wheel", "FocusTab(0)", "click held"]);
    assert_eq!(bench.draft.steps[2].url_after, "https://b.test/");
    // The menu of a link opens one, too, and tells no page.
    bench.now += ECHO;
    bench.open("four", false);
    bench.navigate("four", "https://c.test/", &[1], 0, "link");
    bench.navigate("four", "https://c.test/next", &[1, 2], 1, "link");
    assert_eq!(bench.actions()[3..], ["NewTab", "Goto(\"https://c.test/\")"]);
}

#[test]
fn after_the_steps_were_played_the_front_tab_is_that_of_the_oracle() {
    let mut bench = bench();
    bench.click("one", "out");
    bench.open("two", true);
    bench.now += ECHO;
    bench.close("two");
    bench.log.start_playing();
    bench.open("three", true);
    bench.open("four", true);
    bench.close("four");
    bench.log.stop_playing(Some("one".to_owned()));
    bench.click("one", "more");
    bench.click("three", "more");
    assert_eq!(bench.actions(), ["click out", "click more", "FocusTab(1)", "click more"]);
    // A tab that is not known is not in front.
    bench.log.stop_playing(Some("four".to_owned()));
    bench.click("three", "again");
    assert_eq!(bench.actions()[4..], ["click again"]);
}

#[test]
fn what_was_before_the_start_page_is_opened_by_its_address() {
    let mut bench = bench();
    bench.click("one", "next");
    bench.navigate("one", "https://a.test/next", &[1, 2], 1, "link");
    bench.log.start_playing();
    bench.log.expect_start_page();
    bench.navigate("one", "https://a.test/", &[1, 2, 3], 2, "typed");
    bench.log.stop_playing(Some("one".to_owned()));
    bench.navigate("one", "https://a.test/next", &[1, 2, 3], 1, "link");
    assert_eq!(bench.actions(), ["click next", "Goto(\"https://a.test/next\")"]);
}
