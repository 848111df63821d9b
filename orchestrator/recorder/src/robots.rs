//! A parser for robots.txt (RFC 9309), which says which links of a site a crawl may follow.
//!
//! It does not apply to URLs that the user gives: a person who asks for one page is no crawler.

/// The rules of one robots.txt that apply to our crawler.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Robots {
    /// `(allowed, path pattern)` in the order of the file.
    rules: Vec<(bool, String)>,
}

impl Robots {
    /// Reads the groups for `agent`, or the groups for `*` if none names `agent`.
    pub fn parse(text: &str, agent: &str) -> Robots {
        let (mut ours, mut anyone) = (None::<Vec<_>>, Vec::new());
        let (mut for_us, mut for_anyone, mut in_rules) = (false, false, true);
        for line in text.trim_start_matches('\u{feff}').lines() {
            let line = line.split('#').next().unwrap_or_default();
            let Some((key, value)) = line.split_once(':') else { continue };
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
            match key.as_str() {
                "user-agent" => {
                    if std::mem::take(&mut in_rules) {
                        (for_us, for_anyone) = (false, false);
                    }
                    for_us |= value.eq_ignore_ascii_case(agent);
                    for_anyone |= value == "*";
                    if for_us {
                        ours.get_or_insert_default();
                    }
                }
                "allow" | "disallow" => {
                    in_rules = true;
                    if value.is_empty() {
                        continue;
                    }
                    let rule = (key == "allow", value.to_owned());
                    if for_us {
                        ours.get_or_insert_default().push(rule.clone());
                    }
                    if for_anyone {
                        anyone.push(rule);
                    }
                }
                _ => {}
            }
        }
        Robots { rules: ours.unwrap_or(anyone) }
    }

    /// Whether a crawler may visit `path` (with its query). The longest matching rule decides;
    /// `allow` wins a tie.
    pub fn allows(&self, path: &str) -> bool {
        self.rules
            .iter()
            .filter(|(_, pattern)| matches(pattern, path))
            .max_by_key(|(allowed, pattern)| (pattern.len(), *allowed))
            .is_none_or(|(allowed, _)| *allowed)
    }
}

/// Matches a prefix. `*` stands for any characters, and a final `$` for the end of the path.
fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, anchored) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut parts = pattern.split('*');
    let Some(mut rest) = path.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return !anchored || rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    if anchored { rest.ends_with(last) } else { rest.contains(last) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_rule_decides_and_allow_wins_a_tie() {
        let robots = Robots::parse(
            "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /c\nAllow: /c\n",
            "sandbox",
        );
        let check = |path, expect| assert_eq!(robots.allows(path), expect, "{path}");
        check("/", true);
        check("/a/x", false);
        check("/a/b/x", true);
        check("/c", true);
    }

    #[test]
    fn wildcards_and_anchors() {
        let robots = Robots::parse("User-agent: *\nDisallow: /*.pdf$\nDisallow: /x*y\n", "sandbox");
        let check = |path, expect| assert_eq!(robots.allows(path), expect, "{path}");
        check("/a.pdf", false);
        check("/a.pdf?x=1", true);
        check("/x-and-y-and", false);
        check("/x", true);
    }

    #[test]
    fn our_own_group_replaces_the_general_one() {
        let text = "User-agent: *\nDisallow: /\n\nUser-agent: other\nUser-agent: Sandbox\nDisallow: /private\n";
        let robots = Robots::parse(text, "sandbox");
        assert!(robots.allows("/"));
        assert!(!robots.allows("/private/x"));
        assert!(!Robots::parse(text, "someone").allows("/x"));
    }

    #[test]
    fn an_empty_disallow_allows_all_and_garbage_is_ignored() {
        assert!(
            Robots::parse("User-agent: sandbox\nDisallow:\n\u{0}garbage\n", "sandbox").allows("/x")
        );
        assert!(Robots::parse("", "sandbox").allows("/x"));
    }
}
