//! The uncertainty of scores: 95 % intervals over tasks, standard errors and paired differences.
//!
//! A suite is a sample of tasks, so intervals are over tasks, each with the mean over its repeats.
//! Scores of only 0 and 1 get Wilson's interval. Others get the percentile bootstrap with a fixed
//! seed, so that the same scores always give the same interval.

use serde::{Deserialize, Serialize};

/// z of a two-sided 95 % interval.
const Z: f64 = 1.959_963_984_540_054;
const RESAMPLES: usize = 10_000;
const SEED: u64 = 0x5eed_0f5a_4db0_c5e5;

/// The 95 % confidence interval of a mean, with its method.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
    /// The method of computation.
    pub method: Method,
}

/// Methods to compute an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Wilson's score interval, for scores of 0 and 1.
    Wilson,
    /// Percentile bootstrap, 10,000 resamples, fixed seed.
    Bootstrap,
}

/// The standard error of a mean score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StandardError {
    /// Over tasks, as a sample of all possible tasks. Absent with fewer than two tasks.
    pub over_tasks: Option<f64>,
    /// Over repeats of the same tasks: a stratified bootstrap with each task as a stratum, as
    /// WorkArena's authors report it. Absent if no task has two repeats.
    pub over_repeats: Option<f64>,
}

/// The standard errors of the mean of task means. Each item has a task's scores over its repeats.
pub fn standard_error(tasks: &[Vec<f64>]) -> StandardError {
    let tasks: Vec<&Vec<f64>> = tasks.iter().filter(|scores| !scores.is_empty()).collect();
    let means: Vec<f64> = tasks.iter().filter_map(|scores| mean(scores)).collect();
    let n = means.len() as f64;
    let over_tasks = (means.len() > 1).then(|| (variance(&means) / (n - 1.0)).sqrt());
    // The limit of resampling each task's repeats with ever more resamples.
    let repeated = tasks.iter().any(|scores| scores.len() > 1);
    let strata = tasks.iter().map(|scores| variance(scores) / scores.len() as f64).sum::<f64>();
    StandardError { over_tasks, over_repeats: repeated.then(|| strata.sqrt() / n) }
}

/// The difference of the same tasks' scores between two runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PairedDifference {
    /// The mean of the differences.
    pub mean: f64,
    /// The 95 % interval of the mean: percentile bootstrap over tasks.
    pub interval: Interval,
    /// The p-value of a two-sided sign-flip permutation test: how often random signs of the
    /// differences make the mean as large. All signs are tried if few tasks differ, otherwise
    /// 10,000 random choices.
    pub p: f64,
}

/// Maximum number of differing tasks for which all signs are tried.
const ALL_SIGNS: usize = 14;

/// Compares by the differences of tasks. `None` without tasks.
pub fn paired(differences: &[f64]) -> Option<PairedDifference> {
    let mean = mean(differences)?;
    let moved: Vec<f64> =
        differences.iter().copied().filter(|difference| *difference != 0.0).collect();
    let observed = moved.iter().sum::<f64>().abs();
    let mut random = SplitMix64(SEED);
    let (choices, all) = match moved.len() {
        few if few <= ALL_SIGNS => (1 << few, true),
        _ => (RESAMPLES as u64, false),
    };
    let mut as_large = 0;
    for choice in 0..choices {
        let mut signs = choice;
        let mut sum = 0.0;
        for (place, difference) in moved.iter().enumerate() {
            if !all && place % 64 == 0 {
                signs = random.next();
            }
            sum += if signs & 1 == 0 { *difference } else { -difference };
            signs >>= 1;
        }
        // Sums of the same numbers with other signs may differ in the last digit.
        as_large += u64::from(sum.abs() >= observed - 1e-9);
    }
    Some(PairedDifference {
        mean,
        interval: bootstrap(differences),
        p: as_large as f64 / choices as f64,
    })
}

/// The population variance; 0 without values.
pub fn variance(values: &[f64]) -> f64 {
    let centre = mean(values).unwrap_or(0.0);
    mean(&values.iter().map(|value| (value - centre).powi(2)).collect::<Vec<_>>()).unwrap_or(0.0)
}

/// The arithmetic mean; `None` without values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The 95 % interval of the mean of task scores. `None` without scores, or with a single graded
/// one.
pub fn interval(scores: &[f64]) -> Option<Interval> {
    if scores.is_empty() {
        return None;
    }
    if scores.iter().all(|&score| score == 0.0 || score == 1.0) {
        let passed = scores.iter().filter(|&&score| score == 1.0).count();
        return Some(wilson(passed, scores.len()));
    }
    // A single graded score says nothing about the variance.
    (scores.len() > 1).then(|| bootstrap(scores))
}

fn wilson(passed: usize, total: usize) -> Interval {
    let n = total as f64;
    let p = passed as f64 / n;
    let z2 = Z * Z;
    let centre = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = Z / (1.0 + z2 / n) * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
    // At the ends use the exact bound; rounding would give 0.9999999999999999.
    let low = if passed == 0 { 0.0 } else { centre - half };
    let high = if passed == total { 1.0 } else { centre + half };
    Interval { low, high, method: Method::Wilson }
}

fn bootstrap(scores: &[f64]) -> Interval {
    let mut random = SplitMix64(SEED);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            scores.iter().map(|_| scores[random.below(scores.len())]).sum::<f64>()
                / scores.len() as f64
        })
        .collect();
    means.sort_by(f64::total_cmp);
    let at = |share: f64| means[((RESAMPLES - 1) as f64 * share).round() as usize];
    Interval { low: at(0.025), high: at(0.975), method: Method::Bootstrap }
}

/// Vigna's SplitMix64. It is implemented here because intervals must not change with a library's
/// version.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `bound` by multiplication. The bias is below 2^-50 for any realistic suite.
    fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn close(interval: Interval, low: f64, high: f64) {
        assert!(
            (interval.low - low).abs() < 5e-4 && (interval.high - high).abs() < 5e-4,
            "{interval:?} is not {low}..{high}"
        );
    }

    #[test]
    fn wilson_gives_the_textbook_values() {
        close(interval(&[1.0; 12]).unwrap(), 0.7575, 1.0);
        close(interval(&[0.0; 12]).unwrap(), 0.0, 0.2425);
        let mut half = vec![0.0; 5];
        half.extend([1.0; 5]);
        close(interval(&half).unwrap(), 0.2366, 0.7634);
    }

    #[test]
    fn graded_scores_are_resampled_the_same_way_each_time() {
        let scores = [0.0, 0.25, 0.5, 0.5, 0.75, 1.0];
        let first = interval(&scores).unwrap();
        assert_eq!(first.method, Method::Bootstrap);
        assert!(
            first.low > 0.1 && first.low < 0.5 && first.high > 0.5 && first.high < 0.9,
            "{first:?}"
        );
        assert_eq!(interval(&scores), Some(first));
        close(interval(&[0.5; 4]).unwrap(), 0.5, 0.5);
    }

    #[test]
    fn pairs_are_told_from_chance() {
        let p = |differences: &[f64]| paired(differences).unwrap().p;
        assert_eq!(p(&[0.0; 5]), 1.0);
        assert_eq!(p(&[1.0, 0.0]), 1.0);
        assert_eq!(p(&[1.0; 4]), 2.0 / 16.0);
        assert_eq!(p(&[1.0, 1.0, 1.0, -1.0]), 10.0 / 16.0);
        let mut many = vec![1.0; 14];
        many.extend([-1.0; 6]);
        // The binomial tail of the sign test.
        assert!((p(&many) - 0.1153).abs() < 0.01, "{}", p(&many));
        assert!(paired(&[]).is_none());
        let found = paired(&many).unwrap();
        assert!(found.interval.low < found.mean && found.mean < found.interval.high);
    }

    #[test]
    fn standard_errors_are_those_of_resampling() {
        let tasks = [vec![1.0, 0.0, 1.0], vec![0.0, 0.0, 0.0], vec![0.5, 1.0]];
        let found = standard_error(&tasks);
        let mut random = SplitMix64(1);
        let means: Vec<f64> = (0..40_000)
            .map(|_| {
                let of_task = |task: &Vec<f64>| {
                    task.iter().map(|_| task[random.below(task.len())]).sum::<f64>()
                        / task.len() as f64
                };
                tasks.iter().map(of_task).sum::<f64>() / 3.0
            })
            .collect();
        let resampled = variance(&means).sqrt();
        assert!((found.over_repeats.unwrap() - resampled).abs() < 2e-3, "{found:?} {resampled}");
        assert!((found.over_tasks.unwrap() - 0.237_333).abs() < 1e-5, "{found:?}");
        let single = standard_error(&[vec![1.0]]);
        assert_eq!((single.over_tasks, single.over_repeats), (None, None));
    }

    #[test]
    fn nothing_has_no_interval() {
        assert_eq!(interval(&[]), None);
        assert_eq!(interval(&[0.5]), None);
        assert!(interval(&[1.0]).is_some());
        assert_eq!(mean(&[]), None);
    }
}
