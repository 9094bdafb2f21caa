#!/bin/sh
# With fakeredis as it is installed by its name, redis-py's own lock is taken, and cannot be given back.
#
# Seen:  fakeredis 2.41.0 with redis-py 8.1.0: Lock.acquire() returns True; release() and extend() end with "unknown
#        command 'evalsha'", and the key stays until its time is over. INFO, ROLE and WAIT are unknown commands too, so
#        nothing can tell it from a replica or learn that it has been restarted. SET NX PX, PTTL and TIME work.
# Guess: a test that takes and gives back a lock passes on the fake as on a server, or fails at acquire().
# Why:   acquire() is a SET, and the others are scripts: these need the extra fakeredis[lua].
"$(dirname "$0")/python_with" fakeredis==2.41.0 redis==8.1.0 sortedcontainers==2.4.0 <<'END'
import fakeredis
import redis
import servers

VERSION = "fakeredis"


def reply(call, *arguments, **options):
    try:
        return str(call(*arguments, **options))
    except redis.RedisError as error:
        return servers.Failed(error)


fake = fakeredis.FakeRedis()
lock = fake.lock("orders", timeout=60)
servers.saw(VERSION, "Lock.acquire()", reply(lock.acquire), "True")
servers.saw(VERSION, "Lock.extend(60)", reply(lock.extend, 60), "(error) unknown command 'evalsha'")
servers.saw(VERSION, "Lock.release()", reply(lock.release), "(error) unknown command 'evalsha'")
servers.saw(VERSION, "EXISTS orders", reply(fake.exists, "orders"), "1")
for command in ("INFO", "ROLE", "WAIT 0 0"):
    servers.saw(VERSION, command, reply(fake.execute_command, *command.split()), "(error) unknown command ")
servers.saw(VERSION, "SET key value NX PX 5000", reply(fake.set, "key", "value", nx=True, px=5000), "True")
servers.saw(VERSION, "TIME", reply(fake.time), "(")
servers.end()
END
