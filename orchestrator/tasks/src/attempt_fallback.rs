//! Fills in missing answers of one system from the next: in AssistantBench's paper an agent falls
//! back on a model that answers from memory.

use scoring::Score;
use scoring::mode::ScoringMode;

use crate::Task;
use crate::saved::SavedAttempt;

/// Attempts of several systems, of which one counts for each repeat of a task.
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptFallback {
    /// Those that count.
    pub attempts: Vec<SavedAttempt>,
    /// How many answers came from each system; who did not answer at all is in none of these.
    pub answers: Vec<usize>,
}

impl AttemptFallback {
    /// Puts together what systems attempted, the first of them first. A task has the repeats of the
    /// first system that attempted it; the others stand in by their repeat of the same number, or
    /// else by their last. Where nobody answers, the first attempt counts.
    pub fn of(tasks: &[Task], systems: &[Vec<SavedAttempt>]) -> AttemptFallback {
        let mut fall_back =
            AttemptFallback { attempts: Vec::new(), answers: vec![0; systems.len()] };
        for task in tasks {
            let repeats = systems
                .iter()
                .map(|saved| saved.iter().filter(|saved| saved.is_of(task)).collect());
            fall_back.add(task, &repeats.collect::<Vec<_>>());
        }
        fall_back
    }

    /// Adds the repeats of a task, which are given by system.
    fn add(&mut self, task: &Task, systems: &[Vec<&SavedAttempt>]) {
        let Some(first) = systems.iter().find(|repeats| !repeats.is_empty()) else { return };
        for (repeat, tried) in first.iter().enumerate() {
            let mut stand_ins = systems.iter().enumerate().filter_map(|(system, repeats)| {
                let saved = repeats.get(repeat).or(repeats.last())?;
                Some((system, *saved))
            });
            match stand_ins.find(|(_, saved)| answers(saved, task)) {
                Some((system, saved)) => {
                    self.answers[system] += 1;
                    self.attempts.push(saved.clone());
                }
                None => self.attempts.push((*tried).clone()),
            }
        }
    }
}

/// Whether the benchmark counts it as an answer: an empty text is none, nor is an empty list.
fn answers(saved: &SavedAttempt, task: &Task) -> bool {
    // By these rules an answer that cannot be compared is one all the same, and no error.
    let assessment = saved.assessment(&task.scorer).by(ScoringMode::Fixed);
    matches!(assessment.score(), Ok(Score { answered: Some(true), .. }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::assistantbench;
    use crate::saved::read_saved;

    /// The answers that count at task `a`, and how many are from each system.
    fn check(systems: &[&str], expect: &[Option<&str>], from: &[usize]) {
        let tasks = assistantbench(r#"{"id": "a", "task": "Where?", "answer": "Alton"}"#)
            .expect("a task")
            .tasks;
        let systems: Vec<_> =
            systems.iter().map(|lines| read_saved(lines).expect("attempts")).collect();
        let found = AttemptFallback::of(&tasks, &systems);
        let answers: Vec<_> = found.attempts.iter().map(|saved| saved.answer.as_deref()).collect();
        assert_eq!((answers.as_slice(), found.answers.as_slice()), (expect, from), "{systems:?}");
    }

    #[test]
    fn the_first_answer_counts() {
        let (x, y) = (r#"{"id": "a", "answer": "x"}"#, r#"{"id": "a", "answer": "y"}"#);
        check(&[x, y], &[Some("x")], &[1, 0]);
        for none in
            ["", r#"{"id": "a"}"#, r#"{"id": "a", "answer": ""}"#, r#"{"id": "a", "answer": []}"#]
        {
            check(&[none, "", y], &[Some("y")], &[0, 0, 1]);
        }
        check(&[r#"{"id": "a", "answer": {"b": 1}}"#, y], &[Some(r#"{"b":1}"#)], &[1, 0]);
    }

    #[test]
    fn repeats_fall_back_on_repeats() {
        let agent = "{\"id\": \"a\"}\n{\"id\": \"a\", \"answer\": \"x\"}\n{\"id\": \"a\", \"infeasible\": true}";
        let model = "{\"id\": \"a\", \"answer\": \"y\"}\n{\"id\": \"a\", \"answer\": \"z\"}";
        check(&[agent, model], &[Some("y"), Some("x"), Some("z")], &[1, 2]);
        check(&[model, agent], &[Some("y"), Some("z")], &[2, 0]);
    }

    #[test]
    fn where_nobody_answers_the_first_attempt_counts() {
        check(&["", r#"{"id": "a"}"#, r#"{"id": "a", "answer": ""}"#], &[None], &[0, 0, 0]);
        check(&["", ""], &[], &[0, 0]);
    }
}
