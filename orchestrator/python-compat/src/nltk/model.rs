//! The English model of Punkt, as far as it matters for lower-case text.
//!
//! From NLTK's pretrained model `punkt/PY3/english.pickle` (the same tables as
//! `punkt_tab/english`), trained by Jan Strunk and Tibor Kiss on the Wall Street Journal and
//! distributed with NLTK under the Apache License 2.0: its `abbrev_types` and `collocations` whole,
//! and of its 20,366 `ortho_context` entries the four that can answer otherwise than an unknown
//! word does. Its `sent_starters` are asked for capitalised words only.

/// `text` is a word that is written with a full stop; without the stop.
pub(super) fn is_abbreviation(text: &str) -> bool {
    ABBREVIATIONS.binary_search(&text).is_ok()
}

/// The two are known to stand next to each other, a full stop between them. Numbers are
/// `##number##`.
pub(super) fn is_collocation(first: &str, second: &str) -> bool {
    COLLOCATIONS.binary_search(&(first, second)).is_ok()
}

/// A lower-case word that was seen at the beginning of a sentence, and never with a capital.
pub(super) fn may_begin_small(word: &str) -> bool {
    ["administrators", "b-week", "r-revised", "z-holiday"].contains(&word)
}

/// Sorted.
const ABBREVIATIONS: [&str; 156] = [
    ". . ", "a.a", "a.c", "a.d", "a.g", "a.h", "a.m", "a.m.e", "a.s", "a.t", "adm", "ala", "ariz",
    "aug", "ave", "b.f", "b.v", "bros", "c", "c.i.t", "c.o.m.b", "c.v", "calif", "chg", "cie",
    "co", "col", "colo", "conn", "corp", "cos", "ct", "d", "d.c", "d.h", "d.w", "dec", "dr", "e",
    "e.f", "e.h", "e.l", "e.m", "f", "f.g", "f.j", "feb", "fla", "fri", "ft", "g", "g.d", "g.f",
    "g.k", "ga", "gen", "h", "h.c", "h.f", "h.m", "i.m.s", "ill", "inc", "j.b", "j.c", "j.j",
    "j.k", "j.p", "j.r", "jan", "jr", "k", "kan", "ky", "l", "l.a", "l.f", "l.p", "lt", "ltd", "m",
    "m.b.a", "m.d.c", "m.j", "maj", "messrs", "mg", "mich", "minn", "mr", "mrs", "ms", "n", "n.c",
    "n.d", "n.h", "n.j", "n.m", "n.v", "n.y", "nev", "nov", "oct", "ok", "okla", "ore", "p",
    "p.a.m", "p.m", "pa", "ph.d", "prof", "r", "r.a", "r.h", "r.i", "r.j", "r.k", "r.t", "rep",
    "reps", "s", "s.a", "s.a.y", "s.c", "s.g", "s.p.a", "s.s", "sen", "sep", "sept", "sr", "st",
    "sw", "t", "t.j", "tenn", "tues", "u.k", "u.n", "u.s", "u.s.a", "u.s.s.r", "v", "va", "vs",
    "vt", "w", "w.c", "w.r", "w.va", "w.w", "wash", "wed", "wis", "yr",
];

/// Sorted.
const COLLOCATIONS: [(&str, &str); 37] = [
    ("##number##", "abreast"),
    ("##number##", "aes"),
    ("##number##", "business"),
    ("##number##", "cbot"),
    ("##number##", "colgate"),
    ("##number##", "commodities"),
    ("##number##", "cooper"),
    ("##number##", "corrections"),
    ("##number##", "credit"),
    ("##number##", "dividend"),
    ("##number##", "financing"),
    ("##number##", "genentech"),
    ("##number##", "henley"),
    ("##number##", "insider"),
    ("##number##", "international"),
    ("##number##", "leisure"),
    ("##number##", "letters"),
    ("##number##", "notable"),
    ("##number##", "pay-fone"),
    ("##number##", "pegasus"),
    ("##number##", "pepper"),
    ("##number##", "review"),
    ("##number##", "rj"),
    ("##number##", "wedgestone"),
    ("##number##", "who"),
    ("##number##", "zimmer"),
    ("b", "edelman"),
    ("b", "levine"),
    ("b", "smith"),
    ("b", "stewart"),
    ("b", "wigton"),
    ("i", "magnin"),
    ("i", "toussie"),
    ("j", "aron"),
    ("j", "fialka"),
    ("j", "walter"),
    ("o", "ludcke"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(ABBREVIATIONS.is_sorted() && COLLOCATIONS.is_sorted());
        assert!(is_abbreviation("mr") && is_abbreviation(". . ") && !is_abbreviation("fig"));
        assert!(is_collocation("##number##", "review") && !is_collocation("b", "b"));
    }
}
