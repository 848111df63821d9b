//! The seccomp profile of containers: an allow list of the system calls that web applications need.
//!
//! Not allowed are calls that load kernel code, trace or change other processes, mount, set clocks
//! and host names, use keyrings, or create namespaces. Also not allowed are socket families with a
//! history of vulnerabilities (`AF_VSOCK`, which reaches the host of a virtual machine, and
//! `AF_ALG`). A call of an architecture other than the machine's own kills the caller.

use std::sync::LazyLock;

use serde_json::{Value, json};

/// Calls that are allowed with any arguments.
const ALLOWED: &str = "\
    accept accept4 access alarm arch_prctl bind brk cachestat capget capset chdir chmod chown \
    chroot clock_getres clock_gettime clock_nanosleep close close_range connect copy_file_range \
    creat dup dup2 dup3 epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait \
    eventfd eventfd2 execve execveat exit exit_group faccessat faccessat2 fadvise64 fallocate \
    fchdir fchmod fchmodat fchmodat2 fchown fchownat fcntl fdatasync fgetxattr flistxattr flock \
    fork fremovexattr fsetxattr fstat fstatfs fsync ftruncate futex futex_requeue futex_wait \
    futex_waitv futex_wake futimesat get_robust_list get_thread_area getcpu getcwd getdents \
    getdents64 getegid geteuid getgid getgroups getitimer getpeername getpgid getpgrp getpid \
    getppid getpriority getrandom getresgid getresuid getrlimit getrusage getsid getsockname \
    getsockopt gettid gettimeofday getuid getxattr inotify_add_watch inotify_init inotify_init1 \
    inotify_rm_watch io_cancel io_destroy io_getevents io_pgetevents io_setup io_submit ioctl \
    ioprio_get ioprio_set kill landlock_add_rule landlock_create_ruleset landlock_restrict_self \
    lchown lgetxattr link linkat listen listxattr llistxattr lremovexattr lseek lsetxattr lstat \
    madvise map_shadow_stack membarrier memfd_create mincore mkdir mkdirat mknod mknodat mlock \
    mlock2 mlockall mmap mprotect mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend \
    mq_unlink mremap msgctl msgget msgrcv msgsnd msync munlock munlockall munmap nanosleep \
    newfstatat open openat openat2 pause pidfd_open pidfd_send_signal pipe pipe2 pkey_alloc \
    pkey_free pkey_mprotect poll ppoll prctl pread64 preadv preadv2 prlimit64 process_mrelease \
    pselect6 pwrite64 pwritev pwritev2 read readahead readlink readlinkat readv recvfrom \
    recvmmsg recvmsg remap_file_pages removexattr rename renameat renameat2 restart_syscall \
    rmdir rseq rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn \
    rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo sched_get_priority_max \
    sched_get_priority_min sched_getaffinity sched_getattr sched_getparam sched_getscheduler \
    sched_rr_get_interval sched_setaffinity sched_setattr sched_setparam sched_setscheduler \
    sched_yield seccomp select semctl semget semop semtimedop sendfile sendmmsg sendmsg sendto \
    set_robust_list set_thread_area set_tid_address setfsgid setfsuid setgid setgroups setitimer \
    setpgid setpriority setregid setresgid setresuid setreuid setrlimit setsid setsockopt setuid \
    setxattr shmat shmctl shmdt shmget shutdown sigaltstack signalfd signalfd4 socketpair splice \
    stat statfs statx symlink symlinkat sync sync_file_range syncfs sysinfo tee tgkill time \
    timer_create timer_delete timer_getoverrun timer_gettime timer_settime timerfd_create \
    timerfd_gettime timerfd_settime times tkill truncate umask uname unlink unlinkat utime \
    utimensat utimes vfork vmsplice wait4 waitid write writev";

/// Allowed socket families: UNIX, IPv4, IPv6, and netlink, which programs use to list their
/// interfaces.
const FAMILIES: [u64; 4] = [1, 2, 10, 16];
/// Allowed arguments of `personality`: set the default, and query the current one.
const PERSONALITIES: [u64; 2] = [0, 0xffff_ffff];
/// All flags of `clone` that create a namespace.
const NAMESPACES: u64 = 0x7e02_0000;
/// "Not implemented": the response to `clone3`, whose flags a filter cannot inspect. Callers then
/// fall back to `clone`.
const ENOSYS: u32 = 38;

/// The profile in the format of the engine's option `seccomp=`.
pub(crate) fn profile() -> &'static str {
    static PROFILE: LazyLock<String> = LazyLock::new(|| {
        let mut calls = vec![
            json!({"names": ALLOWED.split_ascii_whitespace().collect::<Vec<_>>(), "action": "SCMP_ACT_ALLOW"}),
            // Its flags are in memory, where a filter cannot look. Without it, libraries use
            // `clone`.
            json!({"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": ENOSYS}),
            allow_if(
                "clone",
                json!({"index": 0, "value": NAMESPACES, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}),
            ),
        ];
        let equal = |value| json!({"index": 0, "value": value, "op": "SCMP_CMP_EQ"});
        calls.extend(FAMILIES.map(|family| allow_if("socket", equal(family))));
        calls.extend(PERSONALITIES.map(|wanted| allow_if("personality", equal(wanted))));
        let architecture = match std::env::consts::ARCH {
            "aarch64" => "SCMP_ARCH_AARCH64",
            _ => "SCMP_ARCH_X86_64",
        };
        json!({"defaultAction": "SCMP_ACT_ERRNO", "architectures": [architecture], "syscalls": calls})
            .to_string()
    });
    &PROFILE
}

fn allow_if(call: &str, argument: Value) -> Value {
    json!({"names": [call], "action": "SCMP_ACT_ALLOW", "args": [argument]})
}
