//! The calls that VisualWebArena's targets may hold after `func:`, as in its
//! `evaluation_harness/helper_functions.py`. Where a page does not have what is looked for they
//! give an empty text or 0.

use serde_json::Value;

use super::super::webarena::function::{self as shared, Call};
use super::super::webarena::shop::Review;
use super::order;
use crate::evidence::pages::{Pages, Stop, to_text};

/// A call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Function {
    /// One that WebArena has, too.
    Shared(shared::Function),
    /// `get_query_text(page, selector)`: the text content of the first element.
    QueryText(String),
    /// `get_query_text_lowercase(page, selector)`.
    QueryTextLowercase(String),
    /// `reddit_get_latest_comment_content_by_username(page, username)`.
    LatestComment(String),
    /// `reddit_get_parent_comment_username_of_latest_comment_by_username(page, username)`.
    AnsweredByLatestComment(String),
    /// `shopping_get_order_product_name_list(page)`.
    OrderNames,
    /// `shopping_get_order_product_quantity(page, sku)`.
    OrderQuantity(String),
    /// `shopping_get_order_product_option(page, sku, option_name)`.
    OrderOption(String, String),
    /// `shopping_get_product_attributes(page, attribute)`.
    ProductAttributes(String),
    /// `shopping_get_product_price(page)`.
    ProductPrice,
    /// `shopping_get_num_reviews(page)`.
    ReviewCount,
    /// `shopping_get_rating_as_percentage(page)`.
    RatingInPercent,
}

impl Function {
    /// The function that a call names, or the exception that there is none, or none of such
    /// arguments.
    pub(super) fn parse(call: &str) -> Result<Function, &'static str> {
        let call = Call::parse(call)?;
        let arguments: Vec<&str> = call.arguments.iter().map(String::as_str).collect();
        let none = |function: Function| match arguments[..] {
            [] => Ok(function),
            _ => Err("TypeError"),
        };
        let one = || match arguments[..] {
            [one] => Ok(one.to_owned()),
            _ => Err("TypeError"),
        };
        match call.name.as_str() {
            "get_query_text" => one().map(Function::QueryText),
            "get_query_text_lowercase" => one().map(Function::QueryTextLowercase),
            "reddit_get_latest_comment_content_by_username" => one().map(Function::LatestComment),
            "reddit_get_parent_comment_username_of_latest_comment_by_username" => {
                one().map(Function::AnsweredByLatestComment)
            }
            "shopping_get_order_product_name_list" => none(Function::OrderNames),
            "shopping_get_order_product_quantity" => one().map(Function::OrderQuantity),
            "shopping_get_order_product_option" => match arguments[..] {
                [sku, option] => Ok(Function::OrderOption(sku.to_owned(), option.to_owned())),
                _ => Err("TypeError"),
            },
            "shopping_get_product_attributes" => one().map(Function::ProductAttributes),
            "shopping_get_product_price" => none(Function::ProductPrice),
            "shopping_get_num_reviews" => none(Function::ReviewCount),
            "shopping_get_rating_as_percentage" => none(Function::RatingInPercent),
            "shopping_get_sku_latest_review_text" => {
                Ok(Function::Shared(shared::Function::LatestReview(one()?, Review::Text)))
            }
            _ => shared::Function::of(&call).map(Function::Shared),
        }
    }

    /// Whether it asks the shop's interface.
    pub(super) fn asks_the_shop(&self) -> bool {
        matches!(self, Function::Shared(function) if function.asks_the_shop())
    }

    /// Calls the function. `shop` is `SHOPPING` of the published code.
    pub(super) async fn call<P: Pages>(
        &self,
        pages: &mut P,
        shop: &str,
    ) -> Result<Value, Stop<P::Error>> {
        let script = match self {
            Function::Shared(function) => return function.call(pages, shop).await,
            Function::OrderNames | Function::OrderQuantity(_) | Function::OrderOption(..) => {
                let products = pages.evaluate(order::PRODUCTS).await?.unwrap_or_default();
                return Ok(match self {
                    Function::OrderQuantity(sku) => order::quantity(&products, sku).into(),
                    Function::OrderOption(sku, option) => {
                        order::option(&products, sku, option).into()
                    }
                    _ => order::names(&products).into(),
                });
            }
            Function::QueryText(selector) | Function::QueryTextLowercase(selector) => {
                query_text(selector)
            }
            Function::LatestComment(name) => comment(name, LATEST),
            Function::AnsweredByLatestComment(name) => comment(name, ANSWERED),
            Function::ProductAttributes(names) => attributes(names),
            Function::ProductPrice => number(PRICE),
            Function::ReviewCount => number(REVIEWS),
            Function::RatingInPercent => number(RATING),
        };
        let given = pages.evaluate(&script).await?;
        Ok(match self {
            Function::ProductPrice | Function::ReviewCount | Function::RatingInPercent => {
                given.unwrap_or_else(|_| 0.into())
            }
            Function::QueryTextLowercase(_) => {
                python_compat::text::lower(&to_text(given.unwrap_or_else(|_| "".into()))).into()
            }
            _ => given.unwrap_or_else(|_| "".into()),
        })
    }
}

/// The selector stands between single quotes, as it does in the published script: what is no text
/// of JavaScript there finds nothing.
fn query_text(selector: &str) -> String {
    format!("document.querySelector('{selector}').textContent")
}

/// Writes the script that reads the values beside a product's details whose names contain one of
/// the alternatives.
fn attributes(names: &str) -> String {
    format!(
        "(() => {{ const names = '{names}'.toLowerCase().split(' |or| '); \
         const rows = document.querySelector('#productDetails_detailBullets_sections1 > tbody').children; \
         const named = (row) => {{ const text = row.children[0].outerText.toLowerCase(); \
         return names.some((name) => text.includes(name)); }}; \
         return [...rows].filter(named).map((row) => row.children[1].outerText).join(', '); }})()"
    )
}

/// A number, or 0 where there is none.
fn number(expression: &str) -> String {
    format!("(({expression}) || 0)")
}

const PRICE: &str = "parseFloat(document.querySelector('#maincontent > div.columns > div > div.product-info-main > \
    div.product-info-price > div.price-box.price-final_price > span > span').outerText.substr(1))";
const REVIEWS: &str =
    "parseInt(document.querySelector('#tab-label-reviews-title').outerText.split(' ')[1])";
const RATING: &str = "parseFloat(document.querySelector('.rating-result').title.replace('%', ''))";

/// Goes through the comments of a post, each before its answers. The post itself is the first of
/// them, with its author's name and the words and the time of its first comment: the published code
/// reads it so.
fn comment(user: &str, visit: &str) -> String {
    let user = Value::from(user);
    format!(
        "(() => {{ \
         const read = (node, level) => ({{ \
           user: node.querySelector('.fg-inherit').outerText, \
           score: parseInt(node.querySelector('.vote__net-score').outerText), \
           content: node.querySelector('.comment__content').outerText, \
           time: new Date(node.querySelector('.comment__main > header > h1 > span > time').dateTime).getTime(), \
           answers: [...node.querySelectorAll('.comment')] \
             .filter((one) => parseInt(one.getAttribute('data-level')) === level + 1) \
             .map((one) => read(one, level + 1)), \
         }}); \
         const user = {user}; let found = ''; let latest = -Infinity; \
         const later = (one) => one.user === user && one.time > latest; \
         const visit = {visit}; \
         visit(read(document.querySelector('#main'), 0)); \
         return found; }})()"
    )
}

const LATEST: &str = "(one) => { if (later(one)) { found = one.content; latest = one.time; } one.answers.forEach(visit); }";
/// Answers to a comment of the user's own are not gone through.
const ANSWERED: &str = "(one) => { for (const answer of one.answers) { \
    if (later(answer)) { found = one.user; latest = answer.time; } \
    if (answer.user !== user) visit(answer); } }";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_known_by_name_and_number_of_arguments() {
        for (call, expect) in [
            ("get_query_text(__page__, \"#a > b\")", Ok(Function::QueryText("#a > b".to_owned()))),
            (
                "shopping_get_order_product_quantity(__page__,'A1')",
                Ok(Function::OrderQuantity("A1".to_owned())),
            ),
            ("shopping_get_product_price(__page__)", Ok(Function::ProductPrice)),
            (
                "shopping_get_latest_order_url()",
                Ok(Function::Shared(shared::Function::LatestOrderUrl)),
            ),
            ("shopping_get_product_price(__page__, 'x')", Err("TypeError")),
            ("shopping_get_order_product_option(__page__, 'x')", Err("TypeError")),
            ("shopping_get_sku_latest_review_title('x')", Err("NameError")),
            ("get_query_text(__page__, selector)", Err("SyntaxError")),
        ] {
            assert_eq!(Function::parse(call), expect, "{call}");
        }
    }
}
