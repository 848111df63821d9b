//! NLTK's Porter stemmer in its default mode: the published algorithm with Martin Porter's and
//! NLTK's own changes.
//!
//! Follows `nltk.stem.porter.PorterStemmer`, whose steps the functions are named after. Words are
//! ASCII here.

/// Forms that are looked up, not stemmed.
const IRREGULAR: [(&str, &str); 15] = [
    ("sky", "sky"),
    ("skies", "sky"),
    ("dying", "die"),
    ("lying", "lie"),
    ("tying", "tie"),
    ("news", "news"),
    ("innings", "inning"),
    ("inning", "inning"),
    ("outings", "outing"),
    ("outing", "outing"),
    ("cannings", "canning"),
    ("canning", "canning"),
    ("howe", "howe"),
    ("proceed", "proceed"),
    ("exceed", "exceed"),
];

/// Endings that become others when a syllable is left before them; the first that fits decides.
const STEP_2: [(&str, &str); 21] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("fulli", "ful"),
];

const STEP_3: [(&str, &str); 7] = [
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
];

/// Endings that fall away when two syllables are left before them.
const STEP_4: [&str; 19] = [
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou",
    "ism", "ate", "iti", "ous", "ive", "ize",
];

/// `PorterStemmer().stem(word)` of a lower-case ASCII word.
pub(super) fn stem(word: &str) -> String {
    let irregular =
        IRREGULAR.iter().chain(&[("succeed", "succeed")]).find(|(form, _)| *form == word);
    if let Some((_, stem)) = irregular {
        return (*stem).to_owned();
    }
    if word.len() <= 2 {
        return word.to_owned();
    }
    let steps = [step_1a, step_1b, step_1c, step_2, step_3, step_4, step_5a, step_5b];
    steps.iter().fold(word.to_owned(), |word, step| step(word))
}

fn step_1a(word: String) -> String {
    if word.len() == 4 && word.ends_with("ies") {
        return cut(&word, 1);
    }
    if word.ends_with("sses") || word.ends_with("ies") {
        return cut(&word, 2);
    }
    if word.ends_with('s') && !word.ends_with("ss") { cut(&word, 1) } else { word }
}

fn step_1b(word: String) -> String {
    if word.ends_with("ied") {
        return cut(&word, if word.len() == 4 { 1 } else { 2 });
    }
    if let Some(stem) = word.strip_suffix("eed") {
        return if measure(stem) > 0 { cut(&word, 1) } else { word };
    }
    let stems = ["ed", "ing"].iter().filter_map(|ending| word.strip_suffix(ending));
    match stems.filter(|stem| has_vowel(stem)).map(str::to_owned).next() {
        Some(stem) => tidy(stem),
        None => word,
    }
}

/// Tidies a stem after step 1b has taken an ending away.
fn tidy(stem: String) -> String {
    if ["at", "bl", "iz"].iter().any(|ending| stem.ends_with(ending)) {
        return stem + "e";
    }
    if ends_in_double_consonant(&stem) {
        return if stem.ends_with(['l', 's', 'z']) { stem } else { cut(&stem, 1) };
    }
    if measure(&stem) == 1 && ends_short(&stem) { stem + "e" } else { stem }
}

fn step_1c(word: String) -> String {
    match word.strip_suffix('y') {
        Some(stem) if stem.len() > 1 && consonants(stem).last() == Some(&true) => {
            format!("{stem}i")
        }
        _ => word,
    }
}

fn step_2(mut word: String) -> String {
    if let Some(stem) = word.strip_suffix("alli")
        && measure(stem) > 0
    {
        word = format!("{stem}al");
    }
    for (ending, replacement) in STEP_2 {
        if let Some(stem) = word.strip_suffix(ending) {
            return if measure(stem) > 0 { format!("{stem}{replacement}") } else { word };
        }
    }
    // Here the syllable may be in the ending's own first letter.
    if word.ends_with("logi") && measure(&word[..word.len() - 3]) > 0 {
        cut(&word, 1)
    } else {
        word
    }
}

fn step_3(word: String) -> String {
    for (ending, replacement) in STEP_3 {
        if let Some(stem) = word.strip_suffix(ending) {
            return if measure(stem) > 0 { format!("{stem}{replacement}") } else { word };
        }
    }
    word
}

fn step_4(word: String) -> String {
    for ending in STEP_4 {
        if let Some(stem) = word.strip_suffix(ending) {
            let allowed = ending != "ion" || stem.ends_with(['s', 't']);
            return if measure(stem) > 1 && allowed { stem.to_owned() } else { word };
        }
    }
    word
}

fn step_5a(word: String) -> String {
    match word.strip_suffix('e') {
        Some(stem) if measure(stem) > 1 || (measure(stem) == 1 && !ends_short(stem)) => {
            stem.to_owned()
        }
        _ => word,
    }
}

fn step_5b(word: String) -> String {
    if word.ends_with("ll") && measure(&word[..word.len() - 1]) > 1 { cut(&word, 1) } else { word }
}

fn cut(word: &str, letters: usize) -> String {
    word[..word.len() - letters].to_owned()
}

/// Whether each letter is a consonant: `y` is one unless it follows one. Digits are.
fn consonants(word: &str) -> Vec<bool> {
    let mut flags: Vec<bool> = Vec::with_capacity(word.len());
    for letter in word.bytes() {
        flags.push(match letter {
            b'a' | b'e' | b'i' | b'o' | b'u' => false,
            b'y' => !flags.last().copied().unwrap_or(false),
            _ => true,
        });
    }
    flags
}

/// How often a consonant follows a vowel.
fn measure(stem: &str) -> usize {
    consonants(stem).windows(2).filter(|pair| !pair[0] && pair[1]).count()
}

fn has_vowel(stem: &str) -> bool {
    consonants(stem).contains(&false)
}

fn ends_in_double_consonant(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.len() >= 2
        && bytes[bytes.len() - 1] == bytes[bytes.len() - 2]
        && consonants(word).last() == Some(&true)
}

/// Ends in consonant, vowel and a consonant other than w, x and y; or is one vowel and one
/// consonant.
fn ends_short(word: &str) -> bool {
    match consonants(word)[..] {
        [false, true] => true,
        [.., true, false, true] => !word.ends_with(['w', 'x', 'y']),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_as_nltk_does() {
        for (word, expect) in [
            ("ponies", "poni"),
            ("ties", "tie"),
            ("tied", "tie"),
            ("spied", "spi"),
            ("agreed", "agre"),
            ("plastered", "plaster"),
            ("sing", "sing"),
            ("hopping", "hop"),
            ("falling", "fall"),
            ("filing", "file"),
            ("happy", "happi"),
            ("enjoy", "enjoy"),
            ("relational", "relat"),
            ("radically", "radic"),
            ("archaeology", "archaeolog"),
            ("adoption", "adopt"),
            ("controlling", "control"),
            ("skies", "sky"),
            ("succeed", "succeed"),
            ("yyyying", "yyyi"),
            ("2nds", "2nd"),
        ] {
            assert_eq!(stem(word), expect, "{word}");
        }
    }
}
