# The head of the queue gives up while a dead holder's key lasts. A dies with its lock of 700 ms; B, the first to wait,
# gives up at 680 ms. C meant to look again at 1042 ms. The masters tell it that it is the first, so it looks when the
# key ends.
masters 3
clients 3
max-ttl 2000
  20    A acquire k ttl=700
  30    B acquire k ttl=2000 line timeout=650
  40    C acquire k ttl=2000 line
  60    kill A
 760    end
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
    20.000  A   acquire k ttl=700
    20.000  A   claim A1 -> m1 m2 m3
    21.000  m1  SET k A1 NX PX 700 = OK
    21.000  m2  SET k A1 NX PX 700 = OK
    21.000  m3  SET k A1 NX PX 700 = OK
    22.000  A   m1: claim A1 granted
    22.000  A   m2: claim A1 granted
    22.000  A   acquire: ok, valid for 689.000 ms
    22.000  A   m3: claim A1 granted
    30.000  B   acquire k ttl=2000
    30.000  B   claim B2 -> m1 m2 m3
    31.000  m1  SET k B2 NX PX 2000 = nil
    31.000  m2  SET k B2 NX PX 2000 = nil
    31.000  m3  SET k B2 NX PX 2000 = nil
    32.000  B   m1: claim B2 refused, held
    32.000  B   m2: claim B2 refused, held
    32.000  B   rollback B2 -> m3
    32.000  B   enqueue B3 -> m1 m2 m3
    32.000  B   m3: claim B2 refused, held
    33.000  m1  enqueue k B3 2000 0 0 1000032000  0 0 B1 = 0 33000 1000032000 0 0 688 688 0
    33.000  m2  enqueue k B3 2000 0 0 1000032000  0 0 B1 = 0 33000 1000032000 0 0 688 688 0
    33.000  m3  rollback k B2 = -1
    33.000  m3  enqueue k B3 2000 0 0 1000032000  0 0 B1 = 0 33000 1000032000 0 0 688 688 0
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
    37.000  m1  enqueue k B3 2000 0 1000032000 1000032000  0 0 B1 = 0 37000 1000032000 0 0 684 684 0
    37.000  m2  enqueue k B3 2000 0 1000032000 1000032000  0 0 B1 = 0 37000 1000032000 0 0 684 684 0
    37.000  m3  enqueue k B3 2000 0 1000032000 1000032000  0 0 B1 = 0 37000 1000032000 0 0 684 684 0
    38.000  B   m1: enqueue B3 queued
    38.000  B   m2: enqueue B3 queued
    38.000  B   m3: enqueue B3 queued
    40.000  C   acquire k ttl=2000
    40.000  C   claim C4 -> m1 m2 m3
    41.000  m1  SET k C4 NX PX 2000 = nil
    41.000  m2  SET k C4 NX PX 2000 = nil
    41.000  m3  SET k C4 NX PX 2000 = nil
    42.000  C   m1: claim C4 refused, held
    42.000  C   m2: claim C4 refused, held
    42.000  C   rollback C4 -> m3
    42.000  C   enqueue C5 -> m1 m2 m3
    42.000  C   m3: claim C4 refused, held
    43.000  m1  enqueue k C5 2000 0 0 1000042000  0 0 C1 = 0 43000 1000042000 0 1 678 1994 0
    43.000  m2  enqueue k C5 2000 0 0 1000042000  0 0 C1 = 0 43000 1000042000 0 1 678 1994 0
    43.000  m3  rollback k C4 = -1
    43.000  m3  enqueue k C5 2000 0 0 1000042000  0 0 C1 = 0 43000 1000042000 0 1 678 1994 0
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
    47.000  m1  enqueue k C5 2000 0 1000042000 1000042000  0 0 C1 = 0 47000 1000042000 0 1 674 1990 0
    47.000  m2  enqueue k C5 2000 0 1000042000 1000042000  0 0 C1 = 0 47000 1000042000 0 1 674 1990 0
    47.000  m3  enqueue k C5 2000 0 1000042000 1000042000  0 0 C1 = 0 47000 1000042000 0 1 674 1990 0
    48.000  C   m1: enqueue C5 queued
    48.000  C   m2: enqueue C5 queued
    48.000  C   m3: enqueue C5 queued
    60.000  A   dies
   532.000  B   enqueue B3 -> m1 m2 m3
   533.000  m1  enqueue k B3 2000 1 1000032000 1000032000  0 0 B1 = 0 533000 1000032000 0 0 188 188 0
   533.000  m2  enqueue k B3 2000 1 1000032000 1000032000  0 0 B1 = 0 533000 1000032000 0 0 188 188 0
   533.000  m3  enqueue k B3 2000 1 1000032000 1000032000  0 0 B1 = 0 533000 1000032000 0 0 188 188 0
   534.000  B   m1: enqueue B3 queued
   534.000  B   m2: enqueue B3 queued
   534.000  B   m3: enqueue B3 queued
   542.000  C   enqueue C5 -> m1 m2 m3
   543.000  m1  enqueue k C5 2000 1 1000042000 1000042000  0 0 C1 = 0 543000 1000042000 0 1 178 1990 0
   543.000  m2  enqueue k C5 2000 1 1000042000 1000042000  0 0 C1 = 0 543000 1000042000 0 1 178 1990 0
   543.000  m3  enqueue k C5 2000 1 1000042000 1000042000  0 0 C1 = 0 543000 1000042000 0 1 178 1990 0
   544.000  C   m1: enqueue C5 queued
   544.000  C   m2: enqueue C5 queued
   544.000  C   m3: enqueue C5 queued
   680.000  B   rollback B3 -> m1 m2 m3
   680.000  B   acquire: deadline
   681.000  m1  rollback k B3 = -1
   681.000  m2  rollback k B3 = -1
   681.000  m3  rollback k B3 = -1
   682.000  C   m1 calls: C5 0 first - 0681000 0
   682.000  C   enqueue C5 -> m1
   682.000  B   m1: rollback B3 refused, foreign
   682.000  C   m2 calls: C5 0 first - 0681000 0
   682.000  C   enqueue C5 -> m2
   682.000  B   m2: rollback B3 refused, foreign
   682.000  C   m3 calls: C5 0 first - 0681000 0
   682.000  C   enqueue C5 -> m3
   682.000  B   m3: rollback B3 refused, foreign
   683.000  m1  enqueue k C5 2000 1 1000042000 1000042000  0 0 C1 = 0 683000 1000042000 0 0 38 38 0
   683.000  m2  enqueue k C5 2000 1 1000042000 1000042000  0 0 C1 = 0 683000 1000042000 0 0 38 38 0
   683.000  m3  enqueue k C5 2000 1 1000042000 1000042000  0 0 C1 = 0 683000 1000042000 0 0 38 38 0
   684.000  C   m1: enqueue C5 queued
   684.000  C   m2: enqueue C5 queued
   684.000  C   m3: enqueue C5 queued
   684.000  C   waits behind 0 others
   723.000  C   enqueue C5 -> m1 m2 m3
   724.000  m1  enqueue k C5 2000 2 1000042000 1000042000  0 0 C1 = 1 724000 1000042000 0 0 2001 -1 0
   724.000  m2  enqueue k C5 2000 2 1000042000 1000042000  0 0 C1 = 1 724000 1000042000 0 0 2001 -1 0
   724.000  m3  enqueue k C5 2000 2 1000042000 1000042000  0 0 C1 = 1 724000 1000042000 0 0 2001 -1 0
   725.000  C   m1: enqueue C5 granted
   725.000  C   m2: enqueue C5 granted
   725.000  C   acquire: ok, valid for 1976.000 ms
   725.000  C   m3: enqueue C5 granted
   760.000  m1  has k = C5 for 1966.000 ms
   760.000  m2  has k = C5 for 1966.000 ms
   760.000  m3  has k = C5 for 1966.000 ms
