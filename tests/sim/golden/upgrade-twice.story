# A second upgrade, on a master that has not heard of the first one's end. A upgrades beside the reader B, lowers its lock
# to upgradeable as soon as m1 and m2 have let it in, which lets C read, and upgrades once more. On m3, B's release comes
# late and gives A's first exclusive value its vote; then comes the release of A's upgradeable value, which m3 had sent
# back for want of its script. The second exclusive value must wait there until m3 has heard that the first one is weaker:
# both would have one mark, which would go with the first one, and leave a vote that nobody sees.
masters 3
clients 3
   5    A acquire one ttl=6000 upgradeable
   5    B acquire two ttl=6000 shared
   8    A extend
  11    A release
  11    B release
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
     5.000  A   acquire k ttl=6000
     5.000  A   claim A1 -> m1 m2 m3
     5.000  B   acquire k ttl=6000
     5.000  B   claim B2 -> m1 m2 m3
     6.000  m1  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k A1 6000 u 0 0  = 1 0
     6.000  m2  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k A1 6000 u 0 0  = 1 0
     6.000  m3  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k A1 6000 u 0 0  = 1 0
     6.000  m1  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k B2 6000 r 0 0  = 1 0
     6.000  m2  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k B2 6000 r 0 0  = 1 0
     6.000  m3  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k B2 6000 r 0 0  = 1 0
     7.000  A   m1: claim A1 granted
     7.000  A   m2: claim A1 granted
     7.000  A   acquire: ok, valid for 5936.000 ms
     7.000  A   m3: claim A1 granted
     7.000  B   m1: claim B2 granted
     7.000  B   m2: claim B2 granted
     7.000  B   acquire: ok, valid for 5936.000 ms
     7.000  B   m3: claim B2 granted
     8.000  A   extend ttl=6000
     8.000  A   extend A1 -> m1 m2 m3
     9.000  m1  extend k A1 6000 u = 1
     9.000  m2  extend k A1 6000 u = 1
     9.000  m3  extend k A1 6000 u = 1
    10.000  A   m1: extend A1 granted
    10.000  A   m2: extend A1 granted
    10.000  A   extend: ok, valid for 5936.000 ms
    10.000  A   m3: extend A1 granted
    11.000  A   release
    11.000  A   release A1 -> m1 m2 m3
    11.000  B   release
    11.000  B   release B2 -> m1 m2 m3
    12.000  m1  release k A1 = 1
    12.000  m2  release k A1 = 1
    12.000  m3  release k A1 = 1
    12.000  m1  release k B2 = 1
    12.000  m2  release k B2 = 1
    12.000  m3  release k B2 = 1
    13.000  A   m1: release A1 granted
    13.000  A   m2: release A1 granted
    13.000  A   m3: release A1 granted
    13.000  A   release: ok
    13.000  B   m1: release B2 granted
    13.000  B   m2: release B2 granted
    13.000  B   m3: release B2 granted
    13.000  B   release: ok
    20.000  A   acquire k ttl=6000
    20.000  A   claim A3 -> m1 m2 m3
    21.000  m1  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k A3 6000 u 0 0  = 1 0
    21.000  m2  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k A3 6000 u 0 0  = 1 0
    21.000  m3  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k A3 6000 u 0 0  = 1 0
    22.000  A   m1: claim A3 granted
    22.000  A   m2: claim A3 granted
    22.000  A   acquire: ok, valid for 5936.000 ms
    22.000  A   m3: claim A3 granted
    30.000  B   acquire k ttl=6000
    30.000  B   claim B4 -> m1 m2 m3
    31.000  m1  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k B4 6000 r 0 0  = 1 0
    31.000  m2  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k B4 6000 r 0 0  = 1 0
    31.000  m3  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k B4 6000 r 0 0  = 1 0
    32.000  B   m1: claim B4 granted
    32.000  B   m2: claim B4 granted
    32.000  B   acquire: ok, valid for 5936.000 ms
    32.000  B   m3: claim B4 granted
    50.000  --  slow B m3 up
    60.000  A   upgrade
    60.000  A   enqueue A5 -> m1 m2 m3
    61.000  m1  enqueue k A5 2000 0 1 1000060000  0 0 A1 x A3 = 0 61000 1 0 0 5971 5971 0
    61.000  m2  enqueue k A5 2000 0 1 1000060000  0 0 A1 x A3 = 0 61000 1 0 0 5971 5971 0
    61.000  m3  enqueue k A5 2000 0 1 1000060000  0 0 A1 x A3 = 0 61000 1 0 0 5971 5971 0
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
    65.000  m1  enqueue k A5 2000 0 1 1000060000  0 0 A1 x A3 = 0 65000 1 0 0 5967 5967 0
    65.000  m2  enqueue k A5 2000 0 1 1000060000  0 0 A1 x A3 = 0 65000 1 0 0 5967 5967 0
    65.000  m3  enqueue k A5 2000 0 1 1000060000  0 0 A1 x A3 = 0 65000 1 0 0 5967 5967 0
    66.000  A   m1: enqueue A5 queued
    66.000  A   m2: enqueue A5 queued
    66.000  A   m3: enqueue A5 queued
    81.000  C   acquire k ttl=6000
    81.000  C   enqueue C6 -> m1 m2 m3
    82.000  m1  enqueue k C6 2000 0 0 1000081000  0 0 C1 r  = 0 82000 1000081000 0 1 5950 1983 0
    82.000  m2  enqueue k C6 2000 0 0 1000081000  0 0 C1 r  = 0 82000 1000081000 0 1 5950 1983 0
    82.000  m3  enqueue k C6 2000 0 0 1000081000  0 0 C1 r  = 0 82000 1000081000 0 1 5950 1983 0
    83.000  C   m1: enqueue C6 queued
    83.000  C   m2: enqueue C6 queued
    83.000  C   waits behind 1 others
    83.000  C   m3: enqueue C6 queued
    85.000  C   m1 is heard
    85.000  C   enqueue C6 -> m1
    85.000  C   m2 is heard
    85.000  C   enqueue C6 -> m2
    85.000  C   m3 is heard
    85.000  C   enqueue C6 -> m3
    86.000  m1  enqueue k C6 2000 0 1000081000 1000081000  0 0 C1 r  = 0 86000 1000081000 0 1 5946 1979 0
    86.000  m2  enqueue k C6 2000 0 1000081000 1000081000  0 0 C1 r  = 0 86000 1000081000 0 1 5946 1979 0
    86.000  m3  enqueue k C6 2000 0 1000081000 1000081000  0 0 C1 r  = 0 86000 1000081000 0 1 5946 1979 0
    87.000  C   m1: enqueue C6 queued
    87.000  C   m2: enqueue C6 queued
    87.000  C   m3: enqueue C6 queued
    89.000  --  slow A m3 down
    90.000  B   release
    90.000  B   release B4 -> m1 m2 m3
    91.000  m1  release k B4 = 2
    91.000  m2  release k B4 = 2
    92.000  A   m1 calls: A5 0 granted - 91000 0
    92.000  B   m1: release B4 granted, handed off
    92.000  A   m2 calls: A5 0 granted - 91000 0
    92.000  A   convert: ok, valid for 1946.000 ms
    92.000  A   release A3 -> m1 m2 m3
    92.000  B   m2: release B4 granted, handed off
    93.000  A   lets readers in from now on
    93.000  A   extend A5 -> m1 m2 m3
    93.000  m1  release k A3 = 1
    93.000  m2  release k A3 = 1
    93.000  m3  release k A3 = NOSCRIPT No matching script. Please use EVAL.
    93.500  m3  release k B4 = NOSCRIPT No matching script. Please use EVAL.
    94.000  A   m1: release A3 granted
    94.000  m1  extend k redlock:queue:k redlock:waiters:k redlock:fence:k k A5 6000 u = 1
    94.000  A   m2: release A3 granted
    94.000  m2  extend k redlock:queue:k redlock:waiters:k redlock:fence:k k A5 6000 u = 1
    94.000  m3  extend k redlock:queue:k redlock:waiters:k redlock:fence:k k A5 6000 u = NOSCRIPT No matching script. Please use EVAL.
    94.500  B   release B4 -> m3
    95.000  C   m1 calls: C6 0 granted - 94000 0
    95.000  A   m1: extend A5 granted
    95.000  C   m2 calls: C6 0 granted - 94000 0
    95.000  C   acquire: ok, valid for 1964.000 ms
    95.000  A   m2: extend A5 granted
    95.000  A   convert: ok, valid for 5936.000 ms
    95.500  A   upgrade
    95.500  A   enqueue A7 -> m1 m2 m3
    96.500  m1  enqueue k A7 2000 0 1 1000095500  0 0 A1 x A5 = 0 96500 1 0 0 5999 5999 0
    96.500  m2  enqueue k A7 2000 0 1 1000095500  0 0 A1 x A5 = 0 96500 1 0 0 5999 5999 0
    96.500  m3  enqueue k A7 2000 0 1 1000095500  0 0 A1 x A5 = 0 96500 1 0 1 5936 1969 0
    97.500  A   m1: enqueue A7 queued
    97.500  A   m2: enqueue A7 queued
    97.500  A   waits behind 0 others
    98.000  m3  release k B4 = 2
    99.000  A   release A3 -> m3
    99.000  B   m3: release B4 granted, handed off
    99.000  B   release: ok
   100.000  m3  release k A3 = 1
   100.000  A   extend A5 -> m3
   101.000  m3  extend k redlock:queue:k redlock:waiters:k redlock:fence:k k A5 6000 u = 1
   102.500  A   m3: enqueue A7 queued
   104.000  A   m3 calls: A5 0 granted - 98000 0
   106.000  A   m3: release A3 granted
   107.000  A   m3 calls: A7 0 granted - 101000 0
   107.000  A   m3: extend A5 granted
   108.000  A   enqueue A7 -> m1 m2 m3
   109.000  m1  enqueue k A7 2000 1 1 1000095500  0 0 A1 x A5 = 0 109000 1 0 0 5986 5986 0
   109.000  m2  enqueue k A7 2000 1 1 1000095500  0 0 A1 x A5 = 0 109000 1 0 0 5986 5986 0
   109.000  m3  enqueue k A7 2000 1 1 1000095500  0 0 A1 x A5 = 1 109000 1 0 0 5993 -1 0
   110.000  A   m1: enqueue A7 queued
   110.000  A   m2: enqueue A7 queued
   115.000  A   m3: enqueue A7 granted
   124.000  A   enqueue A7 -> m1 m2 m3
   125.000  m1  enqueue k A7 2000 2 1 1000095500  0 0 A1 x A5 = 0 125000 1 0 0 5970 5970 0
   125.000  m2  enqueue k A7 2000 2 1 1000095500  0 0 A1 x A5 = 0 125000 1 0 0 5970 5970 0
   125.000  m3  enqueue k A7 2000 2 1 1000095500  0 0 A1 x A5 = 1 125000 1 0 0 5977 -1 0
   126.000  A   m1: enqueue A7 queued
   126.000  A   m2: enqueue A7 queued
   130.000  C   release
   130.000  C   release C6 -> m1 m2 m3
   131.000  A   m3: enqueue A7 granted
   131.000  m1  release k C6 = 2
   131.000  m2  release k C6 = 2
   131.000  m3  release k C6 = 0
   132.000  A   m1 calls: A7 2 granted - 131000 0
   132.000  A   convert: ok, valid for 1970.000 ms
   132.000  A   release A5 -> m1 m2 m3
   132.000  C   m1: release C6 granted, handed off
   132.000  A   m2 calls: A7 2 granted - 131000 0
   132.000  C   m2: release C6 granted, handed off
   132.000  C   m3: release C6 refused, missing
   132.000  C   release: ok
   133.000  m1  release k A5 = 1
   133.000  m2  release k A5 = 1
   133.000  m3  release k A5 = 1
   134.000  A   m1: release A5 granted
   134.000  A   m2: release A5 granted
   139.000  A   m3: release A5 granted
   150.000  A   release
   150.000  A   release A7 -> m1 m2 m3
   151.000  m1  release k A7 = 1
   151.000  m2  release k A7 = 1
   151.000  m3  release k A7 = 1
   152.000  A   m1: release A7 granted
   152.000  A   m2: release A7 granted
   157.000  A   m3: release A7 granted
   157.000  A   release: ok
