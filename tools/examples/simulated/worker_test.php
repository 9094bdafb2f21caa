<?php
/* The test of a worker, without servers: it stops when its lock is lost. The client is tools/clients/php.
 *
 *     php -d include_path=../../clients/php worker_test.php */
declare(strict_types=1);

require 'redlock_agent.php';

/** What is tested: one order after the other is shipped, each of them under the lock. */
function ship(RedlockAgent\Client $client, array $orders): void
{
    $client->with('orders', function (RedlockAgent\Lock $held) use ($orders) {
        foreach ($orders as $order) {
            $held->check();
            $order();
        }
    });
}

function start(string $path): mixed
{
    $agent = proc_open(['redlock', 'agent', '--simulate', '--socket', $path], [], $pipes);
    while (proc_get_status($agent)['running'] && !@stream_socket_client("unix://$path")) {
        usleep(10000); // it does not listen yet
    }
    return $agent;
}

function it_stops_when_its_lock_is_lost(RedlockAgent\Client $client): bool
{
    $shipped = [];
    $an_hour_passes = fn() => $client->call('sim.advance', ['by' => '1h']);
    $a_thief_comes = function () use ($client) {
        $client->call('sim.steal', ['key' => 'orders']);
        $client->call('sim.advance', ['by' => '10s']); // the lock's ttl
    };
    $ship = function (int $order) use (&$shipped) {
        $shipped[] = $order;
    };
    try {
        ship($client, [$an_hour_passes, fn() => $ship(1), $a_thief_comes, fn() => $ship(2)]);
    } catch (RedlockAgent\Lost) {
        return $shipped === [1];
    }
    return false;
}

$path = sys_get_temp_dir() . '/worker-' . getmypid() . '.sock';
$agent = start($path);
$passed = it_stops_when_its_lock_is_lost(new RedlockAgent\Client($path));
proc_terminate($agent);
echo $passed ? "ok\n" : "not ok\n";
exit($passed ? 0 : 1);
