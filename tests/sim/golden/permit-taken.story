# Two permits. B and C wait for the one, D for the other, which is released and goes to D: B, whose ticket is lower, is
# told, and moves there. The one goes to C 50 ms later. B is not told again so soon of a slot that is taken: only when
# C's is free.
masters 3
clients 4
calm
handles A 2
max-ttl 10000
  20  A acquire s limit=2 ttl=10000
  30  A' acquire s limit=2 ttl=10000
  40  B acquire s limit=2 ttl=10000 queue
  50  C acquire s limit=2 ttl=10000 queue
  60  D acquire s limit=2 ttl=10000 queue
 200  A release
 250  A' release
 400  C release
 500  end
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
    20.000  A   acquire s ttl=10000
    20.000  A   claim A1 -> m1 m2 m3
    21.000  m1  claim s#0 s#0 s#1 redlock:queue:s#1 A1 10000 0 0 = 1 0 0
    21.000  m2  claim s#0 s#0 s#1 redlock:queue:s#1 A1 10000 0 0 = 1 0 0
    21.000  m3  claim s#0 s#0 s#1 redlock:queue:s#1 A1 10000 0 0 = 1 0 0
    22.000  A   m1: claim A1 granted
    22.000  A   m2: claim A1 granted
    22.000  A   acquire: ok, valid for 9896.000 ms
    22.000  A   m3: claim A1 granted
    30.000  A'  acquire s ttl=10000
    30.000  A   claim A2 -> m1 m2 m3
    31.000  m1  claim s#1 s#1 s#0 redlock:queue:s#0 A2 10000 0 0 = 1 0 0
    31.000  m2  claim s#1 s#1 s#0 redlock:queue:s#0 A2 10000 0 0 = 1 0 0
    31.000  m3  claim s#1 s#1 s#0 redlock:queue:s#0 A2 10000 0 0 = 1 0 0
    32.000  A   m1: claim A2 granted
    32.000  A   m2: claim A2 granted
    32.000  A'  acquire: ok, valid for 9896.000 ms
    32.000  A   m3: claim A2 granted
    40.000  B   acquire s ttl=10000
    40.000  B   claim B3 -> m1 m2 m3
    41.000  m1  claim s#1 s#1 s#0 redlock:queue:s#0 B3 10000 0 0 = 0 9990 0 0
    41.000  m2  claim s#1 s#1 s#0 redlock:queue:s#0 B3 10000 0 0 = 0 9990 0 0
    41.000  m3  claim s#1 s#1 s#0 redlock:queue:s#0 B3 10000 0 0 = 0 9990 0 0
    42.000  B   m1: claim B3 refused, held
    42.000  B   m2: claim B3 refused, held
    42.000  B   rollback B3 -> m3
    42.000  B   enqueue B4 -> m1 m2 m3
    42.000  B   m3: claim B3 refused, held
    43.000  m1  enqueue s#1 B4 2000 0 0 1000042000  0 0 B1 2 = 0 43000 1000042000 0 0 9988 9988 0 0
    43.000  m2  enqueue s#1 B4 2000 0 0 1000042000  0 0 B1 2 = 0 43000 1000042000 0 0 9988 9988 0 0
    43.000  m3  rollback s#1 B3 = -1
    43.000  m3  enqueue s#1 B4 2000 0 0 1000042000  0 0 B1 2 = 0 43000 1000042000 0 0 9988 9988 0 0
    44.000  B   m1: enqueue B4 queued
    44.000  B   m2: enqueue B4 queued
    44.000  B   waits behind 0 others
    44.000  B   m3: rollback B3 refused, foreign
    44.000  B   m3: enqueue B4 queued
    46.000  B   m1 is heard
    46.000  B   enqueue B4 -> m1
    46.000  B   m2 is heard
    46.000  B   enqueue B4 -> m2
    46.000  B   m3 is heard
    46.000  B   enqueue B4 -> m3
    47.000  m1  enqueue s#1 B4 2000 0 1000042000 1000042000  0 0 B1 2 = 0 47000 1000042000 0 0 9984 9984 0 0
    47.000  m2  enqueue s#1 B4 2000 0 1000042000 1000042000  0 0 B1 2 = 0 47000 1000042000 0 0 9984 9984 0 0
    47.000  m3  enqueue s#1 B4 2000 0 1000042000 1000042000  0 0 B1 2 = 0 47000 1000042000 0 0 9984 9984 0 0
    48.000  B   m1: enqueue B4 queued
    48.000  B   m2: enqueue B4 queued
    48.000  B   m3: enqueue B4 queued
    50.000  C   acquire s ttl=10000
    50.000  C   claim C5 -> m1 m2 m3
    51.000  m1  claim s#1 s#1 s#0 redlock:queue:s#0 C5 10000 0 0 = 0 9980 0 0
    51.000  m2  claim s#1 s#1 s#0 redlock:queue:s#0 C5 10000 0 0 = 0 9980 0 0
    51.000  m3  claim s#1 s#1 s#0 redlock:queue:s#0 C5 10000 0 0 = 0 9980 0 0
    52.000  C   m1: claim C5 refused, held
    52.000  C   m2: claim C5 refused, held
    52.000  C   rollback C5 -> m3
    52.000  C   enqueue C6 -> m1 m2 m3
    52.000  C   m3: claim C5 refused, held
    53.000  m1  enqueue s#1 C6 2000 0 0 1000052000  0 0 C1 2 = 0 53000 1000052000 0 1 9978 1994 0 0
    53.000  m2  enqueue s#1 C6 2000 0 0 1000052000  0 0 C1 2 = 0 53000 1000052000 0 1 9978 1994 0 0
    53.000  m3  rollback s#1 C5 = -1
    53.000  m3  enqueue s#1 C6 2000 0 0 1000052000  0 0 C1 2 = 0 53000 1000052000 0 1 9978 1994 0 0
    54.000  C   m1: enqueue C6 queued
    54.000  C   m2: enqueue C6 queued
    54.000  C   waits behind 1 others
    54.000  C   m3: rollback C5 refused, foreign
    54.000  C   m3: enqueue C6 queued
    56.000  C   m1 is heard
    56.000  C   enqueue C6 -> m1
    56.000  C   m2 is heard
    56.000  C   enqueue C6 -> m2
    56.000  C   m3 is heard
    56.000  C   enqueue C6 -> m3
    57.000  m1  enqueue s#1 C6 2000 0 1000052000 1000052000  0 0 C1 2 = 0 57000 1000052000 0 1 9974 1990 0 0
    57.000  m2  enqueue s#1 C6 2000 0 1000052000 1000052000  0 0 C1 2 = 0 57000 1000052000 0 1 9974 1990 0 0
    57.000  m3  enqueue s#1 C6 2000 0 1000052000 1000052000  0 0 C1 2 = 0 57000 1000052000 0 1 9974 1990 0 0
    58.000  C   m1: enqueue C6 queued
    58.000  C   m2: enqueue C6 queued
    58.000  C   m3: enqueue C6 queued
    60.000  D   acquire s ttl=10000
    60.000  D   claim D7 -> m1 m2 m3
    61.000  m1  claim s#0 s#0 s#1 redlock:queue:s#1 D7 10000 0 0 = 0 9960 0 0
    61.000  m2  claim s#0 s#0 s#1 redlock:queue:s#1 D7 10000 0 0 = 0 9960 0 0
    61.000  m3  claim s#0 s#0 s#1 redlock:queue:s#1 D7 10000 0 0 = 0 9960 0 0
    62.000  D   m1: claim D7 refused, held
    62.000  D   m2: claim D7 refused, held
    62.000  D   rollback D7 -> m3
    62.000  D   enqueue D8 -> m1 m2 m3
    62.000  D   m3: claim D7 refused, held
    63.000  m1  enqueue s#0 D8 2000 0 0 1000062000  0 0 D1 2 = 0 63000 1000062000 0 0 9958 9958 0 0
    63.000  m2  enqueue s#0 D8 2000 0 0 1000062000  0 0 D1 2 = 0 63000 1000062000 0 0 9958 9958 0 0
    63.000  m3  rollback s#0 D7 = -1
    63.000  m3  enqueue s#0 D8 2000 0 0 1000062000  0 0 D1 2 = 0 63000 1000062000 0 0 9958 9958 0 0
    64.000  D   m1: enqueue D8 queued
    64.000  D   m2: enqueue D8 queued
    64.000  D   waits behind 0 others
    64.000  D   m3: rollback D7 refused, foreign
    64.000  D   m3: enqueue D8 queued
    66.000  D   m1 is heard
    66.000  D   enqueue D8 -> m1
    66.000  D   m2 is heard
    66.000  D   enqueue D8 -> m2
    66.000  D   m3 is heard
    66.000  D   enqueue D8 -> m3
    67.000  m1  enqueue s#0 D8 2000 0 1000062000 1000062000  0 0 D1 2 = 0 67000 1000062000 0 0 9954 9954 0 0
    67.000  m2  enqueue s#0 D8 2000 0 1000062000 1000062000  0 0 D1 2 = 0 67000 1000062000 0 0 9954 9954 0 0
    67.000  m3  enqueue s#0 D8 2000 0 1000062000 1000062000  0 0 D1 2 = 0 67000 1000062000 0 0 9954 9954 0 0
    68.000  D   m1: enqueue D8 queued
    68.000  D   m2: enqueue D8 queued
    68.000  D   m3: enqueue D8 queued
   200.000  A   release
   200.000  A   release A1 -> m1 m2 m3
   201.000  m1  release s#0 A1 = 4
   201.000  m2  release s#0 A1 = 4
   201.000  m3  release s#0 A1 = 4
   202.000  A   release A1 -> m1 m2 m3
   203.000  m1  release s#0 A1 = 0
   203.000  m2  release s#0 A1 = 0
   203.000  m3  release s#0 A1 = 0
   204.000  D   m1 calls: D8 0 granted - 203000 0
   204.000  B   m1 calls: B4 0 look - 203000 0
   204.000  B   rollback B4 -> m1 m2 m3
   204.000  B   enqueue B9 -> m1 m2 m3
   204.000  A   m1: release A1 granted, handed off
   204.000  D   m2 calls: D8 0 granted - 203000 0
   204.000  D   acquire: ok, valid for 1836.000 ms
   204.000  B   m2 calls: B4 0 look - 203000 0
   204.000  A   m2: release A1 granted, handed off
   204.000  D   m3 calls: D8 0 granted - 203000 0
   204.000  B   m3 calls: B4 0 look - 203000 0
   204.000  A   m3: release A1 granted, handed off
   204.000  A   release: ok
   205.000  m1  rollback s#1 B4 = -1
   205.000  m1  enqueue s#0 B9 2000 0 1000042000 1000204000  0 0 B1 2 = 0 205000 1000042000 0 0 1863 1863 0 0
   205.000  m2  rollback s#1 B4 = -1
   205.000  m2  enqueue s#0 B9 2000 0 1000042000 1000204000  0 0 B1 2 = 0 205000 1000042000 0 0 1863 1863 0 0
   205.000  m3  rollback s#1 B4 = -1
   205.000  m3  enqueue s#0 B9 2000 0 1000042000 1000204000  0 0 B1 2 = 0 205000 1000042000 0 0 1863 1863 0 0
   206.000  B   m1: rollback B4 refused, foreign
   206.000  B   m1: enqueue B9 queued
   206.000  D   m1 calls: D8 0 lower - 205000 0
   206.000  B   m2: rollback B4 refused, foreign
   206.000  B   m2: enqueue B9 queued
   206.000  D   m2 calls: D8 0 lower - 205000 0
   206.000  B   m3: rollback B4 refused, foreign
   206.000  B   m3: enqueue B9 queued
   206.000  D   m3 calls: D8 0 lower - 205000 0
   250.000  A'  release
   250.000  A   release A2 -> m1 m2 m3
   251.000  m1  release s#1 A2 = 2
   251.000  m2  release s#1 A2 = 2
   251.000  m3  release s#1 A2 = 2
   252.000  C   m1 calls: C6 0 granted - 251000 0
   252.000  A   m1: release A2 granted, handed off
   252.000  C   m2 calls: C6 0 granted - 251000 0
   252.000  C   acquire: ok, valid for 1778.000 ms
   252.000  A   m2: release A2 granted, handed off
   252.000  C   m3 calls: C6 0 granted - 251000 0
   252.000  A   m3: release A2 granted, handed off
   252.000  A'  release: ok
   400.000  C   release
   400.000  C   release C6 -> m1 m2 m3
   401.000  m1  release s#1 C6 = 1
   401.000  m2  release s#1 C6 = 1
   401.000  m3  release s#1 C6 = 1
   402.000  B   m1 calls: B9 0 look - 401000 1
   402.000  B   rollback B9 -> m1 m2 m3
   402.000  B   enqueue B10 -> m1 m2 m3
   402.000  C   m1: release C6 granted
   402.000  B   m2 calls: B9 0 look - 401000 1
   402.000  C   m2: release C6 granted
   402.000  B   m3 calls: B9 0 look - 401000 1
   402.000  C   m3: release C6 granted
   402.000  C   release: ok
   403.000  m1  rollback s#0 B9 = -1
   403.000  m1  enqueue s#1 B10 2000 0 1000042000 1000402000  0 0 B1 2 = 1 403000 1000042000 0 0 2001 -1 0 0
   403.000  m2  rollback s#0 B9 = -1
   403.000  m2  enqueue s#1 B10 2000 0 1000042000 1000402000  0 0 B1 2 = 1 403000 1000042000 0 0 2001 -1 0 0
   403.000  m3  rollback s#0 B9 = -1
   403.000  m3  enqueue s#1 B10 2000 0 1000042000 1000402000  0 0 B1 2 = 1 403000 1000042000 0 0 2001 -1 0 0
   404.000  B   m1: rollback B9 refused, foreign
   404.000  B   m1: enqueue B10 granted
   404.000  B   m2: rollback B9 refused, foreign
   404.000  B   m2: enqueue B10 granted
   404.000  B   acquire: ok, valid for 1976.000 ms
   404.000  B   m3: rollback B9 refused, foreign
   404.000  B   m3: enqueue B10 granted
   500.000  m1  has s#0 = D8 for 1569.000 ms
   500.000  m1  has s#1 = B10 for 1905.000 ms
   500.000  m2  has s#0 = D8 for 1569.000 ms
   500.000  m2  has s#1 = B10 for 1905.000 ms
   500.000  m3  has s#0 = D8 for 1569.000 ms
   500.000  m3  has s#1 = B10 for 1905.000 ms
