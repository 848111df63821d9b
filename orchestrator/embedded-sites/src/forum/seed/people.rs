//! The forum's users: a few listed accounts and about four hundred generated ones.

use std::collections::HashSet;

use crate::dice::Dice;

/// An account with a public password.
pub struct Account {
    /// The log-in name.
    pub username: &'static str,
    /// The password.
    pub password: &'static str,
    /// The purpose of the account.
    pub role: &'static str,
}

/// The listed accounts of the golden state. Tasks use the first one. `forum_keeper` is the
/// administrator; others moderate forums.
pub const ACCOUNTS: [Account; 6] = [
    Account { username: "MarvelsGrantMan136", password: "test1234", role: "member" },
    Account { username: "forum_keeper", password: "keeper1234", role: "administrator" },
    Account { username: "lena_marsh", password: "test1234", role: "moderator" },
    Account { username: "oldtram", password: "test1234", role: "moderator" },
    Account { username: "bramble_and_rye", password: "test1234", role: "moderator" },
    Account { username: "tallships", password: "test1234", role: "member" },
];

/// The number of generated accounts.
pub(super) const OTHERS: usize = 420;

const FIRST: [&str; 30] = [
    "quiet", "copper", "lazy", "northern", "paper", "rusty", "gentle", "salty", "spare", "velvet",
    "hollow", "early", "crooked", "plain", "amber", "mossy", "second", "lucky", "grumpy", "silver",
    "humble", "distant", "faded", "tiny", "windy", "sober", "nimble", "bitter", "polite", "wooden",
];
const SECOND: [&str; 30] = [
    "harbour", "teapot", "badger", "lantern", "ferry", "bicycle", "heron", "button", "orchard",
    "signal", "otter", "kettle", "compass", "pigeon", "anchor", "violin", "walnut", "printer",
    "glacier", "sparrow", "ladder", "biscuit", "tunnel", "meadow", "magnet", "window", "turnip",
    "engine", "umbrella", "postcard",
];

const BIOGRAPHIES: [&str; 14] = [
    "I read more than I write.",
    "Tea, trains and long walks.",
    "Here for the gardening, staying for the arguments.",
    "Retired surveyor. Ask me about bridges.",
    "Parent of two, owner of too many bicycles.",
    "Opinions are mine, typos are my keyboard's.",
    "I mend things. Sometimes they stay mended.",
    "Night shift, so forgive the hours.",
    "Cook by trade, runner by stubbornness.",
    "Learning the cello. Sorry, neighbours.",
    "Amateur astronomer under a cloudy sky.",
    "If I am wrong, tell me why.",
    "Librarian. Yes, I have read it.",
    "Moved here from somewhere warmer.",
];

/// Generates `count` different names.
pub(super) fn names(dice: &mut Dice, count: usize) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut names = Vec::with_capacity(count);
    while names.len() < count {
        let (first, second) = (dice.pick(&FIRST), dice.pick(&SECOND));
        let name = match dice.below(5) {
            0 => format!("{first}_{second}"),
            1 => format!("{first}{second}{}", dice.between(2, 99)),
            2 => format!("{}{}", title(first), title(second)),
            3 => format!("{}{}{}", title(second), title(first), dice.between(1, 2005)),
            _ => format!("{second}-{first}"),
        };
        if seen.insert(name.to_lowercase()) {
            names.push(name);
        }
    }
    names
}

pub(super) fn biography(dice: &mut Dice) -> &'static str {
    if dice.chance(40) { dice.pick(&BIOGRAPHIES) } else { "" }
}

fn title(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}
