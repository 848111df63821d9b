//! WebArena-Lite: 165 of WebArena's tasks, which VisualAgentBench picked and went over.
//!
//! Its own file has these tasks with other answers, and its evaluators differ from WebArena's;
//! [`webarena`](super::webarena::webarena) reads it. Who has WebArena's file alone gets the same
//! tasks as WebArena has them.

use super::{Import, ImportError, SkippedTask, task_id};

/// Their ids among WebArena's.
#[rustfmt::skip]
const TASKS: [u16; 165] = [
    4, 7, 15, 20, 23, 27, 33, 37, 43, 44, 48, 56, 58, 65, 69, 71, 75, 77, 82, 88, 93, 95, 96, 97, 98, 103, 109, 115, 117,
    118, 123, 125, 127, 131, 135, 139, 144, 149, 155, 156, 157, 162, 167, 169, 173, 182, 190, 196, 202, 205, 211, 215, 220,
    221, 225, 227, 235, 236, 240, 247, 250, 254, 258, 259, 268, 270, 276, 283, 285, 287, 288, 296, 300, 311, 313, 318, 321,
    324, 333, 335, 348, 349, 354, 357, 361, 367, 368, 369, 374, 376, 381, 382, 383, 384, 386, 387, 392, 401, 404, 415, 419,
    423, 426, 431, 440, 448, 454, 458, 464, 466, 470, 476, 485, 488, 491, 497, 505, 506, 509, 514, 516, 521, 524, 528, 534,
    538, 548, 566, 567, 574, 577, 582, 599, 601, 605, 612, 619, 626, 631, 641, 645, 652, 657, 668, 673, 678, 682, 686, 693,
    704, 710, 714, 720, 729, 733, 741, 745, 748, 760, 762, 768, 791, 798, 809, 811,
];

/// Keeps these tasks of an import. One that is not there is left out by name.
///
/// # Errors
/// When none of them is there.
pub fn only_lite(mut import: Import) -> Result<Import, ImportError> {
    let ids = TASKS.map(|id| task_id("webarena", &id.to_string()));
    import.tasks.retain(|task| ids.contains(&task.id));
    import.skipped.retain(|skipped| ids.contains(&skipped.id));
    if import.tasks.is_empty() && import.skipped.is_empty() {
        return Err(ImportError::NotOfSubset { subset: "WebArena-Lite" });
    }
    let mut missing = Vec::new();
    for id in ids {
        let there = import.tasks.iter().any(|task| task.id == id)
            || import.skipped.iter().any(|task| task.id == id);
        if !there {
            missing.push(SkippedTask { id, reason: "the file does not have it".to_owned() });
        }
    }
    import.skipped.extend(missing);
    Ok(import)
}

#[cfg(test)]
mod tests {
    use scoring::Scorer;

    use super::*;
    use crate::{GoalText, Task};

    fn task(id: &str) -> Task {
        Task::new(
            id.to_owned(),
            GoalText::Words("x".to_owned()),
            Scorer::Infeasible(scoring::Infeasible {}),
        )
    }

    #[test]
    fn tasks_of_the_subset_are_kept_and_missed() {
        let others = vec![SkippedTask { id: "webarena-5".to_owned(), reason: "x".to_owned() }];
        let tasks = ["webarena-3", "webarena-4", "webarena-811"].map(task).to_vec();
        let import = only_lite(Import { tasks, skipped: others, ..Import::default() })
            .expect("two of the subset");
        assert_eq!(import.tasks, ["webarena-4", "webarena-811"].map(task));
        assert_eq!(import.skipped.len(), 163);
        assert!(import.skipped.iter().all(|skipped| skipped.reason == "the file does not have it"));
    }

    #[test]
    fn a_file_with_none_of_them_is_refused() {
        let error = only_lite(Import { tasks: vec![task("webarena-3")], ..Import::default() })
            .expect_err("none");
        assert_eq!(error.to_string(), "none of its tasks is one of WebArena-Lite's");
    }

    #[test]
    fn the_ids_are_in_order_and_of_webarena() {
        assert!(TASKS.is_sorted_by(|one, next| one < next) && TASKS[164] < 812);
    }
}
