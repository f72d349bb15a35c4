"""What all tests have in common."""

from __future__ import annotations

import signal

from hypothesis import settings

settings.register_profile("tests", deadline=None, derandomize=True)
settings.load_profile("tests")

# A script that starts the tests in the background has them, and every program they start, ignore interruptions; tests of
# Ctrl-C would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
