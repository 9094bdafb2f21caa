<?php
/**
 * Distributed locks over independent Redis masters, by the redlock agent of this machine.
 *
 *     $client = new RedlockAgent\Client();        // the agent's socket: $REDLOCK_AGENT, or where it is by default
 *     $held = $client->lock('orders', wait: 5);
 *     ship_orders($held->fence);                  // $held->remaining(): seconds that the lock is certain to last
 *     $held->release();
 *
 * A lock is renewed by the agent until it is released, its object is gone, or the program dies. `remaining()` is
 * compared with this program's own reading of the clock: when it is 0 the lock may be another's, whatever has become of
 * the agent. Where that matters call `$held->check()` before each step. A program that holds a lock over a restart of
 * the agent has to call one of these, or `$client->poll()`, within the ttl. Durations are seconds. A forked child holds
 * nothing; but PHP lets a program that it starts inherit the connection, which ends with both. In a Fiber, what waits
 * suspends it, and is to be resumed again and again.
 *
 * If the agent does not answer, because it is stopped for example, lock() fails 10 s after its wait, extend() fails at
 * the lock's deadline, and release() returns then, since the lock has ended.
 */
declare(strict_types=1);

namespace RedlockAgent;

/** What the agent has refused. `status` is its word, REDLOCK_...; `retry`: the same may succeed later. */
class RedlockError extends \RuntimeException
{
    public readonly bool $retry;

    public function __construct(public readonly string $status, string $why, public readonly array $answer = [])
    {
        parent::__construct("$why ($status)");
        $this->retry = $answer['retry'] ?? false;
    }
}

/** Others have the lock, or too few masters could be asked, for as long as was waited. */
class NotAcquired extends RedlockError {}

/** The lock was held, and is not certain to be held any more. */
class Lost extends RedlockError {}

/** What the agent has granted, as the client keeps it. Without an agent it has a negative number. */
final class Grant
{
    public string $why = 'its deadline has passed, and the agent has not extended it';
    public bool $ended = false;
    public bool $released = false;

    public function __construct(public int $number, public int $deadline, public readonly string $token) {}
}

/** What has a connection of this process is never copied: the end of a copy would give back what the other one has. */
trait Single
{
    private function __clone() {}

    public function __serialize(): array
    {
        throw new \LogicException(self::class . ' cannot be serialized: what it holds ends with this program');
    }
}

/** A lock that is held. It is given back when the object is gone. */
final class Lock
{
    use Single;

    public readonly ?string $fence;
    public readonly ?string $token;
    public readonly ?int $slot;
    public readonly ?array $parts;

    public function __construct(private Client $client, private Grant $grant, array $answer)
    {
        [$this->fence, $this->token] = [$answer['fence'] ?? null, $answer['token'] ?? null];
        [$this->slot, $this->parts] = [$answer['slot'] ?? null, $answer['parts'] ?? null];
    }

    /** Seconds that the lock is certain to last; 0: it is not held. */
    public function remaining(): float
    {
        $this->client->poll();
        return $this->grant->released ? 0.0 : $this->client->left($this->grant);
    }

    /** Throws Lost unless the lock is held at this moment. */
    public function check(): void
    {
        if ($this->remaining() <= 0) {
            throw new Lost('REDLOCK_LOST', $this->grant->released ? 'it has been released' : $this->grant->why);
        }
    }

    /** The ttl from now on. The agent refuses one that ends before `remaining()`. */
    public function extend(?float $ttl = null): void
    {
        $this->check();
        $this->client->call('extend', ['lock' => $this->grant->number, 'ttl' => Client::ms($ttl)], $this->grant);
    }

    /** Waits for the agent until the deadline at most. Where no agent answers, the next one is told. */
    public function release(): void
    {
        $this->check();
        $this->client->giveBack($this->grant, true);
    }

    public function __destruct()
    {
        $this->client->giveBack($this->grant, false);
    }
}

/** Requests by id, grants by number. It connects when it is used, and to the next agent. */
final class Client
{
    use Single;

    private const MOST_S = 1e12, UNREADABLE = PHP_INT_MAX, ANSWER_S = 10;
    private const NO_CLOCK = '/proc/uptime cannot be read: nobody knows until when a lock is held';

    private mixed $socket = null;
    private string $input = '', $output = '', $why = '';
    private int $pid, $ids = 0, $offset = 0; // offset: the agent's clock less this program's, in microseconds
    private bool $closed = false;
    private array $pending = []; // what becomes of an answer, a Closure by id
    private array $grants = []; // by number
    private readonly string $path;

    public function __construct(?string $path = null)
    {
        $this->path = $path ?? (getenv('REDLOCK_AGENT') ?: (getenv('XDG_RUNTIME_DIR') ?: '/run') . '/redlock.sock');
        $this->pid = getmypid();
    }

    /** A lock on a key, or on several at once. wait: how long to try, or 'forever'. mode: 'shared' or 'upgradeable'.
     *  permits: '1/10', one of ten. fenced: with a fencing token. linger: how long it outlives the connection.
     *  canceled(), if it is given, is asked again and again while the lock is waited for; true ends that.
     *  AGENT_E_GONE: 10 s after the wait, or after canceled(), the agent has not answered. What it grants later is
     *  given back. */
    public function lock(string|array $key, int|float|string $ttl = 10, int|float|string $wait = 0, ?string $mode = null,
        ?string $permits = null, bool $fenced = false, ?string $label = null, ?float $linger = null,
        ?float $hold_at_least = null, ?float $min_validity = null, ?\Closure $canceled = null): Lock
    {
        $answer = $this->call('acquire', [is_array($key) ? 'keys' : 'key' => $key, 'ttl' => self::ms($ttl),
            'wait' => self::ms($wait), 'mode' => $mode, 'permits' => $permits, 'fenced' => $fenced ?: null,
            'label' => $label, 'linger' => self::ms($linger), 'hold_at_least' => self::ms($hold_at_least),
            'min_validity' => self::ms($min_validity)], null, $canceled);
        return new Lock($this, $answer['grant'], $answer);
    }

    /** Runs $work(Lock) while the lock is held, and returns what it returns. Options as of lock(). */
    public function with(string|array $key, callable $work, mixed ...$options): mixed
    {
        $held = $this->lock($key, ...$options);
        try {
            return $work($held);
        } finally {
            $held->__destruct();
        }
    }

    /** Any request of PROTOCOL.md: its answer, or RedlockError. About a grant it is waited for until the deadline. A
     *  new grant is in the answer as `grant`. */
    public function call(string $op, array $members = [], ?Grant $grant = null, ?\Closure $canceled = null): array
    {
        $wait = $op === 'acquire' ? $members['wait'] ?? 0 : INF;
        $until = is_string($wait) ? INF : hrtime(true) / 1e9 + $wait / 1000 + self::ANSWER_S;
        $answer = null;
        $this->poll();
        $id = $this->request($op, $members, function (array $got) use (&$answer, $op): void {
            $answer = $got;
            if ($got['ok'] && in_array($op, ['acquire', 'adopt'], true)) {
                $token = $got['token'] ?? $got['parts'][0]['token'];
                $answer['grant'] = new Grant($got['lock'], $got['deadline_us'] - $this->offset, $token);
                $this->grants[$got['lock']] = $answer['grant'];
            }
        });
        $waited = false;
        try {
            $this->wait(function () use (&$answer, &$canceled, &$until, $id, $grant): bool {
                if (!$answer && $canceled && $canceled()) {
                    [$canceled, $until] = [null, min($until, hrtime(true) / 1e9 + self::ANSWER_S)];
                    $this->request('cancel', ['request' => $id]);
                }
                return $answer !== null || $grant?->ended;
            }, $canceled ? 0.02 : 1.0, $until);
            $waited = true;
        } finally {
            if (!$waited) {
                $this->abandon($op, $id, $answer['grant'] ?? null);
            }
        }
        if (!$answer) {
            throw new Lost('REDLOCK_LOST', $grant->why);
        } elseif ($answer['ok']) {
            return $answer;
        }
        $status = $answer['status']; // with _E_ it says what is wrong with the request
        $kind = $op === 'acquire' && !str_contains($status, '_E_') ? NotAcquired::class : RedlockError::class;
        $kind = in_array($status, ['REDLOCK_LOST', 'REDLOCK_E_NOT_HELD'], true) ? Lost::class : $kind;
        throw new $kind($status, $answer['why'], $answer);
    }

    /** Reads what the agent has said, and connects again while something is held. Never waits. */
    public function poll(): void
    {
        $this->leaveToParent();
        $this->turn(0.0);
    }

    /** Gives back what is held. */
    public function close(): void
    {
        $this->leaveToParent();
        $this->closed = true;
        $this->disconnect('this client has been closed');
    }

    /** For Lock: seconds until the deadline. */
    public function left(Grant $grant, ?int $now = null): float
    {
        return $grant->ended ? 0.0 : max(0, $grant->deadline - ($now ?? self::now())) / 1e6;
    }

    /** For Lock: the grant stays known until the agent has it back, for another one that adopts it. */
    public function giveBack(Grant $grant, bool $waits): void
    {
        $this->leaveToParent();
        if ($grant->ended || $grant->released) {
            return;
        }
        $grant->released = true;
        if ($grant->number > 0) {
            $this->tellRelease($grant);
            $this->turn(0.0);
        }
        if ($waits) {
            $this->wait(fn (): bool => $grant->ended || $grant->number < 0 || $this->left($grant) <= 0);
        }
    }

    /** Seconds in milliseconds; a text is left as it is. */
    public static function ms(int|float|string|null $seconds): int|string|null
    {
        if (is_float($seconds) && !(abs($seconds) < self::MOST_S)) {
            throw new \ValueError("a duration is no number of seconds: $seconds; 'forever' is for wait");
        }
        return is_string($seconds) || $seconds === null ? $seconds : max(0, (int) round($seconds * 1000));
    }

    /** CLOCK_BOOTTIME in microseconds, of which PHP shows hundredths of a second: it is not later than this. Where
     *  it cannot be read, without descriptors or /proc, no deadline lies ahead. */
    private static function now(): int
    {
        $uptime = @file_get_contents('/proc/uptime');
        return $uptime ? (int) round((float) $uptime * 1e6) + 10000 : self::UNREADABLE;
    }

    /** A child that was forked begins anew. It does not keep the connection of its parent open. */
    private function leaveToParent(): void
    {
        if ($this->pid !== getmypid()) {
            $this->pid = getmypid();
            $this->disconnect('the parent has it');
        }
    }

    private function disconnect(string $why): void
    {
        foreach ($this->grants as $grant) {
            [$grant->ended, $grant->why] = [true, $why];
        }
        $this->grants = [];
        $this->drop($why);
    }

    private function drop(string $why): void
    {
        if ($this->socket) {
            fclose($this->socket);
        }
        [$this->socket, $this->input, $this->output, $this->why] = [null, '', '', ''];
        [$pending, $this->pending] = [$this->pending, []];
        $status = $this->closed ? 'REDLOCK_E_CLOSING' : 'AGENT_E_GONE';
        foreach ($pending as $then) {
            $then(['ok' => false, 'status' => $status, 'why' => $why, 'retry' => !$this->closed]);
        }
    }

    /** Nobody waits for the answer any more: canceled() has thrown, or the Fiber is gone. */
    private function abandon(string $op, int $id, ?Grant $grant): void
    {
        $this->leaveToParent();
        if ($grant) {
            $this->giveBack($grant, false);
        } elseif (isset($this->pending[$id])) {
            $this->request('cancel', ['request' => $id]);
            if ($op === 'acquire') {
                $this->pending[$id] = function (array $got): void {
                    if ($got['ok']) {
                        $this->request('release', ['lock' => $got['lock']]);
                    }
                };
            }
            $this->turn(0.0);
        }
    }

    private function request(string $op, array $members, ?\Closure $then = null): int
    {
        if ($this->closed) {
            throw new RedlockError('REDLOCK_E_CLOSING', 'this client has been closed');
        }
        if (!$this->socket) {
            $this->connect();
        }
        $members = array_filter($members, fn (mixed $value): bool => $value !== null);
        $line = json_encode(['id' => ++$this->ids, 'op' => $op] + $members,
            JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_THROW_ON_ERROR) . "\n";
        if (strlen($line) > 1 << 20 || str_contains(str_replace('\\\\', '', $line), '\u0000')) {
            throw new \ValueError('a text has a NUL character, or the request is longer than 1 MiB');
        }
        $this->pending[$this->ids] = $then ?? static fn (array $answer): bool => true;
        $this->output .= $line;
        return $this->ids;
    }

    private function gone(string $why): never
    {
        throw new RedlockError('AGENT_E_GONE', $why, ['retry' => true]);
    }

    /** Requests may follow the first one at once, since it is answered before them. */
    private function connect(): void
    {
        $socket = @stream_socket_client("unix://$this->path", $number, $text);
        if (!$socket) {
            $this->gone("$this->path: $text: is `redlock agent` running there?");
        }
        $asked = self::now();
        if ($asked === self::UNREADABLE) {
            $this->gone(self::NO_CLOCK);
        }
        stream_set_blocking($socket, false);
        stream_set_timeout($socket, 0); // for feof()
        [$this->socket, $asked] = [$socket, $asked - 10000];
        $this->request('hello', ['version' => 1], function (array $answer) use ($asked): void {
            // Another time namespace has another clock. The earliest reading that is possible makes a deadline earlier.
            $theirs = $answer['boottime_us'] ?? $asked;
            $now = self::now();
            $same = $asked <= $theirs && $theirs <= $now && $now !== self::UNREADABLE;
            $this->offset = $same ? 0 : $theirs - $asked;
        });
        foreach ($this->grants as $grant) {
            $this->request('adopt', ['token' => $grant->token], fn (array $answer) => $this->adopted($grant, $answer));
        }
    }

    /** What has ended meanwhile is given back. What is refused ends with its deadline. */
    private function adopted(Grant $grant, array $answer): void
    {
        if ($answer['ok'] && $grant->ended) {
            $this->request('release', ['lock' => $answer['lock']]);
        } elseif ($answer['ok']) {
            unset($this->grants[$grant->number]);
            [$grant->number, $grant->deadline] = [$answer['lock'], $answer['deadline_us'] - $this->offset];
            $this->grants[$grant->number] = $grant;
            if ($grant->released) {
                $this->tellRelease($grant);
            }
        }
    }

    private function tellRelease(Grant $grant): void
    {
        $this->request('release', ['lock' => $grant->number], function (array $answer) use ($grant): void {
            if ($grant->number > 0) {
                unset($this->grants[$grant->number]);
                $grant->ended = true;
            }
        });
    }

    private function end(Grant $grant, string $why): void
    {
        [$grant->ended, $grant->why] = [true, $why];
        unset($this->grants[$grant->number]);
        if ($grant->number > 0 && $this->socket && !$grant->released) {
            $this->request('release', ['lock' => $grant->number]);
        }
    }

    private function wait(\Closure $isDone, float $pause = 1.0, float &$until = INF): void
    {
        for ($late = false; !$isDone(); $late = hrtime(true) / 1e9 > $until) {
            if ($late) {
                $this->gone("the agent at $this->path does not answer");
            } elseif (\Fiber::getCurrent()) {
                $this->turn(0.0);
                \Fiber::suspend();
            } else {
                $this->turn($pause);
            }
        }
    }

    /** Writes, reads, and lets end what has ended; waits for so many seconds at most. */
    private function turn(float $seconds): void
    {
        $now = self::now();
        foreach ($this->grants as $grant) {
            $seconds = min($seconds, $this->left($grant, $now));
        }
        if (!$this->socket && $this->grants && !$this->closed) {
            try {
                $this->connect();
            } catch (RedlockError) {
                usleep((int) (min($seconds, 0.02) * 1e6));
            }
        }
        while ($this->socket && $this->exchange($seconds)) {
            $seconds = 0.0; // of a long sleep there is more to read
        }
        $now = self::now(); // the agent may have extended meanwhile what seemed to be over
        foreach ($this->grants as $grant) {
            if ($this->left($grant, $now) <= 0) {
                $this->end($grant, $now === self::UNREADABLE ? self::NO_CLOCK : $grant->why);
            }
        }
        if ($this->socket && $this->output !== '') {
            $this->exchange(0.0);
        }
    }

    /** Has anything been read? */
    private function exchange(float $seconds): bool
    {
        [$read, $write, $none] = [[$this->socket], $this->output === '' ? null : [$this->socket], null];
        $ready = @stream_select($read, $write, $none, (int) $seconds, (int) (fmod($seconds, 1) * 1e6));
        if ($ready === 0) {
            return false;
        } elseif (!$ready) { // PHP cannot wait for descriptors from 1024 on
            usleep((int) (min($seconds, 0.02) * 1e6));
        }
        if ($write) {
            $this->output = substr($this->output, (int) @fwrite($this->socket, $this->output));
        }
        $part = $read ? @fread($this->socket, 1 << 16) : null;
        $lines = explode("\n", $this->input . $part);
        $this->input = array_pop($lines);
        foreach ($lines as $line) {
            $this->received(json_decode($line, true, 512, JSON_THROW_ON_ERROR));
        }
        if ($read && !$part && feof($this->socket)) {
            $this->ended();
        }
        return (bool) $part;
    }

    private function received(array $message): void
    {
        $grant = $this->grants[$message['lock'] ?? 0] ?? null;
        [$event, $id] = [$message['event'] ?? null, $message['id'] ?? -1];
        if ($event === 'closing') {
            $this->why = $message['why'];
        } elseif ($event === 'lost' && $grant) {
            $this->end($grant, $message['why'] ?? $message['loss']);
        } elseif ($grant && isset($message['deadline_us'])) {
            $grant->deadline = $message['deadline_us'] - $this->offset;
        }
        if (isset($this->pending[$id])) {
            $then = $this->pending[$id];
            unset($this->pending[$id]);
            $then($message);
        }
    }

    /** What is held has negative numbers until another agent has it. */
    private function ended(): void
    {
        [$grants, $this->grants] = [$this->grants, []];
        foreach (array_values($grants) as $place => $grant) {
            $grant->number = -1 - $place;
            $this->grants[$grant->number] = $grant;
        }
        $this->drop("the agent at $this->path: " . ($this->why ?: 'it has closed the connection'));
    }
}
