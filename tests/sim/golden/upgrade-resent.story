# A claim that comes behind the upgrade of its own lock. m2 has forgotten its scripts, so it sends A's first claim back. A
# upgrades the lock that m1 and m3 have given it, and m2 gives A's second value its vote; then the first claim comes to m2
# again. It must not take the place of the second one there. B wants to read: m3 lets it in before it hears of the upgrade,
# m1 and m2 do not.
masters 3
clients 3
   5    A acquire another ttl=1000 upgradeable
   8    A release
  11    forget-scripts m2
  12    C acquire other ttl=1000 shared fifo
  20    slow A m2 down 5
  21    slow B m1 up 2
  22    slow B m2 up 6
  30    A acquire k ttl=6000 upgradeable
  32.5  B acquire k ttl=6000 shared once
  33    A upgrade
  60    A release
  80    C release
 100    end
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
     5.000  A   acquire k ttl=1000
     5.000  A   claim A1 -> m1 m2 m3
     6.000  m1  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k A1 1000 u 0 0  = 1 0
     6.000  m2  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k A1 1000 u 0 0  = 1 0
     6.000  m3  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k A1 1000 u 0 0  = 1 0
     7.000  A   m1: claim A1 granted
     7.000  A   m2: claim A1 granted
     7.000  A   acquire: ok, valid for 986.000 ms
     7.000  A   m3: claim A1 granted
     8.000  A   release
     8.000  A   release A1 -> m1 m2 m3
     9.000  m1  release k A1 = 1
     9.000  m2  release k A1 = 1
     9.000  m3  release k A1 = 1
    10.000  A   m1: release A1 granted
    10.000  A   m2: release A1 granted
    10.000  A   m3: release A1 granted
    10.000  A   release: ok
    12.000  C   acquire other ttl=1000
    12.000  C   enqueue C2 -> m1 m2 m3
    13.000  m1  enqueue other C2 1000 0 0 1000012000  0 0 C1 r  = 1 13000 1000012000 0 0 1002 -1 0
    13.000  m2  enqueue other C2 1000 0 0 1000012000  0 0 C1 r  = 1 13000 1000012000 0 0 1002 -1 0
    13.000  m3  enqueue other C2 1000 0 0 1000012000  0 0 C1 r  = 1 13000 1000012000 0 0 1002 -1 0
    14.000  C   m1: enqueue C2 granted
    14.000  C   m2: enqueue C2 granted
    14.000  C   acquire: ok, valid for 986.000 ms
    14.000  C   m3: enqueue C2 granted
    16.000  C   m1 is heard
    16.000  C   m2 is heard
    16.000  C   m3 is heard
    20.000  --  slow A m2 down
    21.000  --  slow B m1 up
    22.000  --  slow B m2 up
    30.000  A   acquire k ttl=6000
    30.000  A   claim A3 -> m1 m2 m3
    31.000  m1  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k A3 6000 u 0 0  = 1 0
    31.000  m2  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k A3 6000 u 0 0  = NOSCRIPT No matching script. Please use EVAL.
    31.000  m3  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k A3 6000 u 0 0  = 1 0
    32.000  A   m1: claim A3 granted
    32.000  A   m3: claim A3 granted
    32.000  A   acquire: ok, valid for 5936.000 ms
    32.500  B   acquire k ttl=6000
    32.500  B   claim B4 -> m1 m2 m3
    33.000  A   upgrade
    33.000  A   enqueue A5 -> m1 m2 m3
    33.500  m3  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k B4 6000 r 0 0  = 1 0
    34.000  m1  enqueue k A5 2000 0 1 1000033000  0 0 A1 x A3 = 1 34000 1 0 0 5998 -1 0
    34.000  m2  enqueue k A5 2000 0 1 1000033000  0 0 A1 x A3 = 1 34000 1 0 0 2001 -1 0
    34.000  m3  enqueue k A5 2000 0 1 1000033000  0 0 A1 x A3 = 0 34000 1 0 0 6000 6000 0
    34.500  B   m3: claim B4 granted
    35.000  A   m1: enqueue A5 granted
    35.000  A   m3: enqueue A5 queued
    35.000  A   waits behind 0 others
    35.500  m1  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k B4 6000 r 0 0  = 0 5997 0 1
    36.500  B   m1: claim B4 refused, held
    37.000  A   claim A3 -> m2
    37.000  A   m1 is heard
    37.000  A   enqueue A5 -> m1
    37.000  A   m3 is heard
    37.000  A   enqueue A5 -> m3
    38.000  m2  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k A3 6000 u 0 0  = 0 1997 0 1
    38.000  m1  enqueue k A5 2000 0 1 1000033000  0 0 A1 x A3 = 1 38000 1 0 0 5994 -1 0
    38.000  m3  enqueue k A5 2000 0 1 1000033000  0 0 A1 x A3 = 0 38000 1 0 0 5996 5996 0
    39.000  A   m1: enqueue A5 granted
    39.000  A   m3: enqueue A5 queued
    39.500  m2  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k B4 6000 r 0 0  = 0 1996 0 1
    40.000  A   m2: enqueue A5 granted
    40.000  A   convert: ok, valid for 1971.000 ms
    40.000  A   release A3 -> m1 m2 m3
    40.500  B   m2: claim B4 refused, held
    40.500  B   rollback B4 -> m3
    40.500  B   acquire: held
    41.000  m1  release k A3 = 1
    41.000  m2  release k A3 = NOSCRIPT No matching script. Please use EVAL.
    41.000  m3  release k A3 = 1
    41.500  m3  rollback k B4 = 2
    42.000  A   m1: release A3 granted
    42.000  A   m3: release A3 granted
    42.500  A   m3 calls: A5 0 granted - 41500 0
    42.500  B   m3: rollback B4 granted, handed off
    44.000  A   m2: claim A3 refused, held
    47.000  A   m2 is heard
    47.000  A   release A3 -> m2
    48.000  m2  release k A3 = -1
    54.000  A   m2: release A3 refused, foreign
    60.000  A   release
    60.000  A   release A5 -> m1 m2 m3
    61.000  m1  release k A5 = 1
    61.000  m2  release k A5 = 1
    61.000  m3  release k A5 = 1
    62.000  A   m1: release A5 granted
    62.000  A   m3: release A5 granted
    67.000  A   m2: release A5 granted
    67.000  A   release: ok
    80.000  C   release
    80.000  C   release C2 -> m1 m2 m3
    81.000  m1  release other C2 = 1
    81.000  m2  release other C2 = 1
    81.000  m3  release other C2 = 1
    82.000  C   m1: release C2 granted
    82.000  C   m2: release C2 granted
    82.000  C   m3: release C2 granted
    82.000  C   release: ok
