//! The server that shows a run: what it answers, and whom, and what it keeps to itself.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use results::server::{Page, RunServer};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_util::task::AbortOnDropHandle;

use crate::many::write_many;
use crate::written::{HOSTILE, Tested, write_run};

/// A run that is served.
struct Served {
    run: Utf8PathBuf,
    at: SocketAddr,
    /// The first part of every path.
    key: String,
    _serving: AbortOnDropHandle<()>,
    _folder: TempDir,
}

impl Served {
    async fn start(
        write: impl FnOnce(&Utf8PathBuf) -> Tested,
    ) -> Result<Served, Box<dyn std::error::Error>> {
        let folder = tempfile::tempdir()?;
        let run = Utf8PathBuf::try_from(folder.path().join("run"))?;
        write(&run)?;
        let server = RunServer::bind(&run, 0).await?;
        let at = server.address();
        assert!(at.ip().is_loopback(), "{at}");
        let url = server.url(Page::Report)?;
        let key = url.strip_prefix(&format!("http://{at}/")).and_then(|key| key.strip_suffix('/'));
        let key = key.ok_or("a key")?.to_owned();
        let serving = AbortOnDropHandle::new(tokio::spawn(server.serve()));
        Ok(Served { run, at, key, _serving: serving, _folder: folder })
    }

    /// Sends a request with these fields after `Host`, to a path behind the key; its answer, body
    /// and all.
    async fn ask(&self, line: &str, fields: &str) -> Result<String, Box<dyn std::error::Error>> {
        let line = line.replacen('/', &format!("/{}/", self.key), 1);
        self.ask_at(&line, fields).await
    }

    async fn ask_at(&self, line: &str, fields: &str) -> Result<String, Box<dyn std::error::Error>> {
        let mut tcp = TcpStream::connect(self.at).await?;
        let host =
            if fields.contains("Host:") { String::new() } else { format!("Host: {}\r\n", self.at) };
        tcp.write_all(
            format!("{line} HTTP/1.1\r\n{host}{fields}Connection: close\r\n\r\n").as_bytes(),
        )
        .await?;
        let mut answer = Vec::new();
        tokio::time::timeout(Duration::from_secs(60), tcp.read_to_end(&mut answer)).await??;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }

    async fn get(&self, path: &str) -> Result<String, Box<dyn std::error::Error>> {
        self.ask(&format!("GET {path}"), "").await
    }

    async fn is_answered(&self, path: &str, status: u16) -> Tested {
        let answer = self.get(path).await?;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{path}: {answer}");
        Ok(())
    }
}

const EPISODE: &str = "/episodes/shop%252E1-1";

#[tokio::test]
async fn pages_and_what_they_need_are_served() -> Tested {
    let served = Served::start(|path| write_run(path, &["a", "b"])).await?;
    for page in ["/", "/report.html", "/trace.html", &format!("{EPISODE}/trace.html")] {
        let answer = served.get(page).await?;
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.contains("</html>"),
            "{page}: {answer}"
        );
        assert!(
            answer.contains("content-type: text/html") && !answer.contains(HOSTILE),
            "{page}: {answer}"
        );
    }
    let picture = served.get(&format!("{EPISODE}/step-01.png")).await?;
    assert!(
        picture.contains("content-type: image/png") && picture.contains("content-length: 25"),
        "{picture}"
    );
    for file in ["trace.jsonl", "ledger.jsonl", "episode.json"] {
        let answer = served.get(&format!("{EPISODE}/{file}")).await?;
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.contains("text/plain"),
            "{file}: {answer}"
        );
    }
    let head = served.ask(&format!("HEAD {EPISODE}/step-01.png"), "").await?;
    assert!(head.contains("content-length: 25") && head.ends_with("\r\n\r\n"), "{head}");
    Ok(())
}

#[tokio::test]
async fn what_pages_had_saved_is_not_run() -> Tested {
    let served = Served::start(|path| write_run(path, &["a"])).await?;
    let folder = served.run.join("episodes/shop%2E1-1");
    std::fs::create_dir(folder.join("downloads"))?;
    for name in ["100 %?.pdf", "page.html", "picture.png"] {
        std::fs::write(folder.join("downloads").join(name), "<script>")?;
    }
    std::fs::write(folder.join("goal-1.svg"), "<svg/>")?;
    for path in [
        "downloads/100%20%25%3F%2Epdf",
        "downloads/page.html",
        "downloads/picture.png",
        "goal-1.svg",
    ] {
        let answer = served.get(&format!("{EPISODE}/{path}")).await?;
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
        for field in
            ["content-disposition: attachment", "nosniff", "octet-stream", "'none'; sandbox"]
        {
            assert!(answer.contains(field), "{path} lacks {field}: {answer}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn nothing_outside_of_the_run_is_served_whatever_stands_in_it() -> Tested {
    use std::os::unix::fs::symlink;
    let served = Served::start(|path| write_run(path, &["a"])).await?;
    let outside = served.run.with_file_name("outside");
    std::fs::create_dir(&outside)?;
    for name in ["secret.txt", "trace.jsonl", "step-01.png"] {
        std::fs::write(outside.join(name), "the owner's")?;
    }
    let episodes = served.run.join("episodes");
    let episode = episodes.join("shop%2E1-1");
    symlink(outside.join("secret.txt"), episode.join("linked.txt"))?;
    symlink(&outside, episode.join("downloads"))?;
    symlink(&outside, episodes.join("linked-1"))?;
    for secret in ["storage_state.json", "network.har", ".hidden.txt"] {
        std::fs::write(episode.join(secret), "a cookie")?;
    }
    std::fs::create_dir(episodes.join(".other-1"))?;
    std::fs::write(episodes.join(".other-1/trace.jsonl"), "unfinished")?;
    rustix::fs::mknodat(
        rustix::fs::CWD,
        episode.join("fifo.txt").as_std_path(),
        rustix::fs::FileType::Fifo,
        0o600.into(),
        0,
    )?;
    for path in [
        "/../outside/secret.txt",
        "/%2e%2e/outside/secret.txt",
        "/episodes/../../outside/secret.txt",
        "/episodes/..%2f..%2foutside/secret.txt",
        "/episodes/%2fetc/passwd",
        "//etc/passwd",
        "/etc/passwd",
        "/episodes/linked-1/trace.jsonl",
        "/episodes/linked-1/trace.html",
        "/episodes/.other-1/trace.jsonl",
        "/episodes/nothing-1/trace.html",
        "/episodes",
        "/episodes/",
        EPISODE,
    ] {
        served.is_answered(path, 404).await?;
    }
    for name in [
        "linked.txt",
        "downloads/secret.txt",
        "storage_state.json",
        "network.har",
        ".hidden.txt",
        "fifo.txt",
    ] {
        served.is_answered(&format!("{EPISODE}/{name}"), 404).await?;
    }
    std::fs::rename(&episodes, outside.join("episodes"))?;
    symlink(outside.join("episodes"), &episodes)?;
    for path in
        ["/", "/trace.html", &format!("{EPISODE}/trace.html"), &format!("{EPISODE}/step-01.png")]
    {
        served.is_answered(path, 404).await?;
    }
    Ok(())
}

#[tokio::test]
async fn pages_of_others_are_refused_and_nothing_can_be_changed() -> Tested {
    let served = Served::start(|path| write_run(path, &["a"])).await?;
    let port = served.at.port();
    for fields in [
        format!("Host: evil.test:{port}\r\n"),
        "Host: 127.0.0.1\r\n".to_owned(),
        "Origin: https://evil.test\r\n".to_owned(),
        "Sec-Fetch-Site: cross-site\r\n".to_owned(),
    ] {
        for path in ["/", &format!("{EPISODE}/step-01.png")] {
            let answer = served.ask(&format!("GET {path}"), &fields).await?;
            assert!(answer.starts_with("HTTP/1.1 403"), "{fields}: {answer}");
        }
    }
    for path in ["/", "/report.html", "/run.json", &format!("/x{}/run.json", served.key)] {
        let answer = served.ask_at(&format!("GET {path}"), "").await?;
        assert!(
            answer.starts_with("HTTP/1.1 401") && !answer.contains(&served.key),
            "{path}: {answer}"
        );
    }
    let before = std::fs::read(served.run.join("run.json"))?;
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
        let answer = served.ask(&format!("{method} /run.json"), "Content-Length: 0\r\n").await?;
        assert!(
            answer.starts_with("HTTP/1.1 405") && answer.contains("allow: GET, HEAD"),
            "{answer}"
        );
    }
    assert_eq!(std::fs::read(served.run.join("run.json"))?, before);
    Ok(())
}

/// A file that no memory would hold begins to come at once.
#[tokio::test]
async fn files_are_streamed() -> Tested {
    const SIZE: u64 = 1 << 40;
    let served = Served::start(|path| write_run(path, &["a"])).await?;
    let file = std::fs::File::create(served.run.join("episodes/shop%2E1-1/large.txt"))?;
    file.set_len(SIZE)?;
    let mut tcp = TcpStream::connect(served.at).await?;
    let request =
        format!("GET /{}{EPISODE}/large.txt HTTP/1.1\r\nHost: {}\r\n\r\n", served.key, served.at);
    tcp.write_all(request.as_bytes()).await?;
    let mut beginning = vec![0; 1 << 20];
    tokio::time::timeout(Duration::from_secs(60), tcp.read_exact(&mut beginning)).await??;
    let head = String::from_utf8_lossy(&beginning[..1_000]).into_owned();
    assert!(
        head.starts_with("HTTP/1.1 200") && head.contains(&format!("content-length: {SIZE}")),
        "{head}"
    );
    Ok(())
}

/// An episode that cannot be read says so in its own place.
#[tokio::test]
async fn one_bad_line_costs_the_other_episodes_nothing() -> Tested {
    let served = Served::start(|path| write_run(path, &["a", "b"])).await?;
    std::fs::write(served.run.join("episodes/shop%2E1-1/ledger.jsonl"), "{\"step\": \n")?;
    let answer = served.get("/").await?;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("ledger.jsonl"), "{answer}");
    let answer = served.get(&format!("{EPISODE}/trace.html")).await?;
    assert!(answer.starts_with("HTTP/1.1 500") && answer.contains("nosniff"), "{answer}");
    Ok(())
}

/// Files below a folder, with when they were last changed.
fn files(folder: &Utf8Path) -> std::io::Result<Vec<(Utf8PathBuf, std::time::SystemTime)>> {
    let mut found = Vec::new();
    for entry in folder.read_dir_utf8()? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            found.extend(files(entry.path())?);
        }
        found.push((entry.path().to_owned(), entry.metadata()?.modified()?));
    }
    found.sort();
    Ok(found)
}

#[tokio::test]
async fn a_thousand_episodes_are_shown_at_once_and_drawn_on_demand() -> Tested {
    let served = Served::start(|path| write_many(path, 250, 4, 3)).await?;
    let before = files(&served.run)?;
    let began = Instant::now();
    let bound = RunServer::bind(&served.run, 0).await?;
    let page = bound.url(Page::Episode("webarena-0100-3"))?;
    assert!(page.ends_with("/episodes/webarena-0100-3/trace.html"), "{page}");
    let opened = began.elapsed();
    for (path, least) in
        [("/", 250), ("/trace.html", 1_000), ("/episodes/webarena-0100-3/trace.html", 3)]
    {
        let began = Instant::now();
        let answer = served.get(path).await?;
        eprintln!("{path}: {:?}, {} bytes", began.elapsed(), answer.len());
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
        assert!(
            answer.matches("webarena-").count() >= least
                || answer.matches("class=\"step\"").count() == least
        );
    }
    eprintln!("opened in {opened:?}");
    assert!(began.elapsed() < Duration::from_secs(30), "it took {:?}", began.elapsed());
    assert_eq!(files(&served.run)?, before, "something was written");
    Ok(())
}
