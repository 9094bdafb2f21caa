# Two permits. Master 3 refused B's claim, so it gives C the slot that B holds on the others: C has the vote of a
# minority. A refresh later no hand-off can be under way any more, so C moves to the slot that A releases, and does not
# wait for B.
masters 3
clients 3
calm
max-ttl 10000
  20  A acquire s limit=2 ttl=10000
  50  refuse m3 before
  60  B acquire s limit=2 ttl=10000
  90  accept m3
 100  C acquire s limit=2 ttl=10000 queue
 700  A release
 900  B release
1000  end
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
    60.000  B   acquire s ttl=10000
    60.000  B   claim B2 -> m1 m2 m3
    61.000  m1  claim s#1 s#1 s#0 redlock:queue:s#0 B2 10000 0 0 = 1 0 0
    61.000  m2  claim s#1 s#1 s#0 redlock:queue:s#0 B2 10000 0 0 = 1 0 0
    61.000  m3  claim s#1 s#1 s#0 redlock:queue:s#0 B2 10000 0 0 = LOADING Redis is loading the dataset in memory
    62.000  B   m1: claim B2 granted
    62.000  B   m2: claim B2 granted
    62.000  B   acquire: ok, valid for 9896.000 ms
    62.000  B   m3: claim B2 failed, LOADING
   100.000  C   acquire s ttl=10000
   100.000  C   claim C3 -> m1 m2 m3
   101.000  m1  claim s#1 s#1 s#0 redlock:queue:s#0 C3 10000 0 0 = 0 9960 0 0
   101.000  m2  claim s#1 s#1 s#0 redlock:queue:s#0 C3 10000 0 0 = 0 9960 0 0
   101.000  m3  claim s#1 s#1 s#0 redlock:queue:s#0 C3 10000 0 0 = 1 0 0
   102.000  C   m1: claim C3 refused, held
   102.000  C   m2: claim C3 refused, held
   102.000  C   rollback C3 -> m3
   102.000  C   enqueue C4 -> m1 m2 m3
   102.000  C   m3: claim C3 granted
   103.000  m1  enqueue s#1 C4 2000 0 0 1000102000  0 0 C1 2 = 0 103000 1000102000 0 0 9958 9958 0 0
   103.000  m2  enqueue s#1 C4 2000 0 0 1000102000  0 0 C1 2 = 0 103000 1000102000 0 0 9958 9958 0 0
   103.000  m3  rollback s#1 C3 = 1
   103.000  m3  enqueue s#1 C4 2000 0 0 1000102000  0 0 C1 2 = 1 103000 1000102000 0 0 2001 -1 0 0
   104.000  C   m1: enqueue C4 queued
   104.000  C   m2: enqueue C4 queued
   104.000  C   waits behind 0 others
   104.000  C   m3: rollback C3 granted
   104.000  C   m3: enqueue C4 granted
   106.000  C   m1 is heard
   106.000  C   enqueue C4 -> m1
   106.000  C   m2 is heard
   106.000  C   enqueue C4 -> m2
   106.000  C   m3 is heard
   106.000  C   enqueue C4 -> m3
   107.000  m1  enqueue s#1 C4 2000 0 1000102000 1000102000  0 0 C1 2 = 0 107000 1000102000 0 0 9954 9954 0 0
   107.000  m2  enqueue s#1 C4 2000 0 1000102000 1000102000  0 0 C1 2 = 0 107000 1000102000 0 0 9954 9954 0 0
   107.000  m3  enqueue s#1 C4 2000 0 1000102000 1000102000  0 0 C1 2 = 1 107000 1000102000 0 0 2001 -1 0 0
   108.000  C   m1: enqueue C4 queued
   108.000  C   m2: enqueue C4 queued
   108.000  C   m3: enqueue C4 granted
   602.000  C   enqueue C4 -> m1 m2 m3
   603.000  m1  enqueue s#1 C4 2000 1 1000102000 1000102000  0 0 C1 2 = 0 603000 1000102000 0 0 9458 9458 0 0
   603.000  m2  enqueue s#1 C4 2000 1 1000102000 1000102000  0 0 C1 2 = 0 603000 1000102000 0 0 9458 9458 0 0
   603.000  m3  enqueue s#1 C4 2000 1 1000102000 1000102000  0 0 C1 2 = 1 603000 1000102000 0 0 2001 -1 0 0
   604.000  C   m1: enqueue C4 queued
   604.000  C   m2: enqueue C4 queued
   604.000  C   m3: enqueue C4 granted
   700.000  A   release
   700.000  A   release A1 -> m1 m2 m3
   701.000  m1  release s#0 A1 = 4
   701.000  m2  release s#0 A1 = 4
   701.000  m3  release s#0 A1 = 1
   702.000  A   release A1 -> m1 m2
   702.000  A   m3: release A1 granted
   703.000  m1  release s#0 A1 = 0
   703.000  m2  release s#0 A1 = 0
   704.000  C   m1 calls: C4 0 look - 703000 0
   704.000  C   rollback C4 -> m1 m2 m3
   704.000  C   enqueue C5 -> m1 m2 m3
   704.000  A   m1: release A1 granted, handed off
   704.000  C   m2 calls: C4 0 look - 703000 0
   704.000  A   m2: release A1 granted, handed off
   704.000  A   release: ok
   705.000  m1  rollback s#1 C4 = -1
   705.000  m1  enqueue s#0 C5 2000 0 1000102000 1000704000  0 0 C1 2 = 1 705000 1000102000 0 0 2001 -1 0 0
   705.000  m2  rollback s#1 C4 = -1
   705.000  m2  enqueue s#0 C5 2000 0 1000102000 1000704000  0 0 C1 2 = 1 705000 1000102000 0 0 2001 -1 0 0
   705.000  m3  rollback s#1 C4 = 1
   705.000  m3  enqueue s#0 C5 2000 0 1000102000 1000704000  0 0 C1 2 = 1 705000 1000102000 0 0 2001 -1 0 0
   706.000  C   m1: rollback C4 refused, foreign
   706.000  C   m1: enqueue C5 granted
   706.000  C   m2: rollback C4 refused, foreign
   706.000  C   m2: enqueue C5 granted
   706.000  C   acquire: ok, valid for 1976.000 ms
   706.000  C   m3: rollback C4 granted
   706.000  C   m3: enqueue C5 granted
   900.000  B   release
   900.000  B   release B2 -> m1 m2
   901.000  m1  release s#1 B2 = 1
   901.000  m2  release s#1 B2 = 1
   902.000  B   m1: release B2 granted
   902.000  B   m2: release B2 granted
   902.000  B   release: ok
  1000.000  m1  has s#0 = C5 for 1707.000 ms
  1000.000  m2  has s#0 = C5 for 1707.000 ms
  1000.000  m3  has s#0 = C5 for 1707.000 ms
