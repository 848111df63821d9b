//! Our scorers against results of the published ones. The folder of vectors comes from outside;
//! `make conformance`.
#![allow(clippy::unwrap_used)]

use std::env;

use camino::Utf8PathBuf;
use scoring::vectors::{MetricReport, score_vectors};

fn score(metric: &str) -> MetricReport {
    let folder = env::var("SANDBOX_VECTORS").expect(
        "SANDBOX_VECTORS names the folder of scorer vectors: run `make conformance SHARED=FOLDER`",
    );
    let report =
        score_vectors(&Utf8PathBuf::from(folder).join(format!("{metric}.jsonl")), |_| {}).unwrap();
    report.metric(metric).unwrap().clone()
}

fn check(metric: &str, agreed: usize, unsupported: usize) {
    let found = score(metric);
    assert_eq!(found.disagreements, [], "{metric}");
    assert_eq!((found.agreed, found.unsupported), (agreed, unsupported), "{metric}");
}

#[test]
fn assistantbench_answers() {
    check("assistantbench.answer", 300, 0);
}

#[test]
fn mind2web_live_urls() {
    check("mind2web_live.url", 200, 0);
}

#[test]
fn mind2web_live_element_values() {
    check("mind2web_live.element_value", 200, 0);
}

#[test]
fn mind2web_live_element_paths() {
    check("mind2web_live.element_path", 260, 0);
}

#[test]
fn turkingbench_fields() {
    check("turkingbench.field", 270, 0);
}

#[test]
fn webarena() {
    check("webarena.string_match", 220, 0);
    check("webarena.url_match", 200, 0);
    check("webarena.required_contents", 200, 0);
}

#[test]
fn visualwebarena() {
    check("visualwebarena.string_match", 260, 0);
    check("visualwebarena.url_match", 200, 0);
}

/// `tests/conformance/pictures.py` has made them. What of JPEG is read otherwise by another decoder
/// is less than a thousandth.
#[test]
fn likeness_of_pictures() {
    let file = env::var("SANDBOX_PICTURES")
        .expect("SANDBOX_PICTURES names the file: run `make conformance SHARED=FOLDER`");
    let mut seen = 0;
    let report = score_vectors(&Utf8PathBuf::from(file), |vector| {
        let number = |key: &str| vector[key].as_f64().unwrap();
        let tolerance = if vector["id"].as_str().unwrap().contains("JPEG") { 1e-3 } else { 1e-6 };
        assert!((number("score") - number("expected")).abs() < tolerance, "{}", vector["id"]);
        seen += 1;
    });
    assert_eq!((report.unwrap().metrics.len(), seen), (1, 220));
}
