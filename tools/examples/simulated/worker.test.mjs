/* The test of a worker, without servers: it stops when its lock is lost. The client is tools/clients/node.
 *
 *     node --test worker.test.mjs */
import assert from "node:assert";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { Agent, Lost } from "redlock-agent";

/** What is tested: one order after the other is shipped, each of them under the lock. */
async function ship(client, orders) {
  const held = await client.lock("orders");
  for (const order of orders) {
    held.check();
    await order();
  }
  await held.release();
}

const place = mkdtempSync(join(tmpdir(), "worker-"));
const path = join(place, "agent.sock");
let agent, client;

before(async () => {
  agent = spawn("redlock", ["agent", "--simulate", "--socket", path], { stdio: "inherit" });
  while (agent.exitCode === null && !client) {
    const tried = new Agent(path);
    await tried.call("ping", {}).then(() => (client = tried), () => setTimeout(10)); // it may not listen yet
  }
});

after(async () => {
  await client?.close();
  agent.kill();
  rmSync(place, { recursive: true });
});

test("it stops when its lock is lost", async () => {
  const shipped = [];
  const anHourPasses = () => client.call("sim.advance", { by: "1h" });
  const aThiefComes = async () => {
    await client.call("sim.steal", { key: "orders" });
    await client.call("sim.advance", { by: "10s" }); // the lock's ttl
  };
  const orders = [anHourPasses, () => shipped.push(1), aThiefComes, () => shipped.push(2)];
  await assert.rejects(ship(client, orders), Lost);
  assert.deepStrictEqual(shipped, [1]);
});
