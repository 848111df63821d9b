//! Learns from two loads of a page which parts of its requests are volatile.
//!
//! Both loads request the same resources, so differences come from the clock or from randomness. A
//! part is volatile if its values in one load are disjoint from those in the other, and the rest of
//! the requests is equal. The pages of a list, or one image of many, share values between the loads
//! and are not affected.

use std::collections::{BTreeMap, BTreeSet};

use super::changing::{ChangingPart, anywhere};
use super::leaves::{Leaf, Place, leaves};
use super::{ReplayRequest, query};

/// The minimum length of a volatile path segment, so that `/2/` and `/3/` stay different resources.
const SEGMENT: usize = 8;
/// How many requests of a load are compared by path.
const COMPARED: usize = 200;

/// A request in the form for learning.
struct RequestSample {
    method: String,
    path: Vec<String>,
    leaves: Vec<Leaf>,
}

impl RequestSample {
    fn of(request: &ReplayRequest<'_>) -> RequestSample {
        let url = super::normalised_url(request.url);
        let path = query::split(&url).0.split('/').map(str::to_owned).collect();
        let mut leaves = leaves(request);
        leaves.sort();
        RequestSample { method: request.method.to_owned(), path, leaves }
    }

    /// The properties that requests must share to be compared part by part.
    fn shape(&self) -> Shape {
        let names = self.leaves.iter().map(|leaf| (leaf.place, anywhere(&leaf.name))).collect();
        (self.method.clone(), self.path.join("/"), names)
    }

    fn values<'a>(&'a self, name: &'a Name) -> impl Iterator<Item = &'a str> {
        let of_name = move |leaf: &&Leaf| leaf.place == name.0 && anywhere(&leaf.name) == name.1;
        self.leaves.iter().filter(of_name).map(|leaf| leaf.value.as_str())
    }

    /// The values whose names are not in `changing`.
    fn rest(&self, changing: &BTreeSet<Name>) -> Vec<&Leaf> {
        let kept = |leaf: &&Leaf| !changing.contains(&(leaf.place, anywhere(&leaf.name)));
        self.leaves.iter().filter(kept).collect()
    }
}

type Name = (Place, String);
type Shape = (String, String, BTreeSet<Name>);

/// The rules that follow from two loads of one page.
pub fn learn(first: &[ReplayRequest<'_>], second: &[ReplayRequest<'_>]) -> Vec<ChangingPart> {
    let mut loads =
        [first, second].map(|load| load.iter().map(RequestSample::of).collect::<Vec<_>>());
    join_paths(&mut loads);
    let [first, second] = loads.map(by_shape);
    let mut rules = Vec::new();
    for (shape, before) in &first {
        let Some(after) = second.get(shape) else { continue };
        let changing: BTreeSet<Name> =
            shape.2.iter().filter(|name| is_changing(name, before, after)).cloned().collect();
        let known: BTreeSet<_> = before.iter().map(|seen| seen.rest(&changing)).collect();
        let agrees = after.iter().any(|seen| known.contains(&seen.rest(&changing)));
        let path_changes = shape.1.split('/').any(|segment| segment == "*");
        if !agrees || (changing.is_empty() && !path_changes) {
            continue;
        }
        let names = |place| {
            changing.iter().filter(move |name| name.0 == place).map(|name| name.1.clone()).collect()
        };
        rules.push(ChangingPart {
            url: shape.1.clone(),
            method: shape.0.clone(),
            query: names(Place::Query),
            body: names(Place::Body),
        });
    }
    // A body without structure is one value without a name, to which no rule can refer.
    rules.retain(|rule| !rule.body.iter().chain(&rule.query).any(String::is_empty));
    rules
}

fn by_shape(load: Vec<RequestSample>) -> BTreeMap<Shape, Vec<RequestSample>> {
    let mut groups: BTreeMap<Shape, Vec<RequestSample>> = BTreeMap::new();
    for seen in load {
        groups.entry(seen.shape()).or_default().push(seen);
    }
    groups
}

fn is_changing(name: &Name, before: &[RequestSample], after: &[RequestSample]) -> bool {
    let before: BTreeSet<&str> = before.iter().flat_map(|seen| seen.values(name)).collect();
    let mut after = after.iter().flat_map(|seen| seen.values(name)).peekable();
    !before.is_empty() && after.peek().is_some() && after.all(|value| !before.contains(value))
}

/// Replaces a segment by `*` in paths that only one load has, if the other load has the same path
/// except for that segment.
fn join_paths(loads: &mut [Vec<RequestSample>; 2]) {
    let paths =
        |load: &[RequestSample]| load.iter().map(|seen| seen.path.clone()).collect::<BTreeSet<_>>();
    let (first, second) = (paths(&loads[0]), paths(&loads[1]));
    let mut patterns = BTreeSet::new();
    for own in first.difference(&second).take(COMPARED) {
        for other in second.difference(&first).take(COMPARED) {
            patterns.extend(one_segment(own, other));
        }
    }
    for seen in loads.iter_mut().flatten() {
        if let Some((at, pattern)) =
            patterns.iter().find(|(at, pattern)| fits(pattern, *at, &seen.path))
        {
            seen.path.clone_from(pattern);
            seen.path[*at] = "*".to_owned();
        }
    }
}

/// The one index where two paths differ, and the path with `*` there.
fn one_segment(own: &[String], other: &[String]) -> Option<(usize, Vec<String>)> {
    if own.len() != other.len() {
        return None;
    }
    let mut differing = own.iter().zip(other).enumerate().filter(|(_, (a, b))| a != b);
    let (at, (a, b)) = differing.next()?;
    let token =
        |text: &str| text.len() >= SEGMENT && text.bytes().any(|byte| byte.is_ascii_digit());
    let ending = |text: &str| text.rsplit_once('.').map(|(_, ending)| ending.to_owned());
    // The first three parts are the scheme, nothing and the host.
    if at < 3 || differing.next().is_some() || !token(a) || !token(b) || ending(a) != ending(b) {
        return None;
    }
    let mut pattern = own.to_vec();
    pattern[at] = "*".to_owned();
    Some((at, pattern))
}

fn fits(pattern: &[String], at: usize, path: &[String]) -> bool {
    pattern.len() == path.len()
        && pattern
            .iter()
            .zip(path)
            .enumerate()
            .all(|(place, (own, other))| place == at || own == other)
}

#[cfg(test)]
mod tests {
    use super::super::Payload;
    use super::*;

    fn rule(url: &str, method: &str, query: &[&str], body: &[&str]) -> ChangingPart {
        let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        ChangingPart {
            url: url.into(),
            method: method.into(),
            query: owned(query),
            body: owned(body),
        }
    }

    fn of_urls(first: &[&str], second: &[&str]) -> Vec<ChangingPart> {
        let bare = |urls: &[&str]| -> Vec<String> {
            urls.iter().map(|url| format!("https://a.test/{url}")).collect()
        };
        let (first, second) = (bare(first), bare(second));
        let first: Vec<ReplayRequest<'_>> =
            first.iter().map(|url| ReplayRequest::bare("GET", url)).collect();
        let second: Vec<ReplayRequest<'_>> =
            second.iter().map(|url| ReplayRequest::bare("GET", url)).collect();
        learn(&first, &second)
    }

    #[test]
    fn parameters_that_differ_between_two_loads_change_by_themselves() {
        assert_eq!(
            of_urls(
                &["x.json?t=17&q=a", "x.json?t=18&q=b"],
                &["x.json?t=27&q=a", "x.json?t=28&q=b"]
            ),
            [rule("https://a.test/x.json", "GET", &["t"], &[])]
        );
        assert_eq!(
            of_urls(&["s/a8f3k2m9/log?n=5"], &["s/b8f3k2m9/log?n=6"]),
            [rule("https://a.test/s/*/log", "GET", &["n"], &[])]
        );
    }

    #[test]
    fn what_both_loads_ask_for_alike_does_not() {
        assert_eq!(of_urls(&["x?page=1", "x?page=2"], &["x?page=2", "x?page=1"]), []);
        assert_eq!(of_urls(&["x?q=a"], &["y?q=b"]), []);
        assert_eq!(of_urls(&["items/2/x"], &["items/3/x"]), []);
        assert_eq!(of_urls(&["x?t=1"], &[]), []);
        // A volatile name must not hide a name that was requested with two values.
        assert_eq!(
            of_urls(&["x?t=1&p=1", "x?t=2&p=2"], &["x?t=3&p=1"]),
            [rule("https://a.test/x", "GET", &["t"], &[])]
        );
    }

    #[test]
    fn fields_of_bodies_are_learned_too() {
        let posted = |body: &'static str| ReplayRequest {
            method: "POST",
            url: "https://a.test/rpc",
            content_type: Some("application/json"),
            body: Payload::Bytes(body.as_bytes()),
        };
        let found = learn(
            &[posted(r#"{"op":"get","e":[{"at":1},{"at":2}]}"#)],
            &[posted(r#"{"op":"get","e":[{"at":3},{"at":4}]}"#)],
        );
        assert_eq!(found, [rule("https://a.test/rpc", "POST", &[], &["e[*].at"])]);
        let plain =
            |body: &'static str| ReplayRequest { content_type: Some("image/png"), ..posted(body) };
        assert_eq!(learn(&[plain("a")], &[plain("b")]), []);
    }
}
