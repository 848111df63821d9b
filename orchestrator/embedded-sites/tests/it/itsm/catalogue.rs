//! The catalogue, carts and orders.

use axum::http::{Method, StatusCode};
use serde_json::Value;

use super::visitor::{Visitor, copy};

const SUBMIT: &str = "/com.glideapp.servicecatalog_cat_item_submit.do";
const CART: &str = "/com.glideapp.servicecatalog_cart_view.do";

/// What is between two parts of a text.
fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let rest = text.split_once(before).unwrap_or_else(|| panic!("no {before} in {text}")).1;
    rest.split_once(after).unwrap().0
}

/// The request that a checkout page is of.
fn request_of(address: &str) -> String {
    let place = "/com.glideapp.servicecatalog_checkout_view_v2.do?v=1&sysparm_sys_id=";
    address.strip_prefix(place).unwrap_or_else(|| panic!("{address}")).to_owned()
}

/// The id of the item with this name.
async fn item(program: &mut Visitor, name: &str) -> String {
    let found = program.table(&format!("sc_cat_item?sysparm_query=name%3D{name}")).await;
    found[0]["sys_id"].as_str().unwrap().to_owned()
}

/// The names of an item's controls, in the order of its page.
async fn controls(visitor: &mut Visitor, id: &str) -> Vec<String> {
    let page = format!("/com.glideapp.servicecatalog_cat_item_view.do?v=1&sysparm_id={id}");
    let body = visitor.get(&page).await.body;
    let fields: Value =
        serde_json::from_str(between(&body, "type=\"application/json\">", "</script>")).unwrap();
    let fields = fields.as_array().unwrap();
    fields.iter().map(|field| field["id"].as_str().unwrap().to_owned()).collect()
}

/// The items of a request, each with its options.
async fn ordered(program: &mut Visitor, request: &str) -> Vec<(Value, Value)> {
    let items = program.table(&format!("sc_req_item?sysparm_query=request%3D{request}")).await;
    let mut found = Vec::new();
    for item in items.as_array().unwrap() {
        let id = item["sys_id"].as_str().unwrap();
        let options = format!(
            "sc_item_option_mtom?sysparm_query=request_item%3D{id}&sysparm_fields=\
             sc_item_option.value,sc_item_option.item_option_new.question_text"
        );
        found.push((item.clone(), program.table(&options).await));
    }
    found
}

#[tokio::test]
async fn one_link_of_the_home_page_leads_to_hardware() {
    let copy = copy();
    let mut admin = Visitor::logged_in(&copy, "admin", "admin").await;
    let home = admin.get("/catalog_home.do?sysparm_view=catalog_default").await.body;
    let links: Vec<&str> = home.split("<a ").skip(1).collect();
    let hardware: Vec<&&str> = links
        .iter()
        .filter(|link| link.split_once("</a>").unwrap().0.to_lowercase().contains("hardware"))
        .collect();
    assert_eq!(hardware.len(), 1, "{home}");
    let panel = between(&home, "<div class=\"drag_section\">", "</div>");
    assert!(panel.contains("role=\"heading\"") && panel.contains("Top Requests"), "{panel}");
    let category = format!("/com.glideapp{}", between(hardware[0], "/com.glideapp", "\""));
    let category = admin.get(&category.replace("&amp;", "&")).await.body;
    assert_eq!(category.matches("<h2>").count(), 4, "{category}");
    assert!(category.contains("<h2>Travel Notebook</h2></a>"), "{category}");
    assert!(!category.contains("Diagram Editor"), "{category}");
}

#[tokio::test]
async fn items_are_found_by_words() {
    let copy = copy();
    let mut admin = Visitor::logged_in(&copy, "admin", "admin").await;
    let found = admin.get("/catalog_find.do?sysparm_search=NOTEBOOK+designers").await.body;
    assert_eq!(found.matches("class=\"card\"").count(), 1, "{found}");
    assert!(found.contains("<h2>Studio Notebook</h2>"), "{found}");
    let nothing = admin.get("/catalog_find.do?sysparm_search=%3Cb%3E").await.body;
    assert!(nothing.contains("nothing to order") && !nothing.contains("<b>"), "{nothing}");
}

#[tokio::test]
async fn an_order_becomes_a_request_with_items_and_options() {
    let copy = copy();
    let mut program = Visitor::admin(&copy);
    let id = item(&mut program, "Travel+Notebook").await;
    let mut admin = Visitor::logged_in(&copy, "admin", "admin").await;
    let names = controls(&mut admin, &id).await;
    let form = format!(
        "item={id}&quantity=4&act=order&{}=blue&{}=true&{}=Two+lines%0Aof+text",
        names[0], names[1], names[2]
    );
    let answer = admin.send(Method::POST, SUBMIT, &form).await;
    let request = request_of(&answer.location);
    let number = program.table(&format!("sc_request/{request}")).await;
    assert_eq!(number["requested_for"]["value"], number["opened_by"]["value"]);
    let items = ordered(&mut program, &request).await;
    let (item, options) = &items[0];
    assert_eq!((items.len(), &item["quantity"]), (1, &"4".into()));
    assert_eq!(item["short_description"], "A light notebook for the road");
    assert_eq!(item["cat_item"]["value"], id);
    let values: Vec<&Value> =
        options.as_array().unwrap().iter().map(|it| &it["sc_item_option.value"]).collect();
    assert_eq!(values, ["blue", "true", "Two lines\nof text"]);
    assert_eq!(options[1]["sc_item_option.item_option_new.question_text"], "Carrying case");
    let page = admin.get(&answer.location).await.body;
    for shown in [number["number"].as_str().unwrap(), "Colour: Blue", "Carrying case: Yes"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let gone = format!("/api/now/table/sc_request/{request}");
    assert_eq!(program.send(Method::DELETE, &gone, "").await.status, StatusCode::NO_CONTENT);
    assert!(ordered(&mut program, &request).await.is_empty());
}

#[tokio::test]
async fn a_cart_belongs_to_one_visitor_until_it_is_ordered() {
    let copy = copy();
    let mut program = Visitor::admin(&copy);
    let notebook = item(&mut program, "Travel+Notebook").await;
    let screen = item(&mut program, "Second+Screen").await;
    let mut admin = Visitor::logged_in(&copy, "admin", "admin").await;
    let mut mara = Visitor::logged_in(&copy, "mara.lindqvist", "mara.lindqvist").await;
    for (id, quantity) in [(&notebook, 1), (&screen, 2), (&screen, 3)] {
        let form = format!("item={id}&quantity={quantity}&act=cart");
        assert_eq!(admin.send(Method::POST, SUBMIT, &form).await.location, CART);
    }
    assert!(mara.get(CART).await.body.contains("The cart is empty."));
    let cart = admin.get(CART).await.body;
    assert_eq!(cart.matches("<li class=\"line\">").count(), 3, "{cart}");
    // Nobody changes another's cart.
    mara.send(Method::POST, CART, "line=1&act=remove").await;
    assert_eq!(mara.send(Method::POST, CART, "act=check_out").await.location, CART);
    admin.send(Method::POST, CART, "line=2&act=remove").await;
    admin.send(Method::POST, CART, "line=3&act=change&quantity=7").await;
    let answer = admin.send(Method::POST, CART, "act=check_out").await;
    let request = request_of(&answer.location);
    let items = ordered(&mut program, &request).await;
    let quantities: Vec<&Value> = items.iter().map(|(item, _)| &item["quantity"]).collect();
    assert_eq!(quantities, ["1", "7"]);
    assert!(admin.get(CART).await.body.contains("The cart is empty."));
    admin.send(Method::POST, SUBMIT, &format!("item={screen}&quantity=1&act=cart")).await;
    copy.reset().unwrap();
    assert!(admin.get(CART).await.body.contains("The cart is empty."));
}

#[tokio::test]
async fn what_the_pages_do_not_offer_is_not_ordered() {
    let copy = copy();
    let mut program = Visitor::admin(&copy);
    let id = item(&mut program, "Travel+Notebook").await;
    let mut admin = Visitor::logged_in(&copy, "admin", "admin").await;
    let requests = program.table("sc_request").await;
    for form in ["item=none&quantity=1", "quantity=1&act=order", &format!("item={id}&act=order")] {
        assert!(admin.send(Method::POST, SUBMIT, form).await.status.is_client_error(), "{form}");
    }
    for quantity in ["0", "11", "-1", "1.5", "x"] {
        let form = format!("item={id}&quantity={quantity}&act=order");
        assert_eq!(admin.send(Method::POST, SUBMIT, &form).await.status, StatusCode::BAD_REQUEST);
    }
    assert_eq!(admin.get(SUBMIT).await.location, "/catalog_home.do?sysparm_view=catalog_default");
    assert_eq!(program.table("sc_request").await, requests);
    let names = controls(&mut admin, &id).await;
    let form = format!("item={id}&quantity=1&act=order&{}=no+colour&{}=maybe", names[0], names[1]);
    let answer = admin.send(Method::POST, SUBMIT, &form).await;
    let request = request_of(&answer.location);
    let (_, options) = &ordered(&mut program, &request).await[0];
    assert_eq!(options[0]["sc_item_option.value"], "");
    assert_eq!(options[1]["sc_item_option.value"], "false");
    for page in ["cat_item_view.do?sysparm_id=x", "category_view.do", "checkout_view_v2.do"] {
        let page = format!("/com.glideapp.servicecatalog_{page}");
        assert_eq!(admin.get(&page).await.status, StatusCode::NOT_FOUND, "{page}");
    }
}

#[tokio::test]
async fn records_that_were_made_later_can_be_ordered() {
    let copy = copy();
    let mut program = Visitor::admin(&copy);
    let category = program.table("sc_category?sysparm_query=title%3DOffice").await;
    let fields = serde_json::json!({
        "name": "Lamp <b>", "short_description": "A lamp & more", "category": category[0]["sys_id"],
    });
    let lamp = program.make("sc_cat_item", fields).await;
    let id = lamp["sys_id"].as_str().unwrap();
    let mut admin = Visitor::logged_in(&copy, "admin", "admin").await;
    let home = admin.get("/catalog_home.do").await.body;
    assert!(home.contains("2 items"), "{home}");
    let page = format!("/com.glideapp.servicecatalog_cat_item_view.do?sysparm_id={id}");
    assert!(admin.get(&page).await.body.contains("<h1>Lamp &lt;b&gt;</h1>"));
    let form = format!("item={id}&quantity=1&act=order");
    let answer = admin.send(Method::POST, SUBMIT, &form).await;
    let page = admin.get(&answer.location).await.body;
    assert!(page.contains("A lamp &amp; more"), "{page}");
}
