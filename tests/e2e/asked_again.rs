//! `sandbox record --suite --agent oracle` on a shop with a cart: the solution is recorded from
//! start to end, with what the shop shows before and after each write. So the cart can be used
//! offline in an order that nobody recorded.

use std::collections::HashMap;
use std::fs;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Result, ensure};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, header};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use serde_json::Value;
use tokio::net::TcpListener;

use crate::harness::{Bench, text};

/// The number of lamps in the cart of each visitor.
type Carts = Arc<Mutex<HashMap<String, u32>>>;

/// A shop that knows its visitors by a cookie.
async fn shop() -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let carts = Carts::default();
    tokio::spawn(async move {
        while let Ok((tcp, _)) = listener.accept().await {
            let carts = Arc::clone(&carts);
            let serve = service_fn(move |request| std::future::ready(answer(&request, &carts)));
            tokio::spawn(async move {
                let server = auto::Builder::new(TokioExecutor::new());
                server.serve_connection(TokioIo::new(tcp), serve).await.map_err(drop)
            });
        }
    });
    Ok(address)
}

fn answer(
    request: &Request<Incoming>,
    carts: &Carts,
) -> Result<Response<Full<Bytes>>, hyper::http::Error> {
    let mut carts = carts.lock().unwrap_or_else(PoisonError::into_inner);
    let cookies = request.headers().get(header::COOKIE).and_then(|line| line.to_str().ok());
    let known =
        cookies.and_then(|line| line.split("; ").find_map(|pair| pair.strip_prefix("visitor=")));
    let visitor = known.map_or_else(|| format!("v{}", carts.len()), str::to_owned);
    let lamps = carts.entry(visitor.clone()).or_default();
    let mut response =
        Response::builder().header(header::SET_COOKIE, format!("visitor={visitor}; Path=/"));
    let form = |path: &str, label: &str| {
        format!("<form method=post action={path}><button>{label}</button></form>")
    };
    let is_member = cookies.is_some_and(|line| line.contains("member=yes"));
    let body = match (request.method(), request.uri().path()) {
        (_, "/members") if !is_member => {
            response = response.status(303).header(header::LOCATION, "/login");
            String::new()
        }
        (_, "/members") => "<h1>Members</h1>".to_owned(),
        (&Method::GET, "/login") => {
            "<form method=post action=/login><input type=password><button>Log in</button></form>"
                .to_owned()
        }
        (_, "/login") => {
            let cookie = "member=yes; Path=/";
            response = response
                .status(303)
                .header(header::SET_COOKIE, cookie)
                .header(header::LOCATION, "/members");
            String::new()
        }
        (&Method::POST, path) => {
            *lamps = if path == "/add" { *lamps + 1 } else { lamps.saturating_sub(1) };
            response = response.status(303).header(header::LOCATION, "/");
            String::new()
        }
        (_, "/cart") if *lamps == 0 => "<h1>The cart is empty</h1><a href=/>Shop</a>".to_owned(),
        (_, "/cart") => {
            format!(
                "<h1>Lamps: {lamps}</h1><a href=/>Shop</a>{}",
                form("/remove", &format!("Remove one of {lamps}"))
            )
        }
        _ => format!("<h1>Shop</h1><a href=/cart>Cart: {lamps}</a>{}", form("/add", "Add a lamp")),
    };
    response.header(header::CONTENT_TYPE, "text/html").body(Full::new(body.into()))
}

/// A suite in the shop's snapshot, with these solutions.
fn suite(bench: &Bench, name: &str, solutions: &[&str]) -> Result<String> {
    let folder = bench.path(name);
    fs::create_dir_all(&folder)?;
    let world = "world: {snapshots: [../shop.wacz], clock: 2026-03-12T08:30:00Z}";
    fs::write(folder.join("suite.yaml"), format!("name: {name}\n{world}\n"))?;
    for (number, solution) in solutions.iter().enumerate() {
        let steps: String = solution.split(", ").map(step).collect();
        let task = format!(
            "id: t{number}\ngoal: Buy.\nstart_url: http://shop.test/\nscorer: {{equals: done}}\noracle:\n{steps}- answer: \
             done\n"
        );
        fs::write(folder.join(format!("t{number}.yaml")), task)?;
    }
    Ok(folder.into())
}

fn step(name: &str) -> String {
    let role = if name.starts_with("Cart") || name == "Shop" { "link" } else { "button" };
    format!("- click: {{role: {role}, name: '{name}'}}\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cart_is_used_offline_in_an_order_that_nobody_recorded() -> Result<()> {
    let bench = Bench::new()?;
    let connect = format!("--connect-to=:80:{}", shop().await?);
    // Nobody looks into the cart.
    let recorded = suite(&bench, "recorded", &["Add a lamp", "Add a lamp, Add a lamp"])?;
    let output = bench.path("shop.wacz");
    let record = [
        "record",
        "--suite",
        &recorded,
        "--depth=0",
        "--delay=0",
        "--agent=oracle",
        "--rounds=1",
        &connect,
    ];
    bench.succeed(&[&record[..], &["-o", output.as_str()]].concat())?;
    let states = bench.succeed(&["snapshot", "inspect", "--states", output.as_str(), "--json"])?;
    let states: Value = serde_json::from_str(&states)?;
    let visits = states["sites"][0]["visits"].as_array().map(Vec::as_slice).unwrap_or_default();
    ensure!(visits.len() == 2, "each task is a visit of its own: {states:#}");
    for write in visits.iter().flat_map(|visit| visit["writes"].as_array()).flatten() {
        let changed = write["changed"].to_string();
        ensure!(
            changed.contains("shop.test/cart") && changed.contains(r#"shop.test/""#),
            "{states:#}"
        );
    }
    ensure!(states.to_string().contains("+ Lamps: 1"), "{states:#}");
    let coverage = bench.succeed(&["snapshot", "coverage", &recorded])?;
    ensure!(
        coverage
            .contains("states           3 of 3 of sites that were written to are recorded whole"),
        "{coverage}"
    );

    let played = suite(
        &bench,
        "played",
        &[
            "Cart: 0, Shop, Add a lamp, Cart: 1, Shop, Add a lamp, Cart: 2",
            "Add a lamp, Cart: 1, Shop, Cart: 1, Shop, Add a lamp, Cart: 2",
        ],
    )?;
    let run = bench.path("run");
    let output = bench.run(&["run", &played, "--agent=oracle", "--json", "-o", run.as_str()])?;
    let summary: Value = serde_json::from_slice(&output.stdout)?;
    let requests = &summary["requests"];
    ensure!(summary["passed"] == 2, "{summary:#}\n{}", text(&output.stderr));
    ensure!(
        requests["miss"] == 0 && requests["other_state"].as_u64().unwrap_or(0) == 0,
        "{summary:#}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suite_behind_a_log_in_is_recorded_by_whoever_logs_in() -> Result<()> {
    let bench = Bench::new()?;
    let connect = format!("--connect-to=:80:{}", shop().await?);
    let suite = suite(&bench, "members", &["Log in"])?;
    let task = format!("{suite}/t0.yaml");
    fs::write(
        &task,
        fs::read_to_string(&task)?.replace("http://shop.test/", "http://shop.test/members"),
    )?;
    let output = bench.path("shop.wacz");
    let record =
        ["record", "--suite", &suite, "--depth=0", "--delay=0", &connect, "-o", output.as_str()];
    let crawled = bench.run(&record)?;
    ensure!(crawled.status.code() == Some(1), "no page is to be had: {}", text(&crawled.stderr));
    bench.succeed(&[&record[..], &["--agent=oracle", "--rounds=1", "--force"]].concat())?;
    let run = bench.path("run");
    let output = bench.run(&["run", &suite, "--agent=oracle", "--json", "-o", run.as_str()])?;
    let summary: Value = serde_json::from_slice(&output.stdout)?;
    ensure!(summary["passed"] == 1 && summary["requests"]["miss"] == 0, "{summary:#}");
    Ok(())
}
