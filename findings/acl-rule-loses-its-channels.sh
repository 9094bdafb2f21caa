#!/bin/sh
# The same rule "on nopass ~* +@all" makes a user who may PUBLISH in Redis 6.2, and one who may not from 7.0 on.
#
# Seen:  Redis 6.2.14: PUBLISH is answered. Redis 8.2.3 and Valkey 9.1.2: NOPERM for PUBLISH and SUBSCRIBE, while every
#        command and every key is allowed. In a script redis.pcall('PUBLISH') fails in the same way, so that a script
#        which wakes waiters fails after it has written. CONFIG SET acl-pubsub-default allchannels brings the old
#        meaning back, for users that are made afterwards only.
# Guess: "+@all" and "~*" allow everything, as "allcommands" and "allkeys" say; an upgrade keeps what a rule means.
# Why:   channels have rules of their own (&pattern), and 7.0 changed acl-pubsub-default to resetchannels.
"$(dirname "$0")/python_with" <<'END'
import servers

WAKES = "redis.call('SET', KEYS[1], 'written') local r = redis.pcall('PUBLISH', 'channel', 'text') " \
        "return type(r) == 'table' and 'refused' or 'published'"
for version in servers.PROGRAMS:
    with servers.server(version) as one:
        old = version.startswith("Redis 6")

        def saw(name, *words, expected):
            with one.connect() as user:
                user.ask("AUTH", name, "any")
                servers.saw(version, f"as {name}: {' '.join(words)[:40]}", user.ask(*words), expected)

        servers.saw(version, "CONFIG GET acl-pubsub-default", one.ask("CONFIG", "GET", "acl-pubsub-default")[1],
                    "allchannels" if old else "resetchannels")
        one.ask("ACL", "SETUSER", "first", "on", "nopass", "~*", "+@all")
        saw("first", "SET", "key", "value", expected="OK")
        saw("first", "PUBLISH", "channel", "text", expected="0" if old else "(error) NOPERM ")
        saw("first", "SUBSCRIBE", "channel", expected="['subscribe', " if old else "(error) NOPERM ")
        saw("first", "EVAL", WAKES, "1", "key", expected="published" if old else "refused")
        saw("first", "GET", "key", expected="written")
        one.ask("CONFIG", "SET", "acl-pubsub-default", "allchannels")
        saw("first", "PUBLISH", "channel", "text", expected="0" if old else "(error) NOPERM ")
        one.ask("ACL", "SETUSER", "second", "on", "nopass", "~*", "+@all")
        saw("second", "PUBLISH", "channel", "text", expected="0")
servers.end()
END
