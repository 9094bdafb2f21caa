/** Milliseconds, a whole number, or text: "10s", "500ms", "1.5m". */
export type Duration = number | string;

/** One of several keys that are held together. */
export interface Key {
  key: string;
  mode?: "exclusive" | "upgradeable" | "shared";
  /** "2/10": two of the ten permits of that key. */
  permits?: string;
}

export interface LockOptions {
  /** The lock is renewed until it is released; after a crash of the agent others wait for so long. Default "10s". */
  ttl?: Duration;
  /** How long to try. The default is to try once. */
  wait?: Duration | "forever";
  /** Ends the wait: the promise is rejected with the signal's reason, and nothing is held. */
  signal?: AbortSignal;
  mode?: "exclusive" | "upgradeable" | "shared";
  /** "1/10": one of the ten permits of that key. */
  permits?: string;
  /** With a fencing token. */
  fenced?: boolean;
  /** Stands in front of USER@HOST:PID/PROGRAM in what `redlock status` shows. */
  label?: string;
  /** For how long the lock is kept when the connection ends. */
  linger?: Duration;
  /** A release leaves the lock held until so long after the grant. */
  holdAtLeast?: Duration;
  /** A lock that would last for less is not taken. */
  minValidity?: Duration;
}

/** What the agent has refused, in its words. */
export class RedlockError extends Error {
  /** REDLOCK_..., the library's word, or AGENT_E_..., the agent's. AGENT_E_GONE: no agent answers. */
  readonly status: string;
  /** The same may succeed later. */
  readonly retry: boolean;
  /** The whole answer, as PROTOCOL.md describes it. */
  readonly answer: Record<string, unknown>;
}

/** Others have the lock, or too few masters could be asked, for as long as was waited. */
export class NotAcquired extends RedlockError {}

/** The lock was held, and is not certain to be held any more. */
export class Lost extends RedlockError {}

/** A lock that is held. `await using` gives it back at the end of the block.
 *
 * Right after the event loop has been blocked for long, `remaining` may be 0 and check() throw although the agent has
 * renewed the lock: its word is not read yet. `await held.extend()` reads it first. */
export interface Held extends AsyncDisposable {
  /** Milliseconds that the lock is certain to last, by this program's clock; 0: it may be another's. */
  readonly remaining: number;
  /** Throws Lost unless the lock is held at this moment. */
  check(): void;
  /** Aborted when the lock is lost, with Lost as its reason, as soon as the event loop gets to it. It can be given to
   * whatever is done under the lock. A release does not abort it. */
  readonly lost: AbortSignal;
  /** The fencing token, where one was asked for. */
  readonly fence?: bigint;
  readonly token?: string;
  /** Which permit it is. */
  readonly slot?: number;
  /** Of several keys. */
  readonly parts: { key: string; token: string; fence?: bigint; slot?: number }[];
  /** The number by which the agent's requests know the lock. */
  readonly number: number;
  /** The ttl counts from now on. One that would end before `remaining` is refused. Rejected with Lost at the deadline,
   * if the agent has not answered. */
  extend(ttl?: Duration): Promise<void>;
  /** Gives the lock back. Rejected with Lost if it was lost before; a second release does nothing. Where no agent
   * answers, the next one is told. The deadline is waited for at most: then the lock ends by itself. */
  release(): Promise<void>;
}

/** The agent of this machine. It is connected to when it is first used, and again after it has been restarted. Locks
 * that are held, and requests, keep the process alive; an idle connection does not. */
export class Agent implements AsyncDisposable {
  /** @param path the agent's socket: by default $REDLOCK_AGENT, $XDG_RUNTIME_DIR/redlock.sock or /run/redlock.sock */
  constructor(path?: string);
  /** A lock on a key, or on several at once. Rejected with NotAcquired when others have it, and with AGENT_E_GONE when
   * the agent, stopped for example, has not answered 10 s after the wait: what it grants later is given back. */
  lock(key: string | (string | Key)[], options?: LockOptions): Promise<Held>;
  /** Any request of PROTOCOL.md that has one answer. */
  call(op: string, members?: Record<string, unknown>, signal?: AbortSignal): Promise<Record<string, unknown>>;
  /** Gives back what is held. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
