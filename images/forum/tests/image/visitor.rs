//! Somebody who asks a forum for pages by plain HTTP, and two of them who compare what they see.

use std::collections::{HashSet, VecDeque};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use sites::SiteTarget;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};

const SOON: Duration = Duration::from_secs(60);

/// Keeps a cookie and the token that the last page's forms had.
pub(crate) struct Visitor {
    at: SiteTarget,
    cookie: String,
    token: String,
}

impl Visitor {
    pub(crate) fn at(at: SiteTarget) -> Visitor {
        Visitor { at, cookie: String::new(), token: String::new() }
    }

    /// Is who the cookies say from now on.
    pub(crate) fn wear(&mut self, cookie: String) {
        self.cookie = cookie;
    }

    /// The whole answer to `GET /path` or `POST /path`.
    pub(crate) async fn send(&mut self, what: &str, form: &str) -> String {
        let form =
            if form.is_empty() { String::new() } else { format!("token={}&{form}", self.token) };
        let head = format!(
            "{what} HTTP/1.1\r\nHost: forum.test\r\nX-Forwarded-Proto: https\r\nConnection: close\r\nCookie: {}\r\n",
            self.cookie
        );
        let sent = format!(
            "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}",
            form.len()
        );
        let answer = ask(&self.at, &format!("{head}{sent}\r\n\r\n{form}")).await.unwrap();
        if let Some(value) = between(&answer, "\r\nset-cookie: ", ";") {
            self.cookie = value.to_owned();
        }
        if let Some(token) = between(&answer, "name=\"token\" value=\"", "\"") {
            self.token = token.to_owned();
        }
        answer
    }
}

async fn ask(at: &SiteTarget, request: &str) -> std::io::Result<String> {
    let asking = async {
        match at {
            SiteTarget::Address(address) => {
                exchange(TcpStream::connect(address).await?, request).await
            }
            SiteTarget::Socket(path) => exchange(UnixStream::connect(path).await?, request).await,
            SiteTarget::Url(url) => panic!("{url} is no site of ours"),
        }
    };
    tokio::time::timeout(SOON, asking).await?
}

async fn exchange(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    request: &str,
) -> std::io::Result<String> {
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

pub(crate) async fn until_it_answers(address: SocketAddr) {
    let deadline = Instant::now() + SOON;
    let mut polls = tokio::time::interval(Duration::from_millis(10));
    while let Err(error) = TcpStream::connect(address).await {
        assert!(Instant::now() < deadline, "{address} does not answer: {error}");
        polls.tick().await;
    }
}

/// Both do the same and must be answered alike, to the last byte.
pub(crate) async fn both(visitors: &mut [Visitor; 2], what: &str, form: &str) -> String {
    let [one, other] = visitors;
    let answers = (one.send(what, form).await, other.send(what, form).await);
    assert_eq!(answers.0, answers.1, "{what}");
    answers.0
}

/// Follows the links from the front page, nearest first; how many pages both have seen alike.
pub(crate) async fn crawl(visitors: &mut [Visitor; 2], limit: usize) -> usize {
    let mut queue =
        VecDeque::from(["/".to_owned(), "/search?q=train".to_owned(), "/nothing/here".to_owned()]);
    let mut seen = HashSet::new();
    while let Some(path) = queue.pop_front().filter(|_| seen.len() < limit) {
        if !seen.insert(path.clone()) {
            continue;
        }
        let page = both(visitors, &format!("GET {path}"), "").await;
        let links = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
        queue.extend(
            links.filter(|link| link.starts_with('/')).map(|link| link.replace("&amp;", "&")),
        );
    }
    seen.len()
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    text.split_once(before)?.1.split(after).next()
}
