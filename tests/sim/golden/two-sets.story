# C has k. A and B want k and other, both or none. Each tries both: A is refused k, gives other up again, and waits for
# k; so does B, behind A. Neither keeps the larger key while it waits for the smaller one, so neither ever waits for what
# the other one has.
masters 3
clients 3
max-ttl 10000
set A
set B
  20  C acquire k ttl=10000
  40  A acquire ttl=10000 queue
  60  B acquire ttl=10000 queue
 200  C release
 400  A release
 600  B release
 800  end
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
    20.000  C   acquire k ttl=10000
    20.000  C   claim C1 -> m1 m2 m3
    21.000  m1  SET k C1 NX PX 10000 = OK
    21.000  m2  SET k C1 NX PX 10000 = OK
    21.000  m3  SET k C1 NX PX 10000 = OK
    22.000  C   m1: claim C1 granted
    22.000  C   m2: claim C1 granted
    22.000  C   acquire: ok, valid for 9896.000 ms
    22.000  C   m3: claim C1 granted
    40.000  A   acquires its set, ttl=10000
    40.000  A   acquire k ttl=10000
    40.000  A   claim A2 -> m1 m2 m3
    40.000  A'  acquire other ttl=10000
    40.000  A   claim A3 -> m1 m2 m3
    41.000  m1  SET k A2 NX PX 10000 = nil
    41.000  m1  SET other A3 NX PX 10000 = OK
    41.000  m2  SET k A2 NX PX 10000 = nil
    41.000  m2  SET other A3 NX PX 10000 = OK
    41.000  m3  SET k A2 NX PX 10000 = nil
    41.000  m3  SET other A3 NX PX 10000 = OK
    42.000  A   m1: claim A2 refused, held
    42.000  A   m1: claim A3 granted
    42.000  A   m2: claim A2 refused, held
    42.000  A   acquire: held
    42.000  A   m2: claim A3 granted
    42.000  A'  acquire: ok, valid for 9896.000 ms
    42.000  A'  give up
    42.000  A   acquire k ttl=10000
    42.000  A   release A3 -> m1 m2 m3
    42.000  A   rollback A2 -> m3
    42.000  A   enqueue A4 -> m1 m2 m3
    42.000  A   m3: claim A2 refused, held
    42.000  A   m3: claim A3 granted
    43.000  m1  release other A3 = 1
    43.000  m1  enqueue k A4 2000 0 0 1000042000  0 0 A1 = 0 43000 1000042000 0 0 9978 9978 0
    43.000  m2  release other A3 = 1
    43.000  m2  enqueue k A4 2000 0 0 1000042000  0 0 A1 = 0 43000 1000042000 0 0 9978 9978 0
    43.000  m3  release other A3 = 1
    43.000  m3  rollback k A2 = -1
    43.000  m3  enqueue k A4 2000 0 0 1000042000  0 0 A1 = 0 43000 1000042000 0 0 9978 9978 0
    44.000  A   m1: release A3 granted
    44.000  A   m1: enqueue A4 queued
    44.000  A   m2: release A3 granted
    44.000  A   m2: enqueue A4 queued
    44.000  A   waits behind 0 others
    44.000  A   m3: release A3 granted
    44.000  A   m3: rollback A2 refused, foreign
    44.000  A   m3: enqueue A4 queued
    46.000  A   m1 is heard
    46.000  A   enqueue A4 -> m1
    46.000  A   m2 is heard
    46.000  A   enqueue A4 -> m2
    46.000  A   m3 is heard
    46.000  A   enqueue A4 -> m3
    47.000  m1  enqueue k A4 2000 0 1000042000 1000042000  0 0 A1 = 0 47000 1000042000 0 0 9974 9974 0
    47.000  m2  enqueue k A4 2000 0 1000042000 1000042000  0 0 A1 = 0 47000 1000042000 0 0 9974 9974 0
    47.000  m3  enqueue k A4 2000 0 1000042000 1000042000  0 0 A1 = 0 47000 1000042000 0 0 9974 9974 0
    48.000  A   m1: enqueue A4 queued
    48.000  A   m2: enqueue A4 queued
    48.000  A   m3: enqueue A4 queued
    60.000  B   acquires its set, ttl=10000
    60.000  B   acquire k ttl=10000
    60.000  B   claim B5 -> m1 m2 m3
    60.000  B'  acquire other ttl=10000
    60.000  B   claim B6 -> m1 m2 m3
    61.000  m1  SET k B5 NX PX 10000 = nil
    61.000  m1  SET other B6 NX PX 10000 = OK
    61.000  m2  SET k B5 NX PX 10000 = nil
    61.000  m2  SET other B6 NX PX 10000 = OK
    61.000  m3  SET k B5 NX PX 10000 = nil
    61.000  m3  SET other B6 NX PX 10000 = OK
    62.000  B   m1: claim B5 refused, held
    62.000  B   m1: claim B6 granted
    62.000  B   m2: claim B5 refused, held
    62.000  B   acquire: held
    62.000  B   m2: claim B6 granted
    62.000  B'  acquire: ok, valid for 9896.000 ms
    62.000  B'  give up
    62.000  B   acquire k ttl=10000
    62.000  B   release B6 -> m1 m2 m3
    62.000  B   rollback B5 -> m3
    62.000  B   enqueue B7 -> m1 m2 m3
    62.000  B   m3: claim B5 refused, held
    62.000  B   m3: claim B6 granted
    63.000  m1  release other B6 = 1
    63.000  m1  enqueue k B7 2000 0 0 1000062000  0 0 B1 = 0 63000 1000062000 0 1 9958 1984 0
    63.000  m2  release other B6 = 1
    63.000  m2  enqueue k B7 2000 0 0 1000062000  0 0 B1 = 0 63000 1000062000 0 1 9958 1984 0
    63.000  m3  release other B6 = 1
    63.000  m3  rollback k B5 = -1
    63.000  m3  enqueue k B7 2000 0 0 1000062000  0 0 B1 = 0 63000 1000062000 0 1 9958 1984 0
    64.000  B   m1: release B6 granted
    64.000  B   m1: enqueue B7 queued
    64.000  B   m2: release B6 granted
    64.000  B   m2: enqueue B7 queued
    64.000  B   waits behind 1 others
    64.000  B   m3: release B6 granted
    64.000  B   m3: rollback B5 refused, foreign
    64.000  B   m3: enqueue B7 queued
    66.000  B   m1 is heard
    66.000  B   enqueue B7 -> m1
    66.000  B   m2 is heard
    66.000  B   enqueue B7 -> m2
    66.000  B   m3 is heard
    66.000  B   enqueue B7 -> m3
    67.000  m1  enqueue k B7 2000 0 1000062000 1000062000  0 0 B1 = 0 67000 1000062000 0 1 9954 1980 0
    67.000  m2  enqueue k B7 2000 0 1000062000 1000062000  0 0 B1 = 0 67000 1000062000 0 1 9954 1980 0
    67.000  m3  enqueue k B7 2000 0 1000062000 1000062000  0 0 B1 = 0 67000 1000062000 0 1 9954 1980 0
    68.000  B   m1: enqueue B7 queued
    68.000  B   m2: enqueue B7 queued
    68.000  B   m3: enqueue B7 queued
   200.000  C   release
   200.000  C   release C1 -> m1 m2 m3
   201.000  m1  release k C1 = 4
   201.000  m2  release k C1 = 4
   201.000  m3  release k C1 = 4
   202.000  C   release C1 -> m1 m2 m3
   203.000  m1  release k C1 = 0
   203.000  m2  release k C1 = 0
   203.000  m3  release k C1 = 0
   204.000  A   m1 calls: A4 0 granted - 203000 0
   204.000  C   m1: release C1 granted, handed off
   204.000  A   m2 calls: A4 0 granted - 203000 0
   204.000  A   acquire: ok, valid for 1816.000 ms
   204.000  A'  acquire other ttl=10000
   204.000  A   claim A8 -> m1 m2 m3
   204.000  C   m2: release C1 granted, handed off
   204.000  A   m3 calls: A4 0 granted - 203000 0
   204.000  C   m3: release C1 granted, handed off
   204.000  C   release: ok
   205.000  m1  SET other A8 NX PX 10000 = OK
   205.000  m2  SET other A8 NX PX 10000 = OK
   205.000  m3  SET other A8 NX PX 10000 = OK
   206.000  A   m1: claim A8 granted
   206.000  A   m2: claim A8 granted
   206.000  A'  acquire: ok, valid for 9896.000 ms
   206.000  A   its set is held
   206.000  A   m3: claim A8 granted
   400.000  A   release
   400.000  A   release A4 -> m1 m2 m3
   400.000  A'  release
   400.000  A   release A8 -> m1 m2 m3
   401.000  m1  release k A4 = 2
   401.000  m1  release other A8 = 1
   401.000  m2  release k A4 = 2
   401.000  m2  release other A8 = 1
   401.000  m3  release k A4 = 2
   401.000  m3  release other A8 = 1
   402.000  B   m1 calls: B7 0 granted - 401000 0
   402.000  A   m1: release A4 granted, handed off
   402.000  A   m1: release A8 granted
   402.000  B   m2 calls: B7 0 granted - 401000 0
   402.000  B   acquire: ok, valid for 1638.000 ms
   402.000  B'  acquire other ttl=10000
   402.000  B   claim B9 -> m1 m2 m3
   402.000  A   m2: release A4 granted, handed off
   402.000  A   m2: release A8 granted
   402.000  B   m3 calls: B7 0 granted - 401000 0
   402.000  A   m3: release A4 granted, handed off
   402.000  A   release: ok
   402.000  A   m3: release A8 granted
   402.000  A'  release: ok
   402.000  A   its set is idle
   403.000  m1  SET other B9 NX PX 10000 = OK
   403.000  m2  SET other B9 NX PX 10000 = OK
   403.000  m3  SET other B9 NX PX 10000 = OK
   404.000  B   m1: claim B9 granted
   404.000  B   m2: claim B9 granted
   404.000  B'  acquire: ok, valid for 9896.000 ms
   404.000  B   its set is held
   404.000  B   m3: claim B9 granted
   600.000  B   release
   600.000  B   release B7 -> m1 m2 m3
   600.000  B'  release
   600.000  B   release B9 -> m1 m2 m3
   601.000  m1  release k B7 = 1
   601.000  m1  release other B9 = 1
   601.000  m2  release k B7 = 1
   601.000  m2  release other B9 = 1
   601.000  m3  release k B7 = 1
   601.000  m3  release other B9 = 1
   602.000  B   m1: release B7 granted
   602.000  B   m1: release B9 granted
   602.000  B   m2: release B7 granted
   602.000  B   m2: release B9 granted
   602.000  B   m3: release B7 granted
   602.000  B   release: ok
   602.000  B   m3: release B9 granted
   602.000  B'  release: ok
   602.000  B   its set is idle
