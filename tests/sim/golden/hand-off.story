# Hand-off. B waits in the queue while A holds the lock, and A knows nothing of that: its release names no more than the
# queue, finds somebody in it, and is repeated with all keys. That gives each master's key to B and notifies B in the
# same script: the notification is B's vote, and B holds the lock one way after the release was carried out. The keys
# live for B's lease of 2 s; half of it over, an extension brings the ttl that B has asked for.
masters 3
clients 2
  20    A acquire k ttl=6000
  40    B acquire k ttl=6000 queue
  60    A release
1100    end
---
     4.000  A   m1 is ready
     4.000  A   m2 is ready
     4.000  A   m3 is ready
     4.000  B   m1 is ready
     4.000  B   m2 is ready
     4.000  B   m3 is ready
    20.000  A   acquire k ttl=6000
    20.000  A   claim A1 -> m1 m2 m3
    21.000  m1  SET k A1 NX PX 6000 = OK
    21.000  m2  SET k A1 NX PX 6000 = OK
    21.000  m3  SET k A1 NX PX 6000 = OK
    22.000  A   m1: claim A1 granted
    22.000  A   m2: claim A1 granted
    22.000  A   acquire: ok, valid for 5936.000 ms
    22.000  A   m3: claim A1 granted
    40.000  B   acquire k ttl=6000
    40.000  B   claim B2 -> m1 m2 m3
    41.000  m1  SET k B2 NX PX 6000 = nil
    41.000  m2  SET k B2 NX PX 6000 = nil
    41.000  m3  SET k B2 NX PX 6000 = nil
    42.000  B   m1: claim B2 refused, held
    42.000  B   m2: claim B2 refused, held
    42.000  B   rollback B2 -> m3
    42.000  B   enqueue B3 -> m1 m2 m3
    42.000  B   m3: claim B2 refused, held
    43.000  m1  enqueue k B3 2000 0 0 1000042000  0 0 B1 = 0 43000 1000042000 0 0 5978 5978 0
    43.000  m2  enqueue k B3 2000 0 0 1000042000  0 0 B1 = 0 43000 1000042000 0 0 5978 5978 0
    43.000  m3  rollback k B2 = -1
    43.000  m3  enqueue k B3 2000 0 0 1000042000  0 0 B1 = 0 43000 1000042000 0 0 5978 5978 0
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
    47.000  m1  enqueue k B3 2000 0 1000042000 1000042000  0 0 B1 = 0 47000 1000042000 0 0 5974 5974 0
    47.000  m2  enqueue k B3 2000 0 1000042000 1000042000  0 0 B1 = 0 47000 1000042000 0 0 5974 5974 0
    47.000  m3  enqueue k B3 2000 0 1000042000 1000042000  0 0 B1 = 0 47000 1000042000 0 0 5974 5974 0
    48.000  B   m1: enqueue B3 queued
    48.000  B   m2: enqueue B3 queued
    48.000  B   m3: enqueue B3 queued
    60.000  A   release
    60.000  A   release A1 -> m1 m2 m3
    61.000  m1  release k A1 = 4
    61.000  m2  release k A1 = 4
    61.000  m3  release k A1 = 4
    62.000  A   release A1 -> m1 m2 m3
    63.000  m1  release k A1 = 0
    63.000  m2  release k A1 = 0
    63.000  m3  release k A1 = 0
    64.000  B   m1 calls: B3 0 granted - 63000 0
    64.000  A   m1: release A1 granted, handed off
    64.000  B   m2 calls: B3 0 granted - 63000 0
    64.000  B   acquire: ok, valid for 1956.000 ms
    64.000  A   m2: release A1 granted, handed off
    64.000  B   m3 calls: B3 0 granted - 63000 0
    64.000  A   m3: release A1 granted, handed off
    64.000  A   release: ok
  1042.000  B   extend B3 -> m1 m2 m3
  1043.000  m1  extend k B3 6000 = 1
  1043.000  m2  extend k B3 6000 = 1
  1043.000  m3  extend k B3 6000 = 1
  1044.000  B   m1: extend B3 granted
  1044.000  B   m2: extend B3 granted
  1044.000  B   has renewed the lock
  1044.000  B   m3: extend B3 granted
  1100.000  m1  has k = B3 for 5944.000 ms
  1100.000  m2  has k = B3 for 5944.000 ms
  1100.000  m3  has k = B3 for 5944.000 ms
