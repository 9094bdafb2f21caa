# Notifications that come too late. B is stopped when A's release gives it the key, and does not read its notifications
# before the grant has ended and C, the next in the queue, has got the lock. The notifications name B's latest refresh,
# and count from its sending: that is over. B asks again, and waits until C lets go.
masters 3
clients 3
node-timeout 100
  20    A acquire k ttl=300
  30    B acquire k ttl=300 queue
  40    C acquire k ttl=300 queue renew=100
  60    pause B 450
  70    A release
 600    C release
 620    end
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
    20.000  A   acquire k ttl=300
    20.000  A   claim A1 -> m1 m2 m3
    21.000  m1  SET k A1 NX PX 300 = OK
    21.000  m2  SET k A1 NX PX 300 = OK
    21.000  m3  SET k A1 NX PX 300 = OK
    22.000  A   m1: claim A1 granted
    22.000  A   m2: claim A1 granted
    22.000  A   acquire: ok, valid for 293.000 ms
    22.000  A   m3: claim A1 granted
    30.000  B   acquire k ttl=300
    30.000  B   claim B2 -> m1 m2 m3
    31.000  m1  SET k B2 NX PX 300 = nil
    31.000  m2  SET k B2 NX PX 300 = nil
    31.000  m3  SET k B2 NX PX 300 = nil
    32.000  B   m1: claim B2 refused, held
    32.000  B   m2: claim B2 refused, held
    32.000  B   rollback B2 -> m3
    32.000  B   enqueue B3 -> m1 m2 m3
    32.000  B   m3: claim B2 refused, held
    33.000  m1  enqueue k B3 300 0 0 1000032000  0 0 B1 = 0 33000 1000032000 0 0 288 288 0
    33.000  m2  enqueue k B3 300 0 0 1000032000  0 0 B1 = 0 33000 1000032000 0 0 288 288 0
    33.000  m3  rollback k B2 = -1
    33.000  m3  enqueue k B3 300 0 0 1000032000  0 0 B1 = 0 33000 1000032000 0 0 288 288 0
    34.000  B   m1: enqueue B3 queued
    34.000  B   m2: enqueue B3 queued
    34.000  B   waits behind 0 others
    34.000  B   m3: rollback B2 refused, foreign
    34.000  B   m3: enqueue B3 queued
    36.000  B   m1 is heard
    36.000  B   enqueue B3 -> m1
    36.000  B   m2 is heard
    36.000  B   enqueue B3 -> m2
    36.000  B   m3 is heard
    36.000  B   enqueue B3 -> m3
    37.000  m1  enqueue k B3 300 0 1000032000 1000032000  0 0 B1 = 0 37000 1000032000 0 0 284 284 0
    37.000  m2  enqueue k B3 300 0 1000032000 1000032000  0 0 B1 = 0 37000 1000032000 0 0 284 284 0
    37.000  m3  enqueue k B3 300 0 1000032000 1000032000  0 0 B1 = 0 37000 1000032000 0 0 284 284 0
    38.000  B   m1: enqueue B3 queued
    38.000  B   m2: enqueue B3 queued
    38.000  B   m3: enqueue B3 queued
    40.000  C   acquire k ttl=300
    40.000  C   claim C4 -> m1 m2 m3
    41.000  m1  SET k C4 NX PX 300 = nil
    41.000  m2  SET k C4 NX PX 300 = nil
    41.000  m3  SET k C4 NX PX 300 = nil
    42.000  C   m1: claim C4 refused, held
    42.000  C   m2: claim C4 refused, held
    42.000  C   rollback C4 -> m3
    42.000  C   enqueue C5 -> m1 m2 m3
    42.000  C   m3: claim C4 refused, held
    43.000  m1  enqueue k C5 300 0 0 1000042000  0 0 C1 = 0 43000 1000042000 0 1 278 294 0
    43.000  m2  enqueue k C5 300 0 0 1000042000  0 0 C1 = 0 43000 1000042000 0 1 278 294 0
    43.000  m3  rollback k C4 = -1
    43.000  m3  enqueue k C5 300 0 0 1000042000  0 0 C1 = 0 43000 1000042000 0 1 278 294 0
    44.000  C   m1: enqueue C5 queued
    44.000  C   m2: enqueue C5 queued
    44.000  C   waits behind 1 others
    44.000  C   m3: rollback C4 refused, foreign
    44.000  C   m3: enqueue C5 queued
    46.000  C   m1 is heard
    46.000  C   enqueue C5 -> m1
    46.000  C   m2 is heard
    46.000  C   enqueue C5 -> m2
    46.000  C   m3 is heard
    46.000  C   enqueue C5 -> m3
    47.000  m1  enqueue k C5 300 0 1000042000 1000042000  0 0 C1 = 0 47000 1000042000 0 1 274 290 0
    47.000  m2  enqueue k C5 300 0 1000042000 1000042000  0 0 C1 = 0 47000 1000042000 0 1 274 290 0
    47.000  m3  enqueue k C5 300 0 1000042000 1000042000  0 0 C1 = 0 47000 1000042000 0 1 274 290 0
    48.000  C   m1: enqueue C5 queued
    48.000  C   m2: enqueue C5 queued
    48.000  C   m3: enqueue C5 queued
    60.000  B   is paused
    70.000  A   release
    70.000  A   release A1 -> m1 m2 m3
    71.000  m1  release k A1 = 4
    71.000  m2  release k A1 = 4
    71.000  m3  release k A1 = 4
    72.000  A   release A1 -> m1 m2 m3
    73.000  m1  release k A1 = 0
    73.000  m2  release k A1 = 0
    73.000  m3  release k A1 = 0
    74.000  A   m1: release A1 granted, handed off
    74.000  A   m2: release A1 granted, handed off
    74.000  A   m3: release A1 granted, handed off
    74.000  A   release: ok
   117.000  C   enqueue C5 -> m1 m2 m3
   118.000  m1  enqueue k C5 300 1 1000042000 1000042000  0 0 C1 = 0 118000 1000042000 0 0 220 220 0
   118.000  m2  enqueue k C5 300 1 1000042000 1000042000  0 0 C1 = 0 118000 1000042000 0 0 220 220 0
   118.000  m3  enqueue k C5 300 1 1000042000 1000042000  0 0 C1 = 0 118000 1000042000 0 0 220 220 0
   119.000  C   m1: enqueue C5 queued
   119.000  C   m2: enqueue C5 queued
   119.000  C   m3: enqueue C5 queued
   119.000  C   waits behind 0 others
   192.000  C   enqueue C5 -> m1 m2 m3
   193.000  m1  enqueue k C5 300 2 1000042000 1000042000  0 0 C1 = 0 193000 1000042000 0 0 145 145 0
   193.000  m2  enqueue k C5 300 2 1000042000 1000042000  0 0 C1 = 0 193000 1000042000 0 0 145 145 0
   193.000  m3  enqueue k C5 300 2 1000042000 1000042000  0 0 C1 = 0 193000 1000042000 0 0 145 145 0
   194.000  C   m1: enqueue C5 queued
   194.000  C   m2: enqueue C5 queued
   194.000  C   m3: enqueue C5 queued
   267.000  C   enqueue C5 -> m1 m2 m3
   268.000  m1  enqueue k C5 300 3 1000042000 1000042000  0 0 C1 = 0 268000 1000042000 0 0 70 70 0
   268.000  m2  enqueue k C5 300 3 1000042000 1000042000  0 0 C1 = 0 268000 1000042000 0 0 70 70 0
   268.000  m3  enqueue k C5 300 3 1000042000 1000042000  0 0 C1 = 0 268000 1000042000 0 0 70 70 0
   269.000  C   m1: enqueue C5 queued
   269.000  C   m2: enqueue C5 queued
   269.000  C   m3: enqueue C5 queued
   340.000  C   enqueue C5 -> m1 m2 m3
   341.000  m1  enqueue k C5 300 4 1000042000 1000042000  0 0 C1 = 1 341000 1000042000 0 0 301 -1 0
   341.000  m2  enqueue k C5 300 4 1000042000 1000042000  0 0 C1 = 1 341000 1000042000 0 0 301 -1 0
   341.000  m3  enqueue k C5 300 4 1000042000 1000042000  0 0 C1 = 1 341000 1000042000 0 0 301 -1 0
   342.000  C   m1: enqueue C5 granted
   342.000  C   m2: enqueue C5 granted
   342.000  C   acquire: ok, valid for 293.000 ms
   342.000  C   m3: enqueue C5 granted
   440.000  C   extend C5 -> m1 m2 m3
   441.000  m1  extend k C5 300 = 1
   441.000  m2  extend k C5 300 = 1
   441.000  m3  extend k C5 300 = 1
   442.000  C   m1: extend C5 granted
   442.000  C   m2: extend C5 granted
   442.000  C   has renewed the lock
   442.000  C   m3: extend C5 granted
   510.000  B   m1 calls: B3 0 granted - 73000 0
   510.000  B   m2 calls: B3 0 granted - 73000 0
   510.000  B   m3 calls: B3 0 granted - 73000 0
   511.000  B   enqueue B3 -> m1 m2 m3
   512.000  m1  enqueue k B3 300 1 1000032000 1000032000  0 0 B1 = 0 512000 1000032000 0 0 229 229 0
   512.000  m2  enqueue k B3 300 1 1000032000 1000032000  0 0 B1 = 0 512000 1000032000 0 0 229 229 0
   512.000  m3  enqueue k B3 300 1 1000032000 1000032000  0 0 B1 = 0 512000 1000032000 0 0 229 229 0
   513.000  C   m1 calls: C5 0 lower - 512000 0
   513.000  B   m1: enqueue B3 queued
   513.000  C   m2 calls: C5 0 lower - 512000 0
   513.000  B   m2: enqueue B3 queued
   513.000  C   m3 calls: C5 0 lower - 512000 0
   513.000  B   m3: enqueue B3 queued
   540.000  C   extend C5 -> m1 m2 m3
   541.000  m1  extend k C5 300 = 1
   541.000  m2  extend k C5 300 = 1
   541.000  m3  extend k C5 300 = 1
   542.000  C   m1: extend C5 granted
   542.000  C   m2: extend C5 granted
   542.000  C   has renewed the lock
   542.000  C   m3: extend C5 granted
   586.000  B   enqueue B3 -> m1 m2 m3
   587.000  m1  enqueue k B3 300 2 1000032000 1000032000  0 0 B1 = 0 587000 1000032000 0 0 254 254 0
   587.000  m2  enqueue k B3 300 2 1000032000 1000032000  0 0 B1 = 0 587000 1000032000 0 0 254 254 0
   587.000  m3  enqueue k B3 300 2 1000032000 1000032000  0 0 B1 = 0 587000 1000032000 0 0 254 254 0
   588.000  C   m1 calls: C5 0 lower - 587000 0
   588.000  B   m1: enqueue B3 queued
   588.000  C   m2 calls: C5 0 lower - 587000 0
   588.000  B   m2: enqueue B3 queued
   588.000  C   m3 calls: C5 0 lower - 587000 0
   588.000  B   m3: enqueue B3 queued
   600.000  C   release
   600.000  C   release C5 -> m1 m2 m3
   601.000  m1  release k C5 = 2
   601.000  m2  release k C5 = 2
   601.000  m3  release k C5 = 2
   602.000  B   m1 calls: B3 2 granted - 601000 0
   602.000  C   m1: release C5 granted, handed off
   602.000  B   m2 calls: B3 2 granted - 601000 0
   602.000  B   acquire: ok, valid for 279.000 ms
   602.000  C   m2: release C5 granted, handed off
   602.000  B   m3 calls: B3 2 granted - 601000 0
   602.000  C   m3: release C5 granted, handed off
   602.000  C   release: ok
   620.000  m1  has k = B3 for 269.000 ms
   620.000  m2  has k = B3 for 269.000 ms
   620.000  m3  has k = B3 for 269.000 ms
