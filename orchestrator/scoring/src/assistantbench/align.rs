//! The best one-to-one alignment of gold with predicted items.

/// The mean over the longer side of the aligned pairs' scores, `rows` of `columns` finite scores
/// each; NaN when both sides are empty, as numpy's mean of nothing.
pub(super) fn mean_aligned(scores: &[Vec<f64>], columns: usize) -> f64 {
    let longer = scores.len().max(columns);
    if longer == 0 {
        return f64::NAN;
    }
    best_total(scores, columns) / longer as f64
}

/// The largest total of an assignment, by the Hungarian method on the shorter side.
fn best_total(scores: &[Vec<f64>], columns: usize) -> f64 {
    if let [row] = scores {
        return row.iter().copied().reduce(f64::max).unwrap_or_default();
    }
    if scores.len() <= columns {
        return assign(scores.len(), columns, |row, column| scores[row][column]);
    }
    assign(columns, scores.len(), |row, column| scores[column][row])
}

/// Shortest augmenting paths with potentials; needs `rows <= columns`. Index 0 stands for "none".
fn assign(rows: usize, columns: usize, score: impl Fn(usize, usize) -> f64) -> f64 {
    let mut row_potential = vec![0.0; rows + 1];
    let mut column_potential = vec![0.0; columns + 1];
    let mut row_of = vec![0; columns + 1];
    for row in 1..=rows {
        row_of[0] = row;
        let mut slack = vec![f64::INFINITY; columns + 1];
        let mut previous = vec![0; columns + 1];
        let mut visited = vec![false; columns + 1];
        let mut at = 0;
        while row_of[at] != 0 {
            visited[at] = true;
            let current = row_of[at];
            let (mut step, mut next) = (f64::INFINITY, 0);
            for column in (1..=columns).filter(|&column| !visited[column]) {
                // The algorithm looks for the least; the published code passes negated scores as
                // well.
                let cost = -score(current - 1, column - 1);
                let reduced = cost - row_potential[current] - column_potential[column];
                if reduced < slack[column] {
                    slack[column] = reduced;
                    previous[column] = at;
                }
                if slack[column] < step {
                    step = slack[column];
                    next = column;
                }
            }
            for column in 0..=columns {
                if visited[column] {
                    row_potential[row_of[column]] += step;
                    column_potential[column] -= step;
                } else {
                    slack[column] -= step;
                }
            }
            at = next;
        }
        while at != 0 {
            row_of[at] = row_of[previous[at]];
            at = previous[at];
        }
    }
    (1..=columns)
        .filter(|&column| row_of[column] != 0)
        .map(|column| score(row_of[column] - 1, column - 1))
        .sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The largest total by trying every assignment.
    fn exhaustive(scores: &[Vec<f64>], used: &mut Vec<bool>) -> f64 {
        let Some((row, rest)) = scores.split_first() else { return 0.0 };
        let mut best = exhaustive(rest, used);
        for column in 0..row.len() {
            if !used[column] {
                used[column] = true;
                best = best.max(row[column] + exhaustive(rest, used));
                used[column] = false;
            }
        }
        best
    }

    proptest! {
        #[test]
        fn finds_the_best_assignment(rows in 0usize..5, columns in 0usize..5, cells in prop::collection::vec(0.0..1.5f64, 25)) {
            let scores: Vec<Vec<f64>> = (0..rows).map(|row| cells[row * 5..row * 5 + columns].to_vec()).collect();
            let expect = exhaustive(&scores, &mut vec![false; columns]);
            prop_assert!((best_total(&scores, columns) - expect).abs() < 1e-9);
        }
    }
}
