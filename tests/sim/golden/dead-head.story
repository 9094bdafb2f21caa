# The head of the queue dies. A's release gives it the key all the same: the masters cannot know. The lease of 400 ms was
# renewed last at 37 ms; when it is over the key is free, and C, who looks again just then, has the lock.
masters 3
clients 3
  20    A acquire k ttl=400
  30    B acquire k ttl=400 queue
  40    C acquire k ttl=400 queue
  60    kill B
  70    A release
 480    end
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
    20.000  A   acquire k ttl=400
    20.000  A   claim A1 -> m1 m2 m3
    21.000  m1  SET k A1 NX PX 400 = OK
    21.000  m2  SET k A1 NX PX 400 = OK
    21.000  m3  SET k A1 NX PX 400 = OK
    22.000  A   m1: claim A1 granted
    22.000  A   m2: claim A1 granted
    22.000  A   acquire: ok, valid for 392.000 ms
    22.000  A   m3: claim A1 granted
    30.000  B   acquire k ttl=400
    30.000  B   claim B2 -> m1 m2 m3
    31.000  m1  SET k B2 NX PX 400 = nil
    31.000  m2  SET k B2 NX PX 400 = nil
    31.000  m3  SET k B2 NX PX 400 = nil
    32.000  B   m1: claim B2 refused, held
    32.000  B   m2: claim B2 refused, held
    32.000  B   rollback B2 -> m3
    32.000  B   enqueue B3 -> m1 m2 m3
    32.000  B   m3: claim B2 refused, held
    33.000  m1  enqueue k B3 400 0 0 1000032000  0 0 B1 = 0 33000 1000032000 0 0 388 388 0
    33.000  m2  enqueue k B3 400 0 0 1000032000  0 0 B1 = 0 33000 1000032000 0 0 388 388 0
    33.000  m3  rollback k B2 = -1
    33.000  m3  enqueue k B3 400 0 0 1000032000  0 0 B1 = 0 33000 1000032000 0 0 388 388 0
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
    37.000  m1  enqueue k B3 400 0 1000032000 1000032000  0 0 B1 = 0 37000 1000032000 0 0 384 384 0
    37.000  m2  enqueue k B3 400 0 1000032000 1000032000  0 0 B1 = 0 37000 1000032000 0 0 384 384 0
    37.000  m3  enqueue k B3 400 0 1000032000 1000032000  0 0 B1 = 0 37000 1000032000 0 0 384 384 0
    38.000  B   m1: enqueue B3 queued
    38.000  B   m2: enqueue B3 queued
    38.000  B   m3: enqueue B3 queued
    40.000  C   acquire k ttl=400
    40.000  C   claim C4 -> m1 m2 m3
    41.000  m1  SET k C4 NX PX 400 = nil
    41.000  m2  SET k C4 NX PX 400 = nil
    41.000  m3  SET k C4 NX PX 400 = nil
    42.000  C   m1: claim C4 refused, held
    42.000  C   m2: claim C4 refused, held
    42.000  C   rollback C4 -> m3
    42.000  C   enqueue C5 -> m1 m2 m3
    42.000  C   m3: claim C4 refused, held
    43.000  m1  enqueue k C5 400 0 0 1000042000  0 0 C1 = 0 43000 1000042000 0 1 378 394 0
    43.000  m2  enqueue k C5 400 0 0 1000042000  0 0 C1 = 0 43000 1000042000 0 1 378 394 0
    43.000  m3  rollback k C4 = -1
    43.000  m3  enqueue k C5 400 0 0 1000042000  0 0 C1 = 0 43000 1000042000 0 1 378 394 0
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
    47.000  m1  enqueue k C5 400 0 1000042000 1000042000  0 0 C1 = 0 47000 1000042000 0 1 374 390 0
    47.000  m2  enqueue k C5 400 0 1000042000 1000042000  0 0 C1 = 0 47000 1000042000 0 1 374 390 0
    47.000  m3  enqueue k C5 400 0 1000042000 1000042000  0 0 C1 = 0 47000 1000042000 0 1 374 390 0
    48.000  C   m1: enqueue C5 queued
    48.000  C   m2: enqueue C5 queued
    48.000  C   m3: enqueue C5 queued
    60.000  B   dies
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
   142.000  C   enqueue C5 -> m1 m2 m3
   143.000  m1  enqueue k C5 400 1 1000042000 1000042000  0 0 C1 = 0 143000 1000042000 0 0 295 295 0
   143.000  m2  enqueue k C5 400 1 1000042000 1000042000  0 0 C1 = 0 143000 1000042000 0 0 295 295 0
   143.000  m3  enqueue k C5 400 1 1000042000 1000042000  0 0 C1 = 0 143000 1000042000 0 0 295 295 0
   144.000  C   m1: enqueue C5 queued
   144.000  C   m2: enqueue C5 queued
   144.000  C   m3: enqueue C5 queued
   144.000  C   waits behind 0 others
   242.000  C   enqueue C5 -> m1 m2 m3
   243.000  m1  enqueue k C5 400 2 1000042000 1000042000  0 0 C1 = 0 243000 1000042000 0 0 195 195 0
   243.000  m2  enqueue k C5 400 2 1000042000 1000042000  0 0 C1 = 0 243000 1000042000 0 0 195 195 0
   243.000  m3  enqueue k C5 400 2 1000042000 1000042000  0 0 C1 = 0 243000 1000042000 0 0 195 195 0
   244.000  C   m1: enqueue C5 queued
   244.000  C   m2: enqueue C5 queued
   244.000  C   m3: enqueue C5 queued
   342.000  C   enqueue C5 -> m1 m2 m3
   343.000  m1  enqueue k C5 400 3 1000042000 1000042000  0 0 C1 = 0 343000 1000042000 0 0 95 95 0
   343.000  m2  enqueue k C5 400 3 1000042000 1000042000  0 0 C1 = 0 343000 1000042000 0 0 95 95 0
   343.000  m3  enqueue k C5 400 3 1000042000 1000042000  0 0 C1 = 0 343000 1000042000 0 0 95 95 0
   344.000  C   m1: enqueue C5 queued
   344.000  C   m2: enqueue C5 queued
   344.000  C   m3: enqueue C5 queued
   440.000  C   enqueue C5 -> m1 m2 m3
   441.000  m1  enqueue k C5 400 4 1000042000 1000042000  0 0 C1 = 1 441000 1000042000 0 0 401 -1 0
   441.000  m2  enqueue k C5 400 4 1000042000 1000042000  0 0 C1 = 1 441000 1000042000 0 0 401 -1 0
   441.000  m3  enqueue k C5 400 4 1000042000 1000042000  0 0 C1 = 1 441000 1000042000 0 0 401 -1 0
   442.000  C   m1: enqueue C5 granted
   442.000  C   m2: enqueue C5 granted
   442.000  C   acquire: ok, valid for 392.000 ms
   442.000  C   m3: enqueue C5 granted
   480.000  m1  has k = C5 for 363.000 ms
   480.000  m2  has k = C5 for 363.000 ms
   480.000  m3  has k = C5 for 363.000 ms
