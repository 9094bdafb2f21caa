#!/usr/bin/env python3
"""tools/examples/kubernetes.yaml: it is valid, its parts fit together, and of two pods that run its command, each as
process 1 of a namespace where that is allowed, exactly one answers the readiness probe; when that one is deleted, the
other does.

    kubernetes.py SOURCE_ROOT REDLOCK MASTER...
"""
import http.client
import pathlib
import socket
import subprocess
import sys

from standby import declare, end, fail, skip, wait_until

try:
    import yaml
except ImportError:
    skip("there is no PyYAML (Debian: python3-yaml)")
try:
    import kubernetes_validate
except ImportError:
    kubernetes_validate = None

root, redlock, *masters = sys.argv[1:]
redlock = str(pathlib.Path(redlock).resolve())
documents = list(yaml.safe_load_all(pathlib.Path(root, "tools/examples/kubernetes.yaml").read_text()))
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
    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        run = [redlock, *words[1:behind], "--", sys.executable, "-m", "http.server", str(self.port), "--bind", "127.0.0.1",
               "--directory", str(pathlib.Path(root, "tools/examples"))]
        self.process = subprocess.Popen([*namespace, *run] if allowed else run, env=environment,
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

    def delete(self):
        if not allowed:
            return end(self.process)
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return end(self.process, int(children[0]))


pods = [Pod(), Pod()]
wait_until(lambda: any(pod.ready() for pod in pods), "one pod is ready")
active = next(pod for pod in pods if pod.ready())
(standby,) = [pod for pod in pods if pod is not active]
if standby.ready() or standby.process.poll() is not None:
    fail("both pods are ready, or one has ended")
active.delete()
said = active.process.stderr.read()
wait_until(standby.ready, "the other pod is ready")
if active.ready():
    fail("both pods are ready")
standby.delete()
if "'orders' is released" not in said:
    fail(f"the deleted pod has not given up the lock: {said}")
