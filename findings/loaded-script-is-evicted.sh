#!/bin/sh
# SCRIPT LOAD keeps a script for good, unless an EVAL has brought it before.
#
# Seen:  Redis 6.2.14 keeps every script. Redis 8.2.3 and Valkey 9.1.2 keep 500 of those that EVAL has brought, the ones
#        last run; SCRIPT EXISTS is no use of a script. A script of SCRIPT LOAD stays, in Redis 8.2.3 only if no EVAL
#        has brought it before: otherwise SCRIPT LOAD answers its digest, and it is evicted all the same. Valkey 9.1.2
#        keeps it then, too.
# Guess: after SCRIPT LOAD, EVALSHA finds the script until SCRIPT FLUSH or a restart, whoever has sent it before.
# Why:   a script is listed for eviction when EVAL compiles it, and in Redis SCRIPT LOAD does not take it off that list.
"$(dirname "$0")/python_with" <<'END'
import hashlib
import servers

TEXT = "return 'there'"
DIGEST = hashlib.sha1(TEXT.encode()).hexdigest()


def others_come(connection, *use):
    """600 other scripts, and now and then something is done meanwhile."""
    for i in range(600):
        connection.ask("EVAL", f"return {i}", 0)
        if use and i % 10 == 0:
            connection.ask(*use)


for version in servers.PROGRAMS:
    evicts = not version.startswith("Redis 6")
    gone, there = "(error) NOSCRIPT ", "there"
    with servers.server(version) as one, one.connect() as connection:
        def saw(what, brought_by, use, expected):
            connection.ask("SCRIPT", "FLUSH")
            for command in brought_by:
                connection.ask(*command)
            others_come(connection, *use)
            servers.saw(version, what, connection.ask("EVALSHA", DIGEST, 0), expected)

        by_eval, by_load = ("EVAL", TEXT, 0), ("SCRIPT", "LOAD", TEXT)
        saw("EVAL", [by_eval], [], gone if evicts else there)
        saw("EVAL, SCRIPT EXISTS now and then", [by_eval], ["SCRIPT", "EXISTS", DIGEST], gone if evicts else there)
        saw("EVAL, EVALSHA now and then", [by_eval], ["EVALSHA", DIGEST, 0], there)
        saw("SCRIPT LOAD", [by_load], [], there)
        saw("SCRIPT LOAD, then EVAL", [by_load, by_eval], [], there)
        saw("EVAL, then SCRIPT LOAD", [by_eval, by_load], [], gone if version.startswith("Redis 8") else there)
servers.end()
END
