#!/bin/sh
# PING is refused by a server that answers reads, and answered by one that takes no write.
#
# Seen:  Redis 6.2.14, Redis 8.2.3, Valkey 9.1.2. After a snapshot has failed (MISCONF), PING is refused, and GET, ECHO,
#        TIME and PUBLISH are answered. During a script that takes long (BUSY) PING, TIME and INFO are refused, and
#        HELLO is answered. A server in CLIENT PAUSE WRITE answers PING, and no SET. A replica that has lost its master
#        and serves no stale data refuses GET; it answers PING in 6.2.14, and refuses it in the two others.
# Guess: PING is answered by every server that works, and tells that it does; what answers TIME answers PING.
# Why:   PING is no write, and is checked by its name against failed snapshots, so that monitors notice these.
"$(dirname "$0")/python_with" <<'END'
import servers

for version in servers.PROGRAMS:
    with servers.server(version) as one:
        def saw(state, *words, expected):
            servers.saw(version, f"{state}: {' '.join(words)}", one.ask(*words), expected)

        one.ask("SET", "key", "value")
        one.ask("CLIENT", "PAUSE", "100000", "WRITE")
        saw("paused for writes", "PING", expected="PONG")
        saw("paused for writes", "SET", "key", "value", expected=servers.SILENCE)
        one.ask("CLIENT", "UNPAUSE")

        one.ask("CONFIG", "SET", "lua-time-limit", "50")
        with one.connect() as slow:
            slow.send("EVAL", "for i = 1, 3e9 do end", 0)
            one.until(lambda: one.ask("PING").startswith("BUSY"), "the script is found to be slow")
            saw("a slow script", "PING", expected="(error) BUSY ")
            saw("a slow script", "TIME", expected="(error) BUSY ")
            saw("a slow script", "INFO", expected="(error) BUSY ")
            saw("a slow script", "HELLO", "2", expected="['server', ")
            one.ask("SCRIPT", "KILL")
            slow.read()

        one.lose_disk()
        saw("a failed snapshot", "PING", expected="(error) MISCONF ")
        saw("a failed snapshot", "SET", "key", "value", expected="(error) MISCONF ")
        saw("a failed snapshot", "GET", "key", expected="value")
        saw("a failed snapshot", "ECHO", "hello", expected="hello")
        saw("a failed snapshot", "TIME", expected="[")
        saw("a failed snapshot", "PUBLISH", "channel", "text", expected="0")
        one.ask("CONFIG", "SET", "save", "")

        one.ask("REPLICAOF", "127.0.0.1", "1")
        one.ask("CONFIG", "SET", "replica-serve-stale-data", "no")
        saw("a replica without its master", "PING",
            expected="PONG" if version.startswith("Redis 6") else "(error) MASTERDOWN ")
        saw("a replica without its master", "GET", "key", expected="(error) MASTERDOWN ")
servers.end()
END
