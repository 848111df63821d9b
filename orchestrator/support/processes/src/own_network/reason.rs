//! Why there is no namespace: because this machine gives none, or only this time.

use std::{fmt, fs, io};

use rustix::io::Errno;

/// What the text of a lasting reason begins with, on its way from the helper.
const LASTING: &str = "never: ";
/// How many namespaces a user may have. Some systems forbid them by a limit of none.
const LIMITS: [&str; 2] =
    ["/proc/sys/user/max_user_namespaces", "/proc/sys/user/max_net_namespaces"];

/// Why there is no namespace.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// It will be the same next time.
    Lasting(String),
    /// Something was used up, or took too long.
    Passing(String),
}

impl Reason {
    pub(super) fn of(error: &io::Error) -> Reason {
        let none_allowed = || {
            let limits = LIMITS.iter().filter_map(|limit| fs::read_to_string(limit).ok());
            limits.into_iter().any(|limit| limit.trim() == "0")
        };
        Reason::by(error, none_allowed)
    }

    fn by(error: &io::Error, none_allowed: impl FnOnce() -> bool) -> Reason {
        let lasts = match Errno::from_io_error(error) {
            Some(Errno::NOSPC | Errno::USERS) => none_allowed(),
            Some(Errno::AGAIN | Errno::NOMEM | Errno::MFILE | Errno::NFILE | Errno::INTR) => false,
            // Forbidden, unknown to the kernel or to a filter, or a map that cannot be written.
            Some(_) => true,
            None => false,
        };
        let why = error.to_string();
        if lasts { Reason::Lasting(why) } else { Reason::Passing(why) }
    }

    /// What [`fmt::Display`] has written.
    pub(super) fn read(text: &str) -> Reason {
        match text.strip_prefix(LASTING) {
            Some(why) => Reason::Lasting(why.to_owned()),
            None => Reason::Passing(text.to_owned()),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Lasting(why) => write!(f, "{LASTING}{why}"),
            Reason::Passing(why) => f.write_str(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_machine_forbids_lasts() {
        let lasts = |errno: Errno, none_allowed| {
            let reason = Reason::by(&errno.into(), || none_allowed);
            assert_eq!(Reason::read(&reason.to_string()), reason);
            matches!(reason, Reason::Lasting(_))
        };
        for errno in [Errno::PERM, Errno::NOSYS, Errno::ACCESS, Errno::INVAL, Errno::AFNOSUPPORT] {
            assert!(lasts(errno, false), "{errno}");
        }
        for errno in [Errno::NOSPC, Errno::AGAIN, Errno::NOMEM, Errno::NFILE] {
            assert!(!lasts(errno, false), "{errno}");
        }
        assert!(lasts(Errno::NOSPC, true), "the limit is none");
        let silent = Reason::read("the helper ended without a word");
        assert!(matches!(silent, Reason::Passing(_)));
    }
}
