#!/bin/sh
# CLIENT PAUSE ... WRITE, which failovers use, also keeps back PUBLISH, PFCOUNT and every script that only reads.
#
# Seen:  Redis 6.2.14, Redis 8.2.3, Valkey 9.1.2: GET, TIME and INFO are answered during the pause. PUBLISH, PFCOUNT and
#        EVAL of a script that reads, or does nothing, get no answer until its end. From 7.0 the same script is
#        answered by EVAL_RO, and by EVAL if its first line says "#!lua flags=no-writes".
# Guess: a pause of writes lets everything pass that writes nothing.
# Why:   whatever may be sent to replicas is a write for the pause: a published message, a script that might write.
"$(dirname "$0")/python_with" <<'END'
import servers

READS = "return redis.call('GET', KEYS[1])"
for version in servers.PROGRAMS:
    with servers.server(version) as paused:
        def saw(what, *words, expected):
            servers.saw(version, what, paused.ask(*words), expected)

        old = version.startswith("Redis 6")
        paused.ask("SET", "key", "value")
        saw("CLIENT PAUSE 100000 WRITE", "CLIENT", "PAUSE", "100000", "WRITE", expected="OK")
        saw("GET", "GET", "key", expected="value")
        saw("TIME", "TIME", expected="[")
        saw("PUBLISH", "PUBLISH", "channel", "text", expected=servers.SILENCE)
        saw("PFCOUNT", "PFCOUNT", "visitors", expected=servers.SILENCE)
        saw("EVAL of a script that calls GET", "EVAL", READS, 1, "key", expected=servers.SILENCE)
        saw("EVAL of 'return 1'", "EVAL", "return 1", 0, expected=servers.SILENCE)
        saw("EVAL_RO of the script that calls GET", "EVAL_RO", READS, 1, "key",
            expected="(error) ERR unknown command" if old else "value")
        saw("EVAL of it with flags=no-writes", "EVAL", "#!lua flags=no-writes\n" + READS, 1, "key",
            expected=servers.SILENCE if old else "value")
servers.end()
END
