//! The calls that ask the published shop's REST interface, as in
//! `evaluation_harness/helper_functions.py`.

use python_compat::int::Int;
use serde_json::{Value, json};

use crate::evidence::pages::{Fetch, FetchResponse, Pages, Stop, to_text};

/// `ACCOUNTS["shopping_site_admin"]` of `browser_env/env_config.py`.
const USERNAME: &str = "admin";
const PASSWORD: &str = "admin1234";

/// The property of the latest review that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Review {
    /// `nickname`.
    Author,
    /// Of the first rating, in per cent.
    Rating,
    /// `detail`.
    Text,
}

/// `shopping_get_latest_order_url`.
pub(crate) async fn latest_order_url<P: Pages>(
    pages: &mut P,
    shop: &str,
) -> Result<String, Stop<P::Error>> {
    const NEWEST: &str = "searchCriteria%5BsortOrders%5D%5B0%5D%5Bfield%5D=created_at&\
         searchCriteria%5BsortOrders%5D%5B0%5D%5Bdirection%5D=DESC&searchCriteria%5BpageSize%5D=1";
    let answer = ask(pages, shop, &format!("orders?{NEWEST}")).await?;
    let order = key(&answer, "items").and_then(first).and_then(|order| key(order, "increment_id"));
    let number = order.and_then(number).map_err(Stop::Raised)?;
    Ok(format!("{shop}/sales/order/view/order_id/{number}/"))
}

/// `shopping_get_sku_latest_review_author`, `.._rating` and `.._text`: nothing where there is no
/// review.
pub(crate) async fn latest_review<P: Pages>(
    pages: &mut P,
    shop: &str,
    sku: &str,
    what: Review,
) -> Result<Value, Stop<P::Error>> {
    let answer = ask(pages, shop, &format!("products/{sku}/reviews")).await?;
    read_review(&answer, what).map_err(Stop::Raised)
}

fn read_review(answer: &Value, what: Review) -> Result<Value, &'static str> {
    let reviews = match answer {
        Value::Array(reviews) => reviews,
        Value::Object(keys) if keys.is_empty() => return Ok("".into()),
        Value::Object(_) => return Err("KeyError"),
        Value::String(text) if text.is_empty() => return Ok("".into()),
        _ => return Err("TypeError"),
    };
    let (Some(first_one), Some(last)) = (reviews.first(), reviews.last()) else {
        return Ok("".into());
    };
    let rating = |review| key(review, "ratings").and_then(first);
    match what {
        Review::Author => key(last, "nickname").cloned(),
        Review::Text => key(last, "detail").cloned(),
        // The name is asserted of the first review and the rating is that of the last.
        Review::Rating
            if rating(first_one).and_then(|one| key(one, "rating_name"))? != "Rating" =>
        {
            Err("AssertionError")
        }
        Review::Rating => {
            Ok(to_text(rating(last).and_then(|one| key(one, "percent"))?.clone()).into())
        }
    }
}

/// A question to the interface, with a token that is got for it.
async fn ask<P: Pages>(pages: &mut P, shop: &str, path: &str) -> Result<Value, Stop<P::Error>> {
    let login = Fetch {
        method: "POST",
        url: format!("{shop}/rest/default/V1/integration/admin/token"),
        headers: vec![("content-type", "application/json".to_owned())],
        body: json!({ "username": USERNAME, "password": PASSWORD }).to_string(),
    };
    // A refusal is a token, too, as far as the published code is concerned.
    let token = to_text(read(&send(pages, &login).await?).map_err(Stop::Raised)?);
    let headers = vec![
        ("authorization", format!("Bearer {}", token.replace(['\r', '\n'], " "))),
        ("content-type", "application/json".to_owned()),
    ];
    let question = Fetch { headers, ..Fetch::get(&format!("{shop}/rest/V1/{path}")) };
    let answer = send(pages, &question).await?;
    if answer.status != 200 {
        return Err(Stop::Raised("AssertionError"));
    }
    read(&answer).map_err(Stop::Raised)
}

async fn send<P: Pages>(pages: &mut P, request: &Fetch) -> Result<FetchResponse, Stop<P::Error>> {
    pages.fetch(request).await?.map_err(|_| Stop::Raised("ConnectionError"))
}

fn read(answer: &FetchResponse) -> Result<Value, &'static str> {
    serde_json::from_slice(&answer.body).map_err(|_| "JSONDecodeError")
}

/// `value[name]`.
fn key<'a>(value: &'a Value, name: &str) -> Result<&'a Value, &'static str> {
    match value {
        Value::Object(keys) => keys.get(name).ok_or("KeyError"),
        _ => Err("TypeError"),
    }
}

/// `value[0]`.
fn first(value: &Value) -> Result<&Value, &'static str> {
    match value {
        Value::Array(items) => items.first().ok_or("IndexError"),
        Value::Object(_) => Err("KeyError"),
        _ => Err("TypeError"),
    }
}

/// `int(value)` of what an interface numbers its orders by.
fn number(value: &Value) -> Result<String, &'static str> {
    match value {
        Value::String(text) => Int::parse(text).map(|number| number.to_text()).ok_or("ValueError"),
        Value::Number(number) => {
            Ok(number.as_i64().map_or_else(|| number.to_string(), |n| n.to_string()))
        }
        _ => Err("TypeError"),
    }
}
