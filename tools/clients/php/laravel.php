<?php
/**
 * Locks for Laravel, by the redlock agent of this machine: Illuminate's contracts LockProvider and Lock.
 *
 *     $this->app->singleton(LockProvider::class, fn () => new RedlockAgent\LaravelLocks(new RedlockAgent\Client()));
 *
 *     app(LockProvider::class)->lock('orders', 30)->block(5, fn () => ship_orders());
 *
 * A lock of so many seconds ends with them, or is released before. The end of its object, or of the process, does not
 * give it back. The agent refuses more seconds than its longest ttl, which is 60 s if nobody has changed it. A lock of
 * 0 seconds is renewed until it is released, or the process ends. get() returns false when another one has the lock, and
 * throws RedlockError when the masters cannot tell; block() throws LockTimeoutException, which says why.
 *
 * An owner is the token that the agent has given: it is known when the lock has been acquired, and another process,
 * on any machine, releases by it what restoreLock() returns.
 *
 * Tested with illuminate/contracts 8.83. The two interfaces have the same methods up to Laravel 13.
 */
declare(strict_types=1);

namespace RedlockAgent;

use Illuminate\Contracts\Cache\Lock as LockContract;
use Illuminate\Contracts\Cache\LockProvider;
use Illuminate\Contracts\Cache\LockTimeoutException;

final class LaravelLocks implements LockProvider
{
    public function __construct(private Client $client) {}

    public function lock($name, $seconds = 0, $owner = null): LaravelLock
    {
        return new LaravelLock($this->client, $name, $seconds, $owner);
    }

    public function restoreLock($name, $owner): LaravelLock
    {
        return $this->lock($name, 0, $owner);
    }
}

final class LaravelLock implements LockContract
{
    private ?Grant $grant = null;

    /** With an owner it is another one's lock, which can be released. */
    public function __construct(private Client $client, private string $name, private int|float $seconds,
        private ?string $restored) {}

    public function get($callback = null): mixed
    {
        try {
            $this->acquire(0);
        } catch (NotAcquired $error) {
            return $error->status === 'REDLOCK_HELD' ? false : throw $error;
        }
        return $this->run($callback);
    }

    public function block($seconds, $callback = null): mixed
    {
        try {
            $this->acquire($seconds);
        } catch (NotAcquired $error) {
            throw new LockTimeoutException("'$this->name': {$error->getMessage()}", 0, $error);
        }
        return $this->run($callback);
    }

    /** False: it was not held. */
    public function release(): bool
    {
        if ($this->restored !== null) {
            $answer = $this->client->call('release', ['key' => $this->name, 'token' => $this->restored]);
            return 2 * $answer['deleted'] > count($answer['masters']);
        }
        $this->client->poll();
        if (!$this->grant || $this->grant->released || $this->client->left($this->grant) <= 0) {
            return false;
        }
        $this->client->giveBack($this->grant, true);
        return true;
    }

    public function owner(): string
    {
        return $this->restored ?? $this->grant?->token
            ?? throw new \LogicException("nobody has acquired '$this->name' yet: its owner is known then");
    }

    public function forceRelease(): never
    {
        throw new \BadMethodCallException("the agent takes '$this->name' from no holder: release it with its owner, "
            . "as restoreLock('$this->name', \$owner)->release()");
    }

    private function acquire(int|float $wait): void
    {
        if ($this->restored !== null) {
            throw new \LogicException("'$this->name' has been restored, and the agent chooses the owners of locks: "
                . 'acquire a lock without an owner');
        }
        $ms = $this->seconds > 0 ? Client::ms($this->seconds) : null;
        $this->grant = $this->client->call('acquire', ['key' => $this->name, 'ttl' => $ms, 'linger' => $ms,
            'renew' => $ms === null, 'wait' => Client::ms($wait)])['grant'];
    }

    private function run(?callable $callback): mixed
    {
        try {
            return $callback ? $callback() : true;
        } finally {
            if ($callback) {
                $this->release();
            }
        }
    }
}
