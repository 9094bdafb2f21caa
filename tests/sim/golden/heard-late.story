# B listens at master 2 only 30 ms after it has entered the queue. A releases before that, and what master 2 says of its
# grant is lost: B asks when it listens there, and has the key.
masters 3
quorum 3
calm
max-ttl 10000
  20  A acquire k ttl=2000
 100  B acquire k ttl=2000 queue
 103  slow B m2 up 30
 105  slow B m2 up 0
 110  A release
 200  end
---
     4.000  A   m1 is ready
     4.000  A   m2 is ready
     4.000  A   m3 is ready
     4.000  B   m1 is ready
     4.000  B   m2 is ready
     4.000  B   m3 is ready
    20.000  A   acquire k ttl=2000
    20.000  A   claim A1 -> m1 m2 m3
    21.000  m1  SET k A1 NX PX 2000 = OK
    21.000  m2  SET k A1 NX PX 2000 = OK
    21.000  m3  SET k A1 NX PX 2000 = OK
    22.000  A   m1: claim A1 granted
    22.000  A   m2: claim A1 granted
    22.000  A   m3: claim A1 granted
    22.000  A   acquire: ok, valid for 1976.000 ms
   100.000  B   acquire k ttl=2000
   100.000  B   claim B2 -> m1 m2 m3
   101.000  m1  SET k B2 NX PX 2000 = nil
   101.000  m2  SET k B2 NX PX 2000 = nil
   101.000  m3  SET k B2 NX PX 2000 = nil
   102.000  B   m1: claim B2 refused, held
   102.000  B   rollback B2 -> m2 m3
   102.000  B   enqueue B3 -> m1 m2 m3
   102.000  B   m2: claim B2 refused, held
   102.000  B   m3: claim B2 refused, held
   103.000  --  slow B m2 up
   103.000  m1  enqueue k B3 2000 0 0 1000102000  0 0 B1 = 0 103000 1000102000 0 0 1918 1918 0
   103.000  m2  rollback k B2 = -1
   103.000  m2  enqueue k B3 2000 0 0 1000102000  0 0 B1 = 0 103000 1000102000 0 0 1918 1918 0
   103.000  m3  rollback k B2 = -1
   103.000  m3  enqueue k B3 2000 0 0 1000102000  0 0 B1 = 0 103000 1000102000 0 0 1918 1918 0
   104.000  B   m1: enqueue B3 queued
   104.000  B   m2: rollback B2 refused, foreign
   104.000  B   m2: enqueue B3 queued
   104.000  B   m3: rollback B2 refused, foreign
   104.000  B   m3: enqueue B3 queued
   104.000  B   waits behind 0 others
   105.000  --  slow B m2 up
   106.000  B   m1 is heard
   106.000  B   enqueue B3 -> m1
   106.000  B   m3 is heard
   106.000  B   enqueue B3 -> m3
   107.000  m1  enqueue k B3 2000 0 1000102000 1000102000  0 0 B1 = 0 107000 1000102000 0 0 1914 1914 0
   107.000  m3  enqueue k B3 2000 0 1000102000 1000102000  0 0 B1 = 0 107000 1000102000 0 0 1914 1914 0
   108.000  B   m1: enqueue B3 queued
   108.000  B   m3: enqueue B3 queued
   110.000  A   release
   110.000  A   release A1 -> m1 m2 m3
   111.000  m1  release k A1 = 4
   111.000  m2  release k A1 = 4
   111.000  m3  release k A1 = 4
   112.000  A   release A1 -> m1 m2 m3
   113.000  m1  release k A1 = 0
   113.000  m2  release k A1 = 0
   113.000  m3  release k A1 = 0
   114.000  B   m1 calls: B3 0 granted - 113000 0
   114.000  A   m1: release A1 granted, handed off
   114.000  A   m2: release A1 granted, handed off
   114.000  B   m3 calls: B3 0 granted - 113000 0
   114.000  A   m3: release A1 granted, handed off
   114.000  A   release: ok
   136.000  B   m2 is heard
   136.000  B   enqueue B3 -> m2
   137.000  m2  enqueue k B3 2000 0 1000102000 1000102000  0 0 B1 = 1 137000 1000102000 0 0 2001 -1 0
   138.000  B   m2: enqueue B3 granted
   138.000  B   acquire: ok, valid for 1942.000 ms
   200.000  m1  has k = B3 for 1909.000 ms
   200.000  m2  has k = B3 for 1939.000 ms
   200.000  m3  has k = B3 for 1909.000 ms
