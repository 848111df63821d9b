"""An instance of the desk for the package: started, reset, ended. The package finds it in the environment."""

import os
import subprocess


class Desk:
    """A server on a free port of loopback, in a process of its own."""

    def __init__(self, program, folder):
        self.process = subprocess.Popen([program, "0", folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise SystemExit(f"desk: {program} did not start")

    def reset(self):
        self.process.stdin.write("reset\n")
        self.process.stdin.flush()
        if self.process.stdout.readline().strip() != "reset":
            raise SystemExit("desk: the server ended")

    def to_environment(self):
        os.environ.update(SNOW_INSTANCE_URL=self.url, SNOW_INSTANCE_UNAME="admin", SNOW_INSTANCE_PWD="admin")

    def end(self):
        self.process.stdin.close()
        self.process.wait(10)
