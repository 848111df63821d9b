//! The rights of a process: what the room is made with, and what is given up in it.

use std::io;

use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    configure_capability_in_ambient_set, remove_capability_from_bounding_set, set_capabilities,
    set_no_new_privs,
};

/// What root keeps besides its name: to use files of others, and to become another user. By none of
/// these can a mount be taken away, a device be made, or a file be opened by its handle.
const OF_ROOT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::NET_BIND_SERVICE);

/// Whether this process may make namespaces without one of users.
pub(super) fn may_mount() -> bool {
    capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN))
}

/// Lets the program that comes next have all the rights of this one.
pub(super) fn pass_on() -> io::Result<()> {
    let mut sets = capabilities(None)?;
    sets.inheritable = sets.permitted;
    set_capabilities(None, sets)?;
    for capability in sets.permitted.iter() {
        configure_capability_in_ambient_set(capability, true)?;
    }
    Ok(())
}

/// Gives up, for this process and all that it starts, what could undo the confinement.
pub(super) fn give_up(is_root: bool) -> io::Result<()> {
    set_no_new_privs(true)?;
    clear_ambient_capability_set()?;
    let kept = if is_root { OF_ROOT } else { CapabilitySet::empty() };
    let sets = capabilities(None)?;
    // Kernels know more capabilities than this program does.
    for number in 0..64_u32 {
        let capability = CapabilitySet::from_bits_retain(1 << number);
        if !kept.contains(capability)
            && let Err(error) = remove_capability_from_bounding_set(capability)
        {
            match error {
                // The last that this kernel has was the one before.
                rustix::io::Errno::INVAL => break,
                error => return Err(error.into()),
            }
        }
    }
    let kept = kept & sets.permitted;
    set_capabilities(
        None,
        CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() },
    )?;
    Ok(())
}
