//! `sandbox keep`: what programs are started by that are not to see everything. Not for people.

use std::ffi::OsString;
use std::process::ExitCode;

use camino::Utf8PathBuf;
use processes::confine::{KEEPER, RELAY, ROOM, inside, keep, relay_alone};

/// Runs one of these commands, where the command line is one of theirs. They are no part of the
/// definition of the command line: to read that takes longer than to start a program, and a process
/// with one thread alone can make a namespace of users.
pub(crate) fn run(mut words: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let command = words.nth(1)?;
    let code = if command == KEEPER {
        keep(words.collect())
    } else if command == ROOM {
        inside()
    } else if command == RELAY {
        relay_alone()
    } else {
        return None;
    };
    Some(ExitCode::from(code))
}

/// This executable, by which runs start programs.
pub(crate) fn helper() -> Option<Utf8PathBuf> {
    Utf8PathBuf::from_path_buf(std::env::current_exe().ok()?).ok()
}
