#!/usr/bin/env python3
"""A guard for a service behind HTTP; tools/fencing/README.md says what it is for.

    http_proxy.py 127.0.0.1:8081 http://127.0.0.1:8080 tokens.db

Whoever writes (every method but GET and HEAD) sends the header `Fencing-Token: 1700000000000001`. A request without it
is answered by 428, and one whose token is older than one that has come for the same path by 409: neither reaches the
service. Requests to one path go to the service one after the other: a check is worth nothing if the request can be
overtaken behind it. Tokens are kept in a file of SQLite, by the rules of sqlite.sql. The service must be reached by
this way alone, and there is one such proxy.
"""
import collections
import http.server
import sqlite3
import sys
import threading
import urllib.error
import urllib.request

HOPS = {"connection", "keep-alive", "transfer-encoding", "content-length", "date", "server"}


class Guard:
    def __init__(self, path):
        self.tokens = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self.tokens.execute("CREATE TABLE IF NOT EXISTS fences (path TEXT PRIMARY KEY, token INTEGER NOT NULL)")
        self.lock = threading.Lock()
        self.turns = collections.defaultdict(threading.Lock)

    def turn(self, path):
        with self.lock:
            return self.turns[path]

    def takes(self, path, token):
        with self.lock:
            return self.tokens.execute(
                "INSERT INTO fences VALUES (?, ?) ON CONFLICT (path) DO UPDATE SET token = excluded.token "
                "WHERE token <= excluded.token", (path, token)).rowcount == 1


class Proxy(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def forward(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.command in ("GET", "HEAD"):
            return self.ask(body)
        text = self.headers.get("Fencing-Token", "")
        if not text.isascii() or not text.isdigit() or int(text) == 0:
            return self.answer(428, b"a write has no fencing token\n")
        path = self.path.partition("?")[0]
        with self.server.guard.turn(path):
            if not self.server.guard.takes(path, int(text)):
                return self.answer(409, b"late write: its token is older than one that has come\n")
            return self.ask(body)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = forward

    def ask(self, body):
        headers = {name: value for name, value in self.headers.items() if name.lower() not in HOPS | {"host"}}
        request = urllib.request.Request(self.server.service + self.path, body or None, headers, method=self.command)
        try:
            with urllib.request.urlopen(request) as reply:
                self.answer(reply.status, reply.read(), reply.headers.items())
        except urllib.error.HTTPError as error:
            self.answer(error.code, error.read(), error.headers.items())
        except OSError as error:
            self.answer(502, f"the service does not answer: {error}\n".encode())

    def answer(self, status, body, headers=()):
        self.send_response(status)
        for name, value in headers:
            if name.lower() not in HOPS:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def main(address, service, path):
    host, _, port = address.rpartition(":")
    server = http.server.ThreadingHTTPServer((host, int(port)), Proxy)
    server.service, server.guard = service.rstrip("/"), Guard(path)
    server.serve_forever()


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: http_proxy.py ADDRESS:PORT SERVICE_URL FILE")
    main(*sys.argv[1:])
