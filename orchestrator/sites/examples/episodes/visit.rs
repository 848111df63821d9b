//! A visitor of an instance, which requests pages and sends forms.

use sites::manifest::{Application, DriverSpec};
use sites::{Lease, LoginSession};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::Outcome;

/// Sends forms that change every table that a visitor can change, each of which has to be taken.
pub(crate) async fn send_forms(lease: &Lease, cookies: &str, episode: usize) -> Outcome<()> {
    let number = 1 + episode * 37 % 4000;
    let forms: Vec<(String, String)> = match &lease.site().driver {
        DriverSpec::Embedded(Application::Forum) => vec![
            (format!("/sv/{number}"), format!("choice={}", ["1", "-1"][episode % 2])),
            (format!("/cv/{number}"), format!("choice={}", ["-1", "1"][episode % 2])),
            (
                "/submit".to_owned(),
                format!(
                    "submission[forum]=books&submission[title]=Episode+{episode}&submission[body]=*Many*"
                ),
            ),
            (
                "/create_forum".to_owned(),
                format!(
                    "forum[name]=episode_{episode}&forum[title]=E&forum[description]=E&forum[sidebar]=E"
                ),
            ),
        ],
        _ => vec![
            ("/scratchpad.html".to_owned(), format!("title=Episode&body={episode}")),
            ("/scratchpad.html".to_owned(), "title=&body=more".to_owned()),
            ("/notes/1".to_owned(), "title=Changed&body=of+all".to_owned()),
            ("/notes/2/delete".to_owned(), String::new()),
        ],
    };
    let page = if lease.site().driver == DriverSpec::Embedded(Application::Forum) {
        "/submit"
    } else {
        "/scratchpad.html"
    };
    let page = request(lease, &format!("GET {page}"), cookies, None).await?;
    let token =
        page.split_once("name=\"token\" value=\"").and_then(|(_, rest)| rest.split('"').next());
    let token = token.ok_or("no form with a token")?;
    for (path, fields) in forms {
        let form = format!("token={token}&{}", fields.replace('[', "%5B").replace(']', "%5D"));
        let answer = request(lease, &format!("POST {path}"), cookies, Some(&form)).await?;
        if !answer.starts_with("HTTP/1.1 302") {
            return Err(
                format!("{path} answers {}", answer.lines().next().unwrap_or_default()).into()
            );
        }
    }
    Ok(())
}

/// The cookies of somebody who is logged in, as a header field.
pub(crate) fn header(given: &LoginSession) -> String {
    let cookies = given.cookies.iter().map(|cookie| format!("{}={}", cookie.name, cookie.value));
    cookies.collect::<Vec<_>>().join("; ")
}

/// A page of an instance, as anybody sees it.
pub(crate) async fn ask(lease: &Lease, path: &str) -> Outcome<String> {
    request(lease, &format!("GET {path}"), "", None).await
}

/// One request; `form` is the body of one that is sent.
async fn request(lease: &Lease, what: &str, cookies: &str, form: Option<&str>) -> Outcome<String> {
    let host = lease.site().canonical();
    let mut stream = lease.upstream().connect().await?;
    let sent = form.map_or(String::new(), |form| {
        format!(
            "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n",
            form.len()
        )
    });
    let request = format!(
        "{what} HTTP/1.1\r\nHost: {host}\r\nX-Forwarded-Proto: https\r\nConnection: close\r\n\
         Cookie: {cookies}\r\n{sent}\r\n{}",
        form.unwrap_or("")
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// The words that a page shows: what stands in header fields, tags and scripts may differ from
/// visit to visit.
pub(crate) fn words(page: &str) -> String {
    let body = page.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let shown = body
        .split('<')
        .filter(|part| !part.starts_with("script"))
        .filter_map(|part| part.split_once('>'));
    let words = shown.flat_map(|(_, text)| text.split(|c: char| !c.is_alphabetic()));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}
