"""The connection to the daemon: finding it, starting it, and going on after it was killed.

Commands survive the daemon. When the connection is lost, a new daemon is found or started, and calls that may be sent
again are: commands carry an id that this client chose, so none runs twice. Other calls fail with
ConnectionLost, and whether they took effect is not known.
"""
from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import socket
import stat
import struct
import subprocess
import threading
from typing import Any, AsyncIterator, Dict, Iterator, List, Optional

from ._calls import AIDS, REPEAT, AsyncCalls, Calls

_PROTOCOL = 1
_LONGEST_LINE = 16 * 1024 * 1024
_START_PATIENCE = 15.0
_ID_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"


class DaemonError(Exception):
    """The daemon refused a call. `code` is a word of the protocol, such as not_found."""

    def __init__(self, code: str, message: str):
        super().__init__(message)
        self.code = code


class ConnectionLost(DaemonError):
    """The connection ended before the answer came; whether the call took effect is not known."""

    def __init__(self, message: str):
        super().__init__("connection_lost", message)


def _random_id(letter: str) -> str:
    return letter + "".join(secrets.choice(_ID_LETTERS) for _ in range(12))


def _folders() -> List[str]:
    """The state folder, and the folder of the socket."""
    home = os.environ.get("TTYWARD_HOME", "")
    if home.startswith("/"):
        return [home + "/state", home + "/run"]
    state = os.environ.get("XDG_STATE_HOME", "")
    if not state.startswith("/"):
        state = os.path.expanduser("~/.local/state")
    state += "/ttyward"
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    return [state, runtime + "/ttyward" if runtime.startswith("/") else state + "/run"]


def _connect() -> Optional[socket.socket]:
    """A connection to a daemon that runs; None if none does. Its folder must be ours alone, and so must the daemon."""
    state, runtime = _folders()
    places = [runtime]
    try:
        with open(state + "/daemon.lock", encoding="utf-8") as lock:
            places.append(lock.readline().rstrip("\n"))
    except OSError:
        pass
    for place in places:
        try:
            status = os.lstat(place)
        except OSError:
            continue
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
            raise DaemonError("permission_denied", f"{place} must be a folder of yours that nobody else can enter (chmod 700)")
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(place + "/daemon.sock")
        except OSError:
            connection.close()
            continue
        _, peer, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        if peer != os.geteuid():
            connection.close()
            raise DaemonError("permission_denied", f"the daemon at {place} belongs to another user")
        connection.setblocking(False)
        return connection
    return None


class _Open:
    """A call that has no answer yet."""

    def __init__(self, name: str, args: Dict[str, Any], answer: "asyncio.Future[Any]", parts: "Optional[asyncio.Queue[Any]]"):
        self.name, self.args, self.answer, self.parts = name, args, answer, parts

    def repeatable(self) -> bool:
        rule = REPEAT.get(self.name, "")
        if "queue" in self.args:  # a subscription ends with its connection: a second one is never too much
            return True
        if rule == "wait":
            states = ("prompt", "port", "file", "quiet_ms", "stable_ms")
            return bool(self.args.get("command") or self.args.get("approval") or self.args.get("from_place") or
                        self.args.get("from") == "start" or
                        (any(self.args.get(s) for s in states) and not self.args.get("pattern")))
        if rule == "read":
            return not self.args.get("new")
        return rule == "always" or bool(rule and self.args.get(rule))


class Stream:
    """What a command prints, part by part: `async for part in stream`, then `await stream.result()`."""

    def __init__(self, answer: "asyncio.Future[Any]", parts: "asyncio.Queue[Any]"):
        self._answer, self._parts = answer, parts

    async def __aiter__(self) -> AsyncIterator[Dict[str, Any]]:
        while True:
            part = await self._parts.get()
            if part is None:
                return
            yield part

    async def result(self) -> Any:
        return await self._answer


class AsyncClient(AsyncCalls):
    """A client for asyncio: `async with AsyncClient() as ttyward: ...`.

    role: "agent" (policy judges what it runs), "person" or "viewer". A person without a terminal needs the token of
    `ttyward person token`, here or in the file that TTYWARD_PERSON_TOKEN_FILE names.
    session: the chat or task that the terminals belong to.
    program: how ttyward is started when no daemon runs; None: it is not.
    """

    def __init__(self, *, role: str = "agent", name: str = "python", session: Optional[str] = None,
                 secret: Optional[str] = None, token: Optional[str] = None, program: Optional[str] = "ttyward"):
        self._role, self._name, self._session = role, name, session
        self._secret = secret or (secrets.token_hex(16) if session else None)
        self._token, self._program = token, program
        self._reader: Optional[asyncio.StreamReader] = None
        self._writer: Optional[asyncio.StreamWriter] = None
        self._reading: "Optional[asyncio.Task[None]]" = None
        self._connecting: Optional[asyncio.Lock] = None
        self._calls: Dict[int, _Open] = {}
        self._subscriptions: Dict[int, "asyncio.Queue[Any]"] = {}
        self._wanted: List[Dict[str, Any]] = []
        self._last_id = 0
        self._closed = False
        self._stopped = False  # the daemon was stopped on purpose: it is not started again
        self.welcome: Dict[str, Any] = {}

    async def __aenter__(self) -> "AsyncClient":
        await self.connect()
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()

    async def connect(self) -> None:
        """Connects, and starts a daemon if none runs. Calls do this by themselves."""
        if self._connecting is None:
            self._connecting = asyncio.Lock()
        async with self._connecting:
            if self._writer is not None or self._closed:
                return
            give_up = asyncio.get_running_loop().time() + _START_PATIENCE
            while True:
                connection = await self._find_daemon()
                self._reader, self._writer = await asyncio.open_unix_connection(sock=connection, limit=_LONGEST_LINE + 1)
                try:
                    await self._greet()
                    break
                except OSError:  # it was killed while we came in: the next one answers
                    self._drop()
                    if asyncio.get_running_loop().time() > give_up:
                        raise DaemonError("unavailable", "the daemon ends every connection; see ttyward doctor") from None
            self._reading = asyncio.get_running_loop().create_task(self._read())

    async def close(self) -> None:
        self._closed = True
        if self._writer is not None:
            self._writer.close()
        if self._reading is not None:
            await asyncio.wait([self._reading], timeout=5)
        self._fail_all(ConnectionLost("the client was closed"))

    async def _find_daemon(self) -> socket.socket:
        loop = asyncio.get_running_loop()
        give_up = loop.time() + _START_PATIENCE
        started = False
        while True:
            connection = _connect()
            if connection is not None:
                return connection
            if self._program is None or self._stopped:
                raise DaemonError("unavailable", "no daemon runs; start one with: ttyward daemon run --detach")
            if not started:
                started = True
                program = shutil.which(self._program)
                if program is None:
                    raise DaemonError("unavailable", f"{self._program} is not on PATH; install ttyward, or give `program`")
                process = await asyncio.create_subprocess_exec(program, "daemon", "run", "--detach", stdin=subprocess.DEVNULL,
                                                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                _, err = await process.communicate()
                if process.returncode != 0 and _connect() is None:
                    raise DaemonError("unavailable", "the daemon does not start: " + err.decode(errors="replace").strip())
                continue
            if loop.time() > give_up:
                raise DaemonError("unavailable", "the daemon does not answer; see ttyward doctor")
            await asyncio.sleep(0.02)

    async def _greet(self) -> None:
        hello = {"protocol": _PROTOCOL, "role": self._role, "client": self._name, "reader": self._name,
                 "session": self._session, "secret": self._secret, "token": self._token}
        file = os.environ.get("TTYWARD_PERSON_TOKEN_FILE")
        if self._role == "person" and not self._token and file:
            with open(file, encoding="utf-8") as token:
                hello["token"] = token.read().strip()
        await self._send({"hello": {k: v for k, v in hello.items() if v is not None}})
        assert self._reader is not None
        line = await self._reader.readline()
        if not line:
            raise ConnectionResetError
        first = json.loads(line)
        if "welcome" not in first:
            self._drop()
            raise DaemonError(first["error"]["code"], first["error"]["message"])
        self.welcome = first["welcome"]

    async def _send(self, message: Dict[str, Any]) -> None:
        if self._writer is None:
            raise ConnectionResetError
        self._writer.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        await self._writer.drain()

    def _drop(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None

    async def _read(self) -> None:
        reader = self._reader
        assert reader is not None
        while True:
            try:
                line = await reader.readline()
            except (OSError, ValueError):
                line = b""
            if not line:
                break
            self._take(json.loads(line))
        if self._reader is reader:
            self._drop()
        if not self._closed:
            await self._go_on()

    def _take(self, message: Dict[str, Any]) -> None:
        if "event" in message:
            queue = self._subscriptions.get(message.get("subscription", 0))
            if queue is not None:
                queue.put_nowait(message)
            return
        if "id" not in message:
            self._stopped = message.get("error", {}).get("code") == "unavailable"
            return
        call = self._calls.get(message["id"])
        if call is None:
            return
        if "part" in message:
            call.args.update(message["part"].get("again") or {})
            if call.parts is not None:
                call.parts.put_nowait(message["part"])
            return
        del self._calls[message["id"]]
        if "error" in message:
            self._end(call, DaemonError(message["error"]["code"], message["error"]["message"]))
            return
        if "queue" in call.args:
            # Before the next line is read: its first events must find the queue.
            answer, queue = message["ok"], call.args["queue"]
            self._subscriptions[answer["subscription"]] = queue
            if call.name == "attach":
                queue.put_nowait({"event": "attach_keyboard", "subscription": answer["subscription"], "writable": answer["writable"]})
                queue.put_nowait({"event": "attach_screen", "subscription": answer["subscription"], "screen": answer["screen"]})
        self._end(call, message["ok"])

    @staticmethod
    def _end(call: _Open, outcome: Any) -> None:
        if call.parts is not None:
            call.parts.put_nowait(None)
        if call.answer.done():
            return
        if isinstance(outcome, Exception):
            call.answer.set_exception(outcome)
            call.answer.exception()  # nobody may be waiting any more
        else:
            call.answer.set_result(outcome)

    def _fail_all(self, error: DaemonError, events: "Optional[DaemonError]" = None) -> None:
        """Ends all calls with `error`, and all iterations over events: with `events`, or in order if there is none."""
        calls, self._calls = self._calls, {}
        for call in calls.values():
            self._end(call, error)
        self._subscriptions = {}
        for wanted in self._wanted:
            wanted["queue"].put_nowait(events)

    async def _go_on(self) -> None:
        """After a loss: sends the calls again that may be, and renews subscriptions."""
        again = {id: call for id, call in self._calls.items() if call.repeatable()}
        lost, self._calls = [c for id, c in self._calls.items() if id not in again], again
        for call in lost:
            self._end(call, ConnectionLost("the connection to the daemon was lost; whether this took effect is not known"))
        queues = list(self._subscriptions.values())
        self._subscriptions = {}
        if not again and not queues:
            return
        try:
            await self.connect()
            for id, call in again.items():
                await self._send({"id": id, "call": call.name, "args": self._wire_args(call.args)})
            for wanted in [w for w in self._wanted if w["queue"] in queues]:
                answer = await (await self._send_call(wanted["of"], wanted, None))
                if wanted["of"] == "subscribe":
                    wanted["queue"].put_nowait({"event": "resubscribed", "terminals": answer["terminals"]})
        except (DaemonError, OSError) as error:
            failure = error if isinstance(error, DaemonError) else ConnectionLost(str(error))
            self._fail_all(failure, failure)

    @staticmethod
    def _wire_args(args: Dict[str, Any]) -> Dict[str, Any]:
        return {k: v for k, v in args.items() if v is not None and k not in ("queue", "of")}

    async def _send_call(self, name: str, args: Dict[str, Any], parts: "Optional[asyncio.Queue[Any]]") -> "asyncio.Future[Any]":
        answer: "asyncio.Future[Any]" = asyncio.get_running_loop().create_future()
        self._last_id += 1
        call = _Open(name, args, answer, parts)
        self._calls[self._last_id] = call
        id = self._last_id
        try:
            await self._send({"id": id, "call": name, "args": self._wire_args(args)})
        except OSError:
            # The reader sees the end of the connection, and repeats the call or fails it. If it was quicker, we do.
            if self._reading is not None and self._reading.done() and id in self._calls:
                await self._go_on()
        answer.add_done_callback(lambda done: self._cancelled(id) if done.cancelled() else None)
        return answer

    def _cancelled(self, id: int) -> None:
        if self._calls.pop(id, None) is not None and self._writer is not None:
            self._writer.write(json.dumps({"cancel": id}).encode() + b"\n")

    async def _begin(self, name: str, args: Dict[str, Any], parts: "Optional[asyncio.Queue[Any]]") -> "asyncio.Future[Any]":
        if self._writer is None:
            await self.connect()
        args = dict(args)
        if name in AIDS:
            member, letter = AIDS[name]
            args[member] = args.get(member) or _random_id(letter)
        if parts is not None or name == "wait":
            args["stream"] = True
        return await self._send_call(name, args, parts)

    async def _call(self, name: str, args: Dict[str, Any]) -> Any:
        return await (await self._begin(name, args, None))

    def _stream(self, name: str, args: Dict[str, Any]) -> Stream:
        parts: "asyncio.Queue[Any]" = asyncio.Queue()
        loop = asyncio.get_running_loop()
        answer: "asyncio.Future[Any]" = loop.create_future()

        async def follow() -> None:
            try:
                outcome = await (await self._begin(name, args, parts))
                if not answer.done():
                    answer.set_result(outcome)
            except Exception as error:  # of the call: whoever asks for the result gets it
                parts.put_nowait(None)
                if not answer.done():
                    answer.set_exception(error)
                    answer.exception()

        task = loop.create_task(follow())
        answer.add_done_callback(lambda done: task.cancel() if done.cancelled() else None)
        return Stream(answer, parts)

    async def events(self, *kinds: str, terminal: Optional[str] = None, text: bool = False) -> AsyncIterator[Dict[str, Any]]:
        """Events as they come, from the moment of the first `anext`. After the daemon was killed they go on with a
        `resubscribed` event, which says which terminals live; what happened in between is in the history.
        If no daemon can be had any more, the iteration raises DaemonError; after `close` it ends."""
        async for event in self._follow("subscribe", {"terminal": terminal, "kinds": list(kinds) or None, "text": text or None}):
            yield event

    async def watch(self, terminal: str, *, read_only: bool = False, take: bool = False,
                    size: Optional[Dict[str, int]] = None) -> AsyncIterator[Dict[str, Any]]:
        """Attaches to a terminal. The first events say who has the keyboard (`attach_keyboard`) and all of the screen (`attach_screen`), then it is what
        changes; after the daemon was killed they come again. A person types with `attach_input(subscription=event["subscription"], base64=…)`.
        The end of the iteration detaches."""
        async for event in self._follow("attach", {"terminal": terminal, "read_only": read_only, "take": take, "size": size}):
            yield event
            if event["event"] == "attach_closed":
                return

    async def _follow(self, of: str, args: Dict[str, Any]) -> AsyncIterator[Dict[str, Any]]:
        queue: "asyncio.Queue[Any]" = asyncio.Queue()
        wanted = {**args, "of": of, "queue": queue}
        if self._writer is None:
            await self.connect()
        self._wanted.append(wanted)
        try:
            await (await self._send_call(of, wanted, None))
            while True:
                event = await queue.get()
                if event is None:
                    return
                if isinstance(event, DaemonError):
                    raise event
                yield event
        finally:
            self._wanted.remove(wanted)
            for number in [n for n, q in self._subscriptions.items() if q is queue]:
                del self._subscriptions[number]
                if self._writer is not None and not self._closed:
                    await self._send_call({"subscribe": "unsubscribe", "attach": "detach"}[of], {"subscription": number}, None)

    async def questions(self) -> AsyncIterator[Dict[str, Any]]:
        """Open questions to people, then each new one. Answer with `answer(approval=…["id"], decision="allow")`."""
        seen = set()
        events = self.events("approval_opened")
        next_event = asyncio.ensure_future(events.__anext__())
        try:
            await asyncio.sleep(0)
            for approval in (await self.approvals())["approvals"]:
                seen.add(approval["id"])
                yield approval
            while True:
                try:
                    event = await next_event
                except StopAsyncIteration:
                    return
                next_event = asyncio.ensure_future(events.__anext__())
                if event["event"] == "resubscribed":
                    fresh = (await self.approvals())["approvals"]
                else:
                    fresh = [event["approval"]]
                for approval in fresh:
                    if approval["id"] not in seen:
                        seen.add(approval["id"])
                        yield approval
        finally:
            next_event.cancel()
            await asyncio.wait([next_event])
            await events.aclose()


class _BlockingStream:
    """What a command prints, part by part; `result()` waits for its end."""

    def __init__(self, client: "Client", stream: Stream):
        self._client, self._stream, self._parts = client, stream, stream.__aiter__()

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        return self._client._each(self._parts)

    def result(self) -> Any:
        return self._client._wait(self._stream.result())


class Client(Calls):
    """A blocking client: `with Client() as ttyward: ...`. The arguments are those of AsyncClient.

    It may be used from several threads at once.
    """

    def __init__(self, **options: Any):
        self._async = AsyncClient(**options)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="ttyward", daemon=True)
        self._thread.start()

    def __enter__(self) -> "Client":
        try:
            self._wait(self._async.connect())
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        if self._loop.is_closed():
            return
        self._wait(self._async.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def welcome(self) -> Dict[str, Any]:
        return self._async.welcome

    def _wait(self, coroutine: Any) -> Any:
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def _each(self, items: Any) -> Iterator[Any]:
        async def following() -> Any:
            try:
                return [await items.__anext__()]
            except StopAsyncIteration:
                return []

        try:
            while True:
                item = self._wait(following())
                if not item:
                    return
                yield item[0]
        finally:
            if not self._loop.is_closed():
                self._wait(items.aclose())

    def _call(self, name: str, args: Dict[str, Any]) -> Any:
        return self._wait(self._async._call(name, args))

    def _stream(self, name: str, args: Dict[str, Any]) -> _BlockingStream:
        async def begin() -> Stream:
            return self._async._stream(name, args)

        return _BlockingStream(self, self._wait(begin()))

    def events(self, *kinds: str, terminal: Optional[str] = None, text: bool = False) -> Iterator[Dict[str, Any]]:
        """As AsyncClient.events."""
        return self._each(self._async.events(*kinds, terminal=terminal, text=text))

    def watch(self, terminal: str, *, read_only: bool = False, take: bool = False, size: Optional[Dict[str, int]] = None) -> Iterator[Dict[str, Any]]:
        """As AsyncClient.watch."""
        return self._each(self._async.watch(terminal, read_only=read_only, take=take, size=size))

    def questions(self) -> Iterator[Dict[str, Any]]:
        """As AsyncClient.questions."""
        return self._each(self._async.questions())
