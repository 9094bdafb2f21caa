"""The test of a worker, without servers: it stops when its lock is lost. The client is tools/clients/python.

    python3 -m unittest test_worker.py
"""
import os
import subprocess
import tempfile
import time
import unittest

import redlock_agent


def ship(client, orders):
    """What is tested: one order after the other is shipped, each of them under the lock."""
    with client.lock("orders") as held:
        for order in orders:
            held.check()
            order()


class Worker(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.client = redlock_agent.Client(os.path.join(self.place.name, "agent.sock"))
        self.agent = subprocess.Popen(["redlock", "agent", "--simulate", "--socket", self.client.path])
        while self.agent.poll() is None:
            try:
                return self.client.call("ping")
            except OSError:
                time.sleep(0.01)  # it does not listen yet
        self.fail("the agent has ended")

    def tearDown(self):
        self.client.close()
        self.agent.terminate()
        self.agent.wait()
        self.place.cleanup()

    def test_it_stops_when_its_lock_is_lost(self):
        shipped = []

        def a_thief_comes():
            self.client.call("sim.steal", key="orders")
            self.client.call("sim.advance", by="10s")  # the lock's ttl

        an_hour_passes = lambda: self.client.call("sim.advance", by="1h")
        with self.assertRaises(redlock_agent.Lost):
            ship(self.client, [an_hour_passes, lambda: shipped.append(1), a_thief_comes, lambda: shipped.append(2)])
        self.assertEqual(shipped, [1])


if __name__ == "__main__":
    unittest.main()
