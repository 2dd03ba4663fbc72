"""A model for tests of real agents: it listens on loopback, speaks the interfaces of four vendors, and follows a script.

A script is a list of steps. Each is a function from the names of the tools that the model was given to a call, (name,
arguments), or None: the step is left out. When all steps are done the model says "finished". A request without tools
(agents ask for titles of conversations, and such) gets "ok" and takes no step.

What a model was shown is kept: `tools` (the names in the longest list), `tool_characters` (of their definitions as JSON, those of ttyward and
all), and `results` (what came back for each call, as text).
"""
import http.server
import json
import threading


def text_of(value):
    """All that a model reads of a result: texts are joined, anything else is read as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(text_of(each) for each in value)
    if isinstance(value, dict) and isinstance(value.get("text"), str):
        return value["text"]
    return json.dumps(value, ensure_ascii=False)


class Chat:
    """POST /v1/chat/completions"""

    @staticmethod
    def tools(body):
        return [(each["function"]["name"], each) for each in body.get("tools") or []]

    @staticmethod
    def results(body):
        return [text_of(each.get("content")) for each in body["messages"] if each["role"] == "tool"]

    @staticmethod
    def answer(number, call, text):
        delta = {"role": "assistant", "content": text}
        if call:
            delta = {"role": "assistant", "content": None,
                     "tool_calls": [{"index": 0, "id": f"call_{number}", "type": "function",
                                     "function": {"name": call[0], "arguments": json.dumps(call[1])}}]}
        chunk = {"id": f"m{number}", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        yield None, {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        yield None, {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if call else "stop"}],
                     "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}}
        yield None, "[DONE]"


class Messages:
    """POST /v1/messages"""

    @staticmethod
    def tools(body):
        return [(each["name"], each) for each in body.get("tools") or []]

    @staticmethod
    def results(body):
        found = []
        for message in body["messages"]:
            if isinstance(message["content"], list):
                found += [text_of(each.get("content", "")) for each in message["content"] if each["type"] == "tool_result"]
        return found

    @staticmethod
    def answer(number, call, text):
        yield "message_start", {"type": "message_start", "message": {
            "id": f"msg_{number}", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None,
            "stop_sequence": None, "usage": {"input_tokens": 10, "output_tokens": 1}}}
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": call[0], "input": {}} if call else {"type": "text", "text": ""}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])} if call else {"type": "text_delta", "text": text}
        yield "content_block_start", {"type": "content_block_start", "index": 0, "content_block": block}
        yield "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": 0}
        yield "message_delta", {"type": "message_delta", "usage": {"output_tokens": 5},
                                "delta": {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}}
        yield "message_stop", {"type": "message_stop"}


class Responses:
    """POST /v1/responses. Tools may come in namespaces: their names are joined with a dot here."""

    @staticmethod
    def tools(body):
        found = []
        for each in body.get("tools") or []:
            inner = each.get("tools")
            if isinstance(inner, list):
                found += [(each.get("name", "") + "." + tool.get("name", ""), tool) for tool in inner]
            else:
                found.append((each.get("name") or each.get("type"), each))
        return found

    @staticmethod
    def results(body):
        return [text_of(each.get("output")) for each in body["input"] if each.get("type", "").endswith("_call_output")]

    @staticmethod
    def answer(number, call, text):
        item = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": text, "annotations": []}]}
        if call:
            space, dot, name = call[0].rpartition(".")
            item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": name,
                    "arguments": json.dumps(call[1]), "status": "completed"}
            if dot:
                item["namespace"] = space
        base = {"id": f"resp_{number}", "object": "response", "model": "m"}
        usage = {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5,
                 "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 15}
        yield "response.created", {"type": "response.created", "response": {**base, "status": "in_progress", "output": []}}
        yield "response.output_item.done", {"type": "response.output_item.done", "output_index": 0, "item": item}
        yield "response.completed", {"type": "response.completed",
                                     "response": {**base, "status": "completed", "output": [item], "usage": usage}}


class Generate:
    """POST …/models/M:streamGenerateContent"""

    @staticmethod
    def tools(body):
        return [(tool["name"], tool) for each in body.get("tools") or [] for tool in each.get("functionDeclarations") or []]

    @staticmethod
    def results(body):
        found = []
        for content in body["contents"]:
            for part in content.get("parts") or []:
                if "functionResponse" in part:
                    response = part["functionResponse"].get("response", {})
                    found.append(text_of(response.get("output", response)))
        return found

    @staticmethod
    def answer(number, call, text):
        part = {"functionCall": {"id": f"call_{number}", "name": call[0], "args": call[1]}} if call else {"text": text}
        yield None, {"candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": [part]}}],
                     "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}}


def interface_for(path):
    for ending, interface in (("/chat/completions", Chat), ("/messages", Messages), ("/responses", Responses),
                              (":streamGenerateContent", Generate)):
        if path.split("?")[0].endswith(ending):
            return interface
    return None


class Model:
    def __init__(self, script):
        self.script = list(script)
        self.tools = []
        self.lists = []  # the names, request by request
        self.tool_characters = {"ttyward": 0, "all": 0}
        self.results = []
        self.requests = []  # every path that was asked for
        self.calls = 0
        self.lock = threading.Lock()
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def reply(self, code, kind, data):
                self.send_response(code)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(data)

            def do_GET(self):
                model.requests.append(self.command + " " + self.path)
                self.reply(200, "application/json", b'{"object":"list","data":[],"models":[]}')

            do_HEAD = do_GET

            def do_POST(self):
                model.requests.append("POST " + self.path)
                if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
                    raw = b""
                    while size := int(self.rfile.readline().split(b";")[0], 16):
                        raw += self.rfile.read(size)
                        self.rfile.readline()
                    self.rfile.readline()
                else:
                    raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                interface = interface_for(self.path)
                if interface is None:  # counting tokens, telemetry
                    return self.reply(200, "application/json", b'{"input_tokens":10,"totalTokens":10}')
                body = json.loads(raw)
                data = b""
                for name, event in interface.answer(*model.turn(interface, body)):
                    text = event if isinstance(event, str) else json.dumps(event)
                    data += (f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode()
                self.reply(200, "text/event-stream", data)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def turn(self, interface, body):
        """One request: (its number, the call or None, the text to say)."""
        with self.lock:
            self.calls += 1
            tools = interface.tools(body)
            if not tools:
                return self.calls, None, "ok"
            names = [name for name, _ in tools]
            self.lists.append(names)
            if len(tools) >= len(self.tools):  # helpers of an agent are models with fewer tools
                self.tools = names
                sizes = [(name, len(json.dumps(tool, ensure_ascii=False))) for name, tool in tools]
                self.tool_characters = {"ttyward": sum(size for name, size in sizes if "ttyward" in name),
                                        "all": sum(size for _, size in sizes)}
            results = interface.results(body)
            if len(results) > len(self.results):
                self.results = results
            while self.script:
                call = self.script.pop(0)(names)
                if call:
                    return self.calls, call, ""
            return self.calls, None, "finished"
