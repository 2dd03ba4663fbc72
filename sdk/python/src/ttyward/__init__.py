"""A client of ttyward, the terminal for AI agents. `Client` blocks, `AsyncClient` is for asyncio."""
from ._calls import *  # noqa: F401,F403
from ._client import AsyncClient, Client, ConnectionLost, DaemonError, Stream  # noqa: F401

__version__ = "0.1.0"
