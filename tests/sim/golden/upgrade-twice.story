# A second upgrade, on a master that has not heard of the first one's end. A upgrades beside the reader B, lowers its lock
# to upgradeable as soon as m1 and m2 have let it in, which lets C read, and upgrades once more. On m3, B's release comes
# late and gives A's first exclusive value its vote; then comes the release of A's upgradeable value, which m3 had sent
# back for want of its script. The second exclusive value must wait there until m3 has heard that the first one is weaker:
# both would have one mark, which would go with the first one, and leave a vote that nobody sees.
masters 3
clients 3
  20    A acquire k ttl=6000 upgradeable
  30    B acquire k ttl=6000 shared
  50    slow B m3 up 2.5
  60    A upgrade
  80    forget-scripts m3
  81    C acquire k ttl=6000 shared fifo
  89    slow A m3 down 5
  90    B release
  93    A lower
  95.5  A upgrade
 130    C release
 150    A release
 170    end
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
    50.000  --  slow B m3 up
    60.000  A   upgrade
    60.000  A   enqueue A3 -> m1 m2 m3
    61.000  m1  enqueue k A3 2000 0 1 1000060000  0 0 A1 x A1 = 0 61000 1 0 0 5971 5971 0
    61.000  m2  enqueue k A3 2000 0 1 1000060000  0 0 A1 x A1 = 0 61000 1 0 0 5971 5971 0
    61.000  m3  enqueue k A3 2000 0 1 1000060000  0 0 A1 x A1 = 0 61000 1 0 0 5971 5971 0
    62.000  A   m1: enqueue A3 queued
    62.000  A   m2: enqueue A3 queued
    62.000  A   waits behind 0 others
    62.000  A   m3: enqueue A3 queued
    64.000  A   m1 is heard
    64.000  A   enqueue A3 -> m1
    64.000  A   m2 is heard
    64.000  A   enqueue A3 -> m2
    64.000  A   m3 is heard
    64.000  A   enqueue A3 -> m3
    65.000  m1  enqueue k A3 2000 0 1 1000060000  0 0 A1 x A1 = 0 65000 1 0 0 5967 5967 0
    65.000  m2  enqueue k A3 2000 0 1 1000060000  0 0 A1 x A1 = 0 65000 1 0 0 5967 5967 0
    65.000  m3  enqueue k A3 2000 0 1 1000060000  0 0 A1 x A1 = 0 65000 1 0 0 5967 5967 0
    66.000  A   m1: enqueue A3 queued
    66.000  A   m2: enqueue A3 queued
    66.000  A   m3: enqueue A3 queued
    81.000  C   acquire k ttl=6000
    81.000  C   enqueue C4 -> m1 m2 m3
    82.000  m1  enqueue k C4 2000 0 0 1000081000  0 0 C1 r  = 0 82000 1000081000 0 1 5950 1983 0
    82.000  m2  enqueue k C4 2000 0 0 1000081000  0 0 C1 r  = 0 82000 1000081000 0 1 5950 1983 0
    82.000  m3  enqueue k C4 2000 0 0 1000081000  0 0 C1 r  = NOSCRIPT No matching script. Please use EVAL.
    83.000  C   m1: enqueue C4 queued
    83.000  C   m2: enqueue C4 queued
    83.000  C   waits behind 1 others
    83.000  C   enqueue C4 -> m3
    84.000  m3  enqueue k C4 2000 0 1000081000 1000081000  0 0 C1 r  = 0 84000 1000081000 0 1 5948 1981 0
    85.000  C   m1 is heard
    85.000  C   enqueue C4 -> m1
    85.000  C   m2 is heard
    85.000  C   enqueue C4 -> m2
    85.000  C   m3 is heard
    85.000  C   enqueue C4 -> m3
    85.000  C   m3: enqueue C4 queued
    86.000  m1  enqueue k C4 2000 0 1000081000 1000081000  0 0 C1 r  = 0 86000 1000081000 0 1 5946 1979 0
    86.000  m2  enqueue k C4 2000 0 1000081000 1000081000  0 0 C1 r  = 0 86000 1000081000 0 1 5946 1979 0
    86.000  m3  enqueue k C4 2000 0 1000081000 1000081000  0 0 C1 r  = 0 86000 1000081000 0 1 5946 1979 0
    87.000  C   m1: enqueue C4 queued
    87.000  C   m2: enqueue C4 queued
    87.000  C   m3: enqueue C4 queued
    89.000  --  slow A m3 down
    90.000  B   release
    90.000  B   release B2 -> m1 m2 m3
    91.000  m1  release k B2 = 2
    91.000  m2  release k B2 = 2
    92.000  A   m1 calls: A3 0 granted - 0091000 0
    92.000  B   m1: release B2 granted, handed off
    92.000  A   m2 calls: A3 0 granted - 0091000 0
    92.000  A   convert: ok, valid for 1946.000 ms
    92.000  A   release A1 -> m1 m2 m3
    92.000  B   m2: release B2 granted, handed off
    93.000  A   lets readers in from now on
    93.000  A   extend A3 -> m1 m2 m3
    93.000  m1  release k A1 = 1
    93.000  m2  release k A1 = 1
    93.000  m3  release k A1 = 1
    93.500  m3  release k B2 = 2
    94.000  A   m1: release A1 granted
    94.000  m1  extend k redlock:queue:k redlock:waiters:k redlock:fence:k k A3 6000 u = 1
    94.000  A   m2: release A1 granted
    94.000  m2  extend k redlock:queue:k redlock:waiters:k redlock:fence:k k A3 6000 u = 1
    94.000  m3  extend k redlock:queue:k redlock:waiters:k redlock:fence:k k A3 6000 u = NOSCRIPT No matching script. Please use EVAL.
    94.500  B   m3: release B2 granted, handed off
    94.500  B   release: ok
    95.000  C   m1 calls: C4 0 granted - 0094000 0
    95.000  A   m1: extend A3 granted
    95.000  C   m2 calls: C4 0 granted - 0094000 0
    95.000  C   acquire: ok, valid for 1964.000 ms
    95.000  A   m2: extend A3 granted
    95.000  A   convert: ok, valid for 5936.000 ms
    95.500  A   upgrade
    95.500  A   enqueue A5 -> m1 m2 m3
    96.500  m1  enqueue k A5 2000 0 1 1000095500  0 0 A1 x A3 = 0 96500 1 0 0 5999 5999 0
    96.500  m2  enqueue k A5 2000 0 1 1000095500  0 0 A1 x A3 = 0 96500 1 0 0 5999 5999 0
    96.500  m3  enqueue k A5 2000 0 1 1000095500  0 0 A1 x A3 = 1 96500 1 0 0 2002 -1 0
    97.500  A   m1: enqueue A5 queued
    97.500  A   m2: enqueue A5 queued
    97.500  A   waits behind 0 others
    99.000  A   m3: release A1 granted
    99.500  A   m3 calls: A3 0 granted - 0093500 0
   100.000  A   extend A3 -> m3
   101.000  m3  extend k redlock:queue:k redlock:waiters:k redlock:fence:k k A3 6000 u = 1
   102.500  A   m3: enqueue A5 granted
   103.500  A   enqueue A5 -> m1 m2 m3
   104.500  m1  enqueue k A5 2000 1 1 1000095500  0 0 A1 x A3 = 0 104500 1 0 0 5991 5991 0
   104.500  m2  enqueue k A5 2000 1 1 1000095500  0 0 A1 x A3 = 0 104500 1 0 0 5991 5991 0
   104.500  m3  enqueue k A5 2000 1 1 1000095500  0 0 A1 x A3 = 1 104500 1 0 0 5998 -1 0
   105.500  A   m1: enqueue A5 queued
   105.500  A   m2: enqueue A5 queued
   107.000  A   m3: extend A3 granted
   110.500  A   m3: enqueue A5 granted
   119.500  A   enqueue A5 -> m1 m2 m3
   120.500  m1  enqueue k A5 2000 2 1 1000095500  0 0 A1 x A3 = 0 120500 1 0 0 5975 5975 0
   120.500  m2  enqueue k A5 2000 2 1 1000095500  0 0 A1 x A3 = 0 120500 1 0 0 5975 5975 0
   120.500  m3  enqueue k A5 2000 2 1 1000095500  0 0 A1 x A3 = 1 120500 1 0 0 5982 -1 0
   121.500  A   m1: enqueue A5 queued
   121.500  A   m2: enqueue A5 queued
   126.500  A   m3: enqueue A5 granted
   130.000  C   release
   130.000  C   release C4 -> m1 m2 m3
   131.000  m1  release k C4 = 2
   131.000  m2  release k C4 = 2
   131.000  m3  release k C4 = 0
   132.000  A   m1 calls: A5 2 granted - 0131000 0
   132.000  A   convert: ok, valid for 1965.500 ms
   132.000  A   release A3 -> m1 m2 m3
   132.000  C   m1: release C4 granted, handed off
   132.000  A   m2 calls: A5 2 granted - 0131000 0
   132.000  C   m2: release C4 granted, handed off
   132.000  C   m3: release C4 refused, missing
   132.000  C   release: ok
   133.000  m1  release k A3 = 1
   133.000  m2  release k A3 = 1
   133.000  m3  release k A3 = 1
   134.000  A   m1: release A3 granted
   134.000  A   m2: release A3 granted
   139.000  A   m3: release A3 granted
   150.000  A   release
   150.000  A   release A5 -> m1 m2 m3
   151.000  m1  release k A5 = 1
   151.000  m2  release k A5 = 1
   151.000  m3  release k A5 = 1
   152.000  A   m1: release A5 granted
   152.000  A   m2: release A5 granted
   157.000  A   m3: release A5 granted
   157.000  A   release: ok
