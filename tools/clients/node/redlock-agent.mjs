/* Distributed locks over independent Redis masters, by the redlock agent of this machine. Node 18 or later, Linux.
 *
 *     import { Agent } from "redlock-agent";
 *     const agent = new Agent();
 *     const held = await agent.lock("orders", { wait: "5s", fenced: true });
 *     try { await shipOrders({ fence: held.fence, signal: held.lost }); }
 *     finally { await held.release(); }
 *
 * Where the language has it, `await using held = await agent.lock("orders", { wait: "5s" })` says the same. The calls
 * are described in redlock-agent.d.mts.
 *
 * IMPLEMENTATION NOTES. The agent tells until which instant of CLOCK_BOOTTIME a lock is certain. Whether it is held is
 * decided here, whenever `remaining` is read. Node's own clocks stand still while the machine sleeps, so /proc/uptime
 * is read instead, which has to be there. It has steps of 10 ms, and is always taken as late as it may be. The abortion
 * of `lost` needs a timer: after a sleep of the machine it comes up to a second late, when `remaining` is 0 already.
 * When the event loop has been blocked until after the deadline, the agent's word that the lock goes on is not read
 * yet: what is asynchronous lets the loop read it first, and nothing that is synchronous can.
 *
 * An event may stand right behind its grant. So each line is carried out when it is read, and promises settle later. */
import { openSync, readSync } from "node:fs";
import { connect } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";

const MOST_LINE_BYTES = 1 << 20;
const RECONNECT_MS = 20;
const LONGEST_TIMER_MS = 1000;
const LONGEST_LIMIT_MS = 2 ** 31 - 1; // of a timer
const ANSWER_MS = 10_000; // the agent's time for it, when the wait is over
const UNITS_MS = { us: 0.001, ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000, d: 86_400_000 };
const GONE = "AGENT_E_GONE";
const OVER = "its deadline has passed";
const asyncDispose = Symbol.asyncDispose ?? Symbol.for("nodejs.asyncDispose");

export class RedlockError extends Error {
  constructor(status, why, answer = {}) {
    super(`${why} (${status})`);
    this.name = new.target.name;
    this.status = status;
    this.answer = answer;
    this.retry = answer.retry ?? status === GONE;
  }
}

export class NotAcquired extends RedlockError {}
export class Lost extends RedlockError {}

function errorOf(answer, op) {
  const { status, why } = answer;
  const notAcquired = op === "acquire" && /^REDLOCK_(HELD|NO_QUORUM|TOO_SLOW|DEADLINE|CANCELED)$/.test(status);
  const lost = /^REDLOCK_(LOST|E_NOT_HELD)$/.test(status);
  return new (notAcquired ? NotAcquired : lost ? Lost : RedlockError)(status, why, answer);
}

/* --- Time --------------------------------------------------------------------------------------------------------- */

const UPTIME_STEP_US = 10_000;
const uptimeBytes = Buffer.alloc(64);
let uptimeFile;

/** CLOCK_BOOTTIME in microseconds, rounded down to a step. */
function earliestNowUs() {
  uptimeFile ??= openSync("/proc/uptime");
  const size = readSync(uptimeFile, uptimeBytes, 0, uptimeBytes.length, 0);
  return Math.round(parseFloat(uptimeBytes.latin1Slice(0, size)) * 1e6);
}

function latestNowUs() {
  return earliestNowUs() + UPTIME_STEP_US;
}

/** The event loop has read what had arrived. It may be behind its look at the sockets, and looks in the next turn. */
async function caughtUp() {
  await nextTurn();
  await nextTurn();
}

/** A wait in milliseconds. NaN: it has no end, or is a text that the agent refuses. */
function msOf(wait = 0) {
  const [, number, unit = "ms"] = /^([\d.]+)([a-z]+)?$/.exec(wait) ?? [];
  return number * UNITS_MS[unit];
}

/* --- The connection ----------------------------------------------------------------------------------------------- */

/** A character that JSON has and the agent refuses: the line would be answered without its id. */
const REFUSED_ESCAPE = /(?<!\\)(\\\\)*\\u(0000|d[89a-f])/;

function lineOf(request) {
  const line = JSON.stringify(request) + "\n";
  if (REFUSED_ESCAPE.test(line)) throw new TypeError("a text has a NUL character, or half of a surrogate pair");
  if (Buffer.byteLength(line) > MOST_LINE_BYTES) throw new RangeError("the request is longer than 1 MiB");
  return line;
}

class Connection {
  locks = new Map();
  offsetUs = 0; // the agent's clock less this program's
  #pending = new Map();
  #ids = 0;
  #awaited = 0; // requests for which the program is kept alive
  #rest = "";
  #name;
  #why;
  #gone;

  constructor(path, onGone) {
    this.#name = `the agent at ${path}`;
    this.socket = connect(path).setEncoding("utf8").unref();
    this.socket.on("data", (text) => this.#read(text));
    this.socket.on("error", (error) => (this.#why ??= error.message));
    this.socket.on("close", () => {
      this.#end(`${this.#name} does not answer ('redlock agent' starts one): ${this.#why ?? "it has ended"}`);
      onGone();
    });
    this.#greet();
  }

  /** Whatever is requested stands behind this. */
  #greet() {
    const askedUs = earliestNowUs();
    const then = ({ ok, why, boottime_us: agentUs }) => {
      const sameClock = askedUs <= agentUs && agentUs <= latestNowUs();
      this.offsetUs = sameClock ? 0 : agentUs - askedUs;
      if (!ok) this.socket.destroy(new Error(why));
    };
    this.tell("hello", { version: 1 }, { then });
  }

  /** `then` gets any answer as soon as it is read, and makes of it what the promise resolves to. */
  request(op, members, { signal, limitMs, then = (answer) => answer, awaited = 1 } = {}) {
    return new Promise((resolve, reject) => {
      if (this.#gone) throw this.#gone;
      signal?.throwIfAborted();
      const id = this.#ids++;
      const line = lineOf({ id, op, ...members });
      const abandon = () => this.#abandon(id, signal.reason);
      const unanswered = async () => {
        await caughtUp();
        if (this.#pending.has(id)) this.#abandon(id, new RedlockError(GONE, `${this.#name} does not answer`));
      };
      const timer = limitMs <= LONGEST_LIMIT_MS ? setTimeout(unanswered, limitMs) : undefined;
      const settle = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", abandon);
        this.#await(-awaited);
        awaited = 0;
      };
      signal?.addEventListener("abort", abandon);
      this.#pending.set(id, { op, resolve, reject, then, settle });
      this.#await(awaited);
      this.socket.write(line);
    });
  }

  /** A request whose answer nobody needs. */
  tell(op, members, options) {
    this.request(op, members, { ...options, awaited: 0 }).catch(() => {});
  }

  #await(change) {
    this.#awaited += change;
    if (this.#awaited > 0) this.socket.ref();
    else this.socket.unref();
  }

  /** What an abandoned request brings nevertheless is given back. */
  #abandon(id, reason) {
    const request = this.#pending.get(id);
    if (request.op === "acquire") request.then = ({ ok, lock }) => ok && this.tell("release", { lock });
    request.settle();
    request.reject(reason);
    this.tell("cancel", { request: id });
  }

  #read(text) {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop();
    for (const line of lines) this.#carryOut(JSON.parse(line));
  }

  #carryOut(message) {
    const held = this.locks.get(message.lock);
    if (message.event === "closing") this.#why = message.why;
    if (message.event === "lost") held?._lose(message.why || message.loss);
    else if (message.deadline_us !== undefined) held?._told(message);
    const request = this.#pending.get(message.id);
    if (!request) return;
    this.#pending.delete(message.id);
    request.settle();
    const result = request.then(message);
    if (message.ok) request.resolve(result);
    else request.reject(errorOf(message, request.op));
  }

  #end(why) {
    this.#gone = new RedlockError(GONE, why);
    for (const request of this.#pending.values()) {
      request.settle();
      request.reject(this.#gone);
    }
  }
}

/* --- A lock ------------------------------------------------------------------------------------------------------- */

class Held {
  #agent;
  #connection;
  #state = "held"; // or "lost", "released"
  #deadlineUs;
  #loss = new AbortController();
  #timer;

  constructor(agent, connection, grant) {
    this.#agent = agent;
    this.#join(connection, grant);
  }

  get lost() {
    return this.#loss.signal;
  }

  get remaining() {
    return this.#state === "held" ? this.#leftMs() : 0;
  }

  check() {
    this.lost.throwIfAborted();
    if (this.#state === "released") throw new Lost("REDLOCK_LOST", "it has been given back");
    if (this.#leftMs() === 0) throw new Lost("REDLOCK_LOST", OVER);
  }

  async extend(ttl) {
    if (this.#leftMs() === 0) await caughtUp();
    this.check();
    await this.#connection.request("extend", { lock: this.number, ttl }, { signal: this.lost });
  }

  async release() {
    if (this.#leftMs() === 0) await caughtUp();
    if (this.#state === "released") return;
    if (this.#leftMs() === 0) this._lose(OVER);
    this.check();
    this.#state = "released";
    await this.#giveBack();
  }

  [asyncDispose]() {
    return this.release();
  }

  /** What the agent says of its validity. A grant says what the lock is, too. */
  _told(message) {
    this.#deadlineUs = message.deadline_us - this.#connection.offsetUs;
    if (!message.event) {
      const { token, slot, fence, parts = [] } = message;
      const withFence = (part) => ({ ...part, fence: part.fence && BigInt(part.fence) });
      Object.assign(this, withFence({ token, slot, fence }), { parts: parts.map(withFence) });
    }
    this.#watch();
  }

  _lose(why) {
    if (this.#state !== "held") return;
    this.#state = "lost";
    this.#giveBack().catch(() => {});
    this.#loss.abort(new Lost("REDLOCK_LOST", why));
  }

  _adoptBy(connection) {
    const then = (grant) => {
      if (grant.ok) this.#join(connection, grant);
      if (grant.ok && this.#state !== "held") this.#giveBack().catch(() => {});
    };
    connection.tell("adopt", { token: this.token ?? this.parts[0].token }, { then });
  }

  /** The client is closed. */
  _abandon() {
    this.#state = "released";
    this.#forget();
  }

  #join(connection, grant) {
    this.#connection = connection;
    this.number = grant.lock;
    connection.locks.set(grant.lock, this);
    this.#agent._held.add(this);
    this._told(grant);
  }

  /** Where no agent answers, the lock stays known until its deadline, for an agent that adopts it. */
  async #giveBack() {
    const signal = AbortSignal.timeout(Math.ceil(this.#leftMs()));
    try {
      await this.#connection.request("release", { lock: this.number }, { signal, then: () => this.#forget() });
    } catch (error) {
      if (error.status !== GONE && error !== signal.reason) throw error;
    }
  }

  #forget() {
    clearTimeout(this.#timer);
    this.#connection.locks.delete(this.number);
    this.#agent._held.delete(this);
  }

  #leftMs() {
    return Math.max(0, this.#deadlineUs - latestNowUs()) / 1000;
  }

  #watch() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#look(), Math.min(this.#leftMs() + 1, LONGEST_TIMER_MS));
  }

  /** What the agent has told meanwhile is read first: the program may have been stopped. */
  #look() {
    if (this.#leftMs() > 0) return this.#watch();
    setImmediate(() => {
      if (this.#leftMs() > 0) return this.#watch();
      this._lose(OVER);
      this.#forget();
    });
  }
}

/* --- The client --------------------------------------------------------------------------------------------------- */

export class Agent {
  closed = false;
  _held = new Set();
  #path;
  #connection = null;

  constructor(path) {
    this.#path = path ?? (process.env.REDLOCK_AGENT || `${process.env.XDG_RUNTIME_DIR || "/run"}/redlock.sock`);
  }

  async lock(key, { signal, holdAtLeast, minValidity, ...options } = {}) {
    const which = Array.isArray(key) ? { keys: key } : { key };
    const members = { ...which, ...options, hold_at_least: holdAtLeast, min_validity: minValidity };
    const connection = this._connect();
    const then = (grant) => grant.ok && new Held(this, connection, grant);
    return connection.request("acquire", members, { signal, then, limitMs: msOf(options.wait) + ANSWER_MS });
  }

  async call(op, members, signal) {
    return this._connect().request(op, members, { signal });
  }

  async close() {
    this.closed = true;
    for (const held of this._held) held._abandon();
    this.#connection?.socket.destroy(new Error("this client is closed"));
  }

  [asyncDispose]() {
    return this.close();
  }

  /** What is held is adopted before anything else is asked. */
  _connect() {
    if (this.closed) throw new RedlockError(GONE, "this client is closed: make another one");
    if (this.#connection) return this.#connection;
    this.#connection = new Connection(this.#path, () => {
      this.#connection = null;
      if (this._held.size > 0) setTimeout(() => this._held.size > 0 && this._connect(), RECONNECT_MS);
    });
    for (const held of this._held) held._adoptBy(this.#connection);
    return this.#connection;
  }
}
