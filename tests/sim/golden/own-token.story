# A's program tells B the value of its lock (own-token), so that B may release it from outside. A's other task entered
# the queue in the same turn, but does not get that value: A's release goes to the masters, which give k to A2. What B
# does then concerns a value that nobody holds any more, and C does not get k beside A'.
masters 3
clients 3
max-ttl 10000
handles A 2
  20  A A' acquire k ttl=2000 fifo own-token
 100  A release
 150  B release A1
 160  C acquire k ttl=2000 fifo
 300  A' release
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
    20.000  A   acquire k ttl=2000
    20.000  A'  acquire k ttl=2000
    20.000  A   enqueue A1 -> m1
    20.000  A   enqueue A2 -> m1
    20.000  A   enqueue A1 -> m2
    20.000  A   enqueue A2 -> m2
    20.000  A   enqueue A1 -> m3
    20.000  A   enqueue A2 -> m3
    21.000  m1  enqueue k A1 2000 0 0 1000020000  0 0 A1 A2 0 = 1 21000 1000020000 0 0 2001 -1 0 0
    21.000  m2  enqueue k A1 2000 0 0 1000020000  0 0 A1 A2 0 = 1 21000 1000020000 0 0 2001 -1 0 0
    21.000  m3  enqueue k A1 2000 0 0 1000020000  0 0 A1 A2 0 = 1 21000 1000020000 0 0 2001 -1 0 0
    22.000  A   m1: enqueue A1 granted
    22.000  A   m1: enqueue A2 queued
    22.000  A   m2: enqueue A1 granted
    22.000  A   acquire: ok, valid for 1976.000 ms
    22.000  A   m2: enqueue A2 queued
    22.000  A'  waits behind 0 others
    22.000  A   m3: enqueue A1 granted
    22.000  A   m3: enqueue A2 queued
    24.000  A   m1 is heard
    24.000  A   enqueue A2 -> m1
    24.000  A   m2 is heard
    24.000  A   enqueue A2 -> m2
    24.000  A   m3 is heard
    24.000  A   enqueue A2 -> m3
    25.000  m1  enqueue k A2 2000 0 1000020001 1000020000  0 0 A1 = 0 25000 1000020001 0 0 1997 1997 0
    25.000  m2  enqueue k A2 2000 0 1000020001 1000020000  0 0 A1 = 0 25000 1000020001 0 0 1997 1997 0
    25.000  m3  enqueue k A2 2000 0 1000020001 1000020000  0 0 A1 = 0 25000 1000020001 0 0 1997 1997 0
    26.000  A   m1: enqueue A2 queued
    26.000  A   m2: enqueue A2 queued
    26.000  A   m3: enqueue A2 queued
   100.000  A   release
   100.000  A   release A1 -> m1 m2 m3
   101.000  m1  release k A1 = 2
   101.000  m2  release k A1 = 2
   101.000  m3  release k A1 = 2
   102.000  A   m1 calls: A2 0 granted - 101000 0
   102.000  A   m1: release A1 granted, handed off
   102.000  A   m2 calls: A2 0 granted - 101000 0
   102.000  A'  acquire: ok, valid for 1896.000 ms
   102.000  A   m2: release A1 granted, handed off
   102.000  A   m3 calls: A2 0 granted - 101000 0
   102.000  A   m3: release A1 granted, handed off
   102.000  A   release: ok
   150.000  B   release A1
   150.000  B   release A1 -> m1 m2 m3
   151.000  m1  release k A1 = -1
   151.000  m2  release k A1 = -1
   151.000  m3  release k A1 = -1
   152.000  B   m1: release A1 refused, foreign
   152.000  B   m2: release A1 refused, foreign
   152.000  B   m3: release A1 refused, foreign
   152.000  B   release: ok
   160.000  C   acquire k ttl=2000
   160.000  C   enqueue C4 -> m1 m2 m3
   161.000  m1  enqueue k C4 2000 0 0 1000160000  0 0 C1 = 0 161000 1000160000 0 0 1865 1865 0
   161.000  m2  enqueue k C4 2000 0 0 1000160000  0 0 C1 = 0 161000 1000160000 0 0 1865 1865 0
   161.000  m3  enqueue k C4 2000 0 0 1000160000  0 0 C1 = 0 161000 1000160000 0 0 1865 1865 0
   162.000  C   m1: enqueue C4 queued
   162.000  C   m2: enqueue C4 queued
   162.000  C   waits behind 0 others
   162.000  C   m3: enqueue C4 queued
   164.000  C   m1 is heard
   164.000  C   enqueue C4 -> m1
   164.000  C   m2 is heard
   164.000  C   enqueue C4 -> m2
   164.000  C   m3 is heard
   164.000  C   enqueue C4 -> m3
   165.000  m1  enqueue k C4 2000 0 1000160000 1000160000  0 0 C1 = 0 165000 1000160000 0 0 1861 1861 0
   165.000  m2  enqueue k C4 2000 0 1000160000 1000160000  0 0 C1 = 0 165000 1000160000 0 0 1861 1861 0
   165.000  m3  enqueue k C4 2000 0 1000160000 1000160000  0 0 C1 = 0 165000 1000160000 0 0 1861 1861 0
   166.000  C   m1: enqueue C4 queued
   166.000  C   m2: enqueue C4 queued
   166.000  C   m3: enqueue C4 queued
   300.000  A'  release
   300.000  A   release A2 -> m1 m2 m3
   301.000  m1  release k A2 = 2
   301.000  m2  release k A2 = 2
   301.000  m3  release k A2 = 2
   302.000  C   m1 calls: C4 0 granted - 301000 0
   302.000  A   m1: release A2 granted, handed off
   302.000  C   m2 calls: C4 0 granted - 301000 0
   302.000  C   acquire: ok, valid for 1836.000 ms
   302.000  A   m2: release A2 granted, handed off
   302.000  C   m3 calls: C4 0 granted - 301000 0
   302.000  A   m3: release A2 granted, handed off
   302.000  A'  release: ok
   400.000  C   release
   400.000  C   release C4 -> m1 m2 m3
   401.000  m1  release k C4 = 1
   401.000  m2  release k C4 = 1
   401.000  m3  release k C4 = 1
   402.000  C   m1: release C4 granted
   402.000  C   m2: release C4 granted
   402.000  C   m3: release C4 granted
   402.000  C   release: ok
