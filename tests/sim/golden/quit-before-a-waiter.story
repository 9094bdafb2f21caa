# A client that is destroyed writes its releases once, and reads no answers. Those name all keys of the queue, which
# others of a lock that nobody is known to wait for do not: B, of which A knows nothing, has the lock one way later. A
# release in brief would find the queue, leave the key alone, and say so to nobody.
masters 3
clients 2
calm
  20  A acquire k ttl=1000
  40  B acquire k ttl=1000 queue
  60  A quit
1100  end
---
     4.000  A   m1 is ready
     4.000  A   m2 is ready
     4.000  A   m3 is ready
     4.000  B   m1 is ready
     4.000  B   m2 is ready
     4.000  B   m3 is ready
    20.000  A   acquire k ttl=1000
    20.000  A   claim A1 -> m1 m2 m3
    21.000  m1  SET k A1 NX PX 1000 = OK
    21.000  m2  SET k A1 NX PX 1000 = OK
    21.000  m3  SET k A1 NX PX 1000 = OK
    22.000  A   m1: claim A1 granted
    22.000  A   m2: claim A1 granted
    22.000  A   acquire: ok, valid for 986.000 ms
    22.000  A   m3: claim A1 granted
    40.000  B   acquire k ttl=1000
    40.000  B   claim B2 -> m1 m2 m3
    41.000  m1  SET k B2 NX PX 1000 = nil
    41.000  m2  SET k B2 NX PX 1000 = nil
    41.000  m3  SET k B2 NX PX 1000 = nil
    42.000  B   m1: claim B2 refused, held
    42.000  B   m2: claim B2 refused, held
    42.000  B   rollback B2 -> m3
    42.000  B   enqueue B3 -> m1 m2 m3
    42.000  B   m3: claim B2 refused, held
    43.000  m1  enqueue k B3 1000 0 0 1000042000  0 0 B1 = 0 43000 1000042000 0 0 978 978 0
    43.000  m2  enqueue k B3 1000 0 0 1000042000  0 0 B1 = 0 43000 1000042000 0 0 978 978 0
    43.000  m3  rollback k B2 = -1
    43.000  m3  enqueue k B3 1000 0 0 1000042000  0 0 B1 = 0 43000 1000042000 0 0 978 978 0
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
    47.000  m1  enqueue k B3 1000 0 1000042000 1000042000  0 0 B1 = 0 47000 1000042000 0 0 974 974 0
    47.000  m2  enqueue k B3 1000 0 1000042000 1000042000  0 0 B1 = 0 47000 1000042000 0 0 974 974 0
    47.000  m3  enqueue k B3 1000 0 1000042000 1000042000  0 0 B1 = 0 47000 1000042000 0 0 974 974 0
    48.000  B   m1: enqueue B3 queued
    48.000  B   m2: enqueue B3 queued
    48.000  B   m3: enqueue B3 queued
    60.000  A   quits
    60.000  A   destroy
    60.000  A   release A1 -> m1 m2 m3
    61.000  m1  release k A1 = 2  (ghost)
    61.000  m2  release k A1 = 2  (ghost)
    61.000  m3  release k A1 = 2  (ghost)
    62.000  B   m1 calls: B3 0 granted - 61000 0
    62.000  B   m2 calls: B3 0 granted - 61000 0
    62.000  B   acquire: ok, valid for 968.000 ms
    62.000  B   m3 calls: B3 0 granted - 61000 0
  1030.000  B   release B3 -> m1 m2 m3
  1030.000  B   has lost the lock
  1031.000  m1  release k B3 = 1
  1031.000  m2  release k B3 = 1
  1031.000  m3  release k B3 = 1
  1032.000  B   m1: release B3 granted
  1032.000  B   m2: release B3 granted
  1032.000  B   m3: release B3 granted
