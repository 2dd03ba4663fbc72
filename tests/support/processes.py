"""Whether processes live, for tests in Python."""
import os


def lives(pid):
    """False as soon as it has ended, whether or not its parent has taken note of that.

    Daemons and holders are orphans, and on some machines the first process looks for orphans that
    ended only every other second.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as f:
            ended = f.read().rpartition(b") ")[2][:1] in (b"Z", b"X")
        # The first thread may be gone while others still hold files and locks.
        return not ended or len(os.listdir(f"/proc/{pid}/task")) > 1
    except (FileNotFoundError, ProcessLookupError):
        return False
