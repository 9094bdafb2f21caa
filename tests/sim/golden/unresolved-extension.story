# An extension on a dead connection is not dead: m1 gets it late, after a longer one over the new connection. So the
# longer one counts only for the shorter ttl (found by the simulator).
masters 1
clients 1
backoff 0 0
  20    A acquire k ttl=2000
  30    slow A m1 up 50
  31    A extend ttl=300
  32    break A m1 requests=1
  32    slow A m1 up 0
  50    A extend ttl=2000
  60    note m1 has granted 2000 ms, but A counts on 300 ms only
 120    end
---
     4.000  A   m1 is ready
    20.000  A   acquire k ttl=2000
    20.000  A   claim A1 -> m1
    21.000  m1  SET k A1 NX PX 2000 = OK
    22.000  A   m1: claim A1 granted
    22.000  A   acquire: ok, valid for 1976.000 ms
    30.000  --  slow A m1 up
    31.000  A   extend ttl=300
    31.000  A   extend A1 -> m1
    32.000  --  break A m1 requests=1
    32.000  --  slow A m1 up
    32.000  A   m1: connection lost
    32.000  A   m1: extend A1 unknown, disconnected
    32.000  A   extend: no quorum, valid for 294.000 ms
    32.000  A   m1 is down
    36.000  A   m1 is ready
    50.000  A   extend ttl=2000
    50.000  A   extend A1 -> m1
    51.000  m1  extend k A1 2000 = 1
    52.000  A   m1: extend A1 granted
    52.000  A   extend: ok, valid for 293.000 ms
    60.000  --  m1 has granted 2000 ms, but A counts on 300 ms only
    82.000  m1  extend k A1 300 = 1  (ghost)
   120.000  m1  has k = A1 for 263.000 ms
