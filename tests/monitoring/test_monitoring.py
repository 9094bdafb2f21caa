#!/usr/bin/env python3
"""A real Prometheus scrapes a real client. Every query of the board returns data, and a real outage fires the alert.
Usage: with_masters 3 test_monitoring.py REDLOCK PROMETHEUS PROMTOOL MASTER..."""
import http.server
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tools/monitoring"
REDLOCK, PROMETHEUS, PROMTOOL, *MASTERS = sys.argv[1:]
PATIENCE_S = 90


def serve(file):
    """Stands for the textfile collector of the node_exporter."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            text = file.read_bytes() if file.exists() else b""
            self.send_response(200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def ask(port, path, **words):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/{path}?{urllib.parse.urlencode(words)}") as reply:
        return json.load(reply)["data"]


def wait(what, condition):
    """Until the condition holds, or its patience ends. Prometheus tells nobody when it has scraped."""
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            if condition():
                return
        except OSError:
            pass
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {PATIENCE_S} s")
        time.sleep(0.2)


def queries():
    """Those of the board, with what Grafana would put in for its variables."""
    for panel in json.loads((TOOLS / "dashboard.json").read_text())["panels"]:
        for target in panel["targets"]:
            expression = re.sub(r"\$__\w+", "1m", target["expr"]).replace("$job", ".*").replace("$instance", ".*")
            yield panel["title"], expression


def rules(place):
    """With all that takes minutes taking no time."""
    text = re.sub(r"for: \d+[sm]", "for: 0s", (TOOLS / "alerts.yaml").read_text())
    (place / "alerts.yaml").write_text(text)
    return "alerts.yaml"


def firing(port):
    return {alert["labels"]["alertname"] for alert in ask(port, "alerts")["alerts"] if alert["state"] == "firing"}


def main(place):
    page, port = place / "page.prom", free_port()
    subprocess.run([PROMTOOL, "check", "rules", TOOLS / "alerts.yaml"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([PROMTOOL, "test", "rules", TOOLS / "alerts_test.yaml"], check=True, stdout=subprocess.DEVNULL)
    (place / "prometheus.yml").write_text(json.dumps({
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": [rules(place)],
        "scrape_configs": [{"job_name": "locks", "metrics_path": "/",
                            "static_configs": [{"targets": [f"127.0.0.1:{serve(page)}"]}]}]}))
    environment = dict(os.environ, REDLOCK_NODES=",".join(MASTERS))
    subprocess.run([REDLOCK, "nodes", "--new-deployment", "--yes"], check=True, env=environment,
                   stdout=subprocess.DEVNULL)
    with subprocess.Popen([PROMETHEUS, f"--config.file={place}/prometheus.yml", f"--storage.tsdb.path={place}/data",
                           f"--web.listen-address=127.0.0.1:{port}"], stderr=subprocess.DEVNULL) as prometheus, \
            subprocess.Popen([REDLOCK, "run", "-k", "job", "--ttl", "30s", "--metrics-file", page, "sleep", "600"],
                             env=environment, stderr=subprocess.DEVNULL) as client:
        try:
            for title, expression in queries():
                wait(f"'{title}' has no data: {expression}", lambda: ask(port, "query", query=expression)["result"])
            wait("an alert without a reason", lambda: not firing(port))
            for master in MASTERS[1:]:
                subprocess.run(["redis-cli", "-u" if "://" in master and not master.startswith("unix") else "-s",
                                master.removeprefix("unix://"), "SHUTDOWN", "NOSAVE"], check=True)
            wait("no alert, with two of three masters dead", lambda: {"RedlockNoQuorum", "RedlockMasterDown"} <= firing(port))
        finally:
            client.send_signal(signal.SIGTERM)
            prometheus.terminate()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        main(pathlib.Path(directory))
