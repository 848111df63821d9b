//! Builds the container description for the engine: limits, privileges, and mounts from this
//! machine.

use std::collections::{BTreeMap, HashMap};

use bollard::models::{
    ContainerCreateBody, HealthConfig, HostConfig, HostConfigLogConfig, Mount, MountType,
};
use camino::Utf8Path;

use crate::manifest::Limits;

/// The DNS server that containers use: themselves, where nothing listens, so that look-ups fail at
/// once. With the engine's own resolver, each look-up would time out after ten seconds.
const NO_RESOLVER: &str = "127.0.0.1";

/// The means by which an engine keeps containers within their limits.
#[derive(Debug, Clone)]
pub(crate) struct Limiter {
    /// The seccomp profile as the engine takes it: Docker its text, Podman the path of a file.
    pub(crate) profile: String,
    /// The control groups' controllers that the engine has; all of them if `None`.
    pub(crate) controllers: Option<Vec<String>>,
}

impl Limiter {
    /// Whether the engine has this controller. It may refuse a container with a limit for which it
    /// has none.
    pub(crate) fn limits(&self, controller: &str) -> bool {
        self.controllers.as_ref().is_none_or(|all| all.iter().any(|one| one == controller))
    }
}

/// A container to create.
pub(super) struct Body<'a> {
    pub(super) image: &'a str,
    pub(super) command: &'a [String],
    pub(super) env: &'a BTreeMap<String, String>,
    pub(super) writable: bool,
    pub(super) limits: &'a Limits,
    /// In-memory folders by path inside the container, with their size limit in bytes.
    pub(super) scratch: Vec<(String, u64)>,
    /// Environment variables beyond the manifest's, as `NAME=value`.
    pub(super) extra_env: Vec<String>,
    pub(super) mounts: Vec<Mount>,
    pub(super) labels: HashMap<String, String>,
    /// A network of the engine, `none`, or `container:ID`.
    pub(super) network: String,
    /// The engine's mode of the user namespace; its default if `None`.
    pub(super) users: Option<String>,
    /// Its host name, if other containers refer to it by one.
    pub(super) hostname: Option<&'a str>,
    pub(super) limiter: &'a Limiter,
    /// The user that the container runs as; the image's own user if `None`.
    pub(super) user: Option<String>,
}

impl Body<'_> {
    pub(super) fn for_engine(self) -> ContainerCreateBody {
        let Body { limits, writable, .. } = self;
        let mut env = self.extra_env;
        env.extend(self.env.iter().map(|(name, value)| format!("{name}={value}")));
        const SCRATCH: &str = "rw,nosuid,nodev,mode=1777";
        let usual = if writable { &[][..] } else { &["/tmp", "/run"] };
        let usual = usual.iter().map(|path| ((*path).to_owned(), SCRATCH.to_owned()));
        let sized =
            self.scratch.into_iter().map(|(path, size)| (path, format!("{SCRATCH},size={size}")));
        let limiter = self.limiter;
        let security = vec!["no-new-privileges".to_owned(), format!("seccomp={}", limiter.profile)];
        let memory = limiter.limits("memory").then(|| bytes(limits.memory.0));
        let host = HostConfig {
            network_mode: Some(self.network),
            userns_mode: self.users,
            dns: Some(vec![NO_RESOLVER.to_owned()]),
            mounts: Some(self.mounts),
            readonly_rootfs: Some(!writable),
            tmpfs: Some(usual.chain(sized).collect()),
            // A third-party image may change users at its start. Capabilities that no web
            // application needs are dropped in any case.
            cap_drop: Some(if writable {
                ["NET_RAW", "MKNOD"].map(str::to_owned).into()
            } else {
                vec!["ALL".to_owned()]
            }),
            security_opt: Some(security),
            memory,
            memory_swap: memory,
            pids_limit: limiter.limits("pids").then(|| limits.pids.into()),
            nano_cpus: limiter.limits("cpu").then_some((limits.cpus * 1e9) as i64),
            shm_size: Some(bytes(limits.shm.0)),
            log_config: Some(HostConfigLogConfig {
                typ: Some("json-file".to_owned()),
                config: Some([("max-size", "8m"), ("max-file", "1")].map(owned).into()),
            }),
            ..Default::default()
        };
        ContainerCreateBody {
            image: Some(self.image.to_owned()),
            cmd: (!self.command.is_empty()).then(|| self.command.to_vec()),
            user: self.user,
            hostname: self.hostname.map(str::to_owned),
            env: Some(env),
            labels: Some(self.labels),
            // The `ready` conditions of the manifest replace the image's health check.
            healthcheck: Some(HealthConfig {
                test: Some(vec!["NONE".to_owned()]),
                ..Default::default()
            }),
            host_config: Some(host),
            ..Default::default()
        }
    }
}

/// A bind mount of a file or folder of this machine.
pub(super) fn mount(source: &Utf8Path, target: &str, read_only: bool) -> Mount {
    Mount {
        typ: Some(MountType::BIND),
        source: Some(source.to_string()),
        target: Some(target.to_owned()),
        read_only: Some(read_only),
        ..Default::default()
    }
}

fn bytes(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn owned((key, value): (&str, &str)) -> (String, String) {
    (key.to_owned(), value.to_owned())
}
