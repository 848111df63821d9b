"""The features, by category. Importing a module adds its features to the catalog."""

from features import (  # noqa: F401
    actions,
    components,
    documents,
    frames,
    graphics,
    inputs,
    media,
    motion,
    navigation,
    network,
    observers,
    pictures,
    platform,
    promises,
    scripts,
    storage,
    styles,
    timing,
    values,
    workers,
)
