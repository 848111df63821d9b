//! Tests of indexes of several archives: what is built when, and what is found across them.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use search::{Results, Search};
use snapshots::index::ReplaySet;
use snapshots::{Body, Exchange, Page, Recording, RecordingOptions, Response, Timestamp};
use tempfile::TempDir;

/// Thu, 01 Jan 2026 00:00:00 GMT, in milliseconds
const RECORDED: i64 = 1_767_225_600_000;

struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(TempDir::new().unwrap())
    }

    fn path(&self, name: &str) -> Utf8PathBuf {
        Utf8Path::from_path(self.0.path()).unwrap().join(name)
    }

    /// A snapshot with these pages: URL, title, text. Those with an empty text are only listed.
    fn snapshot(&self, name: &str, pages: &[(&str, &str, &str)]) -> Utf8PathBuf {
        let path = self.path(name);
        let recording = Recording::create(&path, RecordingOptions::default()).unwrap();
        let at = Timestamp::from_millis(RECORDED);
        for (url, title, text) in pages {
            if !text.is_empty() {
                let headers = [("Content-Type", "text/html")].into_iter().collect();
                let body = Body::from(format!("<title>{title}</title><p>{text}").into_bytes());
                let response = Response { status: 200, reason: String::new(), headers, body };
                recording.append(&Exchange::get(*url, at, response)).unwrap();
            }
            let title = Some((*title).to_owned());
            recording.append_page(&Page { title, ..Page::new(*url, at) }).unwrap();
        }
        recording.finish(&|_| ()).unwrap();
        path
    }

    fn search(&self, archives: &[&Utf8PathBuf]) -> Search {
        let archives: Vec<Utf8PathBuf> = archives.iter().map(|path| (*path).clone()).collect();
        let cache = self.path("cache");
        let set = ReplaySet::open(&archives, Some(&cache), &mut |_, _| {}).unwrap();
        Search::new(Arc::new(set), Some(&cache))
    }

    /// The files of the index with their bytes.
    fn indexes(&self) -> Vec<(Utf8PathBuf, Vec<u8>, std::time::SystemTime)> {
        let entries =
            self.path("cache").read_dir_utf8().unwrap().map(|entry| entry.unwrap().into_path());
        let mut paths: Vec<_> = entries.filter(|path| path.extension() == Some("pages")).collect();
        paths.sort();
        let read = |path: Utf8PathBuf| {
            let modified = path.metadata().unwrap().modified().unwrap();
            (path.clone(), std::fs::read(path).unwrap(), modified)
        };
        paths.into_iter().map(read).collect()
    }
}

fn urls(search: &Search, query: &str) -> Vec<String> {
    search.results(query, 0, 100).unwrap().found.into_iter().map(|found| found.url).collect()
}

const OAK: (&str, &str, &str) = ("https://a.test/oak", "Oak", "The oak of the old town");
const ELM: (&str, &str, &str) = ("https://b.test/elm", "Elm", "An elm beside the oak");

#[test]
fn only_what_is_new_is_indexed() {
    let folder = Folder::new();
    let (a, b) = (folder.snapshot("a.wacz", &[OAK]), folder.snapshot("b.wacz", &[ELM]));
    folder.search(&[&a]).prepare(&mut |_| ()).unwrap();
    let before = folder.indexes();
    assert_eq!(before.len(), 1);
    let mut told = Vec::new();
    let both = folder.search(&[&a, &b]);
    both.prepare(&mut |at| told.push((at.archive, at.archives, at.pages))).unwrap();
    assert_eq!(told, [(2, 2, 0), (2, 2, 1)]);
    assert_eq!(urls(&both, "oak"), [OAK.0, ELM.0]);
    let after = folder.indexes();
    assert!(
        after.len() == 2 && after.contains(&before[0]),
        "the first archive's index is as it was"
    );
    let mut told = 0;
    folder.search(&[&a, &b]).prepare(&mut |_| told += 1).unwrap();
    assert_eq!((told, folder.indexes()), (0, after));
}

#[test]
fn results_do_not_depend_on_the_order_of_building() {
    let pages: Vec<[(String, String, String); 2]> = (0..40)
        .map(|number| {
            let of = |host: &str, words: usize| {
                let text = "oak elm of the town ".repeat(1 + number % 5) + &"pine ".repeat(words);
                (format!("https://{host}.test/{number}"), format!("Page {}", number % 3), text)
            };
            [of("a", number % 7), of("b", number % 4)]
        })
        .collect();
    let of = |side: usize| -> Vec<(&str, &str, &str)> {
        pages.iter().map(|both| (&*both[side].0, &*both[side].1, &*both[side].2)).collect()
    };
    let ask = |search: &Search| -> Vec<Results> {
        ["oak", "pine town", "\"elm of the town\"", "page 2 -pine", "site:b.test elm"]
            .iter()
            .map(|query| search.results(query, 5, 30).unwrap())
            .collect()
    };
    let mut outcomes = Vec::new();
    for order in [[0, 1], [1, 0]] {
        let folder = Folder::new();
        let archives = [folder.snapshot("a.wacz", &of(0)), folder.snapshot("b.wacz", &of(1))];
        for number in order {
            folder.search(&[&archives[number]]).prepare(&mut |_| ()).unwrap();
        }
        outcomes.push(ask(&folder.search(&[&archives[0], &archives[1]])));
    }
    assert!(outcomes[0].iter().any(|results| results.found.len() == 30));
    assert_eq!(outcomes[0], outcomes[1]);
}

#[test]
fn a_page_is_found_once_and_where_any_archive_answers_it() {
    let folder = Folder::new();
    let other = (OAK.0, "Oak", "The oak in another spring, with a nest");
    let listed = (ELM.0, "Elm", "");
    let never = ("https://c.test/", "Elm that nobody recorded", "");
    let a = folder.snapshot("a.wacz", &[OAK, listed, never]);
    let (b, c) = (folder.snapshot("b.wacz", &[other]), folder.snapshot("c.wacz", &[ELM]));
    assert_eq!(urls(&folder.search(&[&a, &b]), "oak"), [OAK.0]);
    assert_eq!(urls(&folder.search(&[&b, &a]), "nest"), [OAK.0]);
    assert_eq!(urls(&folder.search(&[&a, &b]), "nest"), [""; 0], "the first archive's page counts");
    assert_eq!(urls(&folder.search(&[&a, &b]), "elm"), [""; 0], "nobody answers it");
    assert_eq!(urls(&folder.search(&[&a, &b, &c]), "elm"), [ELM.0], "another archive answers it");
    // A body in another archive is an answer too, although the archive alone has none.
    let body = folder.snapshot("body.wacz", &[("https://a.test/text", "Text", "A walnut tree")]);
    let list = folder.snapshot("list.wacz", &[("https://a.test/text", "Walnut", "")]);
    let recorded =
        Recording::create(&folder.path("only.wacz"), RecordingOptions::default()).unwrap();
    let at = Timestamp::from_millis(RECORDED);
    let headers = [("Content-Type", "text/html")].into_iter().collect();
    let body_of = Body::from(b"<p>Hazel".to_vec());
    let response = Response { status: 200, reason: String::new(), headers, body: body_of };
    recorded.append(&Exchange::get("https://a.test/hazel", at, response)).unwrap();
    recorded.append_page(&Page::new("https://a.test/other", at)).unwrap();
    let only = recorded.finish(&|_| ()).unwrap().path;
    let listing = folder.snapshot("listing.wacz", &[("https://a.test/hazel", "Listed", "")]);
    assert_eq!(urls(&folder.search(&[&list, &body]), "walnut"), ["https://a.test/text"]);
    assert_eq!(urls(&folder.search(&[&listing, &only]), "hazel"), ["https://a.test/hazel"]);
}

#[test]
fn broken_and_stale_indexes_are_built_again() {
    let folder = Folder::new();
    let a = folder.snapshot("a.wacz", &[OAK, ELM]);
    folder.search(&[&a]).prepare(&mut |_| ()).unwrap();
    let (path, whole, _) = folder.indexes().remove(0);
    for broken in [&b""[..], b"SQLite format 3", &whole[..whole.len() - 1], &whole[..200]] {
        std::fs::write(&path, broken).unwrap();
        assert_eq!(
            urls(&folder.search(&[&a]), "nest oak"),
            [OAK.0, ELM.0],
            "{} bytes",
            broken.len()
        );
        assert_eq!(std::fs::read(&path).unwrap(), whole);
    }
    // Another snapshot under the name of the first.
    folder.snapshot("b.wacz", &[("https://c.test/", "Pine", "A pine")]);
    std::fs::rename(folder.path("b.wacz"), &a).unwrap();
    assert_eq!(urls(&folder.search(&[&a]), "pine oak"), ["https://c.test/"]);
}

#[test]
fn an_index_that_breaks_while_it_is_open_is_built_again() {
    let folder = Folder::new();
    let a = folder.snapshot("a.wacz", &[OAK, ELM]);
    let search = folder.search(&[&a]);
    assert_eq!(urls(&search, "elm"), [ELM.0]);
    let (path, whole, _) = folder.indexes().remove(0);
    // In place, so that the open file changes too.
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &vec![0x55; whole.len() - 300], 300).unwrap();
    assert_eq!(urls(&search, "elm"), [ELM.0]);
    assert_eq!(std::fs::read(&path).unwrap(), whole);
}

#[test]
fn who_builds_at_the_same_time_does_not_disturb_others() {
    let folder = Folder::new();
    let a = folder.snapshot("a.wacz", &[OAK, ELM]);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert_eq!(urls(&folder.search(&[&a]), "oak"), [OAK.0, ELM.0]));
        }
    });
    assert_eq!(folder.indexes().len(), 1);
    let left: Vec<_> =
        folder.path("cache").read_dir_utf8().unwrap().map(|entry| entry.unwrap()).collect();
    assert_eq!(left.len(), 2, "one index of the archive, one of its pages, no temporary file");
}

#[test]
fn phrases_hosts_and_later_pages_are_found_across_archives() {
    let folder = Folder::new();
    let urls_of = |host: &str| {
        (0..300).map(|page| format!("https://{host}.test/{page:03}")).collect::<Vec<_>>()
    };
    let (first, second) = (urls_of("www.a"), urls_of("shop.b"));
    let filler = "the old town of the hill and the price of it ".repeat(3);
    let own = format!("{filler} to be or not to be");
    let text = |page: usize| if page % 100 == 7 { &*own } else { &*filler };
    let of = |urls: &[String], name: &str| {
        let pages = urls.iter().enumerate().map(|(page, url)| (url.as_str(), "Hill", text(page)));
        folder.snapshot(name, &pages.collect::<Vec<_>>())
    };
    let (a, b) = (of(&first, "a.wacz"), of(&second, "b.wacz"));
    let search = folder.search(&[&a, &b]);
    let total = |query: &str| search.results(query, 0, 0).unwrap().total;
    assert_eq!(total("the"), 600);
    assert_eq!(total("\"to be or not to be\""), 6);
    assert_eq!(total("\"be to\""), 0);
    assert_eq!(
        (total("\"of the hill\""), total("\"hill of the\""), total("\"it the old town\"")),
        (600, 0, 600)
    );
    assert_eq!(total("\"hill the\""), 0, "a phrase does not reach from the title into the text");
    assert_eq!(
        (total("hill site:a.test"), total("hill site:b.test"), total("hill site:test")),
        (300, 300, 600)
    );
    assert_eq!((total("hill site:op.b.test"), total("hill -\"not to be\"")), (0, 594));
    let on = |host: &str| search.results_on(host, "hill", 0, 1).unwrap();
    assert_eq!((on("www.a.test").total, on("b.test").total, on("c.test").total), (300, 300, 0));
    assert!(on("shop.b.test").found[0].url.starts_with("https://shop.b.test/"));
    // Every page is on one page of results, equal ones in recorded order.
    let mut listed = Vec::new();
    for first in (0..700).step_by(10) {
        listed.extend(
            search.results("town", first, 10).unwrap().found.into_iter().map(|found| found.url),
        );
    }
    let number = |url: &String| first.iter().chain(&second).position(|known| known == url).unwrap();
    let places: Vec<usize> = listed.iter().map(number).collect();
    assert_eq!(places.len(), 600);
    let short: Vec<usize> = places.iter().copied().filter(|place| place % 100 != 7).collect();
    assert!(short.is_sorted() && short.len() == 594);
}

#[test]
fn snippets_show_what_was_found_however_deep() {
    let folder = Folder::new();
    let text = "filler words everywhere ".repeat(3000)
        + "then a kingfisher in the old mill sits "
        + &"more of it ".repeat(2000);
    let a = folder.snapshot("a.wacz", &[("https://a.test/", "Long", &text)]);
    let search = folder.search(&[&a]);
    let snippet = |query: &str| search.results(query, 0, 1).unwrap().found.remove(0).snippet;
    let found = snippet("kingfisher \"the old mill\"");
    assert!(found.contains("a \u{2}kingfisher\u{3} in \u{2}the old mill\u{3} sits"), "{found}");
    assert!(found.starts_with('…') && found.ends_with('…'), "{found}");
    assert_eq!(found.split_whitespace().count(), 40);
    assert!(
        snippet("long").starts_with("filler words"),
        "without a match in the text, its beginning"
    );
}

#[test]
fn hostile_pages_are_only_pages() {
    let folder = Folder::new();
    let marks = "\u{2}oak\u{3} \u{0}\u{200b}oak\u{feff}";
    let long = "a".repeat(300_000);
    let deep = "<div>".repeat(50_000) + "hazel";
    let many: String = (0..60_000).map(|number| format!("{number:x} ")).collect();
    let combining = "o\u{301}\u{302}\u{303}".repeat(20_000);
    let pages = [
        ("https://a.test/marks", "</title><b>", marks),
        ("https://a.test/long", &*long, &*long),
        ("https://a.test/deep", "Deep", &*deep),
        ("https://a.test/many", "Many", &*many),
        ("https://a.test/combining", "Combining", &*combining),
        ("https://a.test/%00%ff?q=\"'<>", "Odd", "odd 𝔬𝔞𝔨 ﷽ \u{10ffff}"),
    ];
    let a = folder.snapshot("a.wacz", &pages);
    let search = folder.search(&[&a]);
    assert_eq!(urls(&search, "oak"), ["https://a.test/marks"]);
    assert_eq!(urls(&search, "hazel"), ["https://a.test/deep"]);
    assert_eq!(urls(&search, "ea5f"), ["https://a.test/many"]);
    let odd = urls(&search, "odd");
    assert_eq!(odd.len(), 1);
    for query in
        ["a", "\u{301}", "\"o o\"", "o", &long, &many, &combining, "-a -b \"", "\u{10ffff}"]
    {
        search.results(query, 0, 10).unwrap();
    }
    let found = search.results("oak", 0, 1).unwrap().found.remove(0);
    assert_eq!(found.snippet.matches('\u{2}').count(), found.snippet.matches('\u{3}').count());
}
