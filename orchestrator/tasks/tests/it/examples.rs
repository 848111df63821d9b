//! The examples of tasks in the documentation: they are read, the right answer earns all, and one
//! that is nearly right earns nothing.

use scoring::solution::OracleStep;
use scoring::{Scorer, Step};
use tasks::Task;

fn score(scorer: &Scorer, answer: &str) -> f64 {
    let mut state = scorer.start();
    state.observe(&Step { answer: Some(answer), ..Step::default() });
    state.score().unwrap().value
}

/// The task that the guide writes by `printf`, as a shell would.
fn of_guide() -> Task {
    let guide = include_str!("../../../../docs/src/guides/suites.md");
    let line = guide.lines().find(|line| line.contains("printf 'id: ")).unwrap();
    let text = line.split('\'').nth(1).unwrap().replace("\\n", "\n");
    serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn the_first_task_of_the_guide_tells_right_from_nearly_right() {
    let task = of_guide();
    for right in ["Example Domain", "example domain\n"] {
        assert_eq!(score(&task.scorer, right), 1.0, "{right}");
    }
    for wrong in ["Example Domains", "Example", "The heading is Example.", "1986", ""] {
        assert_eq!(score(&task.scorer, wrong), 0.0, "{wrong}");
    }
}

#[test]
fn the_first_task_of_the_reference_earns_by_its_oracle_and_not_by_its_wrong_solution() {
    let page = include_str!("../../../../tasks/README.md");
    let (_, section) = page.split_once("## A task\n").unwrap();
    let text = section.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    let task: Task = serde_yaml::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let answer = |steps: &[OracleStep]| {
        let answer = steps.iter().find_map(|step| match step {
            OracleStep::Answer(text) => Some(text.clone()),
            _ => None,
        });
        answer.unwrap()
    };
    assert_eq!(score(&task.scorer, &answer(&task.oracle)), 1.0);
    assert_eq!(score(&task.scorer, &answer(&task.wrong_solution)), 0.0);
}

/// Every block of scorers in the reference is one.
#[test]
fn every_scorer_of_the_reference_is_read() {
    let page = include_str!("../../../../tasks/README.md");
    let blocks = page.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let mut read = 0;
    for block in blocks.filter(|block| block.starts_with("scorer:")) {
        // A block has one scorer, or one on each line.
        let several = block.lines().filter(|line| line.starts_with("scorer:")).count() > 1;
        let parts: Vec<&str> = if several { block.lines().collect() } else { vec![block] };
        for part in parts {
            let text = format!("id: a\ngoal: b\n{part}");
            serde_yaml::from_str::<Task>(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
            read += 1;
        }
    }
    assert!(read > 10, "{read}");
}
