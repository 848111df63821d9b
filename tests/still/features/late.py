"""What a page asks for when its time already runs: other features, begun by a timer.

What such a feature awaits comes from the network or from other threads, while the page has timers,
frames and streams.
"""

import dataclasses

import features.media
import features.network
import features.pictures
import features.scripts
import features.storage
import features.styles
import features.workers  # noqa: F401  (they are in the catalog)
from grammar import CATALOG

LATE = "await new Promise(done => setTimeout(done, 330)); say('begins');"
BEGUN = (
    "audio",
    "audio-metadata",
    "audio-missing",
    "audio-muted",
    "audio-seek",
    "cache-add",
    "film-rate",
    "film-fed",
    "font-face",
    "picture-decode",
    "service-worker-missing",
    "worker",
    "worklet-audio",
    "worklet-paint",
)
for name in BEGUN:
    late = CATALOG[name]
    CATALOG[f"late-{name}"] = dataclasses.replace(
        late, name=f"late-{name}", script=LATE + late.script
    )
