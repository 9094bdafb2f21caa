<?php
// What conformance.py tells this program, done by the client for PHP: a Fiber for each command.
declare(strict_types=1);

use RedlockAgent\{Client, Lost, NotAcquired, RedlockError};

require __DIR__ . '/../../tools/clients/php/redlock_agent.php';

$client = new Client();
$locks = [];
$canceled = [];
$fibers = [];

function seconds(mixed $ms): mixed
{
    return is_numeric($ms) ? $ms / 1000 : $ms;
}

$commands = [
    'lock' => function (array $c) use ($client, &$locks, &$canceled): array {
        $options = array_intersect_key($c, array_flip(['ttl', 'wait', 'mode', 'permits', 'fenced']));
        $options = array_replace($options, array_map(seconds(...), array_intersect_key($options, ['ttl' => 0, 'wait' => 0])));
        try {
            $held = $client->lock($c['keys'] ?? $c['key'], ...$options, canceled: function () use (&$canceled, $c): bool {
                return isset($canceled[$c['id']]);
            });
        } catch (RedlockError $error) {
            return $error->status === 'REDLOCK_CANCELED' ? ['canceled' => true] : throw $error;
        }
        $locks[$c['name']] = $held;
        return ['fence' => $held->fence];
    },
    'cancel' => function (array $c) use (&$canceled): array {
        $canceled[$c['of']] = true;
        return [];
    },
    'remaining' => function (array $c) use (&$locks): array {
        return ['remaining' => $locks[$c['name']]->remaining() * 1000];
    },
    'extend' => function (array $c) use (&$locks): array {
        $locks[$c['name']]->extend(seconds($c['ttl']));
        return [];
    },
    'release' => function (array $c) use (&$locks): array {
        $locks[$c['name']]->release();
        return [];
    },
    'wait-lost' => function (array $c) use (&$locks): array {
        while (true) {
            try {
                $locks[$c['name']]->check();
                Fiber::suspend();
            } catch (Lost) {
                return ['remaining' => $locks[$c['name']]->remaining() * 1000];
            }
        }
    },
    'child' => fn (): array => ['unsupported' => true], // PHP cannot close the connection in a program that it starts
    'fork' => function (array $c) use (&$locks): array {
        if (!function_exists('pcntl_fork')) {
            return ['unsupported' => true];
        }
        [$read, $write] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        if (pcntl_fork() === 0) {
            fwrite($write, (string) $locks[$c['name']]->remaining());
            exit(0); // with destructors, as any program
        }
        fclose($write);
        return ['remaining' => (float) stream_get_contents($read) * 1000];
    },
    'abandon' => function (array $c) use (&$fibers): array {
        unset($fibers[$c['of']]);
        return [];
    },
    'copy' => function (array $c) use (&$locks): array {
        return [clone $locks[$c['name']]];
    },
    'serialize' => function (array $c) use (&$locks): array {
        return [serialize($locks[$c['name']])];
    },
    'forever' => fn (array $c): array => [$client->lock('forever', wait: INF)],
    'blind' => function (array $c) use (&$locks): array { // nor can /proc/uptime be read
        ini_set('open_basedir', __DIR__);
        return ['remaining' => $locks[$c['name']]->remaining() * 1000];
    },
    'close' => function () use ($client): array {
        $client->close();
        return [];
    },
];
$run = function (array $c) use ($commands): void {
    try {
        $answer = $commands[$c['do']]($c);
    } catch (Throwable $error) {
        $kind = $error instanceof NotAcquired ? 'not-acquired' : ($error instanceof Lost ? 'lost' : 'other');
        $answer = ['error' => $kind, 'why' => $error->getMessage()];
    }
    fwrite(STDOUT, json_encode(['id' => $c['id']] + $answer) . "\n");
};

stream_set_blocking(STDIN, false);
$input = '';
while (!feof(STDIN)) {
    [$read, $none] = [[STDIN], null];
    stream_select($read, $none, $none, 0, $fibers ? 2000 : 10000);
    $lines = explode("\n", $input . stream_get_contents(STDIN));
    $input = array_pop($lines);
    foreach ($lines as $line) {
        $command = json_decode($line, true);
        $fibers[$command['id']] = $fiber = new Fiber($run);
        $fiber->start($command);
    }
    try {
        $client->poll();
    } catch (RedlockError) {
    }
    foreach ($fibers as $id => $fiber) {
        if ($fiber->isTerminated()) {
            unset($fibers[$id]);
        } else {
            $fiber->resume();
        }
    }
    unset($fiber);
}
