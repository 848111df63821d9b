//! Renumbers the nodes and frames in the raw trees that programs get. The browser chooses frame ids
//! at random. It numbers nodes when its tools first meet them, so their numbers depend on earlier
//! commands. Here both follow the order of the nodes in the trees.

use std::collections::HashMap;

use serde_json::{Value, json};

const OF_ELEMENT: &str = "backendDOMNodeId";

/// Renumbers the nodes of a DOM snapshot and of an accessibility tree. An element has the same
/// number in both.
pub(crate) fn renumber(dom: Option<&mut Value>, axtree: Option<&mut Value>) {
    let mut elements: HashMap<i64, usize> = HashMap::new();
    let mut frames: HashMap<String, usize> = HashMap::new();
    if let Some(dom) = dom {
        renumber_documents(dom, &mut elements, &mut frames);
    }
    let nodes = axtree.and_then(|axtree| axtree.get_mut("nodes")?.as_array_mut());
    let Some(nodes) = nodes else { return };
    let mut places: HashMap<String, usize> = HashMap::new();
    // First all nodes in the order of the list. Some name children that come later.
    for node in nodes.iter() {
        node_number(&node["nodeId"], &mut places);
    }
    for node in nodes {
        renumber_elements(node, &mut elements);
        if let Some(frame) = node.get_mut("frameId") {
            *frame = frame_name(frame, &mut frames);
        }
        for key in ["nodeId", "parentId"] {
            if let Some(number) = node.get_mut(key) {
                *number = node_number(number, &mut places);
            }
        }
        for number in node["childIds"].as_array_mut().into_iter().flatten() {
            *number = node_number(number, &mut places);
        }
    }
}

fn renumber_documents(
    dom: &mut Value,
    elements: &mut HashMap<i64, usize>,
    frames: &mut HashMap<String, usize>,
) {
    let mut documents = dom.get_mut("documents").map(Value::take).unwrap_or_default();
    let strings = dom.get_mut("strings").and_then(Value::as_array_mut);
    let mut strings = strings.into_iter().flatten().collect::<Vec<_>>();
    for document in documents.as_array_mut().into_iter().flatten() {
        let frame = document["frameId"].as_u64().and_then(|at| usize::try_from(at).ok());
        if let Some(frame) = frame.and_then(|at| strings.get_mut(at)) {
            **frame = frame_name(frame, frames);
        }
        let numbers = document.pointer_mut("/nodes/backendNodeId").and_then(Value::as_array_mut);
        numbers.into_iter().flatten().for_each(|number| renumber_value(number, elements));
    }
    dom["documents"] = documents;
}

/// The name of a frame, as long as the browser's own.
fn frame_name(original: &Value, numbers: &mut HashMap<String, usize>) -> Value {
    let Some(text) = original.as_str() else { return original.clone() };
    let next = numbers.len() + 1;
    json!(format!("{:032X}", numbers.entry(text.to_owned()).or_insert(next)))
}

/// Renumbers the elements in a node and in its related nodes.
fn renumber_elements(value: &mut Value, elements: &mut HashMap<i64, usize>) {
    match value {
        Value::Array(values) => {
            values.iter_mut().for_each(|value| renumber_elements(value, elements))
        }
        Value::Object(values) => {
            for (key, value) in values {
                if key == OF_ELEMENT {
                    renumber_value(value, elements)
                } else {
                    renumber_elements(value, elements)
                }
            }
        }
        _ => {}
    }
}

fn renumber_value(number: &mut Value, numbers: &mut HashMap<i64, usize>) {
    if let Some(original) = number.as_i64() {
        let next = numbers.len() + 1;
        *number = json!(*numbers.entry(original).or_insert(next));
    }
}

/// The number of a node of the accessibility tree, as text.
fn node_number(original: &Value, numbers: &mut HashMap<String, usize>) -> Value {
    let Some(text) = original.as_str() else { return original.clone() };
    let next = numbers.len() + 1;
    json!(numbers.entry(text.to_owned()).or_insert(next).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trees(first: i64) -> (Value, Value) {
        let [a, b, c] = [first, first + 3, first + 1];
        let frame = format!("F{first}");
        let document = json!({ "frameId": 1, "nodes": { "backendNodeId": [a, b] } });
        let dom = json!({ "documents": [document], "strings": ["x", frame] });
        let text = |number: i64| number.to_string();
        let axtree = json!({ "nodes": [
            { "nodeId": text(b), "frameId": frame, "backendDOMNodeId": b, "childIds": [text(c), "-7"] },
            { "nodeId": text(c), "backendDOMNodeId": c, "parentId": text(b), "childIds": [],
              "properties": [{ "name": "controls", "value": { "relatedNodes": [{ "backendDOMNodeId": a }] } }] },
        ] });
        (dom, axtree)
    }

    #[test]
    fn numbers_follow_the_order_of_the_nodes() {
        let renumbered = |first| {
            let (mut dom, mut axtree) = trees(first);
            renumber(Some(&mut dom), Some(&mut axtree));
            (dom, axtree)
        };
        let (dom, axtree) = renumbered(24);
        assert_eq!((&dom, &axtree), (&renumbered(23).0, &renumbered(23).1));
        assert_eq!(dom["documents"][0]["nodes"]["backendNodeId"], json!([1, 2]));
        assert_eq!(dom["strings"], json!(["x", format!("{:032X}", 1)]));
        let nodes = &axtree["nodes"];
        assert_eq!(nodes[0]["frameId"], dom["strings"][1]);
        assert_eq!((&nodes[0]["nodeId"], &nodes[0]["backendDOMNodeId"]), (&json!("1"), &json!(2)));
        assert_eq!(nodes[0]["childIds"], json!(["2", "3"]));
        assert_eq!((&nodes[1]["nodeId"], &nodes[1]["parentId"]), (&json!("2"), &json!("1")));
        assert_eq!(nodes[1]["backendDOMNodeId"], 3);
        assert_eq!(nodes[1]["properties"][0]["value"]["relatedNodes"][0]["backendDOMNodeId"], 1);
    }
}
