//! Tests of searches over generated recordings, with a page list that has texts and without.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use search::{Search, query_of};
use snapshots::index::ReplaySet;
use snapshots::{Body, Exchange, Page, Recording, RecordingOptions, Response, Timestamp};
use tempfile::TempDir;

/// Thu, 01 Jan 2026 00:00:00 GMT, in milliseconds
const RECORDED: i64 = 1_767_225_600_000;

struct World {
    folder: TempDir,
    recording: Recording,
}

impl World {
    fn new() -> World {
        let folder = TempDir::new().unwrap();
        let out = Utf8Path::from_path(folder.path()).unwrap().join("world.wacz");
        World { recording: Recording::create(&out, RecordingOptions::default()).unwrap(), folder }
    }

    fn answer(&self, url: &str, status: u16, media_type: &str, body: impl Into<Vec<u8>>) -> &World {
        let headers = [("Content-Type", media_type)].into_iter().collect();
        let response =
            Response { status, reason: String::new(), headers, body: Body::from(body.into()) };
        self.recording
            .append(&Exchange::get(url, Timestamp::from_millis(RECORDED), response))
            .unwrap();
        self
    }

    fn html(&self, url: &str, html: &str) -> &World {
        self.answer(url, 200, "text/html; charset=utf-8", html)
    }

    /// Adds a page to the page list, as a browser showed it.
    fn page(&self, url: &str, title: &str, text: &str) -> &World {
        let page = Page {
            title: Some(title.to_owned()),
            text: Some(text.to_owned()),
            ..Page::new(url, Timestamp::from_millis(RECORDED))
        };
        self.recording.append_page(&page).unwrap();
        self
    }

    fn cache(&self) -> Utf8PathBuf {
        Utf8Path::from_path(self.folder.path()).unwrap().join("cache")
    }

    fn search(&self) -> Search {
        let set =
            ReplaySet::open(&[self.recording.data_path()], Some(&self.cache()), &mut |_, _| {})
                .unwrap();
        Search::new(Arc::new(set), Some(&self.cache()))
    }
}

fn search_in(archive: Utf8PathBuf, cache: Option<&Utf8Path>) -> Search {
    Search::new(Arc::new(ReplaySet::open(&[archive], cache, &mut |_, _| {}).unwrap()), cache)
}

/// Three pages about trees, and things that are no pages.
fn trees() -> World {
    let world = World::new();
    world
        .html("https://trees.test/oak", "<title>The oak</title><h1>Oak</h1><p>The tallest oak of the old town has 41 metres.")
        .html("https://trees.test/pine?page=2", "<title>Pines</title><p>Pines are taller than any oak, and grow <script>var walnut</script>in the dunes.")
        .html("https://parks.town.test/", "<p>Benches, ponds and old oaks in the town&rsquo;s parks.</p>")
        .answer("https://trees.test/gone", 404, "text/html", "<title>Oak not found</title>")
        .answer("https://trees.test/oak.json", 200, "application/json", "{\"oak\": 41}")
        .answer("https://trees.test/caf%C3%A9", 200, "text/html; charset=iso-8859-1", b"<title>Caf\xe9</title>Under the walnut, \x96 closed on Mondays".as_slice());
    world
}

fn urls(search: &Search, query: &str) -> Vec<String> {
    search.results(query, 0, 10).unwrap().found.into_iter().map(|found| found.url).collect()
}

#[test]
fn pages_are_found_by_their_words() {
    let world = trees();
    let search = world.search();
    let check = |query: &str, expect: &[&str]| assert_eq!(urls(&search, query), expect, "{query}");
    let (oak, pine, parks) =
        ("https://trees.test/oak", "https://trees.test/pine?page=2", "https://parks.town.test/");
    check("Which oak is the tallest?", &[oak, parks, pine]);
    check("tall pine", &[pine]);
    check("\"old town\"", &[oak]);
    check("oaks -pines", &[oak, parks]);
    check("oak site:town.test", &[parks]);
    check("oak site:own.test", &[]);
    check("benches", &[parks]);
    check("cafe mondays", &["https://trees.test/caf%C3%A9"]);
    check("walnut", &["https://trees.test/caf%C3%A9"]);
    check("not found json", &[]);
    check("' OR 1 --", &[]);
    check("", &[]);
}

#[test]
fn what_a_browser_has_shown_is_what_is_searched() {
    let world = World::new();
    world
        .html("https://app.test/", "<div id=app></div><script>draw()</script>")
        .page("https://app.test/#start", "Timetable", "Trains to Carrow leave at 8:14")
        .page("https://app.test/never-recorded", "Carrow", "Carrow")
        .html("https://app.test/not-listed", "<title>Carrow</title>");
    let search = search_in(world.recording.finish(&|_| ()).unwrap().path, None);
    let results = search.results("carrow trains", 0, 10).unwrap();
    assert_eq!((results.total, results.found[0].url.as_str()), (1, "https://app.test/#start"));
    assert_eq!(results.found[0].title, "Timetable");
}

#[test]
fn pages_are_found_where_replay_answers_them_and_nowhere_else() {
    let world = World::new();
    let to =
        |place: &str| [("Location", place), ("Content-Type", "text/html")].into_iter().collect();
    world
        .html("https://app.test/", "<div id=app></div>")
        .page("https://app.test/#north", "North", "Lighthouse")
        .page("https://app.test/#south", "South", "Lighthouse and harbour")
        .html("https://shop.test/lamp?utm_source=x", "<title>A lighthouse lamp</title>")
        .page("https://shop.test/lamp", "Lamp", "A lamp as of a lighthouse")
        .html(
            "https://www.google.com/search?q=lighthouse",
            "<title>lighthouse - Google Search</title>",
        )
        .page(
            "https://www.google.com/search?q=lighthouse",
            "lighthouse - Google Search",
            "lighthouse lighthouse",
        )
        .page("https://gone.test/", "Lighthouse", "Lighthouse")
        .page("http://moved.test/", "Moved lighthouse", "The lighthouse has moved");
    let response = Response {
        status: 301,
        reason: String::new(),
        headers: to("https://moved.test/"),
        body: Body::from(Vec::new()),
    };
    world
        .recording
        .append(&Exchange::get("http://moved.test/", Timestamp::from_millis(RECORDED), response))
        .unwrap();
    let set =
        ReplaySet::open(&[world.recording.finish(&|_| ()).unwrap().path], None, &mut |_, _| {})
            .unwrap();
    let set = Arc::new(set);
    let found = |exact: bool| {
        let mut found = urls(&Search::new(set.clone(), None).exact(exact), "lighthouse");
        found.sort();
        found
    };
    let (app, lamp) =
        (["https://app.test/#north", "https://app.test/#south"], "https://shop.test/lamp");
    assert_eq!(found(false), ["http://moved.test/", app[0], app[1], lamp]);
    assert_eq!(
        found(true),
        ["http://moved.test/", app[0], app[1]],
        "the lamp's page differs by a tracker"
    );
}

#[test]
fn scripts_without_blanks_are_searched_by_their_characters() {
    let world = World::new();
    world
        .html("https://a.test/1", "<title>東京都の人口</title><p>東京都の人口は1400万人です。")
        .html("https://a.test/2", "<title>京都</title><p>都の人口");
    let search = world.search();
    assert_eq!(urls(&search, "東京都"), ["https://a.test/1"]);
    assert_eq!(urls(&search, "人口").len(), 2);
    let found = search.results("人口は", 0, 1).unwrap().found;
    assert_eq!(
        (found[0].title.as_str(), found[0].text().as_str()),
        ("東京都の人口", "東京都の人口は1400万人です。")
    );
}

#[test]
fn nothing_on_a_page_of_results_is_long() {
    let world = World::new();
    world.html(
        "https://a.test/",
        &format!("<title>oak {}</title><p>oak {}", "x".repeat(10_000), "-".repeat(1_000_000)),
    );
    let found = world.search().results("oak", 0, 1).unwrap().found.remove(0);
    assert_eq!((found.title.chars().count(), found.snippet.chars().count()), (300, 1000));
}

#[test]
fn an_index_is_used_again_until_the_archive_changes() {
    let world = trees();
    let pages = || -> Vec<(Utf8PathBuf, std::time::SystemTime)> {
        let all = world.cache().read_dir_utf8().unwrap().map(|entry| entry.unwrap().into_path());
        let indexes = all.filter(|path| path.extension() == Some("pages"));
        indexes.map(|path| (path.clone(), path.metadata().unwrap().modified().unwrap())).collect()
    };
    world.search().prepare(&mut |_| ()).unwrap();
    let first = pages();
    world.search().prepare(&mut |_| ()).unwrap();
    assert_eq!((pages(), first.len()), (first.clone(), 1));

    std::fs::write(&first[0].0, "nothing of the kind").unwrap();
    assert_eq!(
        urls(&world.search(), "benches"),
        ["https://parks.town.test/"],
        "a damaged index is made again"
    );

    world.html("https://trees.test/elm", "<title>The elm</title>");
    assert_eq!(urls(&world.search(), "elm"), ["https://trees.test/elm"]);
}

#[test]
fn results_are_a_page_with_links() {
    let world = trees();
    let (search, url) = (world.search(), "https://www.google.com/search?q=oaks+%3Ci%3E");
    let page = search.answer(&query_of("www.google.com", url).unwrap()).unwrap();
    assert_eq!(page.found, Some(3));
    assert_eq!(
        world.search().answer(&query_of("www.google.com", url).unwrap()).unwrap(),
        page,
        "byte for byte"
    );
    let body = &page.text[page.text.find("<body").unwrap()..];
    insta::assert_snapshot!(body);
}

#[test]
fn more_results_are_on_further_pages() {
    let world = World::new();
    for number in 0..23 {
        world.html(&format!("https://trees.test/{number:02}"), "<title>Oak</title>");
    }
    let search = world.search();
    let page_at = |url: &str| search.answer(&query_of("www.bing.com", url).unwrap()).unwrap().text;
    let first = page_at("https://www.bing.com/search?q=oak");
    assert!(
        first.contains("Results 1 to 10 of 23") && first.contains("search?q=oak&amp;first=11"),
        "{first}"
    );
    let last = page_at("https://www.bing.com/search?q=oak&first=21");
    assert!(
        last.contains("Results 21 to 23 of 23") && last.contains("trees.test&#x2f;22\">Oak"),
        "{last}"
    );
    assert!(last.contains("first=11") && !last.contains("first=31"), "{last}");
    let beyond = page_at("https://www.bing.com/search?q=oak&first=18446744073709551615");
    assert!(beyond.contains("No more results"), "{beyond}");
    let nothing = page_at("https://www.bing.com/search?q=elm");
    assert!(nothing.contains("No recorded page has words of <b>elm</b>"), "{nothing}");
    let home = search.answer(&query_of("www.bing.com", "https://www.bing.com/").unwrap()).unwrap();
    assert!(
        home.found.is_none() && home.text.contains("<input type=\"search\" name=\"q\" value=\"\""),
        "{}",
        home.text
    );
}

#[test]
fn whatever_is_typed_is_answered() {
    let world = trees();
    let search = world.search();
    proptest::proptest!(|(typed in "\\PC{0,40}")| {
        search.results(&typed, 0, 10).unwrap();
    });
    proptest::proptest!(|(typed in "[a\"*^(){}:\\-+ \u{0}NEARORANDNOTsite:.]{0,40}")| {
        search.results(&typed, 0, 10).unwrap();
    });
}
