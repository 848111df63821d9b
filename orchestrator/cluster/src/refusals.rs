//! What parts on other machines cannot be told. It is refused, since it would be read by others, or
//! be done by each part by itself.

use crate::Error;

/// Fails for a value of a variable among the words of a part's command line. `written` is what the
/// words are written into, and `instead` says where a variable belongs.
pub(crate) fn of_words(
    words: &[String],
    written: &'static str,
    instead: &'static str,
) -> Result<(), Error> {
    let mut pairs = words.iter().zip(words.iter().skip(1));
    let is_env = |option: &str| matches!(option, "--agent-env" | "--site-env" | "--model-env");
    match pairs.find(|(option, value)| is_env(option) && value.contains('=')) {
        Some((option, _)) => Err(Error::VariableValue { option: option.clone(), written, instead }),
        None => Ok(()),
    }
}

/// Fails where each part would add to one cassette.
pub(crate) fn of_cassette(adds: bool) -> Result<(), Error> {
    if adds { Err(Error::SharedCassette) } else { Ok(()) }
}
