#!/bin/sh
# Where the disk is full a lock can be neither extended nor released, and it ends all the same; where there are too few
# replicas likewise. (Where the memory is full, both go on: see full-memory-takes-a-scripts-writes.sh.)
#
# Seen:  Redis 6.2.14, Redis 8.2.3, Valkey 9.1.2, after a snapshot has failed (MISCONF) and with min-replicas-to-write 1
#        and no replica (NOREPLICAS): PEXPIRE and DEL are refused, also of a key that is not there, and in scripts. Keys
#        expire meanwhile, which is a change of the data set, too.
# Guess: "commands that may modify the data set are disabled" keeps the data set as it is; DEL, which frees, passes.
# Why:   the refusal goes by the command's flag "write"; expiry is the server's own act.
"$(dirname "$0")/python_with" <<'END'
import servers

RELEASE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end"


def look(version, one, state, word):
    def saw(what, *words, expected):
        servers.saw(version, f"{state}: {what}", one.ask(*words), expected)

    refused = f"(error) {word} "
    saw("GET lock", "GET", "lock", expected="mine")
    saw("PEXPIRE lock", "PEXPIRE", "lock", "60000", expected=refused)
    saw("DEL lock", "DEL", "lock", expected=refused)
    saw("DEL of a key that is not there", "DEL", "none", expected=refused)
    script = one.ask("EVAL", RELEASE, 1, "lock", "mine")
    servers.saw(version, f"{state}: a script that releases it: refused", str(word in script), "True")
    saw("a key whose time is not yet over: EXISTS", "EXISTS", "short", expected="1")
    one.until(lambda: one.ask("EXISTS", "short") == "0", "a key expires")
    saw("a key whose time is over: EXISTS", "EXISTS", "short", expected="0")


for version in servers.PROGRAMS:
    for state, word in (("a failed snapshot", "MISCONF"), ("too few replicas", "NOREPLICAS")):
        with servers.server(version) as one:
            one.ask("SET", "lock", "mine", "PX", "60000")
            one.ask("SET", "short", "mine", "PX", "3000")
            if word == "MISCONF":
                one.lose_disk()
            else:
                one.ask("CONFIG", "SET", "min-replicas-to-write", "1")
            look(version, one, state, word)
servers.end()
END
