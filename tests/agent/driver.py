#!/usr/bin/env python3
"""What conformance.py tells this program, done by the client for Python. Usage: driver.py threads|asyncio"""
import asyncio
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/clients/python"))
import redlock_agent  # noqa: E402  (its place is known only here)

THREADS = sys.argv[1] == "threads"
MOST_AT_ONCE = 1100


def seconds(ms):
    return ms if ms in (None, "forever") else ms / 1000


class Driver:
    def __init__(self):
        self.client = (redlock_agent.Client if THREADS else redlock_agent.AsyncClient)()
        self.loop = asyncio.get_running_loop()
        self.loop.set_default_executor(concurrent.futures.ThreadPoolExecutor(MOST_AT_ONCE))
        self.locks, self.lost, self.waits = {}, {}, {}

    async def done(self, call, *arguments):
        """Whatever the client does, in a thread where it is the client for threads."""
        return await (self.loop.run_in_executor(None, call, *arguments) if THREADS else call(*arguments))

    async def lock(self, id, name, key=None, keys=None, ttl=10000, wait=0, **options):
        lost = self.loop.create_future()
        lock = self.client.lock(key if keys is None else keys, ttl=seconds(ttl), wait=seconds(wait),
                                on_lost=lambda _: self.loop.call_soon_threadsafe(lost.set_result, None), **options)
        self.waits[id] = asyncio.current_task()
        try:
            await self.done(lock.acquire)
        except asyncio.CancelledError:
            return {"canceled": True}
        self.locks[name], self.lost[name] = lock, lost
        return {"fence": str(lock.fence)}

    async def cancel(self, of, **_):
        if THREADS:
            return {"unsupported": True}
        self.waits[of].cancel()
        return {}

    async def remaining(self, name, **_):
        return {"remaining": self.locks[name].remaining * 1000}

    async def extend(self, name, ttl, **_):
        await self.done(self.locks[name].extend, seconds(ttl))
        return {}

    async def release(self, name, **_):
        await self.done(self.locks[name].release)
        return {}

    async def wait_lost(self, name, **_):
        await self.lost[name]
        return await self.remaining(name)

    async def child(self, **_):
        return {"pid": subprocess.Popen(["sleep", "1000"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).pid}

    async def fork(self, name, **_):
        reading, writing = os.pipe()
        if os.fork() == 0:
            os.write(writing, str(self.locks[name].remaining).encode())
            if THREADS:
                self.client.close()
            os._exit(0)
        os.close(writing)
        with open(reading, "rb") as pipe:
            return {"remaining": float(pipe.read())}

    async def close(self, **_):
        await self.done(self.client.close)
        return {}

    async def answer(self, command):
        try:
            answer = await getattr(self, command.pop("do").replace("-", "_"))(**command)
        except Exception as error:  # it is the answer
            kinds = {redlock_agent.NotAcquired: "not-acquired", redlock_agent.Lost: "lost"}
            answer = {"error": kinds.get(type(error), "other"), "why": str(error)}
        print(json.dumps({"id": command["id"], **answer}), flush=True)


async def main():
    driver = Driver()
    tasks = set()
    commands = asyncio.StreamReader(limit=1 << 24)
    await driver.loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    while line := await commands.readline():
        tasks.add(asyncio.ensure_future(driver.answer(json.loads(line))))
    os._exit(0)


asyncio.run(main())
