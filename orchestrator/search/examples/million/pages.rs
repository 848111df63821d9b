//! Invented pages: words by Zipf's law, subjects, a thousand hosts. The same number gives the same
//! page.

/// The most frequent words of English pages, the first the most frequent.
pub(crate) const FREQUENT: &[&str] = &[
    "the",
    "of",
    "and",
    "to",
    "a",
    "in",
    "is",
    "for",
    "that",
    "on",
    "with",
    "it",
    "as",
    "are",
    "this",
    "by",
    "be",
    "you",
    "your",
    "at",
    "or",
    "from",
    "have",
    "not",
    "was",
    "we",
    "can",
    "all",
    "more",
    "an",
    "page",
    "home",
    "price",
    "search",
    "new",
    "about",
    "contact",
    "one",
    "has",
    "will",
    "if",
    "their",
    "time",
    "free",
    "other",
    "information",
    "use",
    "when",
    "site",
    "which",
    "do",
    "up",
    "may",
    "what",
    "service",
    "view",
    "help",
    "privacy",
    "get",
    "out",
    "news",
    "cookie",
    "login",
    "account",
    "our",
    "no",
    "any",
    "there",
    "only",
    "year",
    "day",
    "data",
    "product",
    "work",
    "people",
    "order",
    "see",
    "name",
    "first",
    "now",
    "city",
    "how",
    "who",
    "read",
    "open",
    "policy",
    "terms",
    "menu",
    "shop",
    "cart",
    "review",
    "hours",
    "train",
    "ticket",
    "market",
];
/// Different words.
const WORDS: usize = 400_000;
/// Words that a subject has.
const SUBJECT: u64 = 40;
const HOSTS: u64 = 1000;

/// A pseudo-random sequence (SplitMix64), the same on every machine.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Chance {
        Chance(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, number: u64) -> u64 {
        self.next() % number.max(1)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

pub(crate) struct Web {
    words: Vec<String>,
    /// The share of all words up to each.
    shares: Vec<f64>,
}

pub(crate) struct InventedPage {
    pub(crate) url: String,
    pub(crate) host: String,
    pub(crate) title: String,
    pub(crate) text: String,
}

impl Web {
    pub(crate) fn new() -> Web {
        let mut words: Vec<String> = FREQUENT.iter().map(|word| (*word).to_owned()).collect();
        words.extend((words.len()..WORDS).map(|rank| invented(rank as u64)));
        let mut sum = 0.0;
        let mut shares: Vec<f64> = (0..words.len())
            .map(|rank| {
                sum += 1.0 / (rank as f64 + 2.7);
                sum
            })
            .collect();
        shares.iter_mut().for_each(|share| *share /= sum);
        Web { words, shares }
    }

    /// A word of the language.
    pub(crate) fn word(&self, chance: &mut Chance) -> &str {
        let share = chance.unit();
        let rank = self.shares.partition_point(|own| *own < share);
        self.words.get(rank).map_or("the", String::as_str)
    }

    /// A word of a subject.
    fn subject_word(&self, subject: u64, chance: &mut Chance) -> &str {
        let rank = 500 + Chance::new(subject * SUBJECT + chance.below(SUBJECT)).below(60_000);
        &self.words[rank as usize]
    }

    pub(crate) fn page(&self, number: u64) -> InventedPage {
        let mut chance = Chance::new(number);
        let (host_number, subject) = (chance.below(HOSTS), chance.below(20_000));
        let host = format!("www.site-{host_number:03}.test");
        let mut title = String::new();
        for _ in 0..3 + chance.below(6) {
            title.push_str(self.either(subject, &mut chance, 2));
            title.push(' ');
        }
        // Most pages are short, a few are long.
        let length =
            60 + chance.below(240) + if chance.below(10) == 0 { chance.below(2400) } else { 0 };
        let mut text = String::with_capacity(length as usize * 7);
        for _ in 0..length {
            text.push_str(self.either(subject, &mut chance, 6));
            text.push_str(if chance.below(12) == 0 { ". " } else { " " });
        }
        let slug: Vec<&str> = title.split_whitespace().take(4).collect();
        let url = format!("https://{host}/{}/{number}", slug.join("-"));
        InventedPage { url, host, title: title.trim_end().to_owned(), text }
    }

    /// One in `of` words is of the subject.
    fn either(&self, subject: u64, chance: &mut Chance, of: u64) -> &str {
        if chance.below(of) == 0 { self.subject_word(subject, chance) } else { self.word(chance) }
    }
}

/// A word that sounds like one.
fn invented(rank: u64) -> String {
    const BEGIN: &[&str] = &[
        "b", "br", "c", "d", "f", "g", "gr", "h", "k", "l", "m", "n", "p", "pl", "r", "s", "st",
        "t", "v", "w",
    ];
    const MIDDLE: &[&str] = &["a", "e", "i", "o", "u", "ai", "ea", "ou"];
    let (mut word, mut rest) = (String::new(), rank);
    for _ in 0..2 {
        word.push_str(BEGIN[(rest % BEGIN.len() as u64) as usize]);
        rest /= BEGIN.len() as u64;
        word.push_str(MIDDLE[(rest % MIDDLE.len() as u64) as usize]);
        rest /= MIDDLE.len() as u64;
    }
    while rest > 0 {
        word.push_str(["n", "r", "lt", "m", "nd", "x", "k", "rt"][(rest % 8) as usize]);
        word.push_str(MIDDLE[(rest / 8 % 8) as usize]);
        rest /= 64;
    }
    word
}
