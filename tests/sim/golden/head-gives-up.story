# The head of the queue gives up while the key of a holder that is gone lasts: A at 680 ms. B meant to look again at
# 1042 ms. The masters tell it that it is the first, so it looks when the key ends, after 700 ms.
masters 3
calm
clients 2
max-ttl 2000
left 700
  30    A acquire k ttl=2000 queue timeout=650
  40    B acquire k ttl=2000 queue
1100    end
---
     4.000  A   m1 is ready
     4.000  A   m2 is ready
     4.000  A   m3 is ready
     4.000  B   m1 is ready
     4.000  B   m2 is ready
     4.000  B   m3 is ready
    30.000  A   acquire k ttl=2000
    30.000  A   claim A1 -> m1 m2 m3
    31.000  m1  SET k A1 NX PX 2000 = nil
    31.000  m2  SET k A1 NX PX 2000 = nil
    31.000  m3  SET k A1 NX PX 2000 = nil
    32.000  A   m1: claim A1 refused, held
    32.000  A   m2: claim A1 refused, held
    32.000  A   rollback A1 -> m3
    32.000  A   enqueue A2 -> m1 m2 m3
    32.000  A   m3: claim A1 refused, held
    33.000  m1  enqueue k A2 2000 0 0 1000032000  0 0 A1 = 0 33000 1000032000 0 0 667 667 0
    33.000  m2  enqueue k A2 2000 0 0 1000032000  0 0 A1 = 0 33000 1000032000 0 0 667 667 0
    33.000  m3  rollback k A1 = -1
    33.000  m3  enqueue k A2 2000 0 0 1000032000  0 0 A1 = 0 33000 1000032000 0 0 667 667 0
    34.000  A   m1: enqueue A2 queued
    34.000  A   m2: enqueue A2 queued
    34.000  A   waits behind 0 others
    34.000  A   m3: rollback A1 refused, foreign
    34.000  A   m3: enqueue A2 queued
    36.000  A   m1 is heard
    36.000  A   enqueue A2 -> m1
    36.000  A   m2 is heard
    36.000  A   enqueue A2 -> m2
    36.000  A   m3 is heard
    36.000  A   enqueue A2 -> m3
    37.000  m1  enqueue k A2 2000 0 1000032000 1000032000  0 0 A1 = 0 37000 1000032000 0 0 663 663 0
    37.000  m2  enqueue k A2 2000 0 1000032000 1000032000  0 0 A1 = 0 37000 1000032000 0 0 663 663 0
    37.000  m3  enqueue k A2 2000 0 1000032000 1000032000  0 0 A1 = 0 37000 1000032000 0 0 663 663 0
    38.000  A   m1: enqueue A2 queued
    38.000  A   m2: enqueue A2 queued
    38.000  A   m3: enqueue A2 queued
    40.000  B   acquire k ttl=2000
    40.000  B   claim B3 -> m1 m2 m3
    41.000  m1  SET k B3 NX PX 2000 = nil
    41.000  m2  SET k B3 NX PX 2000 = nil
    41.000  m3  SET k B3 NX PX 2000 = nil
    42.000  B   m1: claim B3 refused, held
    42.000  B   m2: claim B3 refused, held
    42.000  B   rollback B3 -> m3
    42.000  B   enqueue B4 -> m1 m2 m3
    42.000  B   m3: claim B3 refused, held
    43.000  m1  enqueue k B4 2000 0 0 1000042000  0 0 B1 = 0 43000 1000042000 0 1 657 1994 0
    43.000  m2  enqueue k B4 2000 0 0 1000042000  0 0 B1 = 0 43000 1000042000 0 1 657 1994 0
    43.000  m3  rollback k B3 = -1
    43.000  m3  enqueue k B4 2000 0 0 1000042000  0 0 B1 = 0 43000 1000042000 0 1 657 1994 0
    44.000  B   m1: enqueue B4 queued
    44.000  B   m2: enqueue B4 queued
    44.000  B   waits behind 1 others
    44.000  B   m3: rollback B3 refused, foreign
    44.000  B   m3: enqueue B4 queued
    46.000  B   m1 is heard
    46.000  B   enqueue B4 -> m1
    46.000  B   m2 is heard
    46.000  B   enqueue B4 -> m2
    46.000  B   m3 is heard
    46.000  B   enqueue B4 -> m3
    47.000  m1  enqueue k B4 2000 0 1000042000 1000042000  0 0 B1 = 0 47000 1000042000 0 1 653 1990 0
    47.000  m2  enqueue k B4 2000 0 1000042000 1000042000  0 0 B1 = 0 47000 1000042000 0 1 653 1990 0
    47.000  m3  enqueue k B4 2000 0 1000042000 1000042000  0 0 B1 = 0 47000 1000042000 0 1 653 1990 0
    48.000  B   m1: enqueue B4 queued
    48.000  B   m2: enqueue B4 queued
    48.000  B   m3: enqueue B4 queued
   532.000  A   enqueue A2 -> m1 m2 m3
   533.000  m1  enqueue k A2 2000 1 1000032000 1000032000  0 0 A1 = 0 533000 1000032000 0 0 167 167 0
   533.000  m2  enqueue k A2 2000 1 1000032000 1000032000  0 0 A1 = 0 533000 1000032000 0 0 167 167 0
   533.000  m3  enqueue k A2 2000 1 1000032000 1000032000  0 0 A1 = 0 533000 1000032000 0 0 167 167 0
   534.000  A   m1: enqueue A2 queued
   534.000  A   m2: enqueue A2 queued
   534.000  A   m3: enqueue A2 queued
   542.000  B   enqueue B4 -> m1 m2 m3
   543.000  m1  enqueue k B4 2000 1 1000042000 1000042000  0 0 B1 = 0 543000 1000042000 0 1 157 1990 0
   543.000  m2  enqueue k B4 2000 1 1000042000 1000042000  0 0 B1 = 0 543000 1000042000 0 1 157 1990 0
   543.000  m3  enqueue k B4 2000 1 1000042000 1000042000  0 0 B1 = 0 543000 1000042000 0 1 157 1990 0
   544.000  B   m1: enqueue B4 queued
   544.000  B   m2: enqueue B4 queued
   544.000  B   m3: enqueue B4 queued
   680.000  A   rollback A2 -> m1 m2 m3
   680.000  A   acquire: deadline
   681.000  m1  rollback k A2 = -1
   681.000  m2  rollback k A2 = -1
   681.000  m3  rollback k A2 = -1
   682.000  B   m1 calls: B4 0 first - 681000 0
   682.000  B   enqueue B4 -> m1
   682.000  A   m1: rollback A2 refused, foreign
   682.000  B   m2 calls: B4 0 first - 681000 0
   682.000  B   enqueue B4 -> m2
   682.000  A   m2: rollback A2 refused, foreign
   682.000  B   m3 calls: B4 0 first - 681000 0
   682.000  B   enqueue B4 -> m3
   682.000  A   m3: rollback A2 refused, foreign
   683.000  m1  enqueue k B4 2000 1 1000042000 1000042000  0 0 B1 = 0 683000 1000042000 0 0 17 17 0
   683.000  m2  enqueue k B4 2000 1 1000042000 1000042000  0 0 B1 = 0 683000 1000042000 0 0 17 17 0
   683.000  m3  enqueue k B4 2000 1 1000042000 1000042000  0 0 B1 = 0 683000 1000042000 0 0 17 17 0
   684.000  B   m1: enqueue B4 queued
   684.000  B   m2: enqueue B4 queued
   684.000  B   m3: enqueue B4 queued
   684.000  B   waits behind 0 others
   702.000  B   enqueue B4 -> m1 m2 m3
   703.000  m1  enqueue k B4 2000 2 1000042000 1000042000  0 0 B1 = 1 703000 1000042000 0 0 2001 -1 0
   703.000  m2  enqueue k B4 2000 2 1000042000 1000042000  0 0 B1 = 1 703000 1000042000 0 0 2001 -1 0
   703.000  m3  enqueue k B4 2000 2 1000042000 1000042000  0 0 B1 = 1 703000 1000042000 0 0 2001 -1 0
   704.000  B   m1: enqueue B4 granted
   704.000  B   m2: enqueue B4 granted
   704.000  B   acquire: ok, valid for 1976.000 ms
   704.000  B   m3: enqueue B4 granted
  1100.000  m1  has k = B4 for 1605.000 ms
  1100.000  m2  has k = B4 for 1605.000 ms
  1100.000  m3  has k = B4 for 1605.000 ms
