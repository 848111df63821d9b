//! The importers on the benchmarks' own files, whose folder comes from outside; `make conformance`.
#![allow(clippy::unwrap_used)]

use std::{env, fs};

use camino::Utf8PathBuf;
use tasks::import::webarena::{published, webarena};
use tasks::import::workarena::{ARTICLES, FORMS, Setup, TASKS, Wanted, workarena};
use tasks::import::{Import, mind2web_live};
use tasks::scoring::webarena::{EvalType, Evaluation};
use tasks::scoring::workarena::KINDS;
use tasks::{Scorer, Task};

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

/// The counts are those of the benchmark's paper and files.
#[test]
fn webarena_is_read_whole() {
    let import = webarena(&read("webarena/test.raw.json"), &published()).unwrap();
    assert_eq!((import.tasks.len(), import.skipped.len()), (797, 15));
    assert!(import.skipped.iter().all(|skipped| skipped.reason.contains("shopping_get_")));
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
    loads_again(&import);
}

#[test]
fn webarena_verified_is_read_whole() {
    let folder = env::var("SANDBOX_DATASETS").expect("see above");
    let file = Utf8PathBuf::from(folder).join("webarena-verified/webarena-verified.json");
    let tasks = tasks::scoring::webarena_verified::read(&fs::read_to_string(file).unwrap()).unwrap();
    let evaluators = tasks.iter().map(|task| task.evaluators());
    let (responses, events) = evaluators.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    assert_eq!((tasks.len(), responses, events), (812, 812, 663));
}

/// The files of ten kinds are too large to be here; `workarena_reference` reads them in the package.
#[test]
fn workarena_is_read_as_far_as_it_is_here() {
    let folder = "workarena/data_files";
    let mut setup = Setup::default();
    setup.read_articles(&read(&format!("{folder}/{ARTICLES}"))).unwrap();
    for (table, file) in FORMS {
        setup.read_form(table, &read(&format!("{folder}/{file}"))).unwrap();
    }
    let address = "https://desk.test".to_owned();
    let wanted = Wanted { site: "servicenow".to_owned(), address, seed: 0, per_kind: None };
    let mut import = Import::default();
    for kind in &KINDS {
        let large = kind.category == "list-filter" || (kind.category == "form" && kind.name != "create-user");
        let json = (!large).then(|| read(&format!("{folder}/{TASKS}/{}", kind.file)));
        workarena(kind, json.as_deref(), &setup, &wanted, &mut import).unwrap();
    }
    assert_eq!((import.tasks.len(), import.skipped.len()), (9_833, 10));
    let of = |tag: &str| import.tasks.iter().filter(|task| task.tags[0] == tag).count();
    let counts = ["menu", "form", "knowledge", "list-sort", "service-catalog", "dashboard"].map(of);
    assert_eq!(counts, [1_600, 1_000, 1_000, 900, 3_550, 1_783]);
    loads_again(&Import { tasks: import.tasks.into_iter().step_by(17).collect(), skipped: Vec::new() });
}
