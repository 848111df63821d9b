//! The calls that targets may hold after `func:`, as in `evaluation_harness/helper_functions.py`.
//! The published code hands them to Python's `eval`; here they are one call with texts for
//! arguments, which is all that the task files hold.

use python_compat::url::Url;
use serde_json::Value;

use super::shop::{self, Review};
use crate::evidence::pages::{Pages, Stop, text};

/// A call: a name and its arguments.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) arguments: Vec<String>,
}

impl Call {
    /// Reads `name('a', "b", __page__)`. The page is no argument of ours.
    pub(crate) fn parse(text: &str) -> Result<Call, &'static str> {
        const WRONG: &str = "SyntaxError";
        let (name, rest) = text.trim().split_once('(').ok_or(WRONG)?;
        let mut rest = rest.strip_suffix(')').ok_or(WRONG)?.trim();
        let mut arguments = Vec::new();
        while !rest.is_empty() {
            rest = match rest.strip_prefix("__page__") {
                Some(after) => after,
                None => {
                    let quote = rest
                        .chars()
                        .next()
                        .filter(|first| ['\'', '"'].contains(first))
                        .ok_or(WRONG)?;
                    let (text, after) = rest[1..].split_once(quote).ok_or(WRONG)?;
                    // An escape would mean another text.
                    if text.contains('\\') {
                        return Err(WRONG);
                    }
                    arguments.push(text.to_owned());
                    after
                }
            };
            rest = rest.trim_start();
            if rest.is_empty() {
                break;
            }
            rest = rest.strip_prefix(',').ok_or(WRONG)?.trim_start();
        }
        Ok(Call { name: name.to_owned(), arguments })
    }
}

/// The calls that both benchmarks have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Function {
    /// `reddit_get_post_url(url)`.
    PostUrl(String),
    /// `gitlab_get_project_memeber_role(page, account_name)`.
    MemberRole(String),
    /// `shopping_get_latest_order_url()`.
    LatestOrderUrl,
    /// `shopping_get_sku_latest_review_author(sku)` and its like.
    LatestReview(String, Review),
}

impl Function {
    /// The function that a call names, or the exception that there is none, or none of such
    /// arguments.
    pub(crate) fn of(call: &Call) -> Result<Function, &'static str> {
        let one = || match call.arguments.as_slice() {
            [one] => Ok(one.clone()),
            _ => Err("TypeError"),
        };
        match call.name.as_str() {
            "reddit_get_post_url" => one().map(Function::PostUrl),
            "gitlab_get_project_memeber_role" => one().map(Function::MemberRole),
            "shopping_get_latest_order_url" if call.arguments.is_empty() => {
                Ok(Function::LatestOrderUrl)
            }
            "shopping_get_latest_order_url" => Err("TypeError"),
            "shopping_get_sku_latest_review_author" => {
                Ok(Function::LatestReview(one()?, Review::Author))
            }
            "shopping_get_sku_latest_review_rating" => {
                Ok(Function::LatestReview(one()?, Review::Rating))
            }
            _ => Err("NameError"),
        }
    }

    /// Whether it asks the shop's interface.
    pub(crate) fn asks_the_shop(&self) -> bool {
        matches!(self, Function::LatestOrderUrl | Function::LatestReview(..))
    }

    /// Calls the function. `shop` is `SHOPPING` of the published code.
    pub(crate) async fn call<P: Pages>(
        &self,
        pages: &mut P,
        shop: &str,
    ) -> Result<Value, Stop<P::Error>> {
        match self {
            Function::PostUrl(url) => post_url(url).map(Value::from).map_err(Stop::Raised),
            Function::MemberRole(account) => {
                Ok(text(pages.evaluate(&member_role(account)).await?).into())
            }
            Function::LatestOrderUrl => Ok(shop::latest_order_url(pages, shop).await?.into()),
            Function::LatestReview(sku, what) => shop::latest_review(pages, shop, sku, *what).await,
        }
    }
}

fn member_role(account: &str) -> String {
    let account = Value::from(format!("@{account}"));
    format!(
        "(() => {{ const names = [...document.querySelectorAll(\"td[data-label='Account'] span.gl-avatar-labeled-sublabel\")]; \
         const at = names.findIndex((name) => name.outerText === {account}); \
         return document.querySelectorAll('td.col-max-role span')[at].outerText; }})()"
    )
}

/// The address of the post that an address is about: `/f/FORUM/NUMBER/`; what is no post's stays.
fn post_url(url: &str) -> Result<String, &'static str> {
    let parsed = Url::parse(url).ok_or("ValueError")?;
    let parts: Vec<&str> = parsed.path.split('/').collect();
    match parts.as_slice() {
        [_, "f", forum, post, ..] => {
            Ok(format!("{}://{}/f/{forum}/{post}/", parsed.scheme, parsed.netloc))
        }
        _ => Ok(url.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_a_name_and_texts() {
        let call = |name: &str, arguments: &[&str]| {
            Ok(Call {
                name: name.to_owned(),
                arguments: arguments.iter().map(|&text| text.to_owned()).collect(),
            })
        };
        assert_eq!(Call::parse("f('a', \"b\")"), call("f", &["a", "b"]));
        assert_eq!(Call::parse("f(__page__, 'a',)"), call("f", &["a"]));
        assert_eq!(Call::parse("f()"), call("f", &[]));
        for text in ["f", "f('a'", "f(a)", "f('a' 'b')", "f('\\n')", "f(1)"] {
            assert_eq!(Call::parse(text), Err("SyntaxError"), "{text}");
        }
    }

    #[test]
    fn functions_are_known_by_name_and_number_of_arguments() {
        let of = |text: &str| Call::parse(text).and_then(|call| Function::of(&call));
        assert_eq!(of("shopping_get_latest_order_url()"), Ok(Function::LatestOrderUrl));
        assert_eq!(of("shopping_get_latest_order_url('x')"), Err("TypeError"));
        assert_eq!(of("reddit_get_post_url()"), Err("TypeError"));
        assert_eq!(of("open('/etc/passwd')"), Err("NameError"));
    }

    #[test]
    fn posts_have_an_address() {
        assert_eq!(
            post_url("http://a.test:1/f/b/7/title/-/comment/9?x#y").as_deref(),
            Ok("http://a.test:1/f/b/7/")
        );
        assert_eq!(post_url("http://a.test/f/b").as_deref(), Ok("http://a.test/f/b"));
        assert_eq!(post_url("http://a.test/u/b/7").as_deref(), Ok("http://a.test/u/b/7"));
        assert_eq!(post_url("http://[a"), Err("ValueError"));
    }
}
