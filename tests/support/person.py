"""A person without a terminal, as tests and scripts are: one by the token in the state folder."""
import os
import secrets

VARIABLE = "TTYWARD_PERSON_TOKEN_FILE"


def make_token(home):
    """Puts a token into a TTYWARD_HOME before its daemon starts; returns the file's path."""
    state = home + "/state"
    os.makedirs(state, mode=0o700, exist_ok=True)
    os.chmod(home, 0o700)
    os.chmod(state, 0o700)
    path = state + "/person-token"
    if not os.path.exists(path):
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as f:
            f.write(secrets.token_hex(32) + "\n")
    return path


def token_in(home):
    with open(home + "/state/person-token") as f:
        return f.read().strip()
