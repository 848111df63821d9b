"""Processes that keep the processors busy while pages are played."""

import contextlib
import os
import subprocess
import sys

# It ends by itself when its parent is gone.
SPIN = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    sum(range(100000))\n"


@contextlib.contextmanager
def busy(per_core):
    """So many busy processes on each core, which end with the block."""
    started = []
    try:
        for _ in range(per_core * len(os.sched_getaffinity(0))):
            started.append(subprocess.Popen([sys.executable, "-c", SPIN]))
        yield
    finally:
        for process in started:
            process.kill()
        for process in started:
            process.wait()
