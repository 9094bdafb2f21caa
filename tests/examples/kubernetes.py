#!/usr/bin/env python3
"""tools/examples/kubernetes.yaml, and kubernetes-agent.yaml, whose pods have an agent in a sidecar: it is valid, its parts
fit together, and of two pods that run its command, each as process 1 of a namespace where that is allowed, exactly one
answers the readiness probe. When that one is deleted, the other does; with an agent also as soon as the server's
container has died, well before the ttl ends.

    kubernetes.py SOURCE_ROOT REDLOCK FILE MASTER...
"""
import contextlib
import http.client
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

from standby import PATIENCE_S, declare, end, fail, skip, wait_until

try:
    import yaml
except ImportError:
    skip("there is no PyYAML (Debian: python3-yaml)")
try:
    import kubernetes_validate
except ImportError:
    kubernetes_validate = None

root, redlock, name, *masters = sys.argv[1:]
redlock = str(pathlib.Path(redlock).resolve())
documents = list(yaml.safe_load_all(pathlib.Path(root, "tools/examples", name).read_text()))
if kubernetes_validate is None:
    print("there is no kubernetes-validate (PyPI): the kinds' schemas are not checked")
else:
    for document in documents:
        kubernetes_validate.validate(document, kubernetes_validate.latest_version(), strict=True)

# --- The parts

service, deployment = documents
spec = deployment["spec"]
pod = spec["template"]
(container,) = pod["spec"]["containers"]
labels = pod["metadata"]["labels"]
for selector in (service["spec"]["selector"], spec["selector"]["matchLabels"]):
    if not selector.items() <= labels.items():
        fail(f"{selector} does not select pods with {labels}")
ports = {port["name"]: port["containerPort"] for port in container["ports"]}
probe = container["readinessProbe"]["httpGet"]
if {service["spec"]["ports"][0]["targetPort"], probe["port"]} != {"http"} or "http" not in ports:
    fail(f"traffic, probe and {ports} differ")
if spec["replicas"] != 2 or spec["strategy"]["rollingUpdate"] != {"maxUnavailable": "100%", "maxSurge": 0}:
    fail("a rollout would wait for ever, or there is nobody to stand by")
sidecars = pod["spec"].get("initContainers", [])
for sidecar in sidecars:
    mounts = [part["volumeMounts"] for part in (sidecar, container)]
    (agent,) = [entry["value"] for entry in container["env"]]
    place = mounts[0][0]["mountPath"]
    if mounts[0] != mounts[1] or [volume["name"] for volume in pod["spec"]["volumes"]] != [mounts[0][0]["name"]]:
        fail(f"the containers share no volume: {mounts}")
    if sidecar["restartPolicy"] != "Always" or sidecar["command"][:4] != ["redlock", "agent", "--socket", agent]:
        fail(f"the agent does not listen at {agent}: {sidecar['command']}")
    if not agent.startswith(place + "/") or any("REDLOCK_NODES" in entry.values() for entry in container["env"]):
        fail("the socket is in no volume, or the server's container names masters")
if "livenessProbe" in container:
    fail("the pod that stands by would be restarted again and again")

# --- Two pods

# Python's server instead of that of the image, at a port of its own for each pod: here they share an address.
words = container["command"]
behind = words.index("--")
if words[0] != "redlock" or words[behind + 1 :] != ["orders-server", "--port", str(ports["http"])]:
    fail(f"not understood: {words}")
namespace = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
try:
    allowed = subprocess.run([*namespace, "true"], stderr=subprocess.DEVNULL).returncode == 0
except FileNotFoundError:
    allowed = False
if not allowed:
    print("no namespace of our own here: redlock is not process 1")
environment = declare(redlock, masters)


class Pod:
    """Its containers. The masters are the agent's alone, if there is one."""

    def __init__(self, volume):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        own, self.agent = environment, None
        for sidecar in sidecars:
            command = [redlock, *(word.replace(place, volume) for word in sidecar["command"][1:])]
            self.agent = subprocess.Popen(command, env=environment)
            own = {variable: value for variable, value in environment.items() if variable != "REDLOCK_NODES"}
            own["REDLOCK_AGENT"] = agent.replace(place, volume)
        run = [redlock, *words[1:behind], "--", sys.executable, "-m", "http.server", str(self.port), "--bind", "127.0.0.1",
               "--directory", str(pathlib.Path(root, "tools/examples"))]
        self.process = subprocess.Popen([*namespace, *run] if allowed else run, env=own,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def ready(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", probe["path"])
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def signal(self, number):
        """To process 1 of the server's container."""
        pid = self.process.pid
        if allowed:
            pid = int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
        os.kill(pid, number)
        self.process.wait(PATIENCE_S)

    def delete(self):
        """A sidecar is ended after the others."""
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
        if self.agent and self.agent.poll() is None:
            end(self.agent)


def other_takes_over(pods, do):
    """What the one that was active has said."""
    wait_until(lambda: any(pod.ready() for pod in pods), "one pod is ready")
    active = next(pod for pod in pods if pod.ready())
    (standby,) = [pod for pod in pods if pod is not active]
    if standby.ready() or standby.process.poll() is not None:
        fail("both pods are ready, or one has ended")
    do(active)
    said = active.process.stderr.read()
    wait_until(standby.ready, "the other pod is ready")
    if active.ready():
        fail("both pods are ready")
    return said


def pods(stack):
    found = [Pod(stack.enter_context(tempfile.TemporaryDirectory())) for _ in range(2)]
    for pod in found:
        stack.callback(pod.delete)
    return found


with contextlib.ExitStack() as stack:
    said = other_takes_over(pods(stack), Pod.delete)
    if "'orders' is released" not in said:
        fail(f"the deleted pod has not given up the lock: {said}")
if sidecars:
    ttl_s = int(words[words.index("--ttl") + 1].rstrip("s"))
    with contextlib.ExitStack() as stack:
        begun = []
        other_takes_over(pods(stack), lambda pod: (begun.append(time.monotonic()), pod.signal(signal.SIGKILL)))
        if time.monotonic() - begun[0] > ttl_s / 2:
            fail("the lock of a container that has died was free when its ttl had ended, and not before")
