# An orderly end. A holds the lock, B waits in the queue, and m3 hangs. A's shutdown releases the lock with all keys of
# the queue named, since it may not live to repeat that: two masters give the key to B, which has the lock one way
# later. A quorum has confirmed then. m3 gets as long as an answer may take; since it has said nothing in that time it
# is not awaited any longer. Then A's program destroys the client. What was written to m3 is carried out when m3 wakes
# up: B is in the queue there, too, and gets its key.
masters 3
clients 2
node-timeout 50
  20  A acquire k ttl=3000
  40  B acquire k ttl=3000 queue
  60  hang m3
  70  A shutdown timeout=2000
 200  A quit
 300  resume m3
 310  end
---
     4.000  A   m1 is ready
     4.000  A   m2 is ready
     4.000  A   m3 is ready
     4.000  B   m1 is ready
     4.000  B   m2 is ready
     4.000  B   m3 is ready
    20.000  A   acquire k ttl=3000
    20.000  A   claim A1 -> m1 m2 m3
    21.000  m1  SET k A1 NX PX 3000 = OK
    21.000  m2  SET k A1 NX PX 3000 = OK
    21.000  m3  SET k A1 NX PX 3000 = OK
    22.000  A   m1: claim A1 granted
    22.000  A   m2: claim A1 granted
    22.000  A   acquire: ok, valid for 2966.000 ms
    22.000  A   m3: claim A1 granted
    40.000  B   acquire k ttl=3000
    40.000  B   claim B2 -> m1 m2 m3
    41.000  m1  SET k B2 NX PX 3000 = nil
    41.000  m2  SET k B2 NX PX 3000 = nil
    41.000  m3  SET k B2 NX PX 3000 = nil
    42.000  B   m1: claim B2 refused, held
    42.000  B   m2: claim B2 refused, held
    42.000  B   rollback B2 -> m3
    42.000  B   enqueue B3 -> m1 m2 m3
    42.000  B   m3: claim B2 refused, held
    43.000  m1  enqueue k B3 2000 0 0 1000042000  0 0 B1 = 0 43000 1000042000 0 0 2978 2978 0
    43.000  m2  enqueue k B3 2000 0 0 1000042000  0 0 B1 = 0 43000 1000042000 0 0 2978 2978 0
    43.000  m3  rollback k B2 = -1
    43.000  m3  enqueue k B3 2000 0 0 1000042000  0 0 B1 = 0 43000 1000042000 0 0 2978 2978 0
    44.000  B   m1: enqueue B3 queued
    44.000  B   m2: enqueue B3 queued
    44.000  B   waits behind 0 others
    44.000  B   m3: rollback B2 refused, foreign
    44.000  B   m3: enqueue B3 queued
    46.000  B   m1 is heard
    46.000  B   enqueue B3 -> m1
    46.000  B   m2 is heard
    46.000  B   enqueue B3 -> m2
    46.000  B   m3 is heard
    46.000  B   enqueue B3 -> m3
    47.000  m1  enqueue k B3 2000 0 1000042000 1000042000  0 0 B1 = 0 47000 1000042000 0 0 2974 2974 0
    47.000  m2  enqueue k B3 2000 0 1000042000 1000042000  0 0 B1 = 0 47000 1000042000 0 0 2974 2974 0
    47.000  m3  enqueue k B3 2000 0 1000042000 1000042000  0 0 B1 = 0 47000 1000042000 0 0 2974 2974 0
    48.000  B   m1: enqueue B3 queued
    48.000  B   m2: enqueue B3 queued
    48.000  B   m3: enqueue B3 queued
    60.000  m3  hangs
    70.000  A   shuts down, for 2000.000 ms at most
    70.000  A   release
    70.000  A   release A1 -> m1 m2 m3
    71.000  m1  release k A1 = 2
    71.000  m2  release k A1 = 2
    72.000  B   m1 calls: B3 0 granted - 71000 0
    72.000  A   m1: release A1 granted, handed off
    72.000  B   m2 calls: B3 0 granted - 71000 0
    72.000  B   acquire: ok, valid for 1948.000 ms
    72.000  A   m2: release A1 granted, handed off
   120.000  A   m3 is late
   120.000  A   release: ok
   120.000  A   has shut down: confirmed
   200.000  A   quits
   200.000  A   destroy
   300.000  m3  resumes
   300.000  m3  release k A1 = 2  (ghost)
   301.000  B   m3 calls: B3 0 granted - 300000 0
   310.000  m1  has k = B3 for 1739.000 ms
   310.000  m2  has k = B3 for 1739.000 ms
   310.000  m3  has k = B3 for 1739.000 ms
