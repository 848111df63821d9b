//! Assigns episodes to parts.

use crate::stored::EpisodeId;

/// An episode with its expected duration, in any unit.
#[derive(Debug, Clone, PartialEq)]
pub struct WeighedEpisode {
    /// Its id.
    pub id: EpisodeId,
    /// The sites of its task. Episodes of the same sites are played together, so that fewer sites
    /// are brought up.
    pub sites: Vec<String>,
    /// Its duration relative to others.
    pub weight: f64,
}

/// Divides episodes into at most `count` parts of about the same weight, and each part has one at
/// least. The parts come heaviest first, because a long one that begins late ends last. The same
/// episodes give the same parts.
pub fn assign(mut episodes: Vec<WeighedEpisode>, count: usize) -> Vec<Vec<EpisodeId>> {
    // The sort is stable: within the same sites, the order is that of the run.
    episodes.sort_by(|a, b| a.sites.cmp(&b.sites));
    let count = count.clamp(1, episodes.len().max(1));
    let usual = |weight: f64| if weight.is_finite() && weight > 0.0 { weight } else { 1.0 };
    let all: f64 = episodes.iter().map(|episode| usual(episode.weight)).sum();
    let mut parts: Vec<(f64, Vec<EpisodeId>)> = vec![(0.0, Vec::new()); count];
    let mut before = 0.0;
    for episode in episodes {
        let weight = usual(episode.weight);
        // An episode belongs to the part in which its middle lies.
        let middle = (before + weight / 2.0) / all * count as f64;
        let (sum, ids) = &mut parts[(middle as usize).min(count - 1)];
        *sum += weight;
        ids.push(episode.id);
        before += weight;
    }
    parts.retain(|(_, ids)| !ids.is_empty());
    parts.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    parts.into_iter().map(|(_, ids)| ids).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn episode(task: &str, sites: &[&str], weight: f64) -> WeighedEpisode {
        let sites = sites.iter().map(|&site| site.to_owned()).collect();
        WeighedEpisode { id: EpisodeId { task: task.to_owned(), repeat: 1 }, sites, weight }
    }

    fn names(episodes: Vec<WeighedEpisode>, count: usize) -> Vec<String> {
        let parts = assign(episodes, count);
        parts
            .iter()
            .map(|ids| ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
            .collect()
    }

    #[test]
    fn parts_weigh_the_same_and_the_heaviest_is_first() {
        let equal =
            |count: usize| (0..count).map(|n| episode(&format!("t{n}"), &[], 5.0)).collect();
        assert_eq!(names(equal(4), 2), ["t0-1 t1-1", "t2-1 t3-1"]);
        assert_eq!(names(equal(3), 8), ["t0-1", "t1-1", "t2-1"]);
        assert_eq!(names(equal(0), 8), [""; 0]);
        let sizes: Vec<usize> = assign(equal(320), 12).iter().map(Vec::len).collect();
        assert!(sizes.iter().all(|size| (26..=27).contains(size)), "{sizes:?}");
        // One that takes half of the time has a part of its own.
        let mixed = vec![episode("a", &[], 1.0), episode("b", &[], 1.0), episode("long", &[], 6.0)];
        assert_eq!(names(mixed, 2), ["long-1", "a-1 b-1"]);
    }

    #[test]
    fn episodes_of_the_same_sites_are_together() {
        let mixed = vec![
            episode("a", &["mail"], 1.0),
            episode("b", &["forum"], 1.0),
            episode("c", &["mail"], 1.0),
            episode("d", &["forum"], 1.0),
        ];
        assert_eq!(names(mixed, 2), ["b-1 d-1", "a-1 c-1"]);
    }

    #[test]
    fn what_is_no_weight_counts_as_one() {
        let odd =
            vec![episode("a", &[], f64::NAN), episode("b", &[], -1.0), episode("c", &[], 0.0)];
        assert_eq!(assign(odd, 3).len(), 3);
    }
}
