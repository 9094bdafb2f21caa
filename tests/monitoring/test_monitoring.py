#!/usr/bin/env python3
"""A real Prometheus scrapes an agent, and the file of a `redlock run`. Every query of the board returns data, and what
is done to the agent and to the masters fires the alerts that are meant for it.
Usage: with_masters 3 test_monitoring.py REDLOCK PROMETHEUS PROMTOOL MASTER...
The board as it was is written to $BOARD_SVG, if that is set."""
import contextlib
import http.server
import json
import math
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
import types
import urllib.parse
import urllib.request
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tools/monitoring"
sys.path.insert(0, str(ROOT / "tests/agent"))
from agent_rig import Wire  # noqa: E402  (its place is known only here)

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
    """By name; an alert may be about several things."""
    alerts = {}
    for alert in ask(port, "alerts")["alerts"]:
        if alert["state"] == "firing":
            alerts.setdefault(alert["labels"]["alertname"], []).append(alert["labels"])
    return alerts


def values(port, expression):
    """The labels and numbers of all that is known; a quantile of nothing is none."""
    results = [(result["metric"], float(result["value"][1])) for result in ask(port, "query", query=expression)["result"]]
    return [(labels, number) for labels, number in results if not math.isnan(number)]


class Contenders:
    """Two programs that want one lock, and a third that keeps another one, all of them by the agent."""

    def __init__(self, path):
        self.wires = [Wire(types.SimpleNamespace(socket=path)) for _ in range(3)]
        self.over = threading.Event()
        self.wires[2].get("acquire", key="order:kept", ttl="6s")
        self.thread = threading.Thread(target=self.contend, daemon=True)
        self.thread.start()

    def contend(self):
        first, second, _ = self.wires
        while not self.over.wait(0.02):
            grant = first.ask("acquire", key="order:1", ttl="10s", wait="1s")
            number = second.begin("acquire", key="order:1", ttl="10s", wait="1s")
            if grant["ok"]:
                first.ask("release", lock=grant["lock"])
            grant = second.answer(number)
            if grant["ok"]:
                second.ask("release", lock=grant["lock"])

    def end(self):
        self.over.set()
        self.thread.join(PATIENCE_S)


@contextlib.contextmanager
def running(words, environment, **more):
    with subprocess.Popen(words, env=environment, stderr=subprocess.DEVNULL, **more) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGCONT)
            process.terminate()


def configure(place, *targets):
    configuration = {"global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": [rules(place)],
                     "scrape_configs": [{"job_name": name, "metrics_path": path,
                                         "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}
                                        for name, path, port in targets]}
    (place / "prometheus.yml").write_text(json.dumps(configuration))


def check_health(port):
    for title, expression in queries():
        if title not in OUTAGE:
            wait(f"'{title}' has no data: {expression}", lambda: values(port, expression))
    wait("an alert without a reason", lambda: not firing(port).keys() & LATE_OR_OUT)


def check_late_program(port, agent):
    """It stands still for longer than the time between two renewals."""
    agent.send_signal(signal.SIGSTOP)
    time.sleep(3)
    agent.send_signal(signal.SIGCONT)
    wait("renewals that are late", lambda: "RedlockRenewalsLate" in firing(port))


def check_outage(port):
    for master in MASTERS[1:]:
        subprocess.run(["redis-cli", "-u" if "://" in master and not master.startswith("unix") else "-s",
                        master.removeprefix("unix://"), "SHUTDOWN", "NOSAVE"], check=True)
    wait("the alerts, with two of three masters dead", lambda: OUT <= firing(port).keys())
    wait("why locks are not had", lambda: {("orders", "no_quorum")} == {
        (labels["key_class"], labels["reason"]) for labels in firing(port).get("RedlockAcquisitionsFail", [])
        if labels["job"] == "agent"})
    wait("why the lock was lost",
         lambda: values(port, 'redlock_key_lost_total{key_class="orders", reason="unreachable"} == 1'))
    for title, expression in queries():
        if title in OUTAGE:
            wait(f"'{title}' has no data: {expression}",
                 lambda: {labels["reason"] for labels, _ in values(port, expression)} & OUTAGE[title])


def check_picture(port, begin):
    """Each panel has a line at least."""
    drawn = subprocess.run([sys.executable, TOOLS / "picture.py", f"http://127.0.0.1:{port}", str(begin),
                            str(time.time())], check=True, capture_output=True, text=True).stdout
    shapes = list(xml.etree.ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}path"))
    lines = [shape for shape in shapes if shape.get("fill") == "none"]
    assert len(lines) >= len({title for title, _ in queries()}), len(lines)
    assert "no data" not in drawn, drawn
    if os.environ.get("BOARD_SVG"):
        pathlib.Path(os.environ["BOARD_SVG"]).write_text(drawn)


# What there is in an outage alone: panels with their reasons, and alerts.
OUTAGE = {"Masters without a vote, and why": {"down"}, "What masters lacked, failures a second": {"not connected"}}
OUT = {"RedlockNoQuorum", "RedlockMasterDown", "RedlockAcquisitionsFail", "RedlockRenewalsFail", "RedlockLocksLost"}
LATE_OR_OUT = OUT | {"RedlockRenewalsLate", "RedlockNoSpareMaster"}


def main(place):
    page, port, agent_port = place / "page.prom", free_port(), free_port()
    subprocess.run([PROMTOOL, "check", "rules", TOOLS / "alerts.yaml"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([PROMTOOL, "test", "rules", TOOLS / "alerts_test.yaml"], check=True, stdout=subprocess.DEVNULL)
    configure(place, ("run", "/", serve(page)), ("agent", "/metrics", agent_port))
    environment = dict(os.environ, REDLOCK_NODES=",".join(MASTERS))
    subprocess.run([REDLOCK, "nodes", "--new-deployment", "--yes"], check=True, env=environment,
                   stdout=subprocess.DEVNULL)
    with running([PROMETHEUS, f"--config.file={place}/prometheus.yml", f"--storage.tsdb.path={place}/data",
                  f"--web.listen-address=127.0.0.1:{port}"], None), \
            running([REDLOCK, "run", "-k", "job", "--ttl", "30s", "--metrics-file", page, "sleep", "600"], environment), \
            running([REDLOCK, "agent", "--socket", place / "agent.sock", "--metrics-listen", str(agent_port),
                     "--metrics-class", "order:=orders"], environment) as agent:
        wait("no agent", lambda: urllib.request.urlopen(f"http://127.0.0.1:{agent_port}/metrics"))
        wait("no socket", (place / "agent.sock").exists)
        begin = time.time()
        contenders = Contenders(str(place / "agent.sock"))
        check_health(port)
        check_late_program(port, agent)
        check_outage(port)
        contenders.end()
        check_picture(port, begin)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        main(pathlib.Path(directory))
