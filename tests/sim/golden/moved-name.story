# Rule 5.2: one server votes once. A holds k with the votes of m2 and m3, and cannot reach m3 any more, when the name
# of m1 leads it to the server of m2, which has its value. Were that a vote of m1, A would have a quorum at one server; B,
# for which m1 is m1, gets the votes of m1 and m3 when A's vote has ended there: two holders. The server says that it has
# the marker of another master, and votes as m2 alone: A loses its lock in time.
masters 3
guarded
node-timeout 50
connect-timeout 50
stall-timeout 200
backoff 150 300
   1  partition A m1
  20  A acquire k ttl=400
  30  partition A m3
  60  A extend ttl=1000
  40  lead A m1 m2
  40  heal A m1
 150  A extend ttl=1000
 500  B acquire k ttl=400 once
 600  end
---
     1.000  --  partition A m1 
     8.000  A   m2 is ready
     8.000  A   m3 is ready
     8.000  B   m1 is ready
     8.000  B   m2 is ready
     8.000  B   m3 is ready
    20.000  A   acquire k ttl=400
    20.000  A   claim A1 -> m2 m3
    21.000  m2  SET k A1 NX PX 400 = OK
    21.000  m3  SET k A1 NX PX 400 = OK
    22.000  A   m2: claim A1 granted
    22.000  A   m3: claim A1 granted
    22.000  A   acquire: ok, valid for 392.000 ms
    30.000  --  partition A m3 
    40.000  --  lead A m1 m2
    40.000  --  heal A m1 
    41.000  A   m1: connection lost
    41.000  A   m1 is down
    60.000  A   extend ttl=1000
    60.000  A   extend A1 -> m2 m3
    61.000  m2  extend k A1 1000 = 1
    62.000  A   m2: extend A1 granted
   110.000  A   m3 is late
   110.000  A   extend: no quorum, valid for 304.000 ms
   125.758  A   m1: another master's marker
   125.758  A   m1: excluded, it is the same server as another master of the list
   125.758  A   m1: it is the same server as another master of the list
   150.000  A   extend ttl=1000
   150.000  A   extend: no quorum, valid for 264.000 ms
   150.000  A   extend A1 -> m2
   151.000  m2  extend k A1 1000 = 1
   152.000  A   m2: extend A1 granted
   260.000  A   m3: silent for too long
   260.000  A   m3: extend A1 unknown, disconnected
   260.000  A   m3 is down
   414.000  A   has lost the lock
   414.000  A   release A1 -> m2
   415.000  m2  release k A1 = 1
   416.000  A   m2: release A1 granted
   424.054  A   m3: no connection in time
   426.234  A   m1: another master's marker
   426.234  A   m1: it is the same server as another master of the list
   500.000  B   acquire k ttl=400
   500.000  B   claim B2 -> m1 m2 m3
   501.000  m1  SET k B2 NX PX 400 = OK
   501.000  m2  SET k B2 NX PX 400 = OK
   501.000  m3  SET k B2 NX PX 400 = OK
   502.000  B   m1: claim B2 granted
   502.000  B   m2: claim B2 granted
   502.000  B   acquire: ok, valid for 392.000 ms
   502.000  B   m3: claim B2 granted
   503.098  A   m1: another master's marker
   503.098  A   m1: it is the same server as another master of the list
   600.000  m1  has k = B2 for 302.000 ms
   600.000  m2  has k = B2 for 302.000 ms
   600.000  m3  has k = B2 for 302.000 ms
