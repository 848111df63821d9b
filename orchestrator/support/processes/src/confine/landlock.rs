//! What the kernel's Landlock keeps a program from.

use std::io;
use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
};
use rustix::process::geteuid;

use super::Plan;

/// What every program needs of the system.
const SYSTEM: [&str; 14] = [
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/bin",
    "/sbin",
    "/opt",
    "/etc",
    "/proc",
    "/sys",
    "/nix",
    "/gnu",
    "/run/systemd/resolve",
    "/run/current-system",
];
/// Devices that hold nothing, and folders that are the program's own.
const WRITABLE: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/shm"];

/// Keeps this process, and all that it starts, from sockets without a path that others have. Where
/// the kernel cannot, the program reaches them.
pub(super) fn keep_from_sockets() -> io::Result<()> {
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
    let created = ruleset.scope(Scope::AbstractUnixSocket).and_then(Ruleset::create);
    // It asks for `no_new_privs`, which this process has.
    created.and_then(|created| created.restrict_self()).map(drop).map_err(io::Error::other)
}

/// Leaves this process the system and what the plan names.
///
/// # Errors
/// When the kernel has no Landlock.
pub(super) fn allow_only(plan: &Plan) -> io::Result<()> {
    let all = AccessFs::from_all(ABI::V5);
    let read = AccessFs::from_read(ABI::V5);
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort).handle_access(all);
    let mut created = ruleset.and_then(Ruleset::create).map_err(io::Error::other)?;
    let mut allow = |path: &Path, access: BitFlags<AccessFs>| -> io::Result<()> {
        let Ok(handle) = PathFd::new(path) else { return Ok(()) };
        let access = if path.is_dir() { access } else { access & AccessFs::from_file(ABI::V5) };
        let rule = PathBeneath::new(handle, access);
        (&mut created).add_rule(rule).map(drop).map_err(io::Error::other)
    };
    for path in SYSTEM.iter().map(Path::new) {
        if path == Path::new("/etc") && geteuid().is_root() {
            etc_without_secrets(path, &mut |path| allow(path, read))?;
        } else {
            allow(path, read)?;
        }
    }
    for path in WRITABLE.iter().map(Path::new) {
        allow(path, all)?;
    }
    for path in &plan.readable {
        allow(path, read)?;
    }
    for path in plan.writable.iter().chain(&plan.scratch) {
        allow(path, all)?;
    }
    let restricted = created.restrict_self().map_err(io::Error::other)?;
    if restricted.ruleset == RulesetStatus::NotEnforced {
        return Err(io::Error::other("this kernel lacks Landlock"));
    }
    Ok(())
}

/// Files of `/etc` that everybody may read. An ordinary user can read no others anyway.
fn etc_without_secrets(
    etc: &Path,
    allow: &mut impl FnMut(&Path) -> io::Result<()>,
) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    for entry in etc.read_dir()?.flatten() {
        let path = entry.path();
        if path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o004 != 0)
            && !path.ends_with("ssh")
        {
            allow(&path)?;
        }
    }
    Ok(())
}
