//! BM25 in whole numbers, so that every machine ranks alike.

use crate::segment::{LENGTH_CODES, TF_CODES, length_of, tf_of};

/// How soon more of the same word counts less.
const SATURATION: f64 = 1.2;
/// How much a page's length counts.
const LENGTH: f64 = 0.75;

/// What a word adds to a page's score, by its frequency and the page's length.
#[derive(Debug)]
pub(super) struct Ranking {
    /// In 4096ths, for each code of a frequency one row with each code of a length.
    table: Vec<u32>,
    pages: u64,
}

impl Ranking {
    /// For so many pages with so many words together.
    pub(super) fn new(pages: u64, words: u64) -> Ranking {
        let average = (words as f64 / pages.max(1) as f64).max(1.0);
        let mut table = Vec::with_capacity(TF_CODES * LENGTH_CODES);
        for tf in 0..TF_CODES {
            let tf = f64::from(tf_of(tf as u8));
            for length in 0..LENGTH_CODES {
                let relative = f64::from(length_of(length as u8)) / average;
                let saturation = SATURATION * (1.0 - LENGTH + LENGTH * relative);
                let score = tf * (SATURATION + 1.0) / (tf + saturation);
                table.push((score * 4096.0).max(1.0) as u32);
            }
        }
        Ranking { table, pages }
    }

    /// The weight of what is in `found` pages, in 256ths, at least one.
    pub(super) fn weight(&self, found: u64) -> u32 {
        let (pages, found) = (self.pages as f64, found.min(self.pages) as f64);
        let weight = (1.0 + (pages - found + 0.5) / (found + 0.5)).ln();
        (weight * 256.0).max(1.0) as u32
    }

    /// The score of a word in a page.
    #[inline(always)]
    pub(super) fn score(&self, weight: u32, tf: u8, length: u8) -> u32 {
        self.table
            .get(usize::from(tf) * LENGTH_CODES + usize::from(length))
            .map_or(1, |own| own * weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_and_rarer_words_in_shorter_pages_score_more() {
        let ranking = Ranking::new(1_000_000, 300_000_000);
        let (rare, common) = (ranking.weight(3), ranking.weight(900_000));
        assert!(
            rare > 20 * common && ranking.weight(u64::MAX) == 1 && ranking.weight(1_000_000) == 1
        );
        assert!(ranking.score(rare, 2, 40) > ranking.score(rare, 1, 40));
        assert!(ranking.score(rare, 2, 40) > ranking.score(rare, 2, 60));
        // 64 words, the most that a query has, do not overflow.
        assert!(
            u64::from(ranking.score(Ranking::new(u64::MAX, 0).weight(1), 255, 0)) * 256
                < u64::from(u32::MAX) * 64
        );
    }
}
