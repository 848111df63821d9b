//! The list of needs, for every kind of manifest and every key of the formats.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;
use tasks::Suite;

use super::{Agreed, Given, of_suite};

struct Folder {
    _keep: tempfile::TempDir,
    path: Utf8PathBuf,
}

/// A suite with one task and one site, in a folder beside a private one.
fn folder(world: &str, task: &str, site: &str) -> Folder {
    let keep = tempfile::tempdir().unwrap();
    let path = Utf8Path::from_path(keep.path()).unwrap().canonicalize_utf8().unwrap();
    let suite = path.join("suite");
    fs::create_dir_all(suite.join("sites/app/pages")).unwrap();
    fs::create_dir_all(path.join("private")).unwrap();
    fs::write(path.join("private/state.json"), "{}").unwrap();
    fs::write(suite.join("state.json"), "{}").unwrap();
    fs::write(suite.join("verify.py"), "").unwrap();
    std::os::unix::fs::symlink(path.join("private"), suite.join("sites/app/link")).unwrap();
    let world = format!("world: {{clock: 2026-03-12T08:30:00Z, sites: sites{world}}}\n");
    fs::write(suite.join("suite.yaml"), world).unwrap();
    fs::write(suite.join("one.yaml"), format!("id: one\ngoal: x\nsites: [app]\n{task}\n")).unwrap();
    let site = format!("title: App\nabout: App.\nhosts: [app.test]\n{site}\n");
    fs::write(suite.join("sites/app/site.yaml"), site).unwrap();
    Folder { _keep: keep, path }
}

const PLAIN: &str = "scorer: {equals: x}";
const FORUM: &str = "driver: embedded\nembedded: forum";

fn list(folder: &Folder) -> Vec<String> {
    let suite = Suite::load(&folder.path.join("suite")).unwrap();
    let list = of_suite(&suite, &suite.tasks, Given::default()).unwrap();
    assert_eq!(Agreed::default().check(&list).is_ok(), list.is_empty());
    assert!(Agreed::to(&list).check(&list).is_ok() && Agreed::to_all().check(&list).is_ok());
    list.needs().iter().map(|need| need.to_string().replace(folder.path.as_str(), "BASE")).collect()
}

#[test]
fn every_kind_of_site_and_scorer_says_what_it_needs() {
    let by = "(the site app)";
    let site = |site: &str, expect: &[&str]| {
        let expect: Vec<String> = expect.iter().map(|line| format!("{line} {by}")).collect();
        assert_eq!(list(&folder("", PLAIN, site)), expect, "{site}");
    };
    site(FORUM, &[]);
    site("driver: embedded\nembedded: desk", &[]);
    for kind in ["static", "hosts"] {
        let files =
            |path: &str| format!("driver: embedded\nreset: never\nembedded: {{{kind}: '{path}'}}");
        site(&files("pages"), &[]);
        site(&files("../../sites/app/pages"), &[]);
        site(&files("link"), &["reads the folder BASE/private"]);
        site(&files("../../../private"), &["reads the folder BASE/private"]);
        site(&files("/etc"), &["reads the folder /etc"]);
        let key = format!("takes the variable HOME for embedded.{kind}");
        site(&files("${HOME}/x"), &["reads the folder ${HOME}/x", &key]);
    }
    site("driver: embedded\nembedded: {turkingbench: .}", &["reads the file BASE/private"]);
    site("driver: embedded\nembedded: itsm", &[]);
    site("driver: embedded\nembedded: {itsm: .}", &["reads the file BASE/private"]);
    site(
        "driver: embedded\nembedded: {itsm: '${DATA}/files'}",
        &["reads the folder ${DATA}/files", "takes the variable DATA for embedded.itsm"],
    );
    site(
        "driver: external\nreset: never\nurl: http://169.254.169.254/\nauthority: ../../../private/ca.pem\n\
         accounts: {a: {username: u, password: '${KEY}-${TOKEN}'}}",
        &[
            "reads the certificates in BASE/private/ca.pem",
            "takes the variable KEY for accounts.a.password",
            "takes the variable TOKEN for accounts.a.password",
            "reaches http://169.254.169.254, which is where clouds keep the credentials of this machine",
        ],
    );
    site(
        "driver: docker\nport: 1\nimage: 'evil/x y'\ncommand: [sh, -c, 'a b']\nwritable: true\n\
         volumes: {/a: {folder: ../../../private}, /b: {folder: pages}, /c: {scratch: 1M}}\nreset: spare\n\
         sidecars: {db: {image: db, volumes: {/d: {folder: '${MAPS}'}}}}",
        &[
            "starts a container of the image 'evil/x y' with the command sh -c 'a b', with a writable root",
            "starts a container of the image db",
            "reads the folder ${MAPS}",
            "reads the folder BASE/private",
            "takes the variable MAPS for sidecars.db.volumes./d.folder",
        ],
    );
    site(
        "driver: process\ncommand: [./app, '{port}']\nenv: {LD_PRELOAD: x.so}\nready: {up: {exec: [ready]}}\n\
         after_start: [{exec: [after]}]\nstate: {trees: [a], flush: [{exec: [flush]}]}\nprobes: {p: {exec: [probe]}}\n\
         accounts: {a: {username: u, password: p}}\nlogin: {a: {cookie: {c: d}, check: {exec: [check]}}}",
        &[
            "starts 'LD_PRELOAD=x.so' ./app '{port}'",
            "starts 'LD_PRELOAD=x.so' after",
            "starts 'LD_PRELOAD=x.so' check",
            "starts 'LD_PRELOAD=x.so' flush",
            "starts 'LD_PRELOAD=x.so' probe",
            "starts 'LD_PRELOAD=x.so' ready",
        ],
    );
}

#[test]
fn worlds_and_tasks_say_what_they_need() {
    let needs = |world: &str, task: &str| list(&folder(world, task, FORUM));
    let none: [&str; 0] = [];
    assert_eq!(needs(", storage_state: state.json, files: sites", PLAIN), none);
    assert_eq!(
        needs(", storage_state: ../private/state.json, files: ../private", PLAIN),
        [
            "reads the cookies and storage in BASE/private/state.json (the world)",
            "reads the files to upload in BASE/private (the world)",
        ]
    );
    assert_eq!(
        needs("", "storage_state: sites/app/link/state.json\nscorer: {equals: x}"),
        ["reads the cookies and storage in BASE/private/state.json (one)"]
    );
    assert_eq!(
        needs("", "scorer: {program: [python3, verify.py]}"),
        ["starts python3 verify.py (the scorer of one)"]
    );
    assert_eq!(
        needs("", "scorer: {all: [{equals: x}, {program: {command: [a, 'b c'], timeout: 1s}}]}"),
        ["starts a 'b c' (the scorer of one)"]
    );
    // A snapshot asks nothing by itself, and is named beside what could send it on.
    assert_eq!(needs(", snapshots: [../private/web.wacz]", PLAIN), none);
    assert_eq!(
        needs(", snapshots: [../private/web.wacz, own.wacz]", "scorer: {program: [x]}"),
        ["starts x (the scorer of one)", "reads the snapshot BASE/private/web.wacz (the world)"]
    );
    assert_eq!(
        needs(", snapshots: ['http://127.0.0.1:1/x.wacz', 's3://bucket/x.wacz']", PLAIN),
        [
            "reaches http://127.0.0.1:1, which is this machine for a snapshot (the world)",
            "reaches s3://bucket for a snapshot (the world)",
        ]
    );
}

#[test]
fn another_goal_asks_nothing_and_another_program_does() {
    let folder = folder("", "scorer: {program: [python3, verify.py]}", FORUM);
    let suite = folder.path.join("suite");
    let list = || {
        let suite = Suite::load(&suite).unwrap();
        of_suite(&suite, &suite.tasks, Given::default()).unwrap()
    };
    let agreed = list().digests();
    let task = fs::read_to_string(suite.join("one.yaml")).unwrap();
    fs::write(suite.join("one.yaml"), task.replace("goal: x", "goal: y")).unwrap();
    fs::write(suite.join("two.yaml"), task.replace("id: one", "id: two")).unwrap();
    assert!(list().digests().is_subset(&agreed));
    fs::write(suite.join("helper.py"), "x").unwrap();
    assert!(!list().digests().is_subset(&agreed));
    fs::remove_file(suite.join("helper.py")).unwrap();
    fs::write(suite.join("verify.py"), "y").unwrap();
    assert!(!list().digests().is_subset(&agreed));
}

#[test]
fn no_name_in_the_world_takes_a_program_out_of_what_is_agreed_to() {
    for world in [", files: lib", ", storage_state: lib/verify.py", ", snapshots: [lib/verify.py]"]
    {
        let folder = folder(world, "scorer: {program: [python3, -m, lib.verify]}", FORUM);
        let suite = folder.path.join("suite");
        fs::create_dir(suite.join("lib")).unwrap();
        let digests = |text: &str| {
            fs::write(suite.join("lib/verify.py"), text).unwrap();
            let suite = Suite::load(&suite).unwrap();
            of_suite(&suite, &suite.tasks, Given::default()).unwrap().digests()
        };
        assert_ne!(digests("1"), digests("2"), "{world}");
    }
}

/// The keys of the formats that name a program, path, variable or host, which the tables above try.
const LISTED: [&str; 25] = [
    "Account.password",
    "Application.hosts",
    "Application.itsm",
    "Application.static",
    "Application.turkingbench",
    "Command.exec",
    "Condition.exec",
    "Login.check",
    "Manifest.accounts",
    "Manifest.after_start",
    "Manifest.authority",
    "Manifest.command",
    "Manifest.embedded",
    "Manifest.env",
    "Manifest.image",
    "Manifest.sidecars",
    "Manifest.url",
    "Manifest.volumes",
    "Probe.exec",
    "Sidecar.command",
    "Sidecar.image",
    "Sidecar.volumes",
    "State.flush",
    "Volume.folder",
    "Manifest.writable",
];

/// Keys that do nothing outside of the world or the container: what each is about.
const INSIDE: [&str; 40] = [
    "Account.role",
    "Account.username",
    "Command.user",
    "Condition.contains",
    "Condition.get",
    "Condition.status",
    "Form.action",
    "Form.fields",
    "Form.page",
    "Limits.cpus",
    "Limits.disk",
    "Limits.memory",
    "Limits.pids",
    "Limits.shm",
    "Login.cookie",
    "Login.form",
    "Login.header",
    "Manifest.description",
    "Manifest.clock",
    "Manifest.driver",
    "Manifest.format",
    "Manifest.hosts",
    "Manifest.limits",
    "Manifest.login",
    "Manifest.port",
    "Manifest.probes",
    "Manifest.ready",
    "Manifest.ready_within",
    "Manifest.reset",
    "Manifest.state",
    "Manifest.title",
    "Probe.get",
    "Probe.header",
    "Probe.json",
    "Probe.query",
    "Probe.sqlite",
    "Sidecar.env",
    "Sidecar.limits",
    "Sidecar.writable",
    "State.sqlite",
];
const INSIDE_TOO: [&str; 3] = ["State.trees", "State.ignore", "Volume.scratch"];

/// Keys of suites and tasks that name a path, program or address outside of pages.
const OF_SUITES: [&str; 6] = ["files", "scorer", "sites", "snapshots", "storage_state", "world"];
const PAGES_ALONE: [&str; 34] = [
    "setup_script",
    "clock",
    "device",
    "format",
    "goal",
    "id",
    "goal_images",
    "locale",
    "login",
    "match",
    "max_steps",
    "name",
    "oracle",
    "reference_steps",
    "search",
    "search_pages",
    "seed",
    "seed_urls",
    "site_search",
    "pace",
    "start_url",
    "state",
    "early_stop",
    "tabs",
    "tags",
    "timezone",
    "messages",
    "viewport",
    "wrong_solution",
    "accuracy",
    "geolocation",
    "latitude",
    "longitude",
    "mobile",
];

fn keys(schema: &Value) -> impl Iterator<Item = String> + '_ {
    schema["properties"].as_object().into_iter().flatten().map(|(key, _)| key.clone())
}

/// A key that is new in a format fails here until somebody has decided whether it is listed.
#[test]
fn every_key_of_the_formats_is_decided_on() {
    let decided: BTreeSet<&str> = LISTED.into_iter().chain(INSIDE).chain(INSIDE_TOO).collect();
    let site = Value::from(sites::schema::site());
    let mut found: BTreeSet<String> = keys(&site).map(|key| format!("Manifest.{key}")).collect();
    for (name, definition) in site["definitions"].as_object().unwrap() {
        let alternatives = definition["oneOf"].as_array().cloned().unwrap_or_default();
        let own =
            alternatives.iter().chain([definition]).flat_map(|one| keys(one).collect::<Vec<_>>());
        found.extend(own.map(|key| format!("{name}.{key}")));
    }
    found.retain(|key| !key.starts_with("Host."));
    let decided = decided.iter().map(|key| (*key).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(found, decided, "decide in `consent/sites.rs`, and write the key into a list above");
    let decided: BTreeSet<&str> = OF_SUITES.into_iter().chain(PAGES_ALONE).collect();
    for schema in [tasks::schema::suite(), tasks::schema::task()].map(Value::from) {
        let world = &schema["definitions"]["WorldSpec"];
        for key in keys(&schema).chain(keys(world)) {
            assert!(
                decided.contains(key.as_str()),
                "{key}: decide in `consent/suite.rs`, and write it into a list above"
            );
        }
    }
}
