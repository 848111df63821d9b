//! Keeps sites from reaching the services of this machine.
//!
//! An internal network has no way out, but its bridge has an address on this machine, and whatever
//! listens on all addresses answers there. As root, new connections from the bridge are dropped;
//! answers to ours still pass. A rule carries the bridge's name in a comment, so that one whose
//! bridge is gone can be told and removed. (Podman makes a bridge with its first container only:
//! until then its network tells that the rule is wanted.)

use std::collections::BTreeSet;
use std::process::Stdio;

use tokio::process::Command;

const COMMENT: &str = "sandbox sites on ";

/// Shuts this machine to a bridge. The error says in words why that is not so.
pub(crate) async fn shut(bridge: &str) -> Result<(), String> {
    if !rustix::process::geteuid().is_root() {
        return Err("only root may add a rule to the machine's firewall".to_owned());
    }
    let comment = format!("{COMMENT}{bridge}");
    let state = ["-m", "conntrack", "--ctstate", "NEW"];
    let rule = [&["-w", "-I", "INPUT", "-i", bridge], &state[..], &["-m", "comment", "--comment", &comment]];
    iptables(&[rule.concat(), vec!["-j", "DROP"]].concat()).await.map(drop)
}

/// Which rules are to go.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rules<'a> {
    /// That of a bridge.
    Of(&'a str),
    /// Those of bridges that are gone and are none of these.
    But(&'a BTreeSet<String>),
}

/// Removes rules.
pub(crate) async fn open(which: Rules<'_>) {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let Ok(rules) = iptables(&["-w", "-S", "INPUT"]).await else { return };
    let bridges: BTreeSet<&str> = rules
        .lines()
        .filter(|rule| rule.contains(COMMENT))
        .filter_map(|rule| rule.split_whitespace().skip_while(|word| *word != "-i").nth(1))
        .filter(|found| match which {
            Rules::Of(bridge) => *found == bridge,
            Rules::But(wanted) => {
                !wanted.contains(*found) && !std::path::Path::new("/sys/class/net").join(found).exists()
            }
        })
        .collect();
    for bridge in bridges {
        let comment = format!("{COMMENT}{bridge}");
        let rule = ["-w", "-D", "INPUT", "-i", bridge, "-m", "conntrack", "--ctstate", "NEW"];
        let rest = ["-m", "comment", "--comment", &comment, "-j", "DROP"];
        if let Err(why) = iptables(&[&rule[..], &rest[..]].concat()).await {
            tracing::warn!(bridge, why, "a rule of the firewall could not be removed");
        }
    }
}

async fn iptables(arguments: &[&str]) -> Result<String, String> {
    // Debian keeps it where users' paths do not lead.
    let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("iptables");
    command.args(arguments).env("PATH", path).stdin(Stdio::null()).kill_on_drop(true);
    let output = command.output().await.map_err(|error| format!("iptables does not run: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
    }
}
