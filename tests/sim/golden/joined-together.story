# A's program has three tasks, which want k in one turn of its loop: one command for all three enters them in the queue,
# and its reply has an answer for each. The first has the key at once, and the others wait. It releases, and the next
# one of the same turn has its value; the third has the key in a later turn.
masters 3
clients 1
max-ttl 10000
handles A 3
  20  A A' A'' acquire k ttl=2000 fifo
 100  A release
 200  A' release
 300  A'' release
 400  end
---
     4.000  A   m1 is ready
     4.000  A   m2 is ready
     4.000  A   m3 is ready
    20.000  A   acquire k ttl=2000
    20.000  A'  acquire k ttl=2000
    20.000  A'' acquire k ttl=2000
    20.000  A   enqueue A1 -> m1
    20.000  A   enqueue A2 -> m1
    20.000  A   enqueue A3 -> m1
    20.000  A   enqueue A1 -> m2
    20.000  A   enqueue A2 -> m2
    20.000  A   enqueue A3 -> m2
    20.000  A   enqueue A1 -> m3
    20.000  A   enqueue A2 -> m3
    20.000  A   enqueue A3 -> m3
    21.000  m1  enqueue k A1 2000 0 0 1000020000  0 0 A1 A2 0 A3 0 = 1 21000 1000020000 0 0 2001 -1 0 0
    21.000  m2  enqueue k A1 2000 0 0 1000020000  0 0 A1 A2 0 A3 0 = 1 21000 1000020000 0 0 2001 -1 0 0
    21.000  m3  enqueue k A1 2000 0 0 1000020000  0 0 A1 A2 0 A3 0 = 1 21000 1000020000 0 0 2001 -1 0 0
    22.000  A   m1: enqueue A1 granted
    22.000  A   m1: enqueue A2 queued
    22.000  A   m1: enqueue A3 queued
    22.000  A   m2: enqueue A1 granted
    22.000  A   acquire: ok, valid for 1976.000 ms
    22.000  A   m2: enqueue A2 queued
    22.000  A'  waits behind 0 others
    22.000  A   m2: enqueue A3 queued
    22.000  A'' waits behind 1 others
    22.000  A   m3: enqueue A1 granted
    22.000  A   m3: enqueue A2 queued
    22.000  A   m3: enqueue A3 queued
    24.000  A   m1 is heard
    24.000  A   enqueue A2 -> m1
    24.000  A   enqueue A3 -> m1
    24.000  A   m2 is heard
    24.000  A   enqueue A2 -> m2
    24.000  A   enqueue A3 -> m2
    24.000  A   m3 is heard
    24.000  A   enqueue A2 -> m3
    24.000  A   enqueue A3 -> m3
    25.000  m1  enqueue k 2000  0 0 A1 A2 0 1000020001 0 A3 0 1000020002 0 = 0 25000 1997 0 1997 1 2000
    25.000  m2  enqueue k 2000  0 0 A1 A2 0 1000020001 0 A3 0 1000020002 0 = 0 25000 1997 0 1997 1 2000
    25.000  m3  enqueue k 2000  0 0 A1 A2 0 1000020001 0 A3 0 1000020002 0 = 0 25000 1997 0 1997 1 2000
    26.000  A   m1: enqueue A2 queued
    26.000  A   m1: enqueue A3 queued
    26.000  A   m2: enqueue A2 queued
    26.000  A   m2: enqueue A3 queued
    26.000  A   m3: enqueue A2 queued
    26.000  A   m3: enqueue A3 queued
   100.000  A   release
   100.000  A   hands off A1
   100.000  A   release A2 -> m1 m2 m3
   100.000  A   release: ok
   100.000  A'  acquire: ok, valid for 1898.000 ms
   101.000  m1  release k A2 = -1
   101.000  m2  release k A2 = -1
   101.000  m3  release k A2 = -1
   102.000  A   m1: release A2 refused, foreign
   102.000  A   m2: release A2 refused, foreign
   102.000  A   m3: release A2 refused, foreign
   200.000  A'  release
   200.000  A'  hands off A1
   200.000  A   release A3 -> m1 m2 m3
   200.000  A'  release: ok
   200.000  A'' acquire: ok, valid for 1798.000 ms
   201.000  m1  release k A3 = -1
   201.000  m2  release k A3 = -1
   201.000  m3  release k A3 = -1
   202.000  A   m1: release A3 refused, foreign
   202.000  A   m2: release A3 refused, foreign
   202.000  A   m3: release A3 refused, foreign
   300.000  A'' release
   300.000  A   release A1 -> m1 m2 m3
   301.000  m1  release k A1 = 1
   301.000  m2  release k A1 = 1
   301.000  m3  release k A1 = 1
   302.000  A   m1: release A1 granted
   302.000  A   m2: release A1 granted
   302.000  A   m3: release A1 granted
   302.000  A'' release: ok
