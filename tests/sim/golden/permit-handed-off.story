# Two permits, four clients. D waits in the queue of the slot that A releases, and is handed it. B waits there behind D.
# When the other slot becomes free, it is B that is told, and not D, whose ticket is lower and which waits no more.
masters 3
clients 4
calm
max-ttl 10000
  20  A acquire s limit=2 ttl=10000
  30  B acquire s limit=2 ttl=10000
  40  C acquire s limit=2 ttl=10000 queue
  50  D acquire s limit=2 ttl=10000 queue
 100  B release
 120  B acquire s limit=2 ttl=10000 queue
 200  A release
 300  C release
 500  D release
 600  end
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
    30.000  B   acquire s ttl=10000
    30.000  B   claim B2 -> m1 m2 m3
    31.000  m1  claim s#1 s#1 s#0 redlock:queue:s#0 B2 10000 0 0 = 1 0 0
    31.000  m2  claim s#1 s#1 s#0 redlock:queue:s#0 B2 10000 0 0 = 1 0 0
    31.000  m3  claim s#1 s#1 s#0 redlock:queue:s#0 B2 10000 0 0 = 1 0 0
    32.000  B   m1: claim B2 granted
    32.000  B   m2: claim B2 granted
    32.000  B   acquire: ok, valid for 9896.000 ms
    32.000  B   m3: claim B2 granted
    40.000  C   acquire s ttl=10000
    40.000  C   claim C3 -> m1 m2 m3
    41.000  m1  claim s#1 s#1 s#0 redlock:queue:s#0 C3 10000 0 0 = 0 9990 0 0
    41.000  m2  claim s#1 s#1 s#0 redlock:queue:s#0 C3 10000 0 0 = 0 9990 0 0
    41.000  m3  claim s#1 s#1 s#0 redlock:queue:s#0 C3 10000 0 0 = 0 9990 0 0
    42.000  C   m1: claim C3 refused, held
    42.000  C   m2: claim C3 refused, held
    42.000  C   rollback C3 -> m3
    42.000  C   enqueue C4 -> m1 m2 m3
    42.000  C   m3: claim C3 refused, held
    43.000  m1  enqueue s#1 C4 2000 0 0 1000042000  0 0 C1 2 = 0 43000 1000042000 0 0 9988 9988 0 0
    43.000  m2  enqueue s#1 C4 2000 0 0 1000042000  0 0 C1 2 = 0 43000 1000042000 0 0 9988 9988 0 0
    43.000  m3  rollback s#1 C3 = -1
    43.000  m3  enqueue s#1 C4 2000 0 0 1000042000  0 0 C1 2 = 0 43000 1000042000 0 0 9988 9988 0 0
    44.000  C   m1: enqueue C4 queued
    44.000  C   m2: enqueue C4 queued
    44.000  C   waits behind 0 others
    44.000  C   m3: rollback C3 refused, foreign
    44.000  C   m3: enqueue C4 queued
    46.000  C   m1 is heard
    46.000  C   enqueue C4 -> m1
    46.000  C   m2 is heard
    46.000  C   enqueue C4 -> m2
    46.000  C   m3 is heard
    46.000  C   enqueue C4 -> m3
    47.000  m1  enqueue s#1 C4 2000 0 1000042000 1000042000  0 0 C1 2 = 0 47000 1000042000 0 0 9984 9984 0 0
    47.000  m2  enqueue s#1 C4 2000 0 1000042000 1000042000  0 0 C1 2 = 0 47000 1000042000 0 0 9984 9984 0 0
    47.000  m3  enqueue s#1 C4 2000 0 1000042000 1000042000  0 0 C1 2 = 0 47000 1000042000 0 0 9984 9984 0 0
    48.000  C   m1: enqueue C4 queued
    48.000  C   m2: enqueue C4 queued
    48.000  C   m3: enqueue C4 queued
    50.000  D   acquire s ttl=10000
    50.000  D   claim D5 -> m1 m2 m3
    51.000  m1  claim s#0 s#0 s#1 redlock:queue:s#1 D5 10000 0 0 = 0 9970 0 0
    51.000  m2  claim s#0 s#0 s#1 redlock:queue:s#1 D5 10000 0 0 = 0 9970 0 0
    51.000  m3  claim s#0 s#0 s#1 redlock:queue:s#1 D5 10000 0 0 = 0 9970 0 0
    52.000  D   m1: claim D5 refused, held
    52.000  D   m2: claim D5 refused, held
    52.000  D   rollback D5 -> m3
    52.000  D   enqueue D6 -> m1 m2 m3
    52.000  D   m3: claim D5 refused, held
    53.000  m1  enqueue s#0 D6 2000 0 0 1000052000  0 0 D1 2 = 0 53000 1000052000 0 0 9968 9968 0 0
    53.000  m2  enqueue s#0 D6 2000 0 0 1000052000  0 0 D1 2 = 0 53000 1000052000 0 0 9968 9968 0 0
    53.000  m3  rollback s#0 D5 = -1
    53.000  m3  enqueue s#0 D6 2000 0 0 1000052000  0 0 D1 2 = 0 53000 1000052000 0 0 9968 9968 0 0
    54.000  D   m1: enqueue D6 queued
    54.000  D   m2: enqueue D6 queued
    54.000  D   waits behind 0 others
    54.000  D   m3: rollback D5 refused, foreign
    54.000  D   m3: enqueue D6 queued
    56.000  D   m1 is heard
    56.000  D   enqueue D6 -> m1
    56.000  D   m2 is heard
    56.000  D   enqueue D6 -> m2
    56.000  D   m3 is heard
    56.000  D   enqueue D6 -> m3
    57.000  m1  enqueue s#0 D6 2000 0 1000052000 1000052000  0 0 D1 2 = 0 57000 1000052000 0 0 9964 9964 0 0
    57.000  m2  enqueue s#0 D6 2000 0 1000052000 1000052000  0 0 D1 2 = 0 57000 1000052000 0 0 9964 9964 0 0
    57.000  m3  enqueue s#0 D6 2000 0 1000052000 1000052000  0 0 D1 2 = 0 57000 1000052000 0 0 9964 9964 0 0
    58.000  D   m1: enqueue D6 queued
    58.000  D   m2: enqueue D6 queued
    58.000  D   m3: enqueue D6 queued
   100.000  B   release
   100.000  B   release B2 -> m1 m2 m3
   101.000  m1  release s#1 B2 = 4
   101.000  m2  release s#1 B2 = 4
   101.000  m3  release s#1 B2 = 4
   102.000  B   release B2 -> m1 m2 m3
   103.000  m1  release s#1 B2 = 0
   103.000  m2  release s#1 B2 = 0
   103.000  m3  release s#1 B2 = 0
   104.000  C   m1 calls: C4 0 granted - 103000 0
   104.000  B   m1: release B2 granted, handed off
   104.000  C   m2 calls: C4 0 granted - 103000 0
   104.000  C   acquire: ok, valid for 1916.000 ms
   104.000  B   m2: release B2 granted, handed off
   104.000  C   m3 calls: C4 0 granted - 103000 0
   104.000  B   m3: release B2 granted, handed off
   104.000  B   release: ok
   120.000  B   acquire s ttl=10000
   120.000  B   enqueue B7 -> m1 m2 m3
   121.000  m1  enqueue s#0 B7 2000 0 0 1000120000  0 0 B1 2 = 0 121000 1000120000 0 1 9900 1936 0 0
   121.000  m2  enqueue s#0 B7 2000 0 0 1000120000  0 0 B1 2 = 0 121000 1000120000 0 1 9900 1936 0 0
   121.000  m3  enqueue s#0 B7 2000 0 0 1000120000  0 0 B1 2 = 0 121000 1000120000 0 1 9900 1936 0 0
   122.000  B   m1: enqueue B7 queued
   122.000  B   m2: enqueue B7 queued
   122.000  B   waits behind 1 others
   122.000  B   m3: enqueue B7 queued
   124.000  B   m1 is heard
   124.000  B   enqueue B7 -> m1
   124.000  B   m2 is heard
   124.000  B   enqueue B7 -> m2
   124.000  B   m3 is heard
   124.000  B   enqueue B7 -> m3
   125.000  m1  enqueue s#0 B7 2000 0 1000120000 1000120000  0 0 B1 2 = 0 125000 1000120000 0 1 9896 1932 0 0
   125.000  m2  enqueue s#0 B7 2000 0 1000120000 1000120000  0 0 B1 2 = 0 125000 1000120000 0 1 9896 1932 0 0
   125.000  m3  enqueue s#0 B7 2000 0 1000120000 1000120000  0 0 B1 2 = 0 125000 1000120000 0 1 9896 1932 0 0
   126.000  B   m1: enqueue B7 queued
   126.000  B   m2: enqueue B7 queued
   126.000  B   m3: enqueue B7 queued
   200.000  A   release
   200.000  A   release A1 -> m1 m2 m3
   201.000  m1  release s#0 A1 = 4
   201.000  m2  release s#0 A1 = 4
   201.000  m3  release s#0 A1 = 4
   202.000  A   release A1 -> m1 m2 m3
   203.000  m1  release s#0 A1 = 0
   203.000  m2  release s#0 A1 = 0
   203.000  m3  release s#0 A1 = 0
   204.000  D   m1 calls: D6 0 granted - 203000 0
   204.000  A   m1: release A1 granted, handed off
   204.000  D   m2 calls: D6 0 granted - 203000 0
   204.000  D   acquire: ok, valid for 1826.000 ms
   204.000  A   m2: release A1 granted, handed off
   204.000  D   m3 calls: D6 0 granted - 203000 0
   204.000  A   m3: release A1 granted, handed off
   204.000  A   release: ok
   300.000  C   release
   300.000  C   release C4 -> m1 m2 m3
   301.000  m1  release s#1 C4 = 1
   301.000  m2  release s#1 C4 = 1
   301.000  m3  release s#1 C4 = 1
   302.000  B   m1 calls: B7 0 look - 301000 1
   302.000  B   rollback B7 -> m1 m2 m3
   302.000  B   enqueue B8 -> m1 m2 m3
   302.000  C   m1: release C4 granted
   302.000  B   m2 calls: B7 0 look - 301000 1
   302.000  C   m2: release C4 granted
   302.000  B   m3 calls: B7 0 look - 301000 1
   302.000  C   m3: release C4 granted
   302.000  C   release: ok
   303.000  m1  rollback s#0 B7 = -1
   303.000  m1  enqueue s#1 B8 2000 0 1000120000 1000302000  0 0 B1 2 = 1 303000 1000120000 0 0 2001 -1 0 0
   303.000  m2  rollback s#0 B7 = -1
   303.000  m2  enqueue s#1 B8 2000 0 1000120000 1000302000  0 0 B1 2 = 1 303000 1000120000 0 0 2001 -1 0 0
   303.000  m3  rollback s#0 B7 = -1
   303.000  m3  enqueue s#1 B8 2000 0 1000120000 1000302000  0 0 B1 2 = 1 303000 1000120000 0 0 2001 -1 0 0
   304.000  B   m1: rollback B7 refused, foreign
   304.000  B   m1: enqueue B8 granted
   304.000  B   m2: rollback B7 refused, foreign
   304.000  B   m2: enqueue B8 granted
   304.000  B   acquire: ok, valid for 1976.000 ms
   304.000  B   m3: rollback B7 refused, foreign
   304.000  B   m3: enqueue B8 granted
   500.000  D   release
   500.000  D   release D6 -> m1 m2 m3
   501.000  m1  release s#0 D6 = 1
   501.000  m2  release s#0 D6 = 1
   501.000  m3  release s#0 D6 = 1
   502.000  D   m1: release D6 granted
   502.000  D   m2: release D6 granted
   502.000  D   m3: release D6 granted
   502.000  D   release: ok
   600.000  m1  has s#1 = B8 for 1705.000 ms
   600.000  m2  has s#1 = B8 for 1705.000 ms
   600.000  m3  has s#1 = B8 for 1705.000 ms
