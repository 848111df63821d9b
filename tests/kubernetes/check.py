#!/usr/bin/env python3
"""Writes manifests of runs on Kubernetes, and runs what their pods run, in containers on this machine.

    check.py SANDBOX IMAGE WORK OBJECT_SERVER ENGINE_IMAGE

Manifests are those of the demo suite, of the town's sites that run in our own process, of its sites that run in containers, and of a suite
in WebArena's form. `kubectl` knows the kinds in a dry run, beside a server that only names them; a unit test looks at the fields. The first
two are played: a container for each index, with the command line, the user, the environment and the rights that the manifest says, no
network, and the working folder in the place of the claim. One is told to end in the middle, and is started again. The merged runs must come
to the fingerprints of the same runs here. The demo is played once more with its snapshot and its results on an object store, by pods with
this machine's network. Tasks on sites in containers are played beside an engine in a container, as the manifest says. There is no cluster:
what schedules pods, mounts claims and holds network policies is not looked at.

Prints a line for each check; exit code 1 if one fails.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

from discovery import Discovery

ROOT = pathlib.Path(__file__).resolve().parents[2]
EMBEDDED = {"desk", "forum"}
PARTS = 3
DEADLINE = 1200


def check(what, is_well, said=""):
    print(f"{'ok' if is_well else 'FAILED':8}{what}", flush=True)
    if not is_well:
        print(said, file=sys.stderr)
        sys.exit(1)


def sites(path):
    found = re.search(r"^sites: \[(.*)\]", path.read_text(), re.M)
    return {name.strip() for name in found[1].split(",")} if found else set()


class Work:
    """A working folder, and the program that writes manifests there."""

    def __init__(self, sandbox, image, folder):
        self.sandbox, self.image, self.folder = sandbox, image, folder
        self.there = folder / "claim"
        shutil.rmtree(folder, ignore_errors=True)
        self.there.mkdir(parents=True)
        for name in ["tasks/demo", "tasks/town", "sites"]:
            shutil.copytree(ROOT / name, self.there / name)
        (self.there / "snapshots").mkdir()
        shutil.copy(ROOT / "snapshots/demo.wacz", self.there / "snapshots")

    def run(self, *words, code=0):
        environment = {**os.environ, "SANDBOX_DATA": str(self.folder / "data")}
        done = subprocess.run([self.sandbox, *words], cwd=self.there, env=environment, capture_output=True, text=True)
        if done.returncode != code:
            check(f"sandbox {' '.join(words[:4])} ends with {code}", False, f"{done.returncode}: {done.stderr[-3000:]}")
        return done

    def manifest(self, name, *words):
        """The policy and the job of a run."""
        self.run("run", *words, "--scheduler", "kubernetes", "--k8s-image", self.image, "--output", f"runs/{name}")
        policy, job = json.loads((self.there / f"runs/{name}/kubernetes.json").read_text())["items"]
        check(f"{name}: a policy without a way out, and a job", policy["spec"]["egress"] == [] and job["kind"] == "Job", policy)
        self.dry_run(name, f"runs/{name}/kubernetes.json")
        return job

    def dry_run(self, name, path):
        """What `kubectl` would create."""
        with Discovery() as cluster:
            words = ["--kubeconfig=/dev/null", f"--cache-dir={self.folder}/kubectl", f"--server={cluster.url}",
                     "create", "--dry-run=client", "--validate=false", "--output=name", f"--filename={path}"]
            done = subprocess.run(["kubectl", *words], cwd=self.there, capture_output=True, text=True)
        kinds = [line.split("/")[0] for line in done.stdout.split()]
        expected = ["networkpolicy.networking.k8s.io", "job.batch"]
        check(f"{name}: kubectl knows what they are, in a dry run", done.returncode == 0 and kinds == expected and not cluster.other,
              f"{done.stdout}{done.stderr}{cluster.other}")

    def container(self, job, index, *options, network="none", volumes=None):
        """The words that run what a pod runs. `volumes` stand for folders that are empty when a pod begins."""
        pod = job["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        rights = container["securityContext"]
        variables = {one["name"]: one["value"] for one in container["env"]}
        # An emptyDir is a folder on the node's disk, new with each pod.
        folders = {"work": f"{self.there}:/work", "tmp": "/tmp", **(volumes or {})}
        program, *words = container["command"]
        return [
            "docker", "run", "--network", network, *(["--init"] if pod["shareProcessNamespace"] else []),
            *(["--read-only"] if rights["readOnlyRootFilesystem"] else []),
            "--user", f"{rights['runAsUser']}:{rights['runAsGroup']}", "--group-add", str(pod["securityContext"]["fsGroup"]),
            *(f"--cap-drop={one}" for one in rights["capabilities"]["drop"]),
            *([] if rights["allowPrivilegeEscalation"] else ["--security-opt", "no-new-privileges"]),
            "--memory", container["resources"]["limits"]["memory"].removesuffix("i").lower(),
            *(f"--env={name}={value}" for name, value in {**variables, "JOB_COMPLETION_INDEX": index}.items()),
            *(f"--volume={folders[mount['name']]}" for mount in container["volumeMounts"]),
            "--workdir", container["workingDir"], *options, "--entrypoint", program, container["image"], *words,
        ]

    def open_to_pods(self, job):
        """What a cluster does for `fsGroup`."""
        group = job["spec"]["template"]["spec"]["securityContext"]["fsGroup"]
        for path in [self.there, *self.there.rglob("*")]:
            if not path.is_symlink():
                os.chown(path, -1, group)
                path.chmod(path.stat().st_mode | (0o070 if path.is_dir() else 0o060))

    def play(self, name, job, disturbed):
        self.open_to_pods(job)
        failing = [rule["onExitCodes"]["values"] for rule in job["spec"]["podFailurePolicy"]["rules"] if rule["action"] == "FailIndex"]
        final = {0, *sum(failing, [])}
        for index in range(job["spec"]["completions"]):
            if index == disturbed:
                self.disturb(name, job, index)
            codes = []
            while not codes or (codes[-1] not in final and len(codes) <= job["spec"]["backoffLimitPerIndex"]):
                done = subprocess.run(self.container(job, index, "--rm"), capture_output=True, text=True, timeout=DEADLINE)
                codes.append(done.returncode)
            check(f"{name}: index {index} ends with 0, after {codes[:-1]}", codes[-1] == 0, done.stderr[-3000:])

    def disturb(self, name, job, index):
        """Tells a pod to end once it has played an episode."""
        started = subprocess.run(self.container(job, index, "--detach"), check=True, capture_output=True, text=True)
        container = started.stdout.strip()
        try:
            deadline = time.monotonic() + DEADLINE
            with subprocess.Popen(["docker", "logs", "--follow", container], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as log:
                said = []
                for line in log.stdout:
                    said.append(line)
                    if line.startswith("[1/") or time.monotonic() > deadline:
                        subprocess.run(["docker", "kill", "--signal", "TERM", container], check=True, capture_output=True)
                        break
                said += log.stdout
            code = int(subprocess.run(["docker", "wait", container], check=True, capture_output=True, text=True).stdout)
            check(f"{name}: index {index} is told to end, finishes what it is writing, and ends with 4", code == 4, "".join(said))
            there = list((self.there / f"runs/{name}/parts/{index + 1}/episodes").iterdir())
            check(f"{name}: index {index} has left {len(there)} of its episodes", len(there) > 0)
        finally:
            subprocess.run(["docker", "rm", "--force", "--volumes", container], capture_output=True)

    def compare(self, name, words):
        """The merged parts beside the same run here."""
        parts = sorted(str(path.relative_to(self.there)) for path in (self.there / f"runs/{name}/parts").iterdir())
        merged = json.loads(self.run("merge", *parts, "-o", f"runs/{name}/whole", "--json").stdout)
        here = json.loads(self.run("run", *words, "--json", "--output", f"runs/{name}-here").stdout)
        is_same = merged["fingerprints"] == here["fingerprints"]
        check(f"{name}: {merged['episodes']} episodes in {len(parts)} parts, {merged['errors']} errors, the fingerprint of the run here",
              is_same and merged["episodes"] == merged["planned"] and merged["errors"] == 0, f"{merged}\n{here}")


def at_address(work, program, words):
    """The demo with its snapshot and its results on an object store."""
    stored = work.folder / "stored"
    (stored / "bucket").mkdir(parents=True)
    store = subprocess.Popen([program, stored], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        variables = dict(store.stdout.readline().removeprefix("export ").strip().split("=", 1) for _ in range(4))
        os.environ.update(variables)
        work.run("snapshot", "push", "snapshots/demo.wacz", "s3://bucket/demo.wacz")
        shutil.copytree(work.there / "tasks/demo", work.there / "tasks/far")
        suite = work.there / "tasks/far/suite.yaml"
        suite.write_text(suite.read_text().replace("../../snapshots/demo.wacz", "s3://bucket/demo.wacz"))
        far = ["tasks/far", *words[1:]]
        output = ["--scheduler", "kubernetes", "--k8s-image", work.image, "--parts", "2", "--output", "s3://bucket/far"]
        refused = work.run("run", *far, *output, code=2)
        check("far: a Secret is asked for", "--k8s-secret" in refused.stderr, refused.stderr)
        said = work.run("run", *far, *output, "--k8s-secret", "store").stdout
        path, _, _ = said.partition(": ")
        policy, job = json.loads((work.there / path).read_text())["items"]
        work.dry_run("far", path)
        port = int(variables["AWS_ENDPOINT_URL"].rsplit(":", 1)[1])
        open_ports = [one["port"] for one in policy["spec"]["egress"][0]["ports"]]
        check("far: only the store's port and DNS are open", sorted(set(open_ports)) == sorted({53, port}), policy)
        work.open_to_pods(job)
        secret = [f"--env={name}={value}" for name, value in variables.items()]
        for index in range(job["spec"]["completions"]):
            command = work.container(job, index, "--rm", *secret, network="host")
            done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE)
            check(f"far: index {index} ends with 0", done.returncode == 0, done.stderr[-3000:])
        merge = re.search(r"sandbox merge (.*) -o (.*)", said)
        merged = json.loads(work.run("merge", merge[1], "-o", merge[2], "--json").stdout)
        here = json.loads((work.run("report", "runs/demo-here", "--json")).stdout)
        check(f"far: {merged['episodes']} episodes, {merged['errors']} errors, the fingerprint of the run here",
              merged["fingerprints"] == here["fingerprints"] and merged["errors"] == 0, f"{merged}\n{here}")
    finally:
        store.kill()
        store.wait()


def beside_an_engine(work, words, engine_image):
    """Sites in containers: each part beside an engine of its own, as the manifest says, without a network."""
    work.run("images", "save", "map", "wiki", "--images", str(ROOT / "images"), "--output", "sites.tar")
    job = work.manifest("engine", *words, "--parts", "2", "--engine-image", engine_image, "--site-images", "sites.tar")
    work.open_to_pods(job)
    for index in range(job["spec"]["completions"]):
        with Engine(job, index) as engine:
            command = work.container(job, index, "--rm", network=f"container:{engine.name}", volumes=engine.volumes)
            done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE)
            check(f"engine: index {index} ends with 0", done.returncode == 0, done.stderr[-3000:])
            left = engine.ask("ps", "--quiet").split()
            check(f"engine: index {index} leaves no container", not left, left)
    work.compare("engine", words)


# In the order of their numbers in Linux.
CAPABILITIES = """chown dac_override dac_read_search fowner fsetid kill setgid setuid setpcap linux_immutable net_bind_service net_broadcast
    net_admin net_raw ipc_lock ipc_owner sys_module sys_rawio sys_chroot sys_ptrace sys_pacct sys_admin sys_boot sys_nice sys_resource sys_time
    sys_tty_config mknod lease audit_write audit_control setfcap mac_override mac_admin syslog wake_alarm block_suspend audit_read""".split()


def privileged():
    """The options of a privileged container. Where this machine lacks a capability itself, Docker refuses `--privileged`: its parts, then."""
    status = pathlib.Path("/proc/self/status").read_text()
    bounds = int(re.search(r"CapBnd:\s*(\w+)", status)[1], 16)
    own = [name for number, name in enumerate(CAPABILITIES) if bounds >> number & 1]
    if own == CAPABILITIES:
        return ["--privileged"]
    unconfined = [f"--security-opt={what}=unconfined" for what in ["seccomp", "apparmor", "systempaths"]]
    return [*(f"--cap-add={name}" for name in own), *unconfined, "--volume=/sys/fs/cgroup:/sys/fs/cgroup:rw"]


class Engine:
    """The sidecar of a part, while it is used as a context."""

    def __init__(self, job, index):
        (self.container,) = job["spec"]["template"]["spec"]["initContainers"]
        self.name = f"sandbox-kubernetes-engine-{os.getpid()}-{index}"
        self.volumes = {}
        for mount in self.container["volumeMounts"]:
            self.volumes[mount["name"]] = f"{self.name}-{mount['name']}:{mount['mountPath']}"

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_):
        self.remove()

    def start(self):
        rights = self.container["securityContext"]
        check("engine: has the rights of an engine", rights == {"privileged": True, "runAsUser": 0}, rights)
        volumes = [f"--volume={volume}" for volume in self.volumes.values()]
        # What a cluster does for `emptyDir`.
        folders = [volume.split(":")[1] for volume in self.volumes.values()]
        open_to_all = ["docker", "run", "--rm", *volumes, "--entrypoint", "chmod", self.container["image"], "777", *folders]
        subprocess.run(open_to_all, check=True, capture_output=True)
        words = ["docker", "run", "--detach", "--name", self.name, "--network", "none", *privileged(), "--user", "0", *volumes,
                 self.container["image"], *self.container["args"]]
        subprocess.run(words, check=True, capture_output=True)
        probe = self.container["startupProbe"]
        for _ in range(probe["failureThreshold"]):
            answers = self.execute(*probe["exec"]["command"])
            if answers.returncode == 0:
                break
            time.sleep(probe["periodSeconds"])
        log = subprocess.run(["docker", "logs", self.name], capture_output=True, text=True).stderr
        check("engine: its probe succeeds", answers.returncode == 0, f"{answers.stderr}{log[-2000:]}")

    def execute(self, *words):
        return subprocess.run(["docker", "exec", self.name, *words], capture_output=True, text=True)

    def ask(self, *words):
        return self.execute("docker", *(word for word in self.container["args"] if word.startswith("--host=")), *words).stdout

    def remove(self):
        subprocess.run(["docker", "rm", "--force", "--volumes", self.name], capture_output=True)
        for volume in self.volumes.values():
            subprocess.run(["docker", "volume", "rm", "--force", volume.split(":")[0]], capture_output=True)


def webarena(work):
    """A suite as the importer of WebArena's tasks writes it."""
    task = {
        "sites": ["gitlab"], "task_id": 1, "require_login": True, "storage_state": None, "start_url": "__GITLAB__", "geolocation": None,
        "intent_template": "x", "instantiation_dict": {}, "intent": "x", "require_reset": False, "intent_template_id": 1,
        "eval": {"eval_types": ["string_match"], "reference_answers": {"exact_match": "7"}, "reference_url": "", "program_html": []},
    }
    (work.there / "test.raw.json").write_text(json.dumps([task]))
    work.run("tasks", "import", "webarena", "test.raw.json", "--sites=sites", "--site=gitlab=forge,https://forge.test", "--output", "tasks/webarena")
    # A path from the root is another one in a pod.
    suite = work.there / "tasks/webarena/suite.yaml"
    text = suite.read_text()
    check("webarena: the importer names the folder of the sites from the suite", "../../sites" in text, text)
    suite.write_text(text.replace("../../sites", str(work.there.resolve() / "sites")))
    refused = work.run("run", "tasks/webarena", "--agent", "noop", "--scheduler", "kubernetes", "--k8s-image", "x", "--output", "runs/w", code=2)
    check("webarena: a path from the root is refused", "by a path that stays below" in refused.stderr, refused.stderr)
    suite.write_text(text)
    return ["tasks/webarena", "--agent", "noop"]


def main():
    sandbox, image, folder, object_server, engine_image = sys.argv[1:]
    work = Work(sandbox, image, pathlib.Path(folder))
    demo = ["tasks/demo", "--agent", "oracle"]
    job = work.manifest("demo", *demo, "--parts", str(PARTS))
    work.play("demo", job, disturbed=1)
    work.compare("demo", demo)
    at_address(work, object_server, demo)

    tasks = [path for path in sorted((ROOT / "tasks/town").glob("*.yaml")) if sites(path) and sites(path) <= EMBEDDED]
    town = ["tasks/town", "--agent", "oracle", *(f"--task={path.stem}" for path in tasks)]
    job = work.manifest("town", *town, "--parts", "2")
    work.play("town", job, disturbed=None)
    work.compare("town", town)

    tasks = [path for path in sorted((ROOT / "tasks/town").glob("*.yaml")) if sites(path) - EMBEDDED and sites(path) - EMBEDDED <= {"map", "wiki"}]
    beside_an_engine(work, ["tasks/town", "--agent", "oracle", *(f"--task={path.stem}" for path in tasks)], engine_image)

    engine = ["--engine-image", "docker:dind", "--site-images", "sites.tar"]
    for name, words in [("whole-town", ["tasks/town", "--agent", "oracle"]), ("webarena", webarena(work))]:
        refused = work.run("run", *words, "--scheduler", "kubernetes", "--k8s-image", image, "--output", f"runs/{name}", code=2)
        check(f"{name}: an engine is asked for", "--engine-image" in refused.stderr, refused.stderr)
        pod = work.manifest(name, *words, *engine)["spec"]["template"]["spec"]
        check(f"{name}: an engine beside the part", [one["image"] for one in pod["initContainers"]] == ["docker:dind"], pod)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    main()
