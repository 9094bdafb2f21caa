# Two permits, three clients. A and B have the two slots. C waits for one of them, and the other one is released: the
# masters tell C, which moves there with its ticket and a fresh value. When B releases the other one nobody waits.
masters 3
calm
clients 3
max-ttl 10000
  20  A acquire s limit=2 ttl=10000
  30  B acquire s limit=2 ttl=10000
  40  C acquire s limit=2 ttl=10000 queue
 100  A release
 600  B release
 700  end
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
   100.000  A   release
   100.000  A   release A1 -> m1 m2 m3
   101.000  m1  release s#0 A1 = 4
   101.000  m2  release s#0 A1 = 4
   101.000  m3  release s#0 A1 = 4
   102.000  A   release A1 -> m1 m2 m3
   103.000  m1  release s#0 A1 = 0
   103.000  m2  release s#0 A1 = 0
   103.000  m3  release s#0 A1 = 0
   104.000  C   m1 calls: C4 0 look - 103000 0
   104.000  C   rollback C4 -> m1 m2 m3
   104.000  C   enqueue C5 -> m1 m2 m3
   104.000  A   m1: release A1 granted, handed off
   104.000  C   m2 calls: C4 0 look - 103000 0
   104.000  A   m2: release A1 granted, handed off
   104.000  C   m3 calls: C4 0 look - 103000 0
   104.000  A   m3: release A1 granted, handed off
   104.000  A   release: ok
   105.000  m1  rollback s#1 C4 = -1
   105.000  m1  enqueue s#0 C5 2000 0 1000042000 1000104000  0 0 C1 2 = 1 105000 1000042000 0 0 2001 -1 0 0
   105.000  m2  rollback s#1 C4 = -1
   105.000  m2  enqueue s#0 C5 2000 0 1000042000 1000104000  0 0 C1 2 = 1 105000 1000042000 0 0 2001 -1 0 0
   105.000  m3  rollback s#1 C4 = -1
   105.000  m3  enqueue s#0 C5 2000 0 1000042000 1000104000  0 0 C1 2 = 1 105000 1000042000 0 0 2001 -1 0 0
   106.000  C   m1: rollback C4 refused, foreign
   106.000  C   m1: enqueue C5 granted
   106.000  C   m2: rollback C4 refused, foreign
   106.000  C   m2: enqueue C5 granted
   106.000  C   acquire: ok, valid for 1976.000 ms
   106.000  C   m3: rollback C4 refused, foreign
   106.000  C   m3: enqueue C5 granted
   600.000  B   release
   600.000  B   release B2 -> m1 m2 m3
   601.000  m1  release s#1 B2 = 1
   601.000  m2  release s#1 B2 = 1
   601.000  m3  release s#1 B2 = 1
   602.000  B   m1: release B2 granted
   602.000  B   m2: release B2 granted
   602.000  B   m3: release B2 granted
   602.000  B   release: ok
   700.000  m1  has s#0 = C5 for 1407.000 ms
   700.000  m2  has s#0 = C5 for 1407.000 ms
   700.000  m3  has s#0 = C5 for 1407.000 ms
