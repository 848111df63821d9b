//! The benchmarks' own files, and attempts at their tasks: any text is tasks or a reason why not,
//! and tasks that were made load again.

use scoring::Step;
use tasks::Task;
use tasks::import::{BENCHMARKS, Import, ImportError};
use tasks::saved::read_saved;

/// The first byte says whose file it is: the place of a benchmark in the table, or behind it, for
/// attempts.
fn import(bytes: &[u8]) -> Option<Result<Import, ImportError>> {
    let (first, rest) = bytes.split_first()?;
    let text = std::str::from_utf8(rest).ok()?;
    match BENCHMARKS.get(usize::from(*first) % (BENCHMARKS.len() + 1)) {
        Some(benchmark) => Some((benchmark.read)(text, "benchmark_dev.json".into())),
        None => read_saved(text).err().map(Err),
    }
}

/// Any bytes are an input; a panic is a defect.
pub fn check(bytes: &[u8]) {
    let import = match import(bytes) {
        Some(Ok(import)) => import,
        Some(Err(error)) => return assert!(!error.to_string().is_empty()),
        None => return,
    };
    for task in &import.tasks {
        let yaml = serde_yaml::to_string(task).expect("a task is YAML");
        // What YAML cannot tell apart, such as the spelling of a number, is told apart nowhere
        // else.
        serde_yaml::from_str::<Task>(&yaml).expect("our own YAML");
        let mut assessment = task.scorer.start();
        let step = Step {
            url: "https://a.test/?q=b",
            answer: Some("c"),
            selector: Some("a"),
            value: Some("d"),
            ..Step::default()
        };
        assessment.observe(&step);
        let _ = assessment.score();
    }
}
