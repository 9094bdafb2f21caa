#!/bin/sh
# In a script of a server two fencing tokens of 16 digits are the same text; on a stand-in that tests use they are not.
#
# Seen:  Redis 6.2.14, Redis 8.2.3, Valkey 9.1.2. A number of 16 digits that a script hands to SET is stored with all of
#        them, also that of INCR. In a text made by `..`, tostring() or cjson.encode() it is 1.7e+15, and so are its
#        neighbours. A number of 14 digits keeps them, one of 15 does not. miniredis 2.40.0 keeps all digits everywhere.
# Guess: a number that is stored as it is has the same digits in a longer text; what a test sees on the stand-in holds
#        on a server.
# Why:   Lua 5.1 writes 14 digits. The servers write the numbers that are a command's arguments themselves. The Lua of
#        the stand-in is written anew in Go, and writes whole numbers as such.
# Needs: Go and its module proxy, too.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
miniredis=$(mktemp -d)
trap 'rm -rf "$miniredis"' EXIT
cd "$miniredis"
cat >main.go <<'GO'
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/alicebob/miniredis/v2"
)

func main() {
	server, err := miniredis.Run()
	if err != nil {
		panic(err)
	}
	fmt.Println(server.Port())
	io.ReadAll(os.Stdin)
}
GO
export GOFLAGS='-mod=mod -modcacherw' GOMODCACHE="$miniredis/modules" GOWORK=off
{
    go mod init miniredis
    go get github.com/alicebob/miniredis/v2@v2.40.0
    go build -o server .
} 2>log || { cat log >&2; exit 1; }
MINIREDIS=$miniredis/server "$here/python_with" <<'END'
import os
import subprocess

import servers

TOKENS = ("1700000000000001", "1700000000000002")


def saw_all(version, port, joined, lengths, as_texts, encoded):
    with servers.Connection(port) as connection:
        def saw(what, script, expected):
            servers.saw(version, what, connection.ask("EVAL", script, 2, "key", "counter", *TOKENS), expected)

        def stored(what, expression, expected):
            script = f"redis.call('SET', KEYS[1], {expression}) return redis.call('GET', KEYS[1])"
            saw(f"SET key {what}", script, expected)

        connection.ask("SET", "counter", TOKENS[0])
        stored("number", "tonumber(ARGV[1])", TOKENS[0])
        stored("INCR", "redis.call('INCR', KEYS[2])", TOKENS[1])
        stored("'holder:' .. INCR", "'holder:' .. redis.call('INCR', KEYS[2])", joined)
        saw("14 and 15 digits", "return 99999999999999 .. ' ' .. 100000000000001", lengths)
        as_text = "tostring(tonumber(ARGV[{}]))".format
        saw("two tokens as texts", f"return {as_text(1)} == {as_text(2)} and 'equal' or 'different'", as_texts)
        saw("cjson.encode", "return cjson.encode({token = tonumber(ARGV[1])})", encoded)


for version in servers.PROGRAMS:
    with servers.server(version) as one:
        saw_all(version, one.port, "holder:1.7e+15", "99999999999999 1e+14", "equal", '{"token":1.7e+15}')
with subprocess.Popen([os.environ["MINIREDIS"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as stand_in:
    saw_all("miniredis", int(stand_in.stdout.readline()), "holder:1700000000000003", "99999999999999 100000000000001",
            "different", '{"token":1700000000000001}')
    stand_in.stdin.close()
servers.end()
END
