#!/usr/bin/env python3
"""The guards of tools/fencing on the real thing. Prints TAP; what is not installed is skipped.

Each guard gets the same writes. So does the resource without it, and stores the late one: that is what it is for."""
import concurrent.futures
import http.server
import importlib.util
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from servers import start_server  # noqa: E402  (its place is known only here)

GUARDS = ROOT / "tools/fencing"
PATIENCE_S = 60
TOKEN = 1700000000000001  # as large as real ones are


class Refused(Exception):
    pass


class Skip(Exception):
    pass


def installed(name, *places):
    found = shutil.which(name) or next((path for place in places for path in sorted(pathlib.Path("/").glob(place))), None)
    if not found:
        raise Skip(f"{name} is not installed")
    return str(found)


def wait_for(process, words):
    for line in process.stderr:
        if words in line:
            threading.Thread(target=process.stderr.read, daemon=True).start()
            return
    raise AssertionError(f"{process.args[0]} ended before it said '{words}'")


def run(words, text=None, expected=(0,), **options):
    done = subprocess.run(words, input=text, capture_output=True, text=True, timeout=PATIENCE_S, check=False, **options)
    assert done.returncode in expected, f"{words}: exit code {done.returncode}: {done.stdout}{done.stderr}"
    return done


def owner_of(place, name):
    """Servers of databases insist on not being root."""
    if os.geteuid() != 0:
        return {}
    shutil.chown(place, name)
    return {"user": name}


class Server:
    def __init__(self, place, words, ready, **options):
        self.process = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, cwd=place,
                                        **options)
        wait_for(self.process, ready)

    def close(self, sign=signal.SIGTERM):
        self.process.send_signal(sign)
        self.process.wait(PATIENCE_S)


# --- The resources: write(value, token), plain(value), read(), close()

class Sqlite:
    def __init__(self, place):
        self.db = sqlite3.connect(os.path.join(place, "db"), isolation_level=None)
        self.db.executescript("CREATE TABLE orders (id INTEGER PRIMARY KEY, state TEXT); INSERT INTO orders VALUES (7, '')")
        self.db.executescript((GUARDS / "sqlite.sql").read_text())

    def write(self, value, token):
        try:
            self.db.execute("BEGIN IMMEDIATE")
            self.db.execute("INSERT INTO redlock_fences VALUES ('orders', ?) "
                            "ON CONFLICT (resource) DO UPDATE SET token = excluded.token", (token,))
            self.plain(value)
            self.db.execute("COMMIT")
        except sqlite3.IntegrityError as error:
            if self.db.in_transaction:
                self.db.execute("ROLLBACK")
            raise Refused(str(error)) from error

    def plain(self, value):
        self.db.execute("UPDATE orders SET state = ? WHERE id = 7", (value,))

    def read(self):
        return self.db.execute("SELECT state FROM orders WHERE id = 7").fetchone()[0]

    def close(self):
        self.db.close()


class SqliteColumn(Sqlite):
    def __init__(self, place):
        super().__init__(place)
        self.db.execute("ALTER TABLE orders ADD COLUMN fence INTEGER NOT NULL DEFAULT 0")

    def write(self, value, token):
        if self.db.execute("UPDATE orders SET state = ?1, fence = ?2 WHERE id = 7 AND fence <= ?2 AND ?2 > 0",
                           (value, token)).rowcount == 0:
            raise Refused("no row")


class Postgres:
    MADE = "CREATE TABLE orders (id int PRIMARY KEY, state text); INSERT INTO orders VALUES (7, '');"

    def __init__(self, place):
        initdb, postgres = (installed(name, f"usr/lib/postgresql/*/bin/{name}") for name in ("initdb", "postgres"))
        self.psql = installed("psql")
        self.place = place
        owner = owner_of(place, "postgres")
        run([initdb, "-D", f"{place}/data", "-U", "test", "-A", "trust", "--no-sync"], cwd=place, **owner)
        self.server = Server(place, [postgres, "-D", f"{place}/data", "-k", place, "-c", "listen_addresses=", "-c",
                                     "fsync=off"], "ready to accept connections", **owner)
        self.say(self.MADE + (GUARDS / "postgresql.sql").read_text())

    def say(self, text):
        done = run([self.psql, "-qAt", "-v", "ON_ERROR_STOP=1", "-h", self.place, "-U", "test", "postgres"], text,
                   expected=(0, 3))
        if done.returncode:
            raise Refused(done.stderr)
        return done.stdout.strip()

    def write(self, value, token):
        self.say(f"BEGIN; SELECT redlock_fence('orders', {token}); {self.update(value)} COMMIT;")

    @staticmethod
    def update(value):
        return f"UPDATE orders SET state = '{value}' WHERE id = 7;"

    def plain(self, value):
        self.say(self.update(value))

    def read(self):
        return self.say("SELECT state FROM orders")

    def close(self):
        self.server.close(signal.SIGINT)  # its fast shutdown


class PostgresColumn(Postgres):
    MADE = Postgres.MADE + "ALTER TABLE orders ADD COLUMN fence bigint NOT NULL DEFAULT 0;"

    def write(self, value, token):
        if not self.say(f"UPDATE orders SET state = '{value}', fence = {token} WHERE id = 7 AND fence <= {token} "
                        f"AND {token} > 0 RETURNING id"):
            raise Refused("no row")


class PostgresTrigger(Postgres):
    """`plain` is a program that knows nothing of tokens, after the trigger was dropped."""

    def __init__(self, place):
        super().__init__(place)
        self.say("CREATE TRIGGER fenced BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON orders "
                 "FOR EACH STATEMENT EXECUTE PROCEDURE redlock_guard('orders');")

    def write(self, value, token):
        self.say(f"BEGIN; SET LOCAL redlock.token = {token}; {self.update(value)} COMMIT;")

    def plain(self, value):
        try:
            super().plain(value)
        except Refused as error:
            assert "no fencing token" in str(error), error
            self.say("DROP TRIGGER fenced ON orders")
            super().plain(value)
        else:
            raise AssertionError("the trigger has let a write without a token pass")


class MySql:
    def __init__(self, place):
        install, server = installed("mariadb-install-db"), installed("mariadbd", "usr/sbin/mariadbd")
        self.client = [installed("mariadb"), f"--socket={place}/s", "--user=root", "-N", "-B", "test"]
        options = ["--no-defaults", f"--datadir={place}/data"]
        owner = owner_of(place, "mysql")
        run([install, *options, "--auth-root-authentication-method=normal"], **owner)
        self.server = Server(place, [server, *options, f"--socket={place}/s", "--skip-networking",
                                     "--innodb-flush-log-at-trx-commit=0"], "ready for connections", **owner)
        self.say("CREATE DATABASE IF NOT EXISTS test;", "mysql")
        self.say("CREATE TABLE orders (id int PRIMARY KEY, state text); INSERT INTO orders VALUES (7, '');"
                 + (GUARDS / "mysql.sql").read_text() + self.more())

    @staticmethod
    def more():
        return ""

    def say(self, text, database="test"):
        done = run([*self.client[:-1], database], text, expected=(0, 1))
        if done.returncode:
            raise Refused(done.stderr)
        return done.stdout.strip()

    def write(self, value, token):
        self.say(f"START TRANSACTION; CALL redlock_fence('orders', {token}); {Postgres.update(value)} COMMIT;")

    def plain(self, value):
        self.say(Postgres.update(value))

    def read(self):
        return self.say("SELECT state FROM orders")

    def close(self):
        self.server.close()


class MySqlTrigger(MySql):
    @staticmethod
    def more():
        return ("CREATE TRIGGER orders_update BEFORE UPDATE ON orders FOR EACH ROW "
                "CALL redlock_fence('orders', @redlock_token);")

    def write(self, value, token):
        self.say(f"SET @redlock_token = {token}; {Postgres.update(value)}")

    def plain(self, value):
        self.say("DROP TRIGGER IF EXISTS orders_update;" + Postgres.update(value))


class Redis:
    def __init__(self, place):
        self.cli = [installed("redis-cli"), "-s", f"{place}/s"]
        self.server = start_server(f"{place}/s")

    def say(self, *words):
        answer = run([*self.cli, *words]).stdout.strip()
        if "FENCE" in answer:
            raise Refused(answer)
        assert "ERR" not in answer, answer
        return answer

    def write(self, value, token):
        self.say("EVAL", (GUARDS / "redis.lua").read_text(), "2", "fence:{orders}", "orders:{orders}", str(token), "HSET",
                 "state", value)

    def plain(self, value):
        self.say("HSET", "orders:{orders}", "state", value)

    def read(self):
        return self.say("HGET", "orders:{orders}", "state")

    def close(self):
        self.server.terminate()
        self.server.wait(PATIENCE_S)


class File:
    def __init__(self, place):
        self.file = os.path.join(place, "report.txt")

    def write(self, value, token):
        if run([GUARDS / "file.sh", self.file, str(token)], value, expected=(0, 75)).returncode:
            raise Refused(self.file)

    def plain(self, value):
        pathlib.Path(self.file).write_text(value)

    def read(self):
        return pathlib.Path(self.file).read_text()

    def close(self):
        left = sorted(os.listdir(os.path.dirname(self.file)))
        assert len(left) == 3, f"more is left than the file, its token and the lock: {left}"


class S3:
    def __init__(self, place):
        moto = installed("moto_server")
        spec = importlib.util.spec_from_file_location("s3", GUARDS / "s3.py")
        try:
            import boto3  # pylint: disable=import-outside-toplevel
            self.guard = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(self.guard)
        except ImportError as error:
            raise Skip(str(error)) from error
        self.server = subprocess.Popen([moto, "-H", "127.0.0.1", "-p", "0"], stderr=subprocess.PIPE, text=True, cwd=place)
        url = next(found.group() for line in self.server.stderr if (found := re.search(r"http://127\S+", line)))
        threading.Thread(target=self.server.stderr.read, daemon=True).start()
        self.s3 = boto3.client("s3", endpoint_url=url, region_name="us-east-1", aws_access_key_id="a",
                               aws_secret_access_key="b")
        self.s3.create_bucket(Bucket="guarded")
        if self.ignores_conditions():
            self.close()
            raise Skip("this version of moto ignores If-Match")

    def ignores_conditions(self):
        self.s3.put_object(Bucket="guarded", Key="tried", Body=b"")
        try:
            self.s3.put_object(Bucket="guarded", Key="tried", Body=b"", IfMatch="another")
        except self.guard.botocore.exceptions.ClientError:
            return False
        return True

    def write(self, value, token):
        try:
            self.guard.put_fenced(self.s3, "guarded", "orders", value.encode(), token)
        except self.guard.LateWrite as error:
            raise Refused(str(error)) from error

    def plain(self, value):
        self.s3.put_object(Bucket="guarded", Key="orders", Body=value.encode())

    def check_pause(self):
        """A newer holder writes between the look of an older one and its write."""
        resource = self

        class Paused:
            put_object = self.s3.put_object
            looks = 0

            def head_object(self, **words):
                there = resource.s3.head_object(**words)
                self.looks += 1
                if self.looks == 1:
                    resource.write("newer", TOKEN * 100)
                return there

        paused = Paused()
        try:
            self.guard.put_fenced(paused, "guarded", "orders", b"older", TOKEN * 99)
        except self.guard.LateWrite:
            assert paused.looks == 2 and self.read() == "newer"
        else:
            raise AssertionError("a late write was stored behind a pause")

    def read(self):
        return self.s3.get_object(Bucket="guarded", Key="orders")["Body"].read().decode()

    def close(self):
        self.server.terminate()
        self.server.wait(PATIENCE_S)


class Service(http.server.BaseHTTPRequestHandler):
    state = ""
    began, overtaken = threading.Event(), threading.Event()

    def do_PUT(self):
        value = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if value == "slow":
            self.began.set()
            self.overtaken.wait(0.5)  # in vain, if the proxy does its work
        else:
            self.overtaken.set()
        Service.state = value
        self.send_response(204)
        self.end_headers()

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(Service.state.encode())

    def log_message(self, *_):
        pass


class Http:
    def __init__(self, place):
        spec = importlib.util.spec_from_file_location("http_proxy", GUARDS / "http_proxy.py")
        guard = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(guard)
        guard.Proxy.log_message = Service.log_message
        self.service = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
        self.proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), guard.Proxy)
        self.proxy.service = f"http://127.0.0.1:{self.service.server_port}"
        self.proxy.guard = guard.Guard(os.path.join(place, "tokens"))
        for server in (self.service, self.proxy):
            threading.Thread(target=server.serve_forever, daemon=True).start()

    def ask(self, server, value=None, headers=()):
        method = "GET" if value is None else "PUT"
        request = urllib.request.Request(f"http://127.0.0.1:{server.server_port}/orders/7",
                                         value and value.encode(), dict(headers), method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as reply:
            return reply.read().decode()

    def write(self, value, token):
        try:
            self.ask(self.proxy, value, {"Fencing-Token": str(token)})
        except urllib.error.HTTPError as error:
            assert error.code == (409 if token else 428), error
            raise Refused(error.read()) from error

    def check_pause(self):
        """A newer request must not overtake one that has been let through."""
        Service.overtaken.clear()
        older = threading.Thread(target=self.write, args=("slow", TOKEN * 100))
        older.start()
        assert Service.began.wait(PATIENCE_S)
        self.write("newer", TOKEN * 100 + 1)
        older.join()
        assert self.read() == "newer", "a late write was stored behind a newer one"

    def plain(self, value):
        self.ask(self.service, value)

    def read(self):
        return self.ask(self.proxy)

    def close(self):
        self.proxy.shutdown()
        self.service.shutdown()


# --- What each of them must do

def refuses(resource, value, token):
    try:
        resource.write(value, token)
    except Refused:
        return True
    return False


def check(resource):
    assert refuses(resource, "unfenced", 0), "a write without token was stored"
    resource.write("first", TOKEN)
    resource.write("first again", TOKEN)
    resource.write("second", TOKEN + 2)
    assert refuses(resource, "late", TOKEN + 1) and resource.read() == "second", "a late write was stored"
    assert refuses(resource, "late", TOKEN) and resource.read() == "second", "a late write was stored"
    assert refuses(resource, "unfenced", 0) and resource.read() == "second", "a write without token was stored"
    assert refuses(resource, "short", 999) and resource.read() == "second", "a number of fewer digits is not smaller"
    resource.write("third", TOKEN * 10)
    assert resource.read() == "third"


def check_together(resource):
    """Writers that come at once: what stays is of the largest token."""
    tokens = [TOKEN * 20 + number for number in range(12)]
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda token: refuses(resource, f"by {token}", token), tokens[::-1] + tokens))
    assert resource.read() == f"by {tokens[-1]}", resource.read()


def check_plain(resource):
    """Without the guard."""
    resource.plain("late")
    assert resource.read() == "late"


def test(number, kind):
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        try:
            resource = kind(place)
        except Skip as why:
            print(f"ok {number} - {kind.__name__} # SKIP {why}", flush=True)
            return True
        try:
            check(resource)
            if not isinstance(resource, Sqlite):  # one connection
                check_together(resource)
            if hasattr(resource, "check_pause"):
                resource.check_pause()
            check_plain(resource)
        except (AssertionError, Refused) as error:
            print(f"not ok {number} - {kind.__name__}: {error!r}", flush=True)
            return False
        finally:
            resource.close()
    print(f"ok {number} - {kind.__name__}", flush=True)
    return True


def main():
    kinds = [Sqlite, SqliteColumn, Redis, File, Http, S3, Postgres, PostgresColumn, PostgresTrigger, MySql, MySqlTrigger]
    print(f"1..{len(kinds)}")
    return all([test(number, kind) for number, kind in enumerate(kinds, 1)])


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
