//! Checks a machine for what runs need: browsers, fonts, an engine, disk space. Each finding names
//! the command that mends it.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use browser::{CHROMEDRIVER_VARIABLE, CHROMIUM_VARIABLE, Programs};
use camino::Utf8Path;
use container_images::Engine;
use processes::desktop;
use serde::{Serialize, Serializer};

/// The result of one check.
#[derive(Debug)]
pub struct Finding {
    /// The part that was looked for.
    pub what: &'static str,
    /// The commands that need it.
    pub needed_for: &'static str,
    /// The version or place that was found, or the problem.
    pub found: Result<String, String>,
    /// The command that mends it.
    pub cure: Option<String>,
}

/// A finding as programs read it.
#[derive(Serialize)]
struct FindingReport<'a> {
    what: &'static str,
    needed_for: &'static str,
    ok: bool,
    /// Present if the check passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<&'a str>,
    /// Present if the check failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<&'a str>,
    /// Present if the check failed and there is a command that mends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    cure: Option<&'a str>,
}

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ok = self.found.is_ok();
        let report = FindingReport {
            what: self.what,
            needed_for: self.needed_for,
            ok,
            found: self.found.as_deref().ok(),
            problem: self.found.as_ref().err().map(String::as_str),
            cure: self.cure.as_deref().filter(|_| !ok),
        };
        report.serialize(serializer)
    }
}

/// Runs all checks. `folder` is that of the user's data, or says why it is not known.
pub async fn findings(folder: Result<&Utf8Path, String>) -> [Finding; 9] {
    [
        browser(),
        window(desktop::has_display()),
        fonts(),
        engine().await,
        landlock(),
        data_folder(folder),
        room(),
        loopback(),
        networks(),
    ]
}

/// Returns the checks that every node of a cluster has to pass for its parts of a run.
pub fn of_node() -> [Finding; 4] {
    [browser(), fonts(), room(), loopback()]
}

const BROWSERS: &str = "apt-get install -y chromium chromium-headless-shell chromium-driver";

/// Checks the browser of frozen worlds: the headless shell, or Chromium itself, and the driver,
/// which must be of one version.
pub fn browser() -> Finding {
    let found =
        Programs::find().map_err(|error| format!("failed to {error}")).and_then(|programs| {
            let advice = match &programs.headless_shell {
                Some(_) => "",
                None => "; runs would be twice as fast with its headless shell",
            };
            let browser = programs.headless_shell.as_ref().or(programs.chromium.as_ref());
            of_one_version(browser.map(AsRef::as_ref), &programs)
                .map(|said| format!("{said}{advice}"))
        });
    Finding {
        what: "Chromium for frozen worlds",
        needed_for: "sandbox run, gym, env, replay --check",
        found,
        cure: Some(browsers()),
    }
}

/// Checks the browser for the live web and for people.
pub fn window(has_display: bool) -> Finding {
    let found =
        Programs::find().map_err(|error| format!("failed to {error}")).and_then(|programs| {
            let said = of_one_version(programs.chromium.as_deref(), &programs)?;
            Ok(if has_display {
                said
            } else {
                format!("{said}; no display here, so it has no windows")
            })
        });
    Finding {
        what: "Chromium for the live web and for windows",
        needed_for: "sandbox record, replay --open, env --headed",
        found,
        cure: Some(browsers()),
    }
}

/// Returns the advice how to install browsers, or to name them.
fn browsers() -> String {
    let install = privileged(BROWSERS);
    format!("{install}, or name them: {CHROMIUM_VARIABLE}=PATH, {CHROMEDRIVER_VARIABLE}=PATH")
}

/// Checks that a browser and its driver are of one version. Returns each with its path.
fn of_one_version(browser: Option<&Path>, programs: &Programs) -> Result<String, String> {
    let browser = browser.ok_or("it is not installed; its headless shell is")?;
    let Some(driver) = programs.chromedriver.as_deref() else {
        let own = version(browser)?;
        return Ok(format!(
            "{} ({own}); no chromedriver, which env --webdriver needs",
            browser.display()
        ));
    };
    let (own, drivers) = (version(browser)?, version(driver)?);
    let said = format!("{} ({own}), {} ({drivers})", browser.display(), driver.display());
    // A chromedriver serves the browsers of its own major version.
    if major(&own) == major(&drivers) {
        Ok(said)
    } else {
        Err(format!("of different versions: {said}"))
    }
}

fn major(version: &str) -> Option<u32> {
    version.split(' ').find_map(|word| word.split('.').next()?.parse().ok())
}

/// Checks how browsers are kept from the rest of the machine's network. Both ways work.
pub fn networks() -> Finding {
    let found = match processes::own_network::probe() {
        Ok(()) => "each has a network namespace of its own, in which there is its gateway alone"
            .to_owned(),
        Err(why) => format!(
            "this machine gives them no namespace of their own ({why}): their gateway is on the loopback, and lets in \
             connections of its browser alone"
        ),
    };
    Finding {
        what: "networks of browsers",
        needed_for: "every command with a browser",
        found: Ok(found),
        cure: None,
    }
}

/// Checks for the fonts by which pages are laid out.
pub fn fonts() -> Finding {
    let none = "no DejaVu fonts under /usr/share/fonts: pages have the fonts of this machine, if any, and look \
                different elsewhere";
    let found = if browser::has_fonts() { Ok("DejaVu".to_owned()) } else { Err(none.to_owned()) };
    Finding {
        what: "fonts",
        needed_for: "pages that look the same on every machine",
        found,
        cure: Some(privileged("apt-get install -y fonts-dejavu-core")),
    }
}

/// Checks for a container engine that answers.
pub async fn engine() -> Finding {
    let (found, cure) = match Engine::connect().await {
        Ok(engine) => (Ok(described(&engine).await), None),
        Err(error) => (Err(error.to_string()), Some(error.cure().to_owned())),
    };
    Finding {
        what: "container engine",
        needed_for: "up, run on sites in containers, build, pull, load, save",
        found,
        cure,
    }
}

/// Returns the address of an engine, and the limits that it does not support.
async fn described(engine: &Engine) -> String {
    match sites::missing_limits(engine).await {
        Ok(Some(missing)) => format!("{}; {missing}", engine.host()),
        Ok(None) | Err(_) => engine.host().to_owned(),
    }
}

/// Checks for Landlock, which keeps work on a site's databases to those databases.
pub fn landlock() -> Finding {
    let found = sites::state::confinement().map(|()| "this kernel has it".to_owned());
    Finding {
        what: "Landlock",
        needed_for: "sites that keep databases: putting them back, looking into them",
        found: found.map_err(|error| format!("failed to {error}")),
        cure: Some("use Linux 5.13 or later, with `landlock` in its boot option `lsm=`".to_owned()),
    }
}

/// Checks the folder of the user's data.
pub fn data_folder(folder: Result<&Utf8Path, String>) -> Finding {
    let found = folder.and_then(|path| {
        std::fs::create_dir_all(path)
            .and_then(|()| tempfile::tempfile_in(path))
            .map(|_| path.to_string())
            .map_err(|error| format!("{path}: {error}"))
    });
    Finding {
        what: "data folder",
        needed_for: "the certificate authority and snapshot indexes",
        found,
        cure: Some("choose another one: --data DIR or SANDBOX_DATA=DIR".to_owned()),
    }
}

/// The disk space of a browser's profile and downloads, in bytes.
const ROOM: u64 = 256 << 20;

/// Whether browsers have room for their temporary files.
pub fn room() -> Finding {
    let folder = std::env::temp_dir();
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", folder.display());
    let found = tempfile::tempfile_in(&folder).map_err(|error| failed(&error)).and_then(|_| {
        let free = rustix::fs::statvfs(&folder).map_err(|error| failed(&error))?;
        let free = free.f_bavail.saturating_mul(free.f_frsize);
        let said = format!("{}: {} MiB free", folder.display(), free >> 20);
        if free < ROOM {
            Err(format!("{said}, of {} MiB that a browser may need", ROOM >> 20))
        } else {
            Ok(said)
        }
    });
    Finding {
        what: "temporary folder",
        needed_for: "every browser",
        found,
        cure: Some("free space there, or choose another one: TMPDIR=DIR".to_owned()),
    }
}

/// Whether servers of ours can be listened on.
pub fn loopback() -> Finding {
    let found = TcpListener::bind("127.0.0.1:0")
        .map(|_| "127.0.0.1 can be listened on".to_owned())
        .map_err(|error| format!("cannot listen on 127.0.0.1: {error}"));
    Finding {
        what: "loopback network",
        needed_for: "everything",
        found,
        cure: Some(privileged("ip link set lo up")),
    }
}

/// Returns the first line that `program --version` prints, without the commit in brackets.
fn version(program: &Path) -> Result<String, String> {
    let failed = |why: &dyn std::fmt::Display| format!("{} --version: {why}", program.display());
    let mut command = Command::new(program);
    command.arg("--version").env_clear().envs(processes::minimal());
    let output = command.output().map_err(|error| failed(&error))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().next().map(str::trim).filter(|line| !line.is_empty());
    let line = line.and_then(|line| line.split(" (").next());
    line.map(str::to_owned).ok_or_else(|| failed(&output.status))
}

/// Returns the Debian packages of browsers and fonts that are not installed.
pub fn missing_packages() -> Vec<&'static str> {
    let mut packages = Vec::new();
    match Programs::find() {
        Ok(programs) => {
            let named =
                std::env::var_os(browser::CHROMIUM_VARIABLE).is_some_and(|value| !value.is_empty());
            if programs.chromium.is_none() {
                packages.push("chromium");
            }
            if programs.headless_shell.is_none() && !named {
                packages.push("chromium-headless-shell");
            }
        }
        Err(_) => packages.extend(["chromium", "chromium-headless-shell", "chromium-driver"]),
    }
    if !browser::has_fonts() {
        packages.push("fonts-dejavu-core");
    }
    packages
}

/// Returns `command` as this user has to type it.
pub fn privileged(command: &str) -> String {
    if rustix::process::geteuid().is_root() {
        command.to_owned()
    } else {
        format!("sudo {command}")
    }
}
