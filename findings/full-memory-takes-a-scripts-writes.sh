#!/bin/sh
# A server whose memory is full refuses HSET, and takes the same HSET from a script that has removed nothing before.
#
# Seen:  Redis 6.2.14, Redis 8.2.3, Valkey 9.1.2, with maxmemory exceeded and the policy noeviction: HSET is refused with
#        OOM, directly and in a script. A script that begins with a HDEL or DEL of what is not there may write whatever
#        it likes afterwards, new keys too. SET NX is refused; DEL and PEXPIRE are taken, so that locks end and go on.
# Guess: OOM is decided for each command by the memory that is used, so a script's HSET is refused as well; or: a script
#        that is to give memory back must do so before it may write.
# Why:   the limit keeps a script from its first write. Once a script has written it is to run to its end, so that no
#        half of it stays; a HDEL counts as a write although it changes nothing.
"$(dirname "$0")/python_with" <<'END'
import servers

OOM = "(error) OOM command not allowed when used memory > 'maxmemory'"
for version in servers.PROGRAMS:
    with servers.server(version, "--maxmemory-policy", "noeviction") as full:
        full.ask("HSET", "h", "field", "1")
        full.ask("SET", "lock", "mine", "PX", "60000")
        full.ask("CONFIG", "SET", "maxmemory", "1")

        def saw(what, *words, expected):
            servers.saw(version, what, full.ask(*words), expected)

        saw("HSET", "HSET", "h", "field", "2", expected=OOM)
        alone = full.ask("EVAL", "return redis.call('HSET', KEYS[1], 'field', '3')", 1, "h")
        servers.saw(version, "a script with HSET alone: refused by OOM", str("OOM command not allowed" in alone), "True")
        saw("a script with HDEL of nothing, then HSET", "EVAL",
            "redis.call('HDEL', KEYS[1], 'none') return redis.call('HSET', KEYS[1], 'field', '4')", 1, "h", expected="0")
        saw("... and the field is", "HGET", "h", "field", expected="4")
        saw("a script with DEL of nothing, then SET of a new key", "EVAL",
            "redis.call('DEL', KEYS[1]) return redis.call('SET', KEYS[2], 'new')", 2, "none", "new", expected="OK")
        saw("a new lock: SET NX PX", "SET", "other", "mine", "NX", "PX", "60000", expected=OOM)
        saw("a lock is extended: PEXPIRE", "PEXPIRE", "lock", "60000", expected="1")
        saw("a lock is released: DEL", "DEL", "lock", expected="1")
servers.end()
END
