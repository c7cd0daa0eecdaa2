"""Starts a chat server, runs a command with its address in the place of URL, and ends with the command's exit code.

    python chat_server.py MODE WORD …

Replies depend on the messages alone; where a JSON schema is asked for, on the schema and the messages. The port is the
same in every run of a folder, because a server's address is part of what a model is. Modes: sound; faults (every
request fails once); dies (every request after the 40th); garbles; cuts-off; thinks; refuses (401).
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

MODE = sys.argv[1]
ASKED = set()
LOCK = threading.Lock()
COUNT = {"requests": 0}
DIES_AFTER = 40


def share(*of):
    digest = hashlib.sha256(json.dumps(of).encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def fitting(schema, seed, words):
    """A value that fits a JSON schema: the first of an enumeration mostly, words of the text for strings."""
    if "anyOf" in schema:
        return fitting(schema["anyOf"][0], seed, words)
    if "enum" in schema:
        choices = schema["enum"]
        drawn = share(seed, "enum")
        return choices[0] if drawn < 0.93 else choices[int(drawn * 1e6) % len(choices)]
    kind = schema.get("type")
    if kind == "object":
        return {name: fitting(part, f"{seed}.{name}", words) for name, part in schema.get("properties", {}).items()}
    if kind == "array":
        return [fitting(schema.get("items", {}), f"{seed}.0", words)] if share(seed, "some") < 0.03 else []
    if kind in ("integer", "number"):
        return 1 + int(share(seed, "number") * 5)
    return words


def text_of(request):
    messages = request["messages"]
    asked = messages[-1]["content"]
    seed = json.dumps(messages)
    schema = request.get("response_format", {}).get("json_schema", {})
    if schema:
        fenced = re.search(r"\[\[TEXT (\w+)\]\]\n(.*?)\n\[\[/TEXT \1\]\]", asked, re.DOTALL)
        lines = [line for line in (fenced[2] if fenced else "").splitlines() if line.strip()]
        words = lines[int(share(seed, "line") * len(lines))][:150] if lines else ""
        return json.dumps(fitting(schema.get("schema", schema), seed, words))
    if "ready" in asked and len(messages) == 1:
        return "ready"
    if "summary" in asked.lower():
        told = " ".join(message["content"] for message in messages[:-1] if message["role"] == "user")
        kept = [part for part in told.split(". ") if share(part, len(messages)) < 0.9]
        return ". ".join(kept)
    advice = ("Please keep taking your tablets.", "Do not take ibuprofen.", "You can take ibuprofen.", "Ring 999 now.")
    return advice[int(share(seed) * len(advice))]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, value, **headers):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        for name, text in headers.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(404, {"detail": "Not Found"})

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        if not self.path.endswith("/chat/completions"):
            return self.answer(404, {"detail": "Not Found"})
        request = json.loads(raw)
        mark = hashlib.sha256(json.dumps(request["messages"]).encode()).hexdigest()
        preflight = len(request["messages"]) == 1 and "ready" in request["messages"][0]["content"]
        with LOCK:
            again = mark in ASKED
            ASKED.add(mark)
            COUNT["requests"] += 1
            count = COUNT["requests"]
        if MODE == "refuses":
            return self.answer(401, {"error": {"message": "invalid key"}})
        if preflight:
            return self.complete("ready")
        if MODE == "faults" and not again:
            if share(mark) < 0.5:
                return self.answer(429, {"error": "rate"}, retry_after="0.01")
            return self.answer(500, {"error": "oops"})
        if MODE == "dies" and count > DIES_AFTER:
            return self.answer(500, {"error": "gone"})
        if MODE == "garbles" and share(mark) < 0.02:
            return self.answer(200, {"choises": []})
        return self.complete(text_of(request), mark)

    def complete(self, text, mark=""):
        reason = "stop"
        if MODE == "cuts-off" and share(mark) < 0.05:
            text, reason = text[: len(text) // 2], "length"
        if MODE == "thinks":
            text = f"<think>The patient may have {text[:40]}</think>{text}"
        usage = {"prompt_tokens": 50, "completion_tokens": len(text.split())}
        message = {"role": "assistant", "content": text}
        choices = [{"index": 0, "message": message, "finish_reason": reason}]
        self.answer(200, {"choices": choices, "usage": usage})


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


port_file = Path("port.txt")
port = int(port_file.read_text()) if port_file.exists() else 0
server = Server(("127.0.0.1", port), Handler)
port_file.write_text(str(server.server_port))
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/v1"
first, *rest = [word.replace("URL", url) for word in sys.argv[2:]]
program = [sys.executable, "-m", "pytest"] if first == "pytest" else [str(Path(sys.executable).parent / first)]
done = subprocess.run([*program, *rest], env=os.environ, check=False)
sys.exit(done.returncode)
