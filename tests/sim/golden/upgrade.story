# From upgradeable to exclusive. A may read beside B, and C waits to write. A wants to write, too. Its second value takes
# the place of its first one, so masters do not count that one as a conflict; and it stands in front of C, who waits for A
# itself. A keeps the first one until B has gone and the second one has a quorum. C has the key when A releases it. An
# upgrade behind the queue would wait for C, and C for A.
masters 3
clients 3
  20    A acquire k ttl=6000 upgradeable
  30    B acquire k ttl=6000 shared
  40    C acquire k ttl=6000 queue
  60    A upgrade
  80    B release
 100    A release
 120    end
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
    20.000  A   acquire k ttl=6000
    20.000  A   claim A1 -> m1 m2 m3
    21.000  m1  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k A1 6000 u 0 0  = 1 0
    21.000  m2  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k A1 6000 u 0 0  = 1 0
    21.000  m3  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k A1 6000 u 0 0  = 1 0
    22.000  A   m1: claim A1 granted
    22.000  A   m2: claim A1 granted
    22.000  A   acquire: ok, valid for 5936.000 ms
    22.000  A   m3: claim A1 granted
    30.000  B   acquire k ttl=6000
    30.000  B   claim B2 -> m1 m2 m3
    31.000  m1  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k B2 6000 r 0 0  = 1 0
    31.000  m2  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k B2 6000 r 0 0  = 1 0
    31.000  m3  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k B2 6000 r 0 0  = 1 0
    32.000  B   m1: claim B2 granted
    32.000  B   m2: claim B2 granted
    32.000  B   acquire: ok, valid for 5936.000 ms
    32.000  B   m3: claim B2 granted
    40.000  C   acquire k ttl=6000
    40.000  C   claim C3 -> m1 m2 m3
    41.000  m1  SET k C3 NX PX 6000 = nil
    41.000  m2  SET k C3 NX PX 6000 = nil
    41.000  m3  SET k C3 NX PX 6000 = nil
    42.000  C   m1: claim C3 refused, held
    42.000  C   m2: claim C3 refused, held
    42.000  C   rollback C3 -> m3
    42.000  C   enqueue C4 -> m1 m2 m3
    42.000  C   m3: claim C3 refused, held
    43.000  m1  enqueue k C4 2000 0 0 1000042000  0 0 C1 = 0 43000 1000042000 0 0 5989 5989 0
    43.000  m2  enqueue k C4 2000 0 0 1000042000  0 0 C1 = 0 43000 1000042000 0 0 5989 5989 0
    43.000  m3  rollback k C3 = 0
    43.000  m3  enqueue k C4 2000 0 0 1000042000  0 0 C1 = 0 43000 1000042000 0 0 5989 5989 0
    44.000  C   m1: enqueue C4 queued
    44.000  C   m2: enqueue C4 queued
    44.000  C   waits behind 0 others
    44.000  C   m3: rollback C3 refused, missing
    44.000  C   m3: enqueue C4 queued
    46.000  C   m1 is heard
    46.000  C   enqueue C4 -> m1
    46.000  C   m2 is heard
    46.000  C   enqueue C4 -> m2
    46.000  C   m3 is heard
    46.000  C   enqueue C4 -> m3
    47.000  m1  enqueue k C4 2000 0 1000042000 1000042000  0 0 C1 = 0 47000 1000042000 0 0 5985 5985 0
    47.000  m2  enqueue k C4 2000 0 1000042000 1000042000  0 0 C1 = 0 47000 1000042000 0 0 5985 5985 0
    47.000  m3  enqueue k C4 2000 0 1000042000 1000042000  0 0 C1 = 0 47000 1000042000 0 0 5985 5985 0
    48.000  C   m1: enqueue C4 queued
    48.000  C   m2: enqueue C4 queued
    48.000  C   m3: enqueue C4 queued
    60.000  A   upgrade
    60.000  A   enqueue A5 -> m1 m2 m3
    61.000  m1  enqueue k A5 2000 0 1 1000060000  0 0 A1 x A1 = 0 61000 1 0 0 5971 5971 0
    61.000  m2  enqueue k A5 2000 0 1 1000060000  0 0 A1 x A1 = 0 61000 1 0 0 5971 5971 0
    61.000  m3  enqueue k A5 2000 0 1 1000060000  0 0 A1 x A1 = 0 61000 1 0 0 5971 5971 0
    62.000  A   m1: enqueue A5 queued
    62.000  A   m2: enqueue A5 queued
    62.000  A   waits behind 0 others
    62.000  A   m3: enqueue A5 queued
    64.000  A   m1 is heard
    64.000  A   enqueue A5 -> m1
    64.000  A   m2 is heard
    64.000  A   enqueue A5 -> m2
    64.000  A   m3 is heard
    64.000  A   enqueue A5 -> m3
    65.000  m1  enqueue k A5 2000 0 1 1000060000  0 0 A1 x A1 = 0 65000 1 0 0 5967 5967 0
    65.000  m2  enqueue k A5 2000 0 1 1000060000  0 0 A1 x A1 = 0 65000 1 0 0 5967 5967 0
    65.000  m3  enqueue k A5 2000 0 1 1000060000  0 0 A1 x A1 = 0 65000 1 0 0 5967 5967 0
    66.000  A   m1: enqueue A5 queued
    66.000  A   m2: enqueue A5 queued
    66.000  A   m3: enqueue A5 queued
    80.000  B   release
    80.000  B   release B2 -> m1 m2 m3
    81.000  m1  release k B2 = 2
    81.000  m2  release k B2 = 2
    81.000  m3  release k B2 = 2
    82.000  A   m1 calls: A5 0 granted - 81000 0
    82.000  B   m1: release B2 granted, handed off
    82.000  A   m2 calls: A5 0 granted - 81000 0
    82.000  A   convert: ok, valid for 1956.000 ms
    82.000  A   release A1 -> m1 m2 m3
    82.000  B   m2: release B2 granted, handed off
    82.000  A   m3 calls: A5 0 granted - 81000 0
    82.000  B   m3: release B2 granted, handed off
    82.000  B   release: ok
    83.000  m1  release k A1 = 1
    83.000  m2  release k A1 = 1
    83.000  m3  release k A1 = 1
    84.000  A   m1: release A1 granted
    84.000  A   m2: release A1 granted
    84.000  A   m3: release A1 granted
   100.000  A   release
   100.000  A   release A5 -> m1 m2 m3
   101.000  m1  release k A5 = 2
   101.000  m2  release k A5 = 2
   101.000  m3  release k A5 = 2
   102.000  C   m1 calls: C4 0 granted - 101000 0
   102.000  A   m1: release A5 granted, handed off
   102.000  C   m2 calls: C4 0 granted - 101000 0
   102.000  C   acquire: ok, valid for 1918.000 ms
   102.000  A   m2: release A5 granted, handed off
   102.000  C   m3 calls: C4 0 granted - 101000 0
   102.000  A   m3: release A5 granted, handed off
   102.000  A   release: ok
   120.000  m1  has k = C4 for 1929.000 ms
   120.000  m2  has k = C4 for 1929.000 ms
   120.000  m3  has k = C4 for 1929.000 ms
