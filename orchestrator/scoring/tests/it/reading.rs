//! What scores depend on besides the answer, read of a world that is not there: pages that know a
//! few expressions, a shop's interface, pictures.

use std::convert::Infallible;

use scoring::judge::{Judge, Prompt};
use scoring::{Assessment, Fetch, FetchResponse, Moment, Pages, Score, ScoreError, Scorer, Step};
use serde_json::{Value, json};

use crate::canned::pages_alone;

const SHOP: &str = "http://shop.test:7770";

/// A browser with tabs, and servers.
struct World {
    tabs: Vec<String>,
    /// What expressions give that hold a text, on pages whose address begins so.
    pages: Vec<(&'static str, &'static str, Value)>,
    /// What an address gives.
    servers: Vec<(&'static str, u16, Vec<u8>)>,
    /// What was done.
    log: Vec<String>,
}

impl World {
    fn new(url: &str) -> World {
        let token = json!("let-me-in").to_string().into_bytes();
        World {
            tabs: vec![url.to_owned()],
            pages: Vec::new(),
            servers: vec![("/rest/default/V1/integration/admin/token", 200, token)],
            log: Vec::new(),
        }
    }

    fn page(mut self, url: &'static str, expression: &'static str, value: Value) -> World {
        self.pages.push((url, expression, value));
        self
    }

    fn server(mut self, path: &'static str, status: u16, body: impl Into<Vec<u8>>) -> World {
        self.servers.push((path, status, body.into()));
        self
    }

    fn here(&self) -> &str {
        self.tabs.last().unwrap()
    }
}

impl Pages for World {
    type Error = Infallible;

    async fn open(&mut self, url: &str) -> Result<(), Infallible> {
        self.log.push(format!("open {url}"));
        *self.tabs.last_mut().unwrap() = url.to_owned();
        Ok(())
    }

    async fn open_beside(&mut self, url: &str) -> Result<(), Infallible> {
        self.tabs.push(String::new());
        self.open(url).await
    }

    async fn close_beside(&mut self) -> Result<(), Infallible> {
        self.tabs.pop();
        Ok(())
    }

    async fn evaluate(&mut self, expression: &str) -> Result<Result<Value, String>, Infallible> {
        if expression == "location.href" {
            return Ok(Ok(self.here().into()));
        }
        let known = self
            .pages
            .iter()
            .find(|(url, part, _)| self.here().starts_with(url) && expression.contains(part));
        Ok(known.map(|(_, _, value)| value.clone()).ok_or_else(|| "TypeError".to_owned()))
    }

    async fn fetch(
        &mut self,
        request: &Fetch,
    ) -> Result<Result<FetchResponse, String>, Infallible> {
        let Fetch { method, url, headers, body } = request;
        self.log.push(format!("{method} {url}"));
        if url.contains("/admin/token") {
            assert_eq!(*method, "POST");
            assert_eq!(body, r#"{"username":"admin","password":"admin1234"}"#);
        } else if url.contains("/rest/") {
            assert!(
                headers.contains(&("authorization", "Bearer let-me-in".to_owned())),
                "{headers:?}"
            );
        }
        let known = self.servers.iter().find(|(path, _, _)| url.contains(path));
        let answer =
            known.map(|(_, status, body)| FetchResponse { status: *status, body: body.clone() });
        Ok(answer.ok_or_else(|| "there is no such server".to_owned()))
    }
}

pages_alone!([] World);

/// The assessment of an episode that ended in a world, with this answer.
async fn read(scorer: &Scorer, world: &mut World, answer: &str) -> Assessment {
    let mut assessment = scorer.start();
    assessment.observe(&Step { answer: Some(answer), ..Step::default() });
    let Ok(over) = assessment.collect(Moment::End, world).await;
    assert!(!over);
    // What was read is kept, and scores the same.
    let kept = scorer.restore(&serde_json::to_value(&assessment).unwrap()).unwrap();
    assert_eq!(kept.score(), assessment.score());
    assessment
}

async fn score(scorer: &Scorer, world: &mut World) -> Result<Score, ScoreError> {
    read(scorer, world, "").await.score()
}

fn scorer(benchmark: &str, eval: Value) -> Scorer {
    serde_json::from_value(json!({ benchmark: eval })).unwrap()
}

fn on_order(benchmark: &str, locator: &str, contents: Value) -> Scorer {
    let target = json!({ "url": "func:shopping_get_latest_order_url()", "locator": locator, "required_contents": contents });
    scorer(
        benchmark,
        json!({ "eval_types": ["program_html"], "program_html": [target], "shopping": SHOP }),
    )
}

fn on_review(call: &str, contents: Value) -> Scorer {
    let target =
        json!({ "url": "last", "locator": format!("func:{call}"), "required_contents": contents });
    scorer(
        "webarena",
        json!({ "eval_types": ["program_html"], "program_html": [target], "shopping": SHOP }),
    )
}

#[tokio::test]
async fn the_latest_order_is_asked_of_the_shop() {
    let orders =
        json!({ "items": [{ "increment_id": "000000191" }], "total_count": 1 }).to_string();
    let order = "http://shop.test:7770/sales/order/view/order_id/191/";
    for benchmark in ["webarena", "visualwebarena"] {
        let scorer = on_order(
            benchmark,
            "document.querySelector('.order').outerText",
            json!({ "must_include": ["oak"] }),
        );
        let mut world =
            World::new("http://shop.test:7770/").server("/rest/V1/orders?", 200, orders.clone());
        world = world.page("http://shop.test:7770/sales/order", ".order", json!("An oak table"));
        assert!(score(&scorer, &mut world).await.unwrap().success);
        assert!(
            world.log[0].starts_with("POST http://shop.test:7770/rest/default/V1/integration"),
            "{:?}",
            world.log
        );
        assert!(
            world.log[1].contains("direction%5D=DESC&searchCriteria%5BpageSize%5D=1"),
            "{:?}",
            world.log
        );
        assert_eq!(world.log[2], format!("open {order}"));
        // One opens pages where it is, the other beside.
        assert_eq!(
            world.tabs,
            [if benchmark == "webarena" { order } else { "http://shop.test:7770/" }]
        );
    }
}

#[tokio::test]
async fn where_the_shop_answers_otherwise_the_published_code_raises() {
    let order = on_order("webarena", "", json!({ "must_include": ["oak"] }));
    for (status, body, class) in [
        (401, "{}", "AssertionError"),
        (200, "<html>", "JSONDecodeError"),
        (200, "{}", "KeyError"),
        (200, r#"{"items": []}"#, "IndexError"),
        (200, r#"{"items": [{"increment_id": "A7"}]}"#, "ValueError"),
        (200, r#"{"items": null}"#, "TypeError"),
    ] {
        let mut world =
            World::new("http://shop.test:7770/").server("/rest/V1/orders?", status, body);
        assert_eq!(score(&order, &mut world).await, Err(ScoreError::Raised(class)), "{body}");
    }
    let mut world = World::new("http://shop.test:7770/");
    assert_eq!(score(&order, &mut world).await, Err(ScoreError::Raised("ConnectionError")));
}

#[tokio::test]
async fn reviews_are_asked_of_the_shop() {
    let review = |name: &str, percent: u32| json!({ "nickname": name, "detail": "Good", "ratings": [{ "rating_name": "Rating", "percent": percent }] });
    let reviews = json!([review("Ann", 60), review("Emma", 80)]).to_string();
    let path = "/rest/V1/products/B7/reviews";
    let author =
        on_review("shopping_get_sku_latest_review_author('B7')", json!({ "exact_match": "Emma" }));
    let rating =
        on_review("shopping_get_sku_latest_review_rating('B7')", json!({ "must_include": ["80"] }));
    for scorer in [&author, &rating] {
        let mut world = World::new("http://shop.test:7770/").server(path, 200, reviews.clone());
        assert!(score(scorer, &mut world).await.unwrap().success);
        let mut none = World::new("http://shop.test:7770/").server(path, 200, "[]");
        assert!(!score(scorer, &mut none).await.unwrap().success);
    }
    let stars =
        json!([{ "nickname": "Ann", "ratings": [{ "rating_name": "Stars", "percent": 80 }] }])
            .to_string();
    let mut world = World::new("http://shop.test:7770/").server(path, 200, stars);
    assert_eq!(score(&rating, &mut world).await, Err(ScoreError::Raised("AssertionError")));
}

#[tokio::test]
async fn targets_are_read_up_to_the_first_that_gives_nothing() {
    let target = |url: &str, locator: &str, contents: Value| json!({ "url": url, "locator": locator, "required_contents": contents });
    let eval = json!({ "eval_types": ["program_html", "url_match"], "reference_url": "http://forum.test/f/1", "program_html": [
        target("http://forum.test/f/2", "func:get_query_text(__page__, '#main')", json!({ "must_exclude": ["elm"] })),
        target("last", "lambda:(() => price)()", json!({ "required_values": ["< 70"] })),
        target("last", "func:shopping_get_num_reviews(__page__)", json!({ "required_values": [">= 3"] })),
    ] });
    let scorer = scorer("visualwebarena", eval);
    let world = || {
        World::new("http://forum.test/f/1")
            .page("http://forum.test/f/2", "document.querySelector('#main')", json!("An oak"))
            .page("http://forum.test/f/1", "tab-label-reviews-title", json!(4))
    };
    let mut good = world().page("http://forum.test/f/1", "(() => price)()", json!(69.5));
    assert!(score(&scorer, &mut good).await.unwrap().success);
    assert_eq!(good.tabs.len(), 1);
    // 0 is nothing in Python.
    let mut free = world().page("http://forum.test/f/1", "(() => price)()", json!(0));
    let assessment = read(&scorer, &mut free, "").await;
    let kept = serde_json::to_value(&assessment).unwrap();
    assert_eq!(kept["pages"]["contents"], json!(["An oak", null]));
    assert!(!assessment.score().unwrap().success);
}

/// A PNG with waves across.
fn picture(width: u32, waves: f64) -> Vec<u8> {
    let wave = |x: u32| (f64::from(x) / f64::from(width) * waves * std::f64::consts::TAU).sin();
    let row: Vec<u8> = (0..width).map(|x| (127.5 + 127.0 * wave(x)) as u8).collect();
    lodepng::encode_memory(&row.repeat(20), width as usize, 20, lodepng::ColorType::GREY, 8)
        .unwrap()
}

fn pictures(query: Value) -> Scorer {
    scorer(
        "visualwebarena",
        json!({ "eval_types": ["page_image_query"], "page_image_query": query }),
    )
}

fn gallery(addresses: Value) -> World {
    World::new("http://forum.test/f/1")
        .page("http://forum.test/f/1", "querySelectorAll(\".photo\")", addresses)
        .server("/oak.png", 200, picture(60, 2.0))
        .server("/small-oak.png", 200, picture(45, 2.0))
        .server("/elm.png", 200, picture(60, 7.0))
        .server("/page.html", 200, "<html>")
}

#[tokio::test]
async fn one_picture_of_a_page_has_to_be_like_one_that_is_wanted() {
    let query = |wanted: &str| {
        pictures(
            json!([{ "eval_image_url": "last", "eval_image_class": ".photo", "eval_fuzzy_image_match": wanted }]),
        )
    };
    let both = || {
        gallery(json!([
            "http://forum.test/page.html",
            "http://forum.test/elm.png",
            "http://forum.test/small-oak.png"
        ]))
    };
    assert!(score(&query("http://shop.test/oak.png"), &mut both()).await.unwrap().success);
    assert!(
        score(&query("http://shop.test/page.html |OR| http://shop.test/oak.png"), &mut both())
            .await
            .is_err()
    );
    let wrong = score(
        &query("http://shop.test/oak.png"),
        &mut gallery(json!(["http://forum.test/elm.png"])),
    )
    .await;
    let wrong = wrong.unwrap();
    assert!(!wrong.success && wrong.wrong[0].contains("the best is like it by"), "{wrong:?}");
    let none = score(
        &query("http://shop.test/oak.png"),
        &mut gallery(json!(["http://forum.test/page.html"])),
    )
    .await;
    assert_eq!(none.unwrap().wrong, ["there is no picture in .photo at last"]);
    let file = score(&query("media/oak.png"), &mut both()).await;
    assert_eq!(file, Err(ScoreError::Raised("FileNotFoundError")));
}

struct Eyes(Vec<u8>);

impl Judge for Eyes {
    type Error = Infallible;

    /// Sees oaks in one picture alone.
    async fn reply(&self, prompt: &Prompt, _: u32) -> Result<String, Infallible> {
        use base64::Engine as _;
        let oak = base64::engine::general_purpose::STANDARD.encode(&self.0);
        assert_eq!(prompt.text, "Q: Is there an oak? (yes/no) A:");
        let seen =
            prompt.picture.as_deref() == Some(format!("data:image/png;base64,{oak}").as_str());
        Ok(if seen { "Yes." } else { "no" }.to_owned())
    }
}

#[tokio::test]
async fn a_model_is_asked_what_pictures_show() {
    let vqa = json!([{ "question": "Is there an oak? (yes/no)", "answer": "yes" }]);
    let scorer = pictures(
        json!([{ "eval_image_url": "last", "eval_image_class": ".photo", "eval_vqa": vqa }]),
    );
    for (addresses, expect) in [
        (json!(["http://forum.test/elm.png", "http://forum.test/oak.png"]), true),
        (json!(["http://forum.test/elm.png"]), false),
    ] {
        let mut assessment = read(&scorer, &mut gallery(addresses), "").await;
        assert_eq!(assessment.score(), Err(ScoreError::NeedsJudge));
        assert_eq!(assessment.questions().len(), 1);
        let Ok(()) = assessment.consult(&Eyes(picture(60, 2.0)), "Find an oak").await;
        assert_eq!(assessment.score().unwrap().success, expect);
    }
}

#[tokio::test]
async fn the_last_question_about_pictures_decides() {
    let like = |wanted: &str| json!({ "eval_image_url": "last", "eval_image_class": ".photo", "eval_fuzzy_image_match": wanted });
    let (oak, elm) = (like("http://shop.test/oak.png"), like("http://shop.test/elm.png"));
    let oaks = || gallery(json!(["http://forum.test/oak.png"]));
    assert!(score(&pictures(json!([elm, oak])), &mut oaks()).await.unwrap().success);
    assert!(!score(&pictures(json!([oak, elm])), &mut oaks()).await.unwrap().success);
}
