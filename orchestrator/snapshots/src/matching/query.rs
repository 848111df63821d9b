//! URLs in serialised form and in normalised form.

use std::borrow::Cow;

use url::Url;

use super::rules::{Rule, Rules, is_cache_buster, is_tracking};

/// The URL as a browser serialises it, without fragment. An invalid URL stays unchanged.
pub(super) fn whole(url: &str) -> Cow<'_, str> {
    match Url::parse(url) {
        Ok(parsed) if without_fragment(parsed.as_str()) == url => Cow::Borrowed(url),
        Ok(parsed) => Cow::Owned(without_fragment(parsed.as_str()).to_owned()),
        Err(_) => Cow::Borrowed(without_fragment(url)),
    }
}

/// The URL under the rules. Adds the rules that changed something to `rules`.
pub(super) fn normalised(url: &str, rules: &mut Rules) -> String {
    let whole = whole(url);
    let (before, query) = split(&whole);
    let mut out = respell(before, rules).into_owned();
    let Some(query) = query else { return out };
    if query.is_empty() {
        rules.add(Rule::EmptyQuery);
        return out;
    }
    let kept = kept_parameters(query, rules);
    let mut separator = '?';
    for piece in kept {
        out.push(separator);
        out.push_str(&piece);
        separator = '&';
    }
    out
}

/// The rules by which two URLs of the same normalised form differ.
pub(super) fn rules_between(a: &str, b: &str) -> Rules {
    let mut between = Rules::default();
    let (a, b) = (whole(a), whole(b));
    if a == b {
        return between;
    }
    let ((path_a, query_a), (path_b, query_b)) = (split(&a), split(&b));
    if path_a != path_b {
        between.add(Rule::PercentSpelling);
    }
    if query_a.is_some_and(str::is_empty) != query_b.is_some_and(str::is_empty) {
        between.add(Rule::EmptyQuery);
    }
    let sides =
        [query_a, query_b].map(|query| pieces(query.unwrap_or_default()).collect::<Vec<_>>());
    let only = |test: fn(&str) -> bool| {
        sides.clone().map(|s| s.into_iter().filter(|p| test(p)).collect::<Vec<_>>())
    };
    let [tracking_a, tracking_b] = only(tracking);
    if tracking_a != tracking_b {
        between.add(Rule::TrackingParameters);
    }
    let [busters_a, busters_b] = only(buster);
    if busters_a != busters_b {
        between.add(Rule::CacheBusters);
    }
    let [rest_a, rest_b] = only(|piece| !tracking(piece) && !buster(piece));
    if rest_a != rest_b {
        // Spelled alike, what still differs is the order; sorted, it is the spelling.
        let mut ignored = Rules::default();
        let spelled = |rest: &[&str], rules: &mut Rules| -> Vec<String> {
            rest.iter().map(|piece| respell(piece, rules).into_owned()).collect()
        };
        let (spelled_a, spelled_b) =
            (spelled(&rest_a, &mut ignored), spelled(&rest_b, &mut ignored));
        if spelled_a != spelled_b {
            between.add(Rule::QueryOrder);
        }
        let sorted = |mut rest: Vec<&str>| -> Vec<String> {
            rest.sort_unstable();
            rest.into_iter().map(str::to_owned).collect()
        };
        if sorted(rest_a) != sorted(rest_b) {
            between.add(Rule::PercentSpelling);
        }
    }
    between
}

/// The parameters that may select content, in canonical spelling and sorted by name.
pub(super) fn kept_parameters<'a>(query: &'a str, rules: &mut Rules) -> Vec<Cow<'a, str>> {
    let mut kept = Vec::new();
    for piece in pieces(query) {
        if tracking(piece) {
            rules.add(Rule::TrackingParameters);
        } else if buster(piece) {
            rules.add(Rule::CacheBusters);
        } else {
            kept.push(respell(piece, rules));
        }
    }
    sort_by_name(&mut kept, rules, Rule::QueryOrder);
    kept
}

/// Sorts `name=value` pieces by name. Pieces of one name keep their order, which may matter.
pub(super) fn sort_by_name(pieces: &mut [Cow<'_, str>], rules: &mut Rules, rule: Rule) {
    if !pieces.is_sorted_by(|a, b| name(a) <= name(b)) {
        pieces.sort_by(|a, b| name(a).cmp(name(b)));
        rules.add(rule);
    }
}

/// The URL up to the query, and the query if there is a question mark.
pub(super) fn split(url: &str) -> (&str, Option<&str>) {
    match url.split_once('?') {
        Some((before, query)) => (before, Some(query)),
        None => (url, None),
    }
}

/// The name of a `name=value` piece.
pub(super) fn name(piece: &str) -> &str {
    piece.split_once('=').map_or(piece, |(name, _)| name)
}

fn pieces(query: &str) -> impl Iterator<Item = &str> {
    query.split('&').filter(move |_| !query.is_empty())
}

fn tracking(piece: &str) -> bool {
    is_tracking(name(piece))
}

fn buster(piece: &str) -> bool {
    piece.split_once('=').is_some_and(|(name, value)| is_cache_buster(name, value))
}

fn without_fragment(url: &str) -> &str {
    url.split_once('#').map_or(url, |(before, _)| before)
}

/// Percent escapes in canonical spelling: upper-case digits, and no escapes where the character
/// needs none (RFC 3986, 6.2.2).
fn respell<'a>(text: &'a str, rules: &mut Rules) -> Cow<'a, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let escape = rest.as_bytes().get(at + 1..at + 3).and_then(|digits| {
            let value = |digit: u8| (digit as char).to_digit(16);
            Some((value(digits[0])? * 16 + value(digits[1])?) as u8)
        });
        match escape {
            Some(byte) if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => {
                out.push(byte as char)
            }
            Some(_) => out.push_str(&rest[at..at + 3].to_ascii_uppercase()),
            None => {
                out.push('%');
                rest = &rest[at + 1..];
                continue;
            }
        }
        rest = &rest[at + 3..];
    }
    out.push_str(rest);
    if out.as_bytes() == bytes {
        return Cow::Borrowed(text);
    }
    rules.add(Rule::PercentSpelling);
    Cow::Owned(out)
}
