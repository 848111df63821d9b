"""A Slurm cluster on this machine: a controller and nodes, each in a mount namespace of its own.

Everything is below one temporary folder: spools, logs, munge's key and socket. There is no systemd
and no cgroup. `stop` ends every process that was started, jobs included.
"""

import os
import pathlib
import secrets
import shutil
import signal
import socket
import subprocess
import time

CONTROLLER_PORT = 17817
NODE_PORT = 17800
CPUS = 1


def slurm_conf(folder, nodes):
    host = socket.gethostname()
    return f"""
ClusterName=sandbox-test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={CONTROLLER_PORT}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=bf_interval=5,sched_interval=5
ReturnToService=2
SlurmctldTimeout=30
SlurmdTimeout=10
MinJobAge=300
KillWait=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
NodeName=n[1-{nodes}] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{NODE_PORT + 1}-{NODE_PORT + nodes}] CPUs={CPUS}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class Cluster:
    """The folder is on what stands for the shared file system; a node may hide it."""

    def __init__(self, folder, nodes=3):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        (self.folder / "state").mkdir(exist_ok=True)
        self.conf = self.folder / "slurm.conf"
        self.conf.write_text(slurm_conf(self.folder, nodes))
        self.environment = {**os.environ, "SLURM_CONF": str(self.conf)}
        self.nodes = [f"n{number}" for number in range(1, nodes + 1)]
        self.processes = {}

    def start(self):
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o600)
        self.spawn("munged", [
            "munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.folder}/munge.socket",
            f"--pid-file={self.folder}/munged.pid", f"--log-file={self.folder}/munged.log",
            f"--seed-file={self.folder}/munged.seed",
        ])
        wait_for("munged to answer", 20, lambda: (self.folder / "munge.socket").exists())
        self.start_controller()
        for node in self.nodes:
            self.start_node(node)
        self.wait_until_idle()

    def start_controller(self):
        self.spawn("slurmctld", ["slurmctld", "-D"])

    def start_node(self, node, before=""):
        """`before` is a shell command that runs in the node's own mount namespace."""
        (self.folder / f"spool-{node}").mkdir(exist_ok=True)
        script = f"mount --make-rprivate / && {before or 'true'} && exec slurmd -D -N {node}"
        self.spawn(node, ["unshare", "--mount", "sh", "-c", script])

    def spawn(self, name, command):
        log = open(self.folder / f"{name}.out", "ab")
        self.processes[name] = subprocess.Popen(
            command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )

    def kill_controller(self):
        self.kill("slurmctld")

    def kill_node(self, node, is_wanted=None):
        """Its slurmd and all that runs on it, as if its power had gone. With `is_wanted`, when that is true of its processes."""
        if is_wanted is not None:
            wait_for(f"the moment to kill {node}", 120, lambda: self.is_held(node, is_wanted), every=0.02)
        victims = self.of_node(node)
        self.kill(node)
        for pid in victims | self.of_node(node):
            kill(pid)

    def is_held(self, node, is_wanted):
        """Stops the processes of a node, and lets them go on unless they are as wanted."""
        held = self.of_node(node)
        is_so = False
        try:
            for pid in held:
                kill(pid, signal.SIGSTOP)
            is_so = bool(held) and is_wanted(held)
        finally:
            for pid in held if not is_so else []:
                kill(pid, signal.SIGCONT)
        return is_so

    def kill(self, name):
        process = self.processes.pop(name, None)
        if process is not None:
            process.kill()
            process.wait()

    def of_node(self, node):
        """Processes of a node's jobs, by their environment, and all that these have started."""
        wanted = {f"SLURMD_NODENAME={node}".encode(), f"SLURM_CONF={self.conf}".encode()}
        found, parents = set(), {}
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                environment = set((entry / "environ").read_bytes().split(b"\0"))
                words = (entry / "cmdline").read_bytes().split(b"\0")
                parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
            stepd = words[0].startswith(b"slurmstepd") and f"SLURM_CONF={self.conf}".encode() in environment
            if wanted <= environment or (stepd and self.is_stepd_of(int(entry.name), node)):
                found.add(int(entry.name))
        while True:
            more = {pid for pid, parent in parents.items() if parent in found} - found
            if not more:
                return found
            found |= more

    def is_stepd_of(self, pid, node):
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
        try:
            first = children.read_text().split()
            environments = [pathlib.Path(f"/proc/{child}/environ").read_bytes() for child in first]
        except OSError:
            return False
        return any(f"SLURMD_NODENAME={node}".encode() in text.split(b"\0") for text in environments)

    def states(self):
        done = subprocess.run(["sinfo", "-h", "-N", "-o", "%N %t"], env=self.environment, capture_output=True, text=True)
        return dict(line.split()[:2] for line in done.stdout.splitlines())

    def resume_drained(self):
        for node, state in self.states().items():
            if state.startswith("drain"):
                self.resume(node)

    def resume(self, node):
        command = ["scontrol", "update", f"nodename={node}", "state=resume"]
        subprocess.run(command, env=self.environment, capture_output=True)

    def wait_until_idle(self):
        wait_for("all nodes to be idle", 60, lambda: list(self.states().values()) == ["idle"] * len(self.nodes))

    def restore(self, node):
        """A node as it was, after it was killed or spoiled."""
        self.kill_node(node)
        self.start_node(node)
        self.resume(node)

    def stop(self):
        for node in self.nodes:
            self.kill_node(node)
        for name in list(self.processes):
            self.kill(name)
        for node in self.nodes:
            for pid in self.of_node(node):
                kill(pid)
        shutil.rmtree(self.folder, ignore_errors=True)


def kill(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def wait_for(condition, seconds, met, every=0.1):
    deadline = time.monotonic() + seconds
    while not met():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {seconds} s for {condition}")
        time.sleep(every)
