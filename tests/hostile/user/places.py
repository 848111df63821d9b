#!/usr/bin/env python3
"""The demo in each place where people run it: as root, as an ordinary user, in a container without
privileges, in rootless Podman. One table: what it says of what it could not confine, and the
fingerprint, which must be one.

Usage: places.py BINARY, as root. Docker's engine must run, and Podman be installed.

Containers have the programs of this machine, read-only, and nothing else of it.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).parents[3]
USER = "sandbox-podman"
SHARED = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc"]
IMAGE = "sandbox-places"


def main():
    if subprocess.run(["id", USER], capture_output=True).returncode:
        subprocess.run(["useradd", "--create-home", "--shell", "/bin/sh", USER], check=True)
        subordinate = ["--add-subuids", "300000-365535", "--add-subgids", "300000-365535"]
        subprocess.run(["usermod", *subordinate, USER], check=True)
    with tempfile.TemporaryDirectory(prefix="places-", dir="/srv") as folder:
        at = pathlib.Path(folder)
        at.chmod(0o755)
        shutil.copy(sys.argv[1], at / "sandbox")
        # An agent program, so that it is seen what keeps programs from the solutions.
        (at / "agent.sh").write_text(
            "read -r hello; echo '{\"protocol\":1}'; read -r task; read -r page\n"
            "echo '{\"stop\":true}'; read -r end\n"
        )
        places = {
            "root": [],
            "an ordinary user": ["setpriv", "--reuid", USER, "--regid", USER, "--init-groups"],
            "container without privileges": container("docker", at, ["--user", "65534:65534"]),
            "rootless Podman": podman(at),
        }
        print("| place | demo | fingerprint | confinement of programs | it says |\n| --- | --- | --- | --- | --- |")
        prints = set()
        for place, before in places.items():
            demo = play(before, at, ["--agent=oracle"])
            program = play(before, at, [f"--agent=program:sh {at}/agent.sh", "--task=clock-time-zone"])
            prints.add(demo["fingerprint"])
            says = sorted(demo["said"] | program["said"])
            print(f"| {place} | {demo['score']} | {demo['fingerprint'][:12]} | {program['confinement']} | {'; '.join(says)} |")
        if len(prints) != 1:
            sys.exit(f"{len(prints)} fingerprints")


def container(engine, at, more):
    empty = subprocess.run(["tar", "c", "--files-from", "/dev/null"], stdout=subprocess.PIPE, check=True).stdout
    subprocess.run([engine, "import", "-", IMAGE], input=empty, stdout=subprocess.DEVNULL, check=True)
    return [engine, "run", "--rm", *options(at), *more, IMAGE]


def options(at):
    folders = [path for path in SHARED if os.path.exists(path)]
    mounts = [f"--volume={path}:{path}:ro" for path in [*folders, str(REPOSITORY), str(at)]]
    # Engines cannot find programs in an image without any, nor a home.
    usual = ["--network=none", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--tmpfs=/tmp:mode=1777"]
    # Such containers do not let Chromium have its own sandbox.
    mounts.append("--env=SANDBOX_CHROMIUM_SANDBOX=off")
    return [*usual, *mounts, "--env=HOME=/tmp", f"--env=PATH={os.environ['PATH']}"]


def podman(at):
    """As the user that the tests of Podman have, with storage of its own."""
    own = at / "podman"
    for part in ["xdg", "home"]:
        (own / part).mkdir(parents=True)
    (own / "storage.conf").write_text(
        f'[storage]\ndriver = "vfs"\nrunroot = "{own}/run"\ngraphroot = "{own}/storage"\n'
    )
    (own / "containers.conf").write_text(f'[engine]\nruntime = "runc"\ntmp_dir = "{own}/tmp"\nvolume_path = "{own}/volumes"\n')
    for path in [own, *own.rglob("*")]:
        shutil.chown(path, USER, USER)
    (own / "xdg").chmod(0o700)
    before = [
        "setpriv", "--reuid", USER, "--regid", USER, "--init-groups", "env", f"HOME={own}/home", f"USER={USER}",
        f"XDG_RUNTIME_DIR={own}/xdg", f"CONTAINERS_CONF={own}/containers.conf",
        f"CONTAINERS_STORAGE_CONF={own}/storage.conf", "podman",
    ]
    empty = subprocess.run(["tar", "c", "--files-from", "/dev/null"], stdout=subprocess.PIPE, check=True).stdout
    subprocess.run([*before, "import", "-", IMAGE], input=empty, stdout=subprocess.DEVNULL, check=True)
    return [*before, "run", "--rm", *options(at), IMAGE]


def play(before, at, more):
    """Plays the demo; what it says goes through a pipe, because containers keep no files."""
    script = (
        f"cd {REPOSITORY} && SANDBOX_DATA=/tmp/places-$$ {at}/sandbox run tasks/demo --json --output /tmp/places-run-$$"
        f" {' '.join(repr(word) for word in more)} && cat /tmp/places-run-$$/run.json; rm -rf /tmp/places-*-$$ /tmp/places-$$"
    )
    done = subprocess.run([*before, "sh", "-c", script], capture_output=True, text=True, cwd="/", timeout=300)
    decoder, found, text = json.JSONDecoder(), [], done.stdout.strip()
    while text:
        value, end = decoder.raw_decode(text)
        found.append(value)
        text = text[end:].strip()
    if len(found) < 2:
        sys.exit(f"{before[:1]}: {done.returncode}\n{done.stdout}\n{done.stderr}")
    summary, record = found
    said = {line.split("WARN ")[-1].removeprefix("warning: ") for line in done.stderr.splitlines() if "WARN" in line or line.startswith("warning:")}
    return {
        "score": summary["score"], "fingerprint": summary["fingerprints"][0]["fingerprint"], "said": said,
        "confinement": record.get("confinement", "–"),
    }


if __name__ == "__main__":
    main()
