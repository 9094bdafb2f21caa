// What conformance.py tells this program, done by the client for Node.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

import { Agent, Lost, NotAcquired } from "../../tools/clients/node/redlock-agent.mjs";

const agent = new Agent();
const locks = new Map();
const waits = new Map();

const commands = {
  async lock({ id, name, key, keys, do: _, ...options }) {
    const wait = new AbortController();
    waits.set(id, wait);
    try {
      const held = await agent.lock(keys ?? key, { ...options, signal: wait.signal });
      locks.set(name, held);
      return { fence: String(held.fence) };
    } catch (error) {
      if (error === wait.signal.reason) return { canceled: true };
      throw error;
    }
  },
  cancel: ({ of }) => waits.get(of).abort(),
  remaining: ({ name }) => ({ remaining: locks.get(name).remaining }),
  extend: ({ name, ttl }) => locks.get(name).extend(ttl),
  release: ({ name }) => locks.get(name).release(),
  async "wait-lost"({ name }) {
    const held = locks.get(name);
    if (!held.lost.aborted) await once(held.lost, "abort");
    return { remaining: held.remaining };
  },
  child: () => ({ pid: spawn("sleep", ["1000"], { stdio: "ignore", detached: true }).pid }),
  fork: () => ({ unsupported: true }),
  close: () => agent.close(),
};

function failure(error) {
  const kind = error instanceof NotAcquired ? "not-acquired" : error instanceof Lost ? "lost" : "other";
  return { error: kind, why: error.message };
}

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  const run = async () => commands[command.do](command);
  run().catch(failure).then((answer) => console.log(JSON.stringify({ id: command.id, ...answer })));
}
process.exit();
