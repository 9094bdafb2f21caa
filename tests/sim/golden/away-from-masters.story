# B waits for k, and C behind it. B loses all of its connections just before it is to refresh its place in the queue,
# for shorter than that place lasts, and A releases k meanwhile. The masters have kept B's place, and have given it the
# key: B has its turn when it is back, and C after it.
masters 3
clients 3
max-ttl 10000
  20  A acquire k ttl=10000
  40  B acquire k ttl=4000 queue
  60  C acquire k ttl=4000 queue
 500  partition B m1
 500  partition B m2
 500  partition B m3
 500  break B m1
 500  break B m2
 500  break B m3
 700  A release
 900  heal B m1
 900  heal B m2
 900  heal B m3
1200  B release
1300  C release
1400  end
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
    20.000  A   acquire k ttl=10000
    20.000  A   claim A1 -> m1 m2 m3
    21.000  m1  SET k A1 NX PX 10000 = OK
    21.000  m2  SET k A1 NX PX 10000 = OK
    21.000  m3  SET k A1 NX PX 10000 = OK
    22.000  A   m1: claim A1 granted
    22.000  A   m2: claim A1 granted
    22.000  A   acquire: ok, valid for 9896.000 ms
    22.000  A   m3: claim A1 granted
    40.000  B   acquire k ttl=4000
    40.000  B   claim B2 -> m1 m2 m3
    41.000  m1  SET k B2 NX PX 4000 = nil
    41.000  m2  SET k B2 NX PX 4000 = nil
    41.000  m3  SET k B2 NX PX 4000 = nil
    42.000  B   m1: claim B2 refused, held
    42.000  B   m2: claim B2 refused, held
    42.000  B   rollback B2 -> m3
    42.000  B   enqueue B3 -> m1 m2 m3
    42.000  B   m3: claim B2 refused, held
    43.000  m1  enqueue k B3 2000 0 0 1000042000  0 0 B1 = 0 43000 1000042000 0 0 9978 9978 0
    43.000  m2  enqueue k B3 2000 0 0 1000042000  0 0 B1 = 0 43000 1000042000 0 0 9978 9978 0
    43.000  m3  rollback k B2 = -1
    43.000  m3  enqueue k B3 2000 0 0 1000042000  0 0 B1 = 0 43000 1000042000 0 0 9978 9978 0
    44.000  B   m1: enqueue B3 queued
    44.000  B   m2: enqueue B3 queued
    44.000  B   waits behind 0 others
    44.000  B   m3: rollback B2 refused, foreign
    44.000  B   m3: enqueue B3 queued
    46.000  B   m1 is heard
    46.000  B   enqueue B3 -> m1
    46.000  B   m2 is heard
    46.000  B   enqueue B3 -> m2
    46.000  B   m3 is heard
    46.000  B   enqueue B3 -> m3
    47.000  m1  enqueue k B3 2000 0 1000042000 1000042000  0 0 B1 = 0 47000 1000042000 0 0 9974 9974 0
    47.000  m2  enqueue k B3 2000 0 1000042000 1000042000  0 0 B1 = 0 47000 1000042000 0 0 9974 9974 0
    47.000  m3  enqueue k B3 2000 0 1000042000 1000042000  0 0 B1 = 0 47000 1000042000 0 0 9974 9974 0
    48.000  B   m1: enqueue B3 queued
    48.000  B   m2: enqueue B3 queued
    48.000  B   m3: enqueue B3 queued
    60.000  C   acquire k ttl=4000
    60.000  C   claim C4 -> m1 m2 m3
    61.000  m1  SET k C4 NX PX 4000 = nil
    61.000  m2  SET k C4 NX PX 4000 = nil
    61.000  m3  SET k C4 NX PX 4000 = nil
    62.000  C   m1: claim C4 refused, held
    62.000  C   m2: claim C4 refused, held
    62.000  C   rollback C4 -> m3
    62.000  C   enqueue C5 -> m1 m2 m3
    62.000  C   m3: claim C4 refused, held
    63.000  m1  enqueue k C5 2000 0 0 1000062000  0 0 C1 = 0 63000 1000062000 0 1 9958 1984 0
    63.000  m2  enqueue k C5 2000 0 0 1000062000  0 0 C1 = 0 63000 1000062000 0 1 9958 1984 0
    63.000  m3  rollback k C4 = -1
    63.000  m3  enqueue k C5 2000 0 0 1000062000  0 0 C1 = 0 63000 1000062000 0 1 9958 1984 0
    64.000  C   m1: enqueue C5 queued
    64.000  C   m2: enqueue C5 queued
    64.000  C   waits behind 1 others
    64.000  C   m3: rollback C4 refused, foreign
    64.000  C   m3: enqueue C5 queued
    66.000  C   m1 is heard
    66.000  C   enqueue C5 -> m1
    66.000  C   m2 is heard
    66.000  C   enqueue C5 -> m2
    66.000  C   m3 is heard
    66.000  C   enqueue C5 -> m3
    67.000  m1  enqueue k C5 2000 0 1000062000 1000062000  0 0 C1 = 0 67000 1000062000 0 1 9954 1980 0
    67.000  m2  enqueue k C5 2000 0 1000062000 1000062000  0 0 C1 = 0 67000 1000062000 0 1 9954 1980 0
    67.000  m3  enqueue k C5 2000 0 1000062000 1000062000  0 0 C1 = 0 67000 1000062000 0 1 9954 1980 0
    68.000  C   m1: enqueue C5 queued
    68.000  C   m2: enqueue C5 queued
    68.000  C   m3: enqueue C5 queued
   500.000  --  partition B m1 
   500.000  --  partition B m2 
   500.000  --  partition B m3 
   500.000  --  break B m1 
   500.000  --  break B m2 
   500.000  --  break B m3 
   500.000  B   m1: connection lost
   500.000  B   m1 is down
   500.000  B   m2: connection lost
   500.000  B   m2 is down
   500.000  B   m3: connection lost
   500.000  B   m3 is down
   546.000  B   m1 is not heard any more
   546.000  B   m2 is not heard any more
   546.000  B   m3 is not heard any more
   562.000  C   enqueue C5 -> m1 m2 m3
   563.000  m1  enqueue k C5 2000 1 1000062000 1000062000  0 0 C1 = 0 563000 1000062000 0 1 9458 1484 0
   563.000  m2  enqueue k C5 2000 1 1000062000 1000062000  0 0 C1 = 0 563000 1000062000 0 1 9458 1484 0
   563.000  m3  enqueue k C5 2000 1 1000062000 1000062000  0 0 C1 = 0 563000 1000062000 0 1 9458 1484 0
   564.000  C   m1: enqueue C5 queued
   564.000  C   m2: enqueue C5 queued
   564.000  C   m3: enqueue C5 queued
   600.501  B   m1: no connection in time
   600.821  B   m2: no connection in time
   600.971  B   m3: no connection in time
   700.000  A   release
   700.000  A   release A1 -> m1 m2 m3
   701.000  m1  release k A1 = 4
   701.000  m2  release k A1 = 4
   701.000  m3  release k A1 = 4
   701.655  B   m2: no connection in time
   702.000  A   release A1 -> m1 m2 m3
   702.253  B   m1: no connection in time
   702.386  B   m3: no connection in time
   703.000  m1  release k A1 = 0
   703.000  m2  release k A1 = 0
   703.000  m3  release k A1 = 0
   704.000  A   m1: release A1 granted, handed off
   704.000  A   m2: release A1 granted, handed off
   704.000  A   m3: release A1 granted, handed off
   704.000  A   release: ok
   802.733  B   m3: no connection in time
   803.834  B   m2: no connection in time
   805.683  B   m1: no connection in time
   900.000  --  heal B m1 
   900.000  --  heal B m2 
   900.000  --  heal B m3 
   908.189  B   m3: no connection in time
   910.835  B   m2: no connection in time
   911.881  B   m1: no connection in time
   914.176  B   m3 is ready
   914.176  B   enqueue B3 -> m3
   915.176  m3  enqueue k B3 2000 0 1000042000 1000042000  0 0 B1 = 1 915175 1000042000 0 0 2001 -1 0
   916.176  B   m3: enqueue B3 granted
   927.740  B   m2 is ready
   927.740  B   enqueue B3 -> m2
   928.740  m2  enqueue k B3 2000 0 1000042000 1000042000  0 0 B1 = 1 928739 1000042000 0 0 2001 -1 0
   929.740  B   m2: enqueue B3 granted
   929.740  B   acquire: ok, valid for 1090.260 ms
   931.020  B   m1 is ready
   955.695  B   m1 is heard
   962.660  B   m2 is heard
   968.005  B   m3 is heard
  1042.000  B   extend B3 -> m1 m2 m3
  1043.000  m1  extend k B3 4000 = 1
  1043.000  m2  extend k B3 4000 = 1
  1043.000  m3  extend k B3 4000 = 1
  1044.000  B   m1: extend B3 granted
  1044.000  B   m2: extend B3 granted
  1044.000  B   has renewed the lock
  1044.000  B   m3: extend B3 granted
  1062.000  C   enqueue C5 -> m1 m2 m3
  1063.000  m1  enqueue k C5 2000 2 1000062000 1000062000  0 0 C1 = 0 1063000 1000062000 0 0 3980 3980 0
  1063.000  m2  enqueue k C5 2000 2 1000062000 1000062000  0 0 C1 = 0 1063000 1000062000 0 0 3980 3980 0
  1063.000  m3  enqueue k C5 2000 2 1000062000 1000062000  0 0 C1 = 0 1063000 1000062000 0 0 3980 3980 0
  1064.000  C   m1: enqueue C5 queued
  1064.000  C   m2: enqueue C5 queued
  1064.000  C   m3: enqueue C5 queued
  1064.000  C   waits behind 0 others
  1200.000  B   release
  1200.000  B   release B3 -> m1 m2 m3
  1201.000  m1  release k B3 = 2
  1201.000  m2  release k B3 = 2
  1201.000  m3  release k B3 = 2
  1202.000  C   m1 calls: C5 2 granted - 1201000 0
  1202.000  B   m1: release B3 granted, handed off
  1202.000  C   m2 calls: C5 2 granted - 1201000 0
  1202.000  C   acquire: ok, valid for 1838.000 ms
  1202.000  B   m2: release B3 granted, handed off
  1202.000  C   m3 calls: C5 2 granted - 1201000 0
  1202.000  B   m3: release B3 granted, handed off
  1202.000  B   release: ok
  1300.000  C   release
  1300.000  C   release C5 -> m1 m2 m3
  1301.000  m1  release k C5 = 1
  1301.000  m2  release k C5 = 1
  1301.000  m3  release k C5 = 1
  1302.000  C   m1: release C5 granted
  1302.000  C   m2: release C5 granted
  1302.000  C   m3: release C5 granted
  1302.000  C   release: ok
