#!/bin/sh
# A server that says at first what its environment is: redis-server writes its title over what /proc would show.
env
exec "${REDLOCK_SERVER:-redis-server}" "$@"
