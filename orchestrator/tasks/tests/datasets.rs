//! The importers on the benchmarks' own files, whose folder comes from outside; `make conformance`.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::{env, fs};

use camino::Utf8PathBuf;
use scoring::evidence::PageEvidence;
use scoring::webarena::{EvalType, Evaluation};
use scoring::workarena::KINDS;
use scoring::{Scorer, Step};
use tasks::Task;
use tasks::import::infinity::{List, infinity};
use tasks::import::turkingbench::{PageHost, SITE, Source, kinds, turkingbench};
use tasks::import::warcbench::{self, Recording};
use tasks::import::webarena::{published, webarena};
use tasks::import::workarena::{ARTICLES, FORMS, Setup, TASKS, TaskOptions, workarena};
use tasks::import::{
    Import, mind2web_live, only_lite, visualwebarena, webarena_verified, webchorearena,
};

fn read(file: &str) -> String {
    let folder = env::var("SANDBOX_DATASETS")
        .expect("SANDBOX_DATASETS names the folder of benchmark files: run `make conformance SHARED=FOLDER`");
    fs::read_to_string(Utf8PathBuf::from(folder).join(file)).unwrap()
}

fn check(file: &str, tasks: usize, skipped: usize) {
    let import = mind2web_live(&read(&format!("mind2web-live/{file}"))).unwrap();
    assert_eq!((import.tasks.len(), import.skipped.len()), (tasks, skipped), "{file}");
    loads_again(&import);
}

fn loads_again(import: &Import) {
    for task in &import.tasks {
        let yaml = serde_yaml::to_string(task).unwrap();
        assert_eq!(&serde_yaml::from_str::<Task>(&yaml).unwrap(), task);
    }
}

#[test]
fn mind2web_live_files_are_read_whole() {
    check("mind2web-live_test_20241024.json", 104, 0);
    check("mind2web-test_104tasks_20240528.json", 104, 0);
    check("example_130.json", 130, 0);
}

/// The lists of the thirteen applications.
#[test]
fn webarena_infinity_is_read_whole() {
    let mut counted = [0, 0];
    let folder = env::var("SANDBOX_DATASETS").unwrap();
    for entry in Utf8PathBuf::from(folder).join("webarena-infinity").read_dir_utf8().unwrap() {
        let app = entry.unwrap().file_name().to_owned();
        if app == "LICENSE" {
            continue;
        }
        for (list, sum) in [List::Real, List::Function].into_iter().zip(&mut counted) {
            let import =
                infinity(&app, &read(&format!("webarena-infinity/{app}/{}", list.file()))).unwrap();
            assert!(import.skipped.is_empty(), "{app}");
            loads_again(&import);
            *sum += import.tasks.len();
        }
    }
    assert_eq!(counted, [1620, 737]);
}

/// The list for development: what is left out has to be built from sources.
#[test]
fn warcbench_is_read_whole() {
    let kinds = warcbench::kinds(&read("warc-bench/tasks_dev_08202025.csv")).unwrap();
    assert_eq!(kinds.len(), 238);
    let mut places = BTreeMap::<String, usize>::new();
    let mut find = |place: &str| {
        *places.entry(place.to_owned()).or_default() += 1;
        Ok(Recording { path: place.into(), began: "2025-01-01T00:00:00Z".parse().unwrap() })
    };
    let all = BTreeMap::from([("dev".to_owned(), kinds)]);
    let text = read("warc-bench/benchmark_dev.json");
    let import = warcbench::warcbench(&text, Some("dev"), &all, &mut find).unwrap();
    assert_eq!((import.tasks.len(), import.skipped.len(), places.len()), (238, 42, 15));
    assert_eq!(places["synthetic/synthetic_dev.wacz"], 178);
    let tagged = |tag: &str| {
        import.tasks.iter().filter(|task| task.tags.iter().any(|own| own == tag)).count()
    };
    assert_eq!(
        ["js_matcher", "json_matcher", "string_matcher", "url_matcher"].map(tagged),
        [226, 6, 5, 1]
    );
    assert_eq!(tagged("menu-navigation"), 68);
    loads_again(&import);
}

/// Two have answers in an older form, which the published evaluator cannot read either, and one is
/// about a page of the live web.
#[test]
fn webarenas_examples_are_read_one_by_one() {
    const OLD: &str = "its `reference_answers` has no rules to compare the answer by";
    for (number, reason) in [(1, OLD), (2, "its site misc has no address"), (3, OLD), (4, "")] {
        let import =
            webarena(&read(&format!("webarena/examples/{number}.json")), &published()).unwrap();
        let skipped: String =
            import.skipped.iter().map(|skipped| skipped.reason.as_str()).collect();
        assert_eq!(
            (import.tasks.len(), skipped.as_str()),
            (usize::from(reason.is_empty()), reason)
        );
        loads_again(&import);
    }
}

/// The counts are those of the benchmark's paper and files.
#[test]
fn webarena_is_read_whole() {
    let import = webarena(&read("webarena/test.raw.json"), &published()).unwrap();
    assert_eq!((import.tasks.len(), import.skipped.len()), (812, 0));
    let count = |holds: &dyn Fn(&Task, &Evaluation) -> bool| {
        let evaluation = |task: &Task| match &task.scorer {
            Scorer::WebArena(evaluation) => holds(task, evaluation),
            _ => false,
        };
        import.tasks.iter().filter(|task| evaluation(task)).count()
    };
    let types = |types: &[EvalType]| count(&|_, evaluation| evaluation.eval_types == types);
    assert_eq!(types(&[EvalType::StringMatch]), 325);
    assert_eq!(types(&[EvalType::UrlMatch]), 66);
    assert_eq!(types(&[EvalType::StringMatch, EvalType::UrlMatch]), 10);
    assert_eq!(count(&|task, _| !task.tabs.is_empty()), 5);
    let own = |task: &Task| task.sites.iter().filter(|site| !site.starts_with("map-")).count();
    assert_eq!(count(&|task, _| own(task) > 1), 48);
    let about = |site: &str| count(&|task, _| task.sites.iter().any(|name| name == site));
    assert_eq!((about("map"), about("map-tiles"), about("wikipedia")), (128, 128, 23));
    assert_eq!(count(&|_, evaluation| !evaluation.is_achievable()), 36);
    assert_eq!(count(&|_, evaluation| evaluation.shopping.is_some()), 15);
    loads_again(&import);
    let lite = only_lite(import).unwrap();
    assert_eq!((lite.tasks.len(), lite.skipped.len()), (165, 0));
}

/// The counts are those of the benchmark's paper and files. Every gold answer that needs no judge
/// earns all: of alternatives each.
#[test]
fn webchorearena_is_read_whole_and_its_gold_answers_earn_all() {
    let import =
        webchorearena(&read("webchorearena/test_webchore.raw.json"), &published()).unwrap();
    assert_eq!((import.tasks.len(), import.skipped.len(), import.warnings.len()), (532, 0, 0));
    loads_again(&import);
    let (mut answers, mut judged) = (0, 0);
    for task in &import.tasks {
        let Scorer::WebArena(evaluation) = &task.scorer else { panic!("{task:?}") };
        let Some(answer) = &evaluation.reference_answers else { continue };
        if evaluation.eval_types != [EvalType::StringMatch] {
            continue;
        }
        let golds: Vec<Vec<String>> = answer
            .0
            .iter()
            .filter_map(|(rule, value)| match rule.as_str() {
                "exact_match" => Some(vec![value.as_str()?.to_owned()]),
                "must_include" => {
                    let texts = value.as_array()?.iter().filter_map(|text| text.as_str());
                    let [one] = texts.collect::<Vec<_>>().try_into().ok()?;
                    let one: &str = one;
                    Some(one.split(" |OR| ").map(str::to_owned).collect())
                }
                _ => None,
            })
            .collect();
        let [golds] = golds.as_slice() else {
            judged += 1;
            continue;
        };
        answers += 1;
        for gold in golds {
            let mut state = task.scorer.start();
            state.observe(&Step { answer: Some(gold), ..Step::default() });
            state.accept_pages(&PageEvidence::default());
            assert_eq!(state.score().unwrap().value, 1.0, "{}: {gold}", task.id);
        }
    }
    assert_eq!((answers, judged), (399, 24));
}

/// The counts are those of the benchmark's paper and files.
#[test]
fn visualwebarena_is_read_whole() {
    use scoring::visualwebarena::EvalType::{PageImageQuery, ProgramHtml, StringMatch, UrlMatch};
    let mut all = Import::default();
    for (name, tasks) in [("classifieds", 234), ("reddit", 210), ("shopping", 466)] {
        let file = read(&format!("visualwebarena/test_{name}.raw.json"));
        let import = visualwebarena::visualwebarena(&file, &visualwebarena::published()).unwrap();
        assert_eq!((import.tasks.len(), import.skipped.len()), (tasks, 0), "{name}");
        loads_again(&import);
        all.tasks.extend(import.tasks);
    }
    let evaluations = all.tasks.iter().map(|task| match &task.scorer {
        Scorer::VisualWebArena(evaluation) => (task, evaluation),
        other => panic!("{other:?}"),
    });
    let evaluations: Vec<_> = evaluations.collect();
    let alone = |kind| evaluations.iter().filter(|(_, one)| one.eval_types == [kind]).count();
    assert_eq!(
        [alone(ProgramHtml), alone(StringMatch), alone(UrlMatch), alone(PageImageQuery)],
        [379, 265, 204, 19]
    );
    let with = |kind| evaluations.iter().filter(|(_, one)| one.eval_types.contains(&kind)).count();
    assert_eq!(
        [with(ProgramHtml), with(StringMatch), with(UrlMatch), with(PageImageQuery)],
        [409, 280, 224, 42]
    );
    let note = |note| evaluations.iter().filter(|(_, one)| one.url_note.as_deref() == note).count();
    assert_eq!([note(Some("EXACT")), note(Some("GOLD in PRED")), note(None)], [193, 29, 688]);
    let count = |holds: &dyn Fn(&Task) -> bool| all.tasks.iter().filter(|task| holds(task)).count();
    assert_eq!(count(&|task| !task.tabs.is_empty()), 62);
    assert_eq!(count(&|task| !task.goal_images.is_empty()), 321);
    assert_eq!(count(&|task| task.device.viewport.is_some()), 4);
    let texts = evaluations.iter().flat_map(|(_, one)| &one.program_html);
    let texts = texts.filter(|target| {
        target.locator.as_deref().is_some_and(|call| call.starts_with("func:get_query_text("))
    });
    assert_eq!(texts.count(), 143);
}

#[test]
fn webarena_verified_is_read_whole() {
    let folder = env::var("SANDBOX_DATASETS").expect("see above");
    let file = Utf8PathBuf::from(folder).join("webarena-verified/webarena-verified.json");
    let tasks = scoring::webarena_verified::read(&fs::read_to_string(file).unwrap()).unwrap();
    let evaluators = tasks.iter().map(|task| task.evaluators());
    let (responses, events) = evaluators.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    assert_eq!((tasks.len(), responses, events), (812, 812, 663));
}

/// The files of ten kinds are too large to be here; `workarena_reference` reads them in the
/// package.
#[test]
fn workarena_is_read_as_far_as_it_is_here() {
    let folder = "workarena/data_files";
    let mut setup = Setup::default();
    setup.read_articles(&read(&format!("{folder}/{ARTICLES}"))).unwrap();
    for (table, file) in FORMS {
        setup.read_form(table, &read(&format!("{folder}/{file}"))).unwrap();
    }
    let address = "https://desk.test".to_owned();
    let wanted = TaskOptions::new("servicenow", &address);
    let mut import = Import::default();
    for kind in &KINDS {
        let large = kind.category == "list-filter"
            || (kind.category == "form" && kind.name != "create-user");
        let json = (!large).then(|| read(&format!("{folder}/{TASKS}/{}", kind.file)));
        workarena(kind, json.as_deref(), &setup, &wanted, &mut import).unwrap();
    }
    assert_eq!((import.tasks.len(), import.skipped.len()), (9_833, 10));
    let of = |tag: &str| import.tasks.iter().filter(|task| task.tags[0] == tag).count();
    let counts = ["menu", "form", "knowledge", "list-sort", "service-catalog", "dashboard"].map(of);
    assert_eq!(counts, [1_600, 1_000, 1_000, 900, 3_550, 1_783]);
    loads_again(&Import {
        tasks: import.tasks.into_iter().step_by(17).collect(),
        ..Import::default()
    });
}

#[test]
fn webarena_verified_becomes_a_suite() {
    let places = webarena_verified::published();
    let import = |file: &str| {
        webarena_verified::webarena_verified(&read(&format!("webarena-verified/{file}")), &places)
            .unwrap()
    };
    let all = import("webarena-verified.json");
    assert_eq!((all.tasks.len(), all.skipped.len()), (812, 0));
    assert!(all.tasks.iter().all(|task| task.scorer.needs().traffic));
    loads_again(&all);
    assert_eq!(import("webarna-verfied-hard.json").tasks.len(), 258);
}

/// The counts are those of the files by pandas and BeautifulSoup.
#[test]
fn turkingbench_is_read_whole() {
    let folder =
        Utf8PathBuf::from(env::var("SANDBOX_DATASETS").expect("see above")).join("turkingbench");
    let folder = turkingbench::Folder::open(&folder).unwrap();
    let (mut rows, mut instances, mut golds) = (0, 0, 0);
    let mut types: BTreeMap<String, usize> = BTreeMap::new();
    for task in folder.tasks() {
        let (template, batch) = (task.template().unwrap(), task.batch().unwrap());
        let known = kinds(&template, &batch, 0);
        for name in &batch.fields {
            *types.entry(known.get(name).cloned().unwrap_or_default()).or_default() += 1;
        }
        let (tags, sites) = ([], [SITE.to_owned()]);
        let source = Source {
            task,
            template: &template,
            batch: &batch,
            rows: 10,
            tags: &tags,
            sites: &sites,
            through: PageHost::Own,
        };
        let tasks = turkingbench(&source);
        assert_eq!(tasks.len(), batch.instances.len().min(10), "{}", task.name);
        loads_again(&Import { tasks: tasks.into_iter().step_by(5).collect(), ..Import::default() });
        let cells = batch.instances.iter().flat_map(|instance| &instance.golds).map(Vec::len);
        (rows, instances, golds) =
            (rows + batch.rows, instances + batch.instances.len(), golds + cells.sum::<usize>());
    }
    assert_eq!((folder.tasks().len(), rows, instances, golds), (58, 19_823, 7_914, 180_140));
    // Those without a type are made by scripts.
    let expect = [
        ("", 271),
        ("checkbox", 49),
        ("hidden", 16),
        ("radio", 250),
        ("range", 4),
        ("select", 29),
        ("text", 241),
        ("textarea", 19),
    ];
    assert_eq!(types, expect.map(|(kind, count)| (kind.to_owned(), count)).into());
    let splits = turkingbench::Split::ALL.map(|split| folder.split(split).unwrap().len());
    assert_eq!(splits, [20, 17, 3]);
}
