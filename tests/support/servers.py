"""Servers for tests that are programs in Python."""
import os
import shutil
import subprocess

SERVER = shutil.which(os.environ.get("REDLOCK_SERVER", "redis-server"))


def start_server(path):
    """A master on this unix socket, which takes connections when this returns."""
    server = subprocess.Popen([SERVER, "--port", "0", "--unixsocket", path, "--save", "", "--dir", os.path.dirname(path)],
                              stdout=subprocess.PIPE, text=True)
    for line in server.stdout:
        if "eady to accept connections" in line:
            return server
    raise AssertionError("a server does not start")
