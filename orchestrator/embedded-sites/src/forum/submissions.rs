//! Submissions, single and in lists.

use rusqlite::{Connection, Row, named_params, params};
use serde::Serialize;

use super::slug::slug;

/// A submission as pages show it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Submission {
    pub(super) id: i64,
    pub(super) forum: String,
    pub(super) forum_id: i64,
    pub(super) user: String,
    pub(super) user_id: i64,
    pub(super) title: String,
    pub(super) slug: String,
    pub(super) url: Option<String>,
    pub(super) host: Option<String>,
    pub(super) image: Option<String>,
    pub(super) body: String,
    pub(super) created: i64,
    pub(super) edited: Option<i64>,
    pub(super) net: i64,
    pub(super) comments: i64,
    /// The viewer's vote: 1, -1, or 0 for none.
    pub(super) choice: i64,
}

impl Submission {
    pub(super) fn address(&self) -> String {
        format!("/f/{}/{}/{}", self.forum, self.id, self.slug)
    }
}

/// The order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Hot,
    New,
    Active,
    Top,
    Controversial,
    MostCommented,
}

impl Sort {
    /// Each order with its name in URLs and its label.
    pub(super) const ALL: [(Sort, &'static str, &'static str); 6] = [
        (Sort::Hot, "hot", "Hot"),
        (Sort::New, "new", "New"),
        (Sort::Active, "active", "Active"),
        (Sort::Top, "top", "Top"),
        (Sort::Controversial, "controversial", "Controversial"),
        (Sort::MostCommented, "most_commented", "Most commented"),
    ];

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, spelled, _)| *spelled == name).map(|(sort, ..)| *sort)
    }

    fn column(self) -> &'static str {
        match self {
            Sort::Hot => "hot",
            Sort::New => "created",
            Sort::Active => "active",
            Sort::Top => "net",
            Sort::Controversial => "heat",
            Sort::MostCommented => "comments",
        }
    }

    /// Whether the list is limited to a period.
    pub(super) fn is_timed(self) -> bool {
        matches!(self, Sort::Top | Sort::Controversial | Sort::MostCommented)
    }
}

/// The periods: name in URLs, label, length in seconds.
pub(super) const SPANS: [(&str, &str, i64); 6] = [
    ("hour", "Past hour", 3600),
    ("day", "Past 24 hours", 86_400),
    ("week", "Past week", 7 * 86_400),
    ("month", "Past month", 31 * 86_400),
    ("year", "Past year", 366 * 86_400),
    ("all", "All time", i64::MAX),
];

/// Which submissions are in a list.
#[derive(Debug, Clone, Copy)]
pub(super) enum Scope {
    All,
    Featured,
    /// In forums that this user subscribes to.
    Subscribed(i64),
    /// In forums that this user moderates.
    Moderated(i64),
    Forum(i64),
    By(i64),
}

/// Number of entries on a page of a list.
pub(super) const PAGE: i64 = 25;

// A fixed join order (`cross join`) puts the list's index first, so that a page costs only its own
// rows and no sort.
const SELECT: &str = "select s.id, f.name, s.forum, u.name, s.user, s.title, s.slug, s.url, s.image, s.body, s.created, \
     s.edited, s.net, s.comments, \
     coalesce((select choice from submission_votes v where v.user = :viewer and v.submission = s.id), 0) \
     from submissions s cross join forums f on f.id = s.forum cross join users u on u.id = s.user";

fn submission(row: &Row<'_>) -> rusqlite::Result<Submission> {
    let url: Option<String> = row.get(7)?;
    let host =
        url.as_deref().and_then(|url| url::Url::parse(url).ok()?.host_str().map(str::to_owned));
    Ok(Submission {
        id: row.get(0)?,
        forum: row.get(1)?,
        forum_id: row.get(2)?,
        user: row.get(3)?,
        user_id: row.get(4)?,
        title: row.get(5)?,
        slug: row.get(6)?,
        url,
        host,
        image: row.get(8)?,
        body: row.get(9)?,
        created: row.get(10)?,
        edited: row.get(11)?,
        net: row.get(12)?,
        comments: row.get(13)?,
        choice: row.get(14)?,
    })
}

/// A submission as `viewer` sees it (0 for nobody).
pub(super) fn get(db: &Connection, id: i64, viewer: i64) -> rusqlite::Result<Submission> {
    db.prepare_cached(&format!("{SELECT} where s.id = :id"))?
        .query_row(named_params! { ":id": id, ":viewer": viewer }, submission)
}

/// A page of a list, and whether more follow. Contains only submissions from `since` on.
pub(super) fn list(
    db: &Connection,
    scope: Scope,
    sort: Sort,
    since: i64,
    page: i64,
    viewer: i64,
) -> rusqlite::Result<(Vec<Submission>, bool)> {
    // Each filter uses `:of`, because a parameter that a statement does not have is an error.
    let (filter, of) = match scope {
        Scope::All => ("coalesce(:of, 0) = 0", 0),
        Scope::Featured => ("s.forum in (select id from forums where featured) and :of = 0", 0),
        Scope::Subscribed(user) => {
            ("s.forum in (select forum from subscriptions where user = :of)", user)
        }
        Scope::Moderated(user) => {
            ("s.forum in (select forum from moderators where user = :of)", user)
        }
        Scope::Forum(forum) => ("s.forum = :of", forum),
        Scope::By(user) => ("s.user = :of", user),
    };
    let order = sort.column();
    // Ids decide ties, so that no submission is on two pages.
    let sql = format!(
        "{SELECT} where {filter} and s.created >= :since order by s.{order} desc, s.id desc limit :limit offset :offset"
    );
    let mut statement = db.prepare_cached(&sql)?;
    let page = named_params! {
        ":viewer": viewer, ":of": of, ":since": since, ":limit": PAGE + 1, ":offset": (page - 1) * PAGE,
    };
    let mut found = statement.query_map(page, submission)?.collect::<rusqlite::Result<Vec<_>>>()?;
    // The query asks for one more than a page has, to see whether there is a next page.
    let more = found.len() as i64 > PAGE;
    found.truncate(PAGE as usize);
    Ok((found, more))
}

/// The submissions that have all of `words` in title or body, the newest first. `words` is a
/// full-text expression.
pub(super) fn search(
    db: &Connection,
    words: &str,
    page: i64,
    viewer: i64,
) -> rusqlite::Result<(Vec<Submission>, bool)> {
    let sql = format!(
        "{SELECT} where s.id in (select rowid from search where search match :words) \
         order by s.id desc limit :limit offset :offset"
    );
    let mut statement = db.prepare_cached(&sql)?;
    // One more than a page shows whether another one follows.
    let page = named_params! { ":viewer": viewer, ":words": words, ":limit": PAGE + 1, ":offset": (page - 1) * PAGE };
    let mut found = statement.query_map(page, submission)?.collect::<rusqlite::Result<Vec<_>>>()?;
    let more = found.len() as i64 > PAGE;
    found.truncate(PAGE as usize);
    Ok((found, more))
}

/// Creates a submission with its author's vote and returns its id.
pub(super) fn create(
    db: &Connection,
    forum: i64,
    user: i64,
    (title, url, body): (&str, Option<&str>, &str),
    now: i64,
) -> rusqlite::Result<i64> {
    let sql = "insert into submissions (forum, user, title, slug, url, body, created, active, up) \
               values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, 1)";
    db.prepare_cached(sql)?.execute(params![forum, user, title, slug(title), url, body, now])?;
    let id = db.last_insert_rowid();
    // The vote of the author, which `up` counts already.
    db.execute(
        "insert into submission_votes (user, submission, choice) values (?1, ?2, 1)",
        [user, id],
    )?;
    Ok(id)
}

pub(super) fn change(
    db: &Connection,
    id: i64,
    title: &str,
    url: Option<&str>,
    body: &str,
    now: i64,
) -> rusqlite::Result<()> {
    let sql = "update submissions set title = ?2, url = ?3, body = ?4, edited = ?5 where id = ?1";
    db.prepare_cached(sql)?.execute(params![id, title, url, body, now]).map(drop)
}

/// Deletes a submission with its comments and votes.
pub(super) fn delete(db: &Connection, id: i64) -> rusqlite::Result<()> {
    db.execute("delete from submissions where id = ?1", [id]).map(drop)
}

/// Updates the counts of a submission after a comment was added or deleted.
pub(super) fn recount(db: &Connection, id: i64) -> rusqlite::Result<()> {
    let sql = "update submissions set comments = (select count(*) from comments where submission = ?1 and not deleted), \
               active = coalesce((select max(created) from comments where submission = ?1), created) where id = ?1";
    db.prepare_cached(sql)?.execute([id]).map(drop)
}
