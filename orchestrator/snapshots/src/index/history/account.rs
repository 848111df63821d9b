//! Who is logged in, in a state of a site, and who has done what before it.
//!
//! A log-in and a log-out change who asks. What a site holds, others change. So a state can be told
//! in two parts, and of states that are not equal, those are near that agree in them:
//!
//! ```text
//! writes                          who is logged in    what was done, and by whom
//! [add]                           nobody              add by nobody
//! [log in, add]                   log in              add by log in
//! [log in, log out, log in, add]  log in              add by log in
//! [log in, add, log out]          nobody              add by log in
//! ```

use super::SiteHistory;

/// What a write does to who is logged in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SessionChange {
    /// Nothing.
    #[default]
    Unchanged,
    /// It logs in: it is at an address of log-ins, and sets a cookie of one.
    LogIn,
    /// It logs out: it takes such a cookie away, or is at an address of log-outs.
    LogOut,
}

/// A state as who is logged in, and what was done by whom.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// The write that logged in; `None` where nobody is logged in.
    pub login: Option<u32>,
    /// The writes that are no log-ins and log-outs, each after the one that had logged in.
    pub writes: Vec<(Option<u32>, u32)>,
}

impl SiteHistory {
    /// Who is logged in after these writes, and what was done.
    pub fn account(&self, writes: &[u32]) -> Account {
        let mut account = Account::default();
        for write in writes {
            match self
                .writes
                .get(*write as usize)
                .map(|write| write.session_change)
                .unwrap_or_default()
            {
                SessionChange::Unchanged => account.writes.push((account.login, *write)),
                SessionChange::LogIn => account.login = Some(*write),
                SessionChange::LogOut => account.login = None,
            }
        }
        account
    }
}
