# B waits for A's lock. Master 2 refuses B's second refresh, and master 3 hangs. When A releases the lock, master 2
# grants what B's first refresh asked for: that does not count, so B asks master 2, and does not wait for its next refresh.
masters 3
calm
clients 2
max-ttl 10000
  20  A acquire x ttl=10000
  40  B acquire x ttl=10000 queue
 500  refuse m2 before
 560  accept m2
 580  hang m3
 700  A release
1100  end
---
     4.000  A   m1 is ready
     4.000  A   m2 is ready
     4.000  A   m3 is ready
     4.000  B   m1 is ready
     4.000  B   m2 is ready
     4.000  B   m3 is ready
    20.000  A   acquire k ttl=10000
    20.000  A   claim A1 -> m1 m2 m3
    21.000  m1  SET k A1 NX PX 10000 = OK
    21.000  m2  SET k A1 NX PX 10000 = OK
    21.000  m3  SET k A1 NX PX 10000 = OK
    22.000  A   m1: claim A1 granted
    22.000  A   m2: claim A1 granted
    22.000  A   acquire: ok, valid for 9896.000 ms
    22.000  A   m3: claim A1 granted
    40.000  B   acquire k ttl=10000
    40.000  B   claim B2 -> m1 m2 m3
    41.000  m1  SET k B2 NX PX 10000 = nil
    41.000  m2  SET k B2 NX PX 10000 = nil
    41.000  m3  SET k B2 NX PX 10000 = nil
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
   542.000  B   enqueue B3 -> m1 m2 m3
   543.000  m1  enqueue k B3 2000 1 1000042000 1000042000  0 0 B1 = 0 543000 1000042000 0 0 9478 9478 0
   543.000  m2  enqueue k B3 2000 1 1000042000 1000042000  0 0 B1 = LOADING Redis is loading the dataset in memory
   543.000  m3  enqueue k B3 2000 1 1000042000 1000042000  0 0 B1 = 0 543000 1000042000 0 0 9478 9478 0
   544.000  B   m1: enqueue B3 queued
   544.000  B   m2: enqueue B3 failed, LOADING
   544.000  B   m3: enqueue B3 queued
   580.000  m3  hangs
   700.000  A   release
   700.000  A   release A1 -> m1 m2 m3
   701.000  m1  release k A1 = 4
   701.000  m2  release k A1 = 4
   702.000  A   release A1 -> m1 m2
   703.000  m1  release k A1 = 0
   703.000  m2  release k A1 = 0
   704.000  B   m1 calls: B3 1 granted - 703000 0
   704.000  A   m1: release A1 granted, handed off
   704.000  B   m2 calls: B3 0 granted - 703000 0
   704.000  B   enqueue B3 -> m2
   704.000  A   m2: release A1 granted, handed off
   705.000  m2  enqueue k B3 2000 1 1000042000 1000042000  0 0 B1 = 1 705000 1000042000 0 0 2001 -1 0
   706.000  B   m2: enqueue B3 granted
   706.000  B   acquire: ok, valid for 1814.000 ms
   750.000  A   m3 is late
   750.000  A   release: ok
  1046.000  B   m3 is not heard any more
  1100.000  m1  has k = B3 for 1445.000 ms
  1100.000  m2  has k = B3 for 1607.000 ms
  1100.000  m3  has k = A1 for 8922.000 ms
