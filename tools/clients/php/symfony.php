<?php
/**
 * A store of symfony/lock, whose locks are those of the redlock agent of this machine.
 *
 *     $factory = new LockFactory(new RedlockAgent\SymfonyStore(new RedlockAgent\Client()));
 *     $lock = $factory->createLock('orders', ttl: 30);
 *     $lock->acquire(blocking: true);
 *     ship_orders();
 *     $lock->release();
 *
 * A lock ends with its ttl unless refresh() puts that off, and with the process: a key cannot be serialized. The agent
 * refuses a ttl above its longest, which is 60 s if nobody has changed it, so the 300 s that createLock() has by itself
 * are refused, too. acquire() returns false when another one has the lock, and throws when the masters cannot tell.
 *
 * Tested with symfony/lock 5.4. The interfaces of 6 and 7 differ from it by return types, which are given here.
 */
declare(strict_types=1);

namespace RedlockAgent;

use Symfony\Component\Lock\BlockingStoreInterface;
use Symfony\Component\Lock\Exception\LockAcquiringException;
use Symfony\Component\Lock\Exception\LockConflictedException;
use Symfony\Component\Lock\Key;

final class SymfonyStore implements BlockingStoreInterface
{
    /** ttl: how many seconds a lock lasts that has no ttl of its own. */
    public function __construct(private Client $client, private float $ttl = 30) {}

    public function save(Key $key): void
    {
        $key->reduceLifetime($this->client->left($this->acquire($key, 0)));
    }

    public function waitAndSave(Key $key): void
    {
        $this->acquire($key, 'forever');
        $this->putOffExpiration($key, $this->ttl); // a lock that has waited begins with less
    }

    /** The agent takes back nothing that it has told: if the lock lasts for so long already, only the key ends then. */
    public function putOffExpiration(Key $key, float $ttl): void
    {
        $grant = $this->held($key) ?? throw new LockConflictedException("the lock '$key' is not held any more");
        if ($ttl > 1.05 * $this->client->left($grant)) {
            try {
                $this->client->call('extend', ['lock' => $grant->number, 'ttl' => Client::ms($ttl)], $grant);
            } catch (Lost $lost) {
                throw new LockConflictedException($lost->getMessage(), 0, $lost);
            }
        }
        $key->reduceLifetime(min($ttl, $this->client->left($grant)));
    }

    public function delete(Key $key): void
    {
        $grant = $this->held($key);
        $key->removeState(self::class);
        if ($grant) {
            $this->client->giveBack($grant, true);
        }
    }

    public function exists(Key $key): bool
    {
        return $this->held($key) !== null;
    }

    private function held(Key $key): ?Grant
    {
        $this->client->poll();
        $grant = $key->hasState(self::class) ? $key->getState(self::class) : null;
        return $grant && $this->client->left($grant) > 0 ? $grant : null;
    }

    private function acquire(Key $key, int|string $wait): Grant
    {
        $grant = $this->held($key);
        if (!$grant) {
            try {
                $members = ['key' => (string) $key, 'ttl' => Client::ms($this->ttl), 'wait' => $wait, 'renew' => false];
                $grant = $this->client->call('acquire', $members)['grant'];
            } catch (RedlockError $error) {
                $conflict = $error->status === 'REDLOCK_HELD';
                $kind = $conflict ? LockConflictedException::class : LockAcquiringException::class;
                throw new $kind($error->getMessage(), 0, $error);
            }
            $key->markUnserializable();
            $key->setState(self::class, $grant);
        }
        return $grant;
    }
}
