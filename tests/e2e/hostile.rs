//! Pages that try to get out, played where every packet that leaves can be counted: in a network of
//! their own, whose only way out is a cable.

use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::harness::{Bench, repository, text};

/// Waits until a page has tried everything.
const AGENT: &str = r#"--agent=program:read -r hello; echo '{"protocol":1}'; read -r task
    while read -r line; do case "$line" in
        *'"title":"trying"'*) echo '{"action":"noop(2000)"}';;
        *'"type":"end"'*) exit 0;;
        *) echo '{"stop":true}';;
    esac; done"#;

/// A network name space with one end of a cable, over which all but loopback is reached. Nobody is
/// at the other end.
struct Network {
    name: String,
}

impl Network {
    fn new() -> Result<Network> {
        let name = format!("hostile{}", std::process::id());
        ip(&["netns", "add", &name])?;
        let network = Network { name };
        let name = network.name.as_str();
        let (here, there) = (format!("{name}a"), format!("{name}b"));
        ip(&["link", "add", &here, "type", "veth", "peer", "name", &there])?;
        ip(&["link", "set", &there, "netns", name])?;
        let inside = |arguments: &[&str]| ip(&[&["-n", name], arguments].concat());
        // What the system says by itself of addresses of the other kind would count.
        for of in ["all", "default", &there] {
            let setting = format!("echo 1 > /proc/sys/net/ipv6/conf/{of}/disable_ipv6");
            ip(&["netns", "exec", name, "sh", "-c", &setting])?;
        }
        ip(&["link", "set", &here, "up"])?;
        inside(&["link", "set", "lo", "up"])?;
        inside(&["address", "add", "198.51.100.2/30", "dev", &there])?;
        inside(&["link", "set", &there, "up"])?;
        // So that nobody has to be asked who is there.
        let neighbour =
            ["neighbour", "add", "198.51.100.1", "lladdr", "02:00:00:00:00:01", "dev", &there];
        inside(&[&neighbour[..], &["nud", "permanent"]].concat())?;
        inside(&["route", "add", "default", "via", "198.51.100.1"])?;
        Ok(network)
    }

    fn command(&self, bench: &Bench, program: &str, arguments: &[&str]) -> Command {
        bench.command_of("ip", &[&["netns", "exec", &self.name, program], arguments].concat())
    }

    /// How many packets have left it so far.
    fn sent(&self) -> Result<u64> {
        let file = format!("/sys/class/net/{}b/statistics/tx_packets", self.name);
        let output =
            Command::new("ip").args(["netns", "exec", &self.name, "cat", &file]).output()?;
        text(&output.stdout).trim().parse().with_context(|| text(&output.stderr))
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        // Its end of the cable goes with it.
        let _ = Command::new("ip").args(["netns", "delete", &self.name]).status();
    }
}

fn ip(arguments: &[&str]) -> Result<()> {
    let output =
        Command::new("ip").args(arguments).output().context("`ip` is missing: install iproute2")?;
    ensure!(output.status.success(), "ip {arguments:?} (needs root): {}", text(&output.stderr));
    Ok(())
}

#[test]
fn no_packet_leaves_while_pages_try_everything() -> Result<()> {
    let (bench, network) = (Bench::new()?, Network::new()?);
    let before = network.sent()?;
    let control =
        network.command(&bench, "bash", &["-c", "echo out > /dev/udp/198.51.100.1/9"]).status()?;
    ensure!(control.success() && network.sent()? == before + 1, "a packet that leaves is counted");

    let before = network.sent()?;
    let suite = repository().join("tests/hostile/page");
    let out = bench.path("out");
    let arguments = ["run", suite.as_str(), AGENT, "--workers=2", "--output", out.as_str()];
    let output = network.command(&bench, env!("CARGO_BIN_EXE_sandbox"), &arguments).output()?;
    let table = format!("{}{}", text(&output.stdout), text(&output.stderr));
    ensure!(output.status.success(), "{table}");
    ensure!(table.contains("7/7"), "a page got out, or did not come to its end:\n{table}");
    let sent = network.sent()? - before;
    ensure!(sent == 0, "{sent} packets left");
    Ok(())
}
