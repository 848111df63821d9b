//! The page of an order in the shop: `shopping_get_all_product_order`, and how its rows are read.

use python_compat::int::Int;
use python_compat::text::strip;
use serde_json::Value;

/// The products of an order: the cells of each by their second class, and what `dl`s beside the
/// name say as `options`. Throws where the page is none of an order.
pub(super) const PRODUCTS: &str = "[...document.querySelector('#my-orders-table').getElementsByTagName('tbody')].map((body) => { \
    const product = {}; \
    for (const cell of body.getElementsByTagName('td')) { \
      const key = cell.className.split(' ')[1]; product[key] = cell.outerText; \
      const list = key === 'name' ? cell.querySelector('dl') : null; \
      if (list) { product.options = {}; \
        for (let at = 0; at < list.children.length; at += 2) \
          product.options[list.children[at].outerText] = list.children[at + 1].outerText; } \
    } return product; })";

/// `shopping_get_order_product_name_list`: nothing where one has no name.
pub(super) fn names(products: &Value) -> String {
    let names =
        products.as_array().into_iter().flatten().map(|product| product.get("name")?.as_str());
    names.collect::<Option<Vec<&str>>>().unwrap_or_default().join(" |OR| ")
}

/// `shopping_get_order_product_quantity`: 0 where no product has one of these numbers, or something
/// is not as it should be.
pub(super) fn quantity(products: &Value, sku: &str) -> i64 {
    let wanted: Vec<&str> =
        if sku.contains("|OR|") { sku.split(" |OR| ").collect() } else { vec![sku] };
    let read = |product: &Value| {
        // After `Ordered`.
        let text: String = product.get("qty")?.as_str()?.chars().skip(7).collect();
        Int::parse(&text)?.to_text().parse().ok()
    };
    find(products, |sku| wanted.contains(&sku)).and_then(read).unwrap_or(0)
}

/// `shopping_get_order_product_option`: nothing where there is no such product or option.
pub(super) fn option(products: &Value, sku: &str, name: &str) -> String {
    let product = find(products, |given| given == sku);
    let option = product.and_then(|product| product.get("options")?.get(name)?.as_str());
    option.unwrap_or_default().to_owned()
}

/// The first product with such a number, unless one before it has none.
fn find(products: &Value, wanted: impl Fn(&str) -> bool) -> Option<&Value> {
    for product in products.as_array()? {
        if wanted(strip(product.get("sku")?.as_str()?)) {
            return Some(product);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn products_are_found_by_their_numbers() {
        let products = json!([
            { "sku": " A1 ", "name": "Oak table", "qty": "Ordered2\n", "options": { "Size": "L" } },
            { "sku": "A2", "name": "Elm chair", "qty": "Ordered: 3" },
        ]);
        assert_eq!(names(&products), "Oak table |OR| Elm chair");
        assert_eq!(quantity(&products, "A1"), 2);
        assert_eq!(quantity(&products, "A0 |OR| A1"), 2);
        assert_eq!(quantity(&products, "A2"), 0, "`: 3` is no number");
        assert_eq!(quantity(&products, "A3"), 0);
        assert_eq!(option(&products, "A1", "Size"), "L");
        assert_eq!(option(&products, "A2", "Size"), "");
        assert_eq!((names(&Value::Null), quantity(&Value::Null, "A1")), (String::new(), 0));
        assert_eq!(names(&json!([{ "sku": "A1" }])), "");
        assert_eq!(quantity(&json!([{}, { "sku": "A1", "qty": "Ordered2" }]), "A1"), 0);
    }
}
