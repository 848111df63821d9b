//! Firewall rules that keep sites from reaching the services of this machine.
//!
//! An internal network has no route out, but its bridge has an address on this machine. Services
//! that listen on all addresses are reachable there. When we run as root, a rule drops new
//! connections from the bridge; responses to our own connections still pass. Each rule has the
//! bridge's name in a comment, so that a rule whose bridge is gone can be found and removed. Podman
//! creates a bridge only with its first container. Until then, the existing network shows that the
//! rule is still needed.

use std::collections::BTreeSet;
use std::process::Stdio;

use tokio::process::Command;

const COMMENT: &str = "sandbox sites on ";

/// Blocks connections from a bridge to this machine. The error is a text with the reason.
pub(crate) async fn shut(bridge: &str) -> Result<(), String> {
    if !rustix::process::geteuid().is_root() {
        return Err("only root may add a rule to the machine's firewall".to_owned());
    }
    let comment = format!("{COMMENT}{bridge}");
    let state = ["-m", "conntrack", "--ctstate", "NEW"];
    let rule = [&["-w", "-I", "INPUT", "-i", bridge], &state[..], &["-m", "comment", "--comment", &comment]];
    iptables(&[rule.concat(), vec!["-j", "DROP"]].concat()).await.map(drop)
}

/// Which rules to remove.
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
    // Debian installs it in a directory that is not in the `PATH` of users.
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
