# Readers between writers. A holds k; B and C wait to share it, and D waits behind them to have it for itself. A's
# release gives k to B and C together, in one script on each master. A comes back to share k: D waits, so it may not pass. C's
# release is the last, and hands k off to D.
masters 3
clients 4
  20    A acquire k ttl=6000
  40    B acquire k ttl=6000 shared queue
  50    C acquire k ttl=6000 shared queue
  60    D acquire k ttl=6000 queue
  80    A release
 100    A acquire k ttl=6000 shared once
 120    B release
 140    C release
 160    end
---
     4.000  A   m1 is ready
     4.000  A   m2 is ready
     4.000  A   m3 is ready
     4.000  B   m1 is ready
     4.000  B   m2 is ready
     4.000  B   m3 is ready
     4.000  C   m1 is ready
     4.000  C   m2 is ready
     4.000  C   m3 is ready
     4.000  D   m1 is ready
     4.000  D   m2 is ready
     4.000  D   m3 is ready
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
    50.000  C   acquire k ttl=6000
    50.000  C   claim C4 -> m1 m2 m3
    51.000  m1  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k C4 6000 r 0 0  = 0 5970 0 1
    51.000  m2  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k C4 6000 r 0 0  = 0 5970 0 1
    51.000  m3  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k C4 6000 r 0 0  = 0 5970 0 1
    52.000  C   m1: claim C4 refused, held
    52.000  C   m2: claim C4 refused, held
    52.000  C   rollback C4 -> m3
    52.000  C   enqueue C5 -> m1 m2 m3
    52.000  C   m3: claim C4 refused, held
    53.000  m1  enqueue k C5 2000 0 0 1000052000  0 0 C1 r  = 0 53000 1000052000 0 1 5968 1994 0
    53.000  m2  enqueue k C5 2000 0 0 1000052000  0 0 C1 r  = 0 53000 1000052000 0 1 5968 1994 0
    53.000  m3  rollback k C4 = -1
    53.000  m3  enqueue k C5 2000 0 0 1000052000  0 0 C1 r  = 0 53000 1000052000 0 1 5968 1994 0
    54.000  C   m1: enqueue C5 queued
    54.000  C   m2: enqueue C5 queued
    54.000  C   waits behind 1 others
    54.000  C   m3: rollback C4 refused, foreign
    54.000  C   m3: enqueue C5 queued
    56.000  C   m1 is heard
    56.000  C   enqueue C5 -> m1
    56.000  C   m2 is heard
    56.000  C   enqueue C5 -> m2
    56.000  C   m3 is heard
    56.000  C   enqueue C5 -> m3
    57.000  m1  enqueue k C5 2000 0 1000052000 1000052000  0 0 C1 r  = 0 57000 1000052000 0 1 5964 1990 0
    57.000  m2  enqueue k C5 2000 0 1000052000 1000052000  0 0 C1 r  = 0 57000 1000052000 0 1 5964 1990 0
    57.000  m3  enqueue k C5 2000 0 1000052000 1000052000  0 0 C1 r  = 0 57000 1000052000 0 1 5964 1990 0
    58.000  C   m1: enqueue C5 queued
    58.000  C   m2: enqueue C5 queued
    58.000  C   m3: enqueue C5 queued
    60.000  D   acquire k ttl=6000
    60.000  D   claim D6 -> m1 m2 m3
    61.000  m1  SET k D6 NX PX 6000 = nil
    61.000  m2  SET k D6 NX PX 6000 = nil
    61.000  m3  SET k D6 NX PX 6000 = nil
    62.000  D   m1: claim D6 refused, held
    62.000  D   m2: claim D6 refused, held
    62.000  D   rollback D6 -> m3
    62.000  D   enqueue D7 -> m1 m2 m3
    62.000  D   m3: claim D6 refused, held
    63.000  m1  enqueue k D7 2000 0 0 1000062000  0 0 D1 = 0 63000 1000062000 0 2 5958 1994 0
    63.000  m2  enqueue k D7 2000 0 0 1000062000  0 0 D1 = 0 63000 1000062000 0 2 5958 1994 0
    63.000  m3  rollback k D6 = -1
    63.000  m3  enqueue k D7 2000 0 0 1000062000  0 0 D1 = 0 63000 1000062000 0 2 5958 1994 0
    64.000  D   m1: enqueue D7 queued
    64.000  D   m2: enqueue D7 queued
    64.000  D   waits behind 2 others
    64.000  D   m3: rollback D6 refused, foreign
    64.000  D   m3: enqueue D7 queued
    66.000  D   m1 is heard
    66.000  D   enqueue D7 -> m1
    66.000  D   m2 is heard
    66.000  D   enqueue D7 -> m2
    66.000  D   m3 is heard
    66.000  D   enqueue D7 -> m3
    67.000  m1  enqueue k D7 2000 0 1000062000 1000062000  0 0 D1 = 0 67000 1000062000 0 2 5954 1990 0
    67.000  m2  enqueue k D7 2000 0 1000062000 1000062000  0 0 D1 = 0 67000 1000062000 0 2 5954 1990 0
    67.000  m3  enqueue k D7 2000 0 1000062000 1000062000  0 0 D1 = 0 67000 1000062000 0 2 5954 1990 0
    68.000  D   m1: enqueue D7 queued
    68.000  D   m2: enqueue D7 queued
    68.000  D   m3: enqueue D7 queued
    80.000  A   release
    80.000  A   release A1 -> m1 m2 m3
    81.000  m1  release k A1 = 4
    81.000  m2  release k A1 = 4
    81.000  m3  release k A1 = 4
    82.000  A   release A1 -> m1 m2 m3
    83.000  m1  release k A1 = 0
    83.000  m2  release k A1 = 0
    83.000  m3  release k A1 = 0
    84.000  B   m1 calls: B3 0 granted - 83000 0
    84.000  C   m1 calls: C5 0 granted - 83000 0
    84.000  A   m1: release A1 granted, handed off
    84.000  B   m2 calls: B3 0 granted - 83000 0
    84.000  B   acquire: ok, valid for 1936.000 ms
    84.000  C   m2 calls: C5 0 granted - 83000 0
    84.000  C   acquire: ok, valid for 1946.000 ms
    84.000  A   m2: release A1 granted, handed off
    84.000  B   m3 calls: B3 0 granted - 83000 0
    84.000  C   m3 calls: C5 0 granted - 83000 0
    84.000  A   m3: release A1 granted, handed off
    84.000  A   release: ok
   100.000  A   acquire k ttl=6000
   100.000  A   claim A8 -> m1 m2 m3
   101.000  m1  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k A8 6000 r 0 0  = 0 1958 0 2
   101.000  m2  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k A8 6000 r 0 0  = 0 1958 0 2
   101.000  m3  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k A8 6000 r 0 0  = 0 1958 0 2
   102.000  A   m1: claim A8 refused, others wait
   102.000  A   m2: claim A8 refused, others wait
   102.000  A   rollback A8 -> m3
   102.000  A   acquire: held
   102.000  A   m3: claim A8 refused, others wait
   103.000  m3  rollback k A8 = 0
   104.000  A   m3: rollback A8 refused, missing
   120.000  B   release
   120.000  B   release B3 -> m1 m2 m3
   121.000  m1  release k B3 = 1
   121.000  m2  release k B3 = 1
   121.000  m3  release k B3 = 1
   122.000  B   m1: release B3 granted
   122.000  B   m2: release B3 granted
   122.000  B   m3: release B3 granted
   122.000  B   release: ok
   140.000  C   release
   140.000  C   release C5 -> m1 m2 m3
   141.000  m1  release k C5 = 2
   141.000  m2  release k C5 = 2
   141.000  m3  release k C5 = 2
   142.000  D   m1 calls: D7 0 granted - 141000 0
   142.000  C   m1: release C5 granted, handed off
   142.000  D   m2 calls: D7 0 granted - 141000 0
   142.000  D   acquire: ok, valid for 1898.000 ms
   142.000  C   m2: release C5 granted, handed off
   142.000  D   m3 calls: D7 0 granted - 141000 0
   142.000  C   m3: release C5 granted, handed off
   142.000  C   release: ok
   160.000  m1  has k = D7 for 1909.000 ms
   160.000  m2  has k = D7 for 1909.000 ms
   160.000  m3  has k = D7 for 1909.000 ms
