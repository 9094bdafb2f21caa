<?php
// The adapters of the client for PHP, on the interfaces of the frameworks themselves, where these are installed, and on
// an agent that simulates its masters. Prints TAP. Usage: php test_adapters.php PATH_OF_REDLOCK [TEST...]
declare(strict_types=1);

use Illuminate\Contracts\Cache\LockTimeoutException;
use RedlockAgent\{Client, LaravelLocks, Lost, RedlockError, SymfonyStore};
use Symfony\Component\Lock\Exception\{LockAcquiringException, LockConflictedException, UnserializableKeyException};
use Symfony\Component\Lock\{Key, LockFactory};

const FRAMEWORKS = ['symfony' => 'Symfony/Component/Lock/autoload.php',
    'laravel' => 'Illuminate/Contracts/autoload.php']; // of the packages php-symfony-lock and php-illuminate-contracts

require __DIR__ . '/../../tools/clients/php/redlock_agent.php';

set_error_handler(fn (int $level, string $text, string $file, int $line) => error_reporting() & $level
    ? throw new ErrorException($text, 0, $level, $file, $line) : false);

function check(bool $true, string $what): void
{
    $true || throw new Exception("not so: $what");
}

function thrown(string $class, Closure $do): Throwable
{
    try {
        $do();
    } catch (Throwable $error) {
        check($error instanceof $class, "$class, but " . $error::class . ': ' . $error->getMessage());
        return $error;
    }
    throw new Exception("no $class");
}

/** What a process of its own prints, which runs $work with a client of its own. It is waited for. */
function other(Closure $work): mixed
{
    [$read, $write] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $child = pcntl_fork();
    if ($child === 0) {
        fwrite($write, json_encode($work(new Client())));
        posix_kill(getmypid(), SIGKILL); // no destructor gives anything back
    }
    fclose($write);
    $said = json_decode(stream_get_contents($read), true);
    pcntl_waitpid($child, $status);
    return $said;
}

function pass(Client $client, float $seconds): void
{
    $client->call('sim.advance', ['by' => (int) ($seconds * 1000)]);
}

function factory(?Client $client = null): LockFactory
{
    return new LockFactory(new SymfonyStore($client ?? new Client(), 20));
}

$tests = [
    'symfony_a_lock_excludes_other_processes_until_it_is_released' => function (Client $client): void {
        $lock = factory($client)->createLock('orders', 10);
        $is_free = fn (): bool => other(fn (Client $mine) => factory($mine)->createLock('orders', 5)->acquire());
        check($lock->acquire() && $lock->isAcquired() && !$lock->isExpired(), 'held');
        check($lock->getRemainingLifetime() > 5 && $lock->getRemainingLifetime() <= 10, 'the ttl that was asked for');
        check(!$is_free() && $lock->acquire(), 'it is held by this one, which may acquire it again');
        $lock->release();
        check(!$lock->isAcquired() && $is_free(), 'released');
    },
    'symfony_a_lock_expires_unless_it_is_put_off' => function (Client $client): void {
        $lock = factory($client)->createLock('orders', 20);
        $lock->acquire();
        pass($client, 15);
        check($lock->isAcquired(), 'within its ttl');
        $lock->refresh(30);
        check($lock->getRemainingLifetime() > 25, 'put off');
        pass($client, 25);
        check($lock->isAcquired(), 'within the new ttl');
        pass($client, 6);
        check(!$lock->isAcquired(), 'the end');
        thrown(LockConflictedException::class, fn () => $lock->refresh());
        $other = factory()->createLock('orders', 5);
        check($other->acquire(), 'another one has it');
        $lock->release(); // of what is not held any more
        check(!factory()->createLock('orders', 5)->acquire(), 'which is not released by the first');
    },
    'symfony_who_waits_is_next_and_has_its_ttl' => function (Client $client): void {
        $other = (new Client())->lock('orders', ttl: 10);
        $waiting = new Fiber(function () use ($client): object {
            $lock = factory($client)->createLock('orders', null);
            return $lock->acquire(true) ? $lock : throw new Exception('not acquired');
        });
        for ($waiting->start(); $client->call('look', ['key' => 'orders'])['waiting'] === 0; $waiting->resume());
        $other->release();
        while (!$waiting->isTerminated()) {
            $waiting->resume();
        }
        check($waiting->getReturn()->getRemainingLifetime() > 15, 'the ttl of the store');
    },
    'symfony_a_lock_that_is_taken_away_is_not_put_off' => function (Client $client): void {
        $lock = factory($client)->createLock('orders', 20);
        $lock->acquire();
        $client->call('sim.steal', ['key' => 'orders']);
        $error = thrown(LockConflictedException::class, fn () => $lock->refresh(30));
        check($error->getPrevious() instanceof Lost, 'why');
        check(!$lock->isAcquired(), 'lost');
    },
    'symfony_what_cannot_be_told_is_no_conflict' => function (Client $client): void {
        $client->call('sim.fail-masters', ['masters' => 2]);
        $lock = factory($client)->createLock('orders', 20);
        $error = thrown(LockAcquiringException::class, fn () => $lock->acquire())->getPrevious();
        check(str_contains($error->getMessage(), 'REDLOCK_NO_QUORUM'), $error->getMessage());
    },
    'symfony_a_ttl_that_is_too_long_is_named' => function (Client $client): void {
        $error = thrown(LockAcquiringException::class, fn () => factory($client)->createLock('orders')->acquire());
        for (; $error->getPrevious(); $error = $error->getPrevious());
        check(str_contains($error->getMessage(), 'ttl'), $error->getMessage());
        check(factory()->createLock('orders', 5)->acquire(), 'nothing is left of it');
    },
    'symfony_a_key_belongs_to_its_process' => function (Client $client): void {
        [$key, $store] = [new Key('orders'), new SymfonyStore($client)];
        $store->save($key);
        thrown(UnserializableKeyException::class, fn () => serialize($key));
        check(other(fn () => $store->exists($key)) === false && $store->exists($key), 'a forked child has nothing');
        check(other(fn (Client $mine) => factory($mine)->createLock('gone', 20)->acquire()), 'of one that is killed');
        check(factory($client)->createLock('gone', 5)->acquire(true), 'it is given back');
    },
    'laravel_get_runs_what_it_is_given' => function (Client $client): void {
        $locks = new LaravelLocks($client);
        $taken = fn (): bool => !other(fn (Client $mine) => (new LaravelLocks($mine))->lock('orders', 5)->get());
        $done = $locks->lock('orders', 20)->get(fn (): array => [$taken(), 'done']);
        check($done === [true, 'done'], 'while it is held');
        $lock = $locks->lock('orders', 20);
        check($lock->get() && !$lock->get() && $taken(), 'taken once');
        thrown(DomainException::class,
            fn () => $locks->lock('other', 20)->get(fn () => throw new DomainException('its own')));
        check($locks->lock('other', 20)->get(), 'given back by the exception');
        check($lock->release() && !$lock->release() && !$taken(), 'released once');
    },
    'laravel_block_waits_so_long' => function (Client $client): void {
        [$other, $locks] = [(new Client())->lock('orders'), new LaravelLocks($client)];
        $error = thrown(LockTimeoutException::class, fn () => $locks->lock('orders', 20)->block(0));
        check(str_contains($error->getMessage(), "'orders': held by another client"), $error->getMessage());
        $waiting = new Fiber(fn () => $locks->lock('orders', 20)->block(3600, fn (): string => 'done'));
        for ($waiting->start(); $client->call('look', ['key' => 'orders'])['waiting'] === 0; $waiting->resume());
        $other->release();
        while (!$waiting->isTerminated()) {
            $waiting->resume();
        }
        check($waiting->getReturn() === 'done', 'what the callback returns');
        check($locks->lock('orders', 20)->block(0), 'it has been released');
    },
    'laravel_a_lock_lasts_for_its_seconds_and_outlives_its_process' => function (Client $client): void {
        $locks = new LaravelLocks($client);
        check(other(fn (Client $mine) => (new LaravelLocks($mine))->lock('orders', 20)->get()), 'of another process');
        $kept = $locks->lock('kept', 20);
        $kept->get();
        pass($client, 15);
        check(!$locks->lock('orders', 20)->get(), 'it has outlived its process');
        pass($client, 6);
        check($locks->lock('orders', 20)->get(), 'its seconds are over');
        check(!$kept->release(), 'there is nothing to be released');
        check(other(fn (Client $mine) => (new LaravelLocks($mine))->lock('forever')->get()), 'of no seconds');
        check($locks->lock('forever', 20)->block(20), 'it ends with its process');
        $forever = $locks->lock('renewed');
        $forever->get();
        pass($client, 3600);
        check(!$locks->lock('renewed', 20)->get() && $forever->release(), 'it is renewed');
    },
    'laravel_another_process_releases_by_the_owner' => function (Client $client): void {
        $locks = new LaravelLocks($client);
        $lock = $locks->lock('orders', 20);
        thrown(LogicException::class, $lock->owner(...));
        $lock->get();
        $owner = $lock->owner();
        $restored = fn (string $owner): bool => other(
            fn (Client $mine) => (new LaravelLocks($mine))->restoreLock('orders', $owner)->release());
        check($restored($owner) && !$restored($owner), 'released once');
        $other = $locks->lock('orders', 20);
        check($other->get() && !$restored($owner) && !$locks->lock('orders', 20)->get(), 'not with the last owner');
        $gone = other(function (Client $mine): string {
            $lock = (new LaravelLocks($mine))->lock('gone', 20);
            $lock->get();
            return $lock->owner();
        });
        check($locks->restoreLock('gone', $gone)->owner() === $gone, 'the owner as it was given');
        $restored = $locks->restoreLock('gone', $gone);
        check($restored->release() && $locks->lock('gone', 20)->get(), 'of a process that has ended');
    },
    'laravel_what_the_agent_cannot_do_is_said' => function (Client $client): void {
        $locks = new LaravelLocks($client);
        $error = thrown(BadMethodCallException::class, $locks->lock('orders', 20)->forceRelease(...));
        check(str_contains($error->getMessage(), "restoreLock('orders', \$owner)->release()"), $error->getMessage());
        thrown(LogicException::class, $locks->lock('orders', 20, 'me')->get(...));
        $error = thrown(RedlockError::class, $locks->lock('orders', 86400)->get(...));
        check(str_contains($error->getMessage(), 'ttl'), $error->getMessage());
        $client->call('sim.fail-masters', ['masters' => 2]);
        $error = thrown(RedlockError::class, $locks->lock('orders', 20)->get(...));
        check($error->status === 'REDLOCK_NO_QUORUM', $error->getMessage());
        $error = thrown(LockTimeoutException::class, fn () => $locks->lock('orders', 20)->block(0));
        check(str_contains($error->getMessage(), 'masters can be reached'), $error->getMessage());
    },
];

/** An agent for each test. */
function run(string $redlock, Closure $test): void
{
    $path = sys_get_temp_dir() . '/adapters-' . getmypid() . '.sock';
    putenv("REDLOCK_AGENT=$path");
    $agent = proc_open([$redlock, 'agent', '--simulate', '--socket', $path], [2 => ['file', '/dev/null', 'w']], $pipes);
    try {
        while (!($connection = @stream_socket_client("unix://$path"))) {
            check(proc_get_status($agent)['running'], 'the agent has begun');
            usleep(2000); // it does not listen yet
        }
        fclose($connection);
        $test(new Client());
    } finally {
        proc_terminate($agent, SIGKILL);
        proc_close($agent);
    }
}

if (!function_exists('pcntl_fork')) {
    echo "1..0 # SKIP this PHP cannot fork\n";
    exit(0);
}
$there = array_filter(FRAMEWORKS, fn (string $file): bool => stream_resolve_include_path($file) !== false);
foreach ($there as $name => $file) {
    require $file;
    require __DIR__ . "/../../tools/clients/php/$name.php";
}
$tests = array_intersect_key($tests, array_flip(array_slice($argv, 2) ?: array_keys($tests)));
echo '1..', count($tests), "\n";
[$number, $failed] = [0, false];
foreach ($tests as $name => $test) {
    $number++;
    $framework = strtok($name, '_');
    if (!isset($there[$framework])) {
        echo "ok $number $name # SKIP there is no ", FRAMEWORKS[$framework], "\n";
        continue;
    }
    try {
        run($argv[1], $test);
        echo "ok $number $name\n";
    } catch (Throwable $error) {
        $failed = true;
        echo "not ok $number $name\n# ", str_replace("\n", "\n# ", (string) $error), "\n";
    }
}
exit($failed ? 1 : 0);
