# From exclusive to shared. A holds k, and B waits in the queue to share it. A lowers its mode: the handle first, so
# that what it counts on is never more than what the masters have. Then one extension tells them, each of which lets B
# in at once and notifies it. At the end both share k, each until an end of its own.
masters 3
clients 2
  20    A acquire k ttl=6000
  40    B acquire k ttl=6000 shared queue
  60    A share
 100    end
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
    41.000  m1  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k B2 6000 r 0 0  = 0 5980 0 1
    41.000  m2  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k B2 6000 r 0 0  = 0 5980 0 1
    41.000  m3  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k B2 6000 r 0 0  = 0 5980 0 1
    42.000  B   m1: claim B2 refused, held
    42.000  B   m2: claim B2 refused, held
    42.000  B   rollback B2 -> m3
    42.000  B   enqueue B3 -> m1 m2 m3
    42.000  B   m3: claim B2 refused, held
    43.000  m1  enqueue k B3 2000 0 0 1000042000  0 0 B1 r  = 0 43000 1000042000 0 0 5978 5978 0
    43.000  m2  enqueue k B3 2000 0 0 1000042000  0 0 B1 r  = 0 43000 1000042000 0 0 5978 5978 0
    43.000  m3  rollback k B2 = -1
    43.000  m3  enqueue k B3 2000 0 0 1000042000  0 0 B1 r  = 0 43000 1000042000 0 0 5978 5978 0
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
    47.000  m1  enqueue k B3 2000 0 1000042000 1000042000  0 0 B1 r  = 0 47000 1000042000 0 0 5974 5974 0
    47.000  m2  enqueue k B3 2000 0 1000042000 1000042000  0 0 B1 r  = 0 47000 1000042000 0 0 5974 5974 0
    47.000  m3  enqueue k B3 2000 0 1000042000 1000042000  0 0 B1 r  = 0 47000 1000042000 0 0 5974 5974 0
    48.000  B   m1: enqueue B3 queued
    48.000  B   m2: enqueue B3 queued
    48.000  B   m3: enqueue B3 queued
    60.000  A   shares the lock from now on
    60.000  A   extend A1 -> m1 m2 m3
    61.000  m1  extend k redlock:queue:k redlock:waiters:k redlock:fence:k k A1 6000 r = 1
    61.000  m2  extend k redlock:queue:k redlock:waiters:k redlock:fence:k k A1 6000 r = 1
    61.000  m3  extend k redlock:queue:k redlock:waiters:k redlock:fence:k k A1 6000 r = 1
    62.000  B   m1 calls: B3 0 granted - 61000 0
    62.000  A   m1: extend A1 granted
    62.000  B   m2 calls: B3 0 granted - 61000 0
    62.000  B   acquire: ok, valid for 1958.000 ms
    62.000  A   m2: extend A1 granted
    62.000  A   convert: ok, valid for 5936.000 ms
    62.000  B   m3 calls: B3 0 granted - 61000 0
    62.000  A   m3: extend A1 granted
   100.000  m1  has k = B3, shared, for 1949.000 ms
   100.000  m1  has k = A1, shared, for 5962.000 ms
   100.000  m2  has k = B3, shared, for 1949.000 ms
   100.000  m2  has k = A1, shared, for 5962.000 ms
   100.000  m3  has k = B3, shared, for 1949.000 ms
   100.000  m3  has k = A1, shared, for 5962.000 ms
