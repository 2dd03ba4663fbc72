"""Waiting for what another process does."""
import os
import time

PATIENCE = float(os.environ.get("TTYWARD_TEST_PATIENCE", "60"))


def eventually(holds, what="it"):
    give_up = time.monotonic() + PATIENCE
    while True:
        found = holds()
        if found:
            return found
        if time.monotonic() > give_up:
            raise AssertionError(f"{what} never came true")
        time.sleep(0.02)  # spares the processor; nothing depends on its length
