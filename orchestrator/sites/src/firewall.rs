//! Firewall rules that keep sites from reaching the services of this machine, and other users of
//! the machine from reaching sites.
//!
//! An internal network has no route out, but its bridge has an address on this machine. Services
//! that listen on all addresses are reachable there. When we run as root, a rule drops new
//! connections from the bridge; responses to our own connections still pass. A second rule refuses
//! new connections to the bridge from all users but ours. Each rule has the bridge's name in a
//! comment, so that a rule whose bridge is gone can be found and removed. Podman
//! creates a bridge only with its first container. Until then, the existing network shows that the
//! rule is still needed.

use std::collections::BTreeSet;
use std::process::Stdio;

use tokio::process::Command;

const COMMENT: &str = "sandbox sites on ";

/// The chains of our rules, and the options by which these name a bridge.
const CHAINS: [(&str, &str); 2] = [("INPUT", "-i"), ("OUTPUT", "-o")];

/// Blocks new connections from a bridge to this machine. The error is a text with the reason.
pub(crate) async fn shut(bridge: &str) -> Result<(), String> {
    add("INPUT", bridge, &[]).await
}

/// Blocks new connections to a bridge from other users of this machine. The error is a text with
/// the reason.
pub(crate) async fn keep(bridge: &str) -> Result<(), String> {
    let own = rustix::process::geteuid().as_raw().to_string();
    add("OUTPUT", bridge, &["-m", "owner", "!", "--uid-owner", &own]).await
}

async fn add(chain: &str, bridge: &str, of_whom: &[&str]) -> Result<(), String> {
    if !rustix::process::geteuid().is_root() {
        return Err("only root may add a rule to the machine's firewall".to_owned());
    }
    let Some((_, option)) = CHAINS.iter().find(|(name, _)| *name == chain) else { return Ok(()) };
    let comment = format!("{COMMENT}{bridge}");
    let state = ["-m", "conntrack", "--ctstate", "NEW"];
    let named = ["-m", "comment", "--comment", &comment, "-j", "DROP"];
    let rule = [&["-w", "-I", chain, option, bridge], &state[..], of_whom, &named[..]];
    iptables(&rule.concat()).await.map(drop)
}

/// The rules to remove.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rules<'a> {
    /// The rule of this bridge.
    Of(&'a str),
    /// The rules of bridges that do not exist any more and are not in this set.
    But(&'a BTreeSet<String>),
}

/// Removes rules.
pub(crate) async fn open(which: Rules<'_>) {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    for (chain, option) in CHAINS {
        let Ok(rules) = iptables(&["-w", "-S", chain]).await else { continue };
        for rule in rules.lines().filter(|rule| is_of(which, option, rule)) {
            // As it is listed, but to be deleted. The comment has spaces, and is in quotes.
            let rule = rule.replacen("-A", "-D", 1);
            let words = rule.split('"').enumerate().flat_map(|(at, part)| match at % 2 {
                0 => part.split_whitespace().collect(),
                _ => vec![part],
            });
            let words: Vec<&str> = ["-w"].into_iter().chain(words).collect();
            if let Err(why) = iptables(&words).await {
                tracing::warn!(rule, why, "a rule of the firewall could not be removed");
            }
        }
    }
}

/// Whether a listed rule is one of these.
fn is_of(which: Rules<'_>, option: &str, rule: &str) -> bool {
    let bridge =
        rule.split_whitespace().skip_while(|word| *word != option).nth(1).unwrap_or_default();
    rule.contains(COMMENT)
        && match which {
            Rules::Of(own) => bridge == own,
            Rules::But(wanted) => {
                !wanted.contains(bridge)
                    && !std::path::Path::new("/sys/class/net").join(bridge).exists()
            }
        }
}

async fn iptables(arguments: &[&str]) -> Result<String, String> {
    // Debian installs it in a directory that is not in the `PATH` of users.
    let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("iptables");
    command.args(arguments).env("PATH", path).stdin(Stdio::null()).kill_on_drop(true);
    let output =
        command.output().await.map_err(|error| format!("iptables does not run: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_told_by_their_bridge_and_comment() {
        let rule = "-A OUTPUT -o br-x -m conntrack --ctstate NEW -m owner ! --uid-owner 0 \
                    -m comment --comment \"sandbox sites on br-x\" -j DROP";
        assert!(is_of(Rules::Of("br-x"), "-o", rule));
        assert!(!is_of(Rules::Of("br-y"), "-o", rule) && !is_of(Rules::Of("br-x"), "-i", rule));
        assert!(!is_of(Rules::Of("br-x"), "-o", "-A OUTPUT -o br-x -j DROP"), "somebody else's");
        assert!(is_of(Rules::But(&BTreeSet::new()), "-o", rule), "its bridge is gone");
        assert!(!is_of(Rules::But(&["br-x".to_owned()].into()), "-o", rule));
    }
}
