"""Fixtures, and what every test run starts with."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Nothing here may ask a network for anything.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_DATASETS_OFFLINE", "1")

# BPE_COMPAT_EXAMPLES=10000 searches longer.
settings.register_profile(
    "bpe_compat",
    max_examples=int(os.environ.get("BPE_COMPAT_EXAMPLES", "100")),
    deadline=None,
    derandomize="BPE_COMPAT_EXAMPLES" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("bpe_compat")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared test data; tests that need it skip where it is not."""
    import shared_data

    return shared_data.folder()
