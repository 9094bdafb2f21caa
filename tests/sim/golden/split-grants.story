# Split grants. Three clients enter the queue at the same moment, each reaches another master first, and that master
# gives it the key. No one has a majority. Tickets settle it: A sees a lower one on the master whose key it has, and a
# second round brings it no majority either. It gives that key up, which is handed off, and enters the queue again with a
# fresh value and its ticket. B, the lowest, has a majority. C has nothing to correct: it looks again after four round
# trips, and gives up its key then.
masters 3
clients 3
wall B 1
wall C 2
delay A m1 1 1
delay A m2 3 1
delay A m3 3.5 1
delay B m1 3 1
delay B m2 1 1
delay B m3 3.2 1
delay C m1 3.1 1
delay C m2 3.3 1
delay C m3 1 1
  20    A acquire k ttl=1000 fifo
  20    B acquire k ttl=1000 fifo
  20    C acquire k ttl=1000 fifo
 200    end
---
     4.000  A   m1 is ready
     4.000  B   m2 is ready
     4.000  C   m3 is ready
     8.000  A   m2 is ready
     8.000  B   m1 is ready
     8.200  C   m1 is ready
     8.400  B   m3 is ready
     8.600  C   m2 is ready
     9.000  A   m3 is ready
    20.000  A   acquire k ttl=1000
    20.000  A   enqueue A1 -> m1 m2 m3
    20.000  B   acquire k ttl=1000
    20.000  B   enqueue B2 -> m1 m2 m3
    20.000  C   acquire k ttl=1000
    20.000  C   enqueue C3 -> m1 m2 m3
    21.000  m1  enqueue k A1 1000 0 0 1000020000  0 0 A1 = 1 21000 1000020000 0 0 1001 -1 0
    21.000  m2  enqueue k B2 1000 0 0 1000021000  0 0 B1 = 1 21000 1000021000 0 0 1001 -1 0
    21.000  m3  enqueue k C3 1000 0 0 1000022000  0 0 C1 = 1 21000 1000022000 0 0 1001 -1 0
    22.000  A   m1: enqueue A1 granted
    22.000  B   m2: enqueue B2 granted
    22.000  C   m3: enqueue C3 granted
    23.000  m2  enqueue k A1 1000 0 0 1000020000  0 0 A1 = 0 23000 1000021001 0 0 999 999 0
    23.000  m1  enqueue k B2 1000 0 0 1000021000  0 0 B1 = 0 23000 1000021000 0 0 999 999 0
    23.100  m1  enqueue k C3 1000 0 0 1000022000  0 0 C1 = 0 23100 1000022000 0 1 999 1000 0
    23.200  m3  enqueue k B2 1000 0 0 1000021000  0 0 B1 = 0 23200 1000022001 0 0 999 999 0
    23.300  m2  enqueue k C3 1000 0 0 1000022000  0 0 C1 = 0 23300 1000022000 0 1 999 1000 0
    23.500  m3  enqueue k A1 1000 0 0 1000020000  0 0 A1 = 0 23500 1000022002 0 1 999 1000 0
    24.000  A   m2: enqueue A1 queued
    24.000  A   enqueue A1 -> m1 m2 m3
    24.000  B   m1: enqueue B2 queued
    24.000  B   waits behind 0 others
    24.000  A   m1 is heard
    24.000  A   enqueue A1 -> m1
    24.000  B   m2 is heard
    24.000  B   enqueue B2 -> m2
    24.000  C   m3 is heard
    24.000  C   enqueue C3 -> m3
    24.100  C   m1: enqueue C3 queued
    24.100  C   waits behind 1 others
    24.200  B   m3: enqueue B2 queued
    24.200  B   enqueue B2 -> m3
    24.300  C   m2: enqueue C3 queued
    24.500  A   m3: enqueue A1 queued
    25.000  m1  enqueue k A1 1000 1 1000021001 1000020000  0 0 A1 = 1 25000 1000021001 1 0 1001 -1 0
    25.000  m1  enqueue k A1 1000 1 1000021001 1000020000  0 0 A1 = 1 25000 1000021001 1 0 1001 -1 0
    25.000  m2  enqueue k B2 1000 0 1000021000 1000021000  0 0 B1 = 1 25000 1000021000 0 0 1001 -1 0
    25.000  m3  enqueue k C3 1000 0 0 1000022000  0 0 C1 = 1 25000 1000022003 1 0 1001 -1 0
    26.000  A   m1: enqueue A1 granted
    26.000  A   m1: enqueue A1 granted
    26.000  B   m2: enqueue B2 granted
    26.000  C   m3: enqueue C3 granted
    26.000  C   enqueue C3 -> m3
    27.000  m2  enqueue k A1 1000 1 1000021001 1000020000  0 0 A1 = 0 27000 1000021001 0 0 999 999 0
    27.000  m3  enqueue k C3 1000 0 1000022000 1000022000  0 0 C1 = 1 27000 1000022000 0 0 1001 -1 0
    27.400  m3  enqueue k B2 1000 0 1000021000 1000021000  0 0 B1 = 0 27400 1000021000 0 0 1001 1001 0
    27.500  m3  enqueue k A1 1000 1 1000021001 1000020000  0 0 A1 = 0 27500 1000021001 0 1 1001 1000 0
    28.000  A   m2 is heard
    28.000  A   enqueue A1 -> m2
    28.000  A   m2: enqueue A1 queued
    28.000  A   rollback A1 -> m1 m2 m3
    28.000  A   enqueue A4 -> m1 m2 m3
    28.000  B   m1 is heard
    28.000  B   enqueue B2 -> m1
    28.000  C   m3: enqueue C3 granted
    28.200  C   m1 is heard
    28.200  C   enqueue C3 -> m1
    28.400  B   m3 is heard
    28.400  B   enqueue B2 -> m3
    28.400  C   m3 calls: C3 0 lower - 27400 0
    28.400  B   m3: enqueue B2 queued
    28.500  A   m3: enqueue A1 queued
    28.500  C   m3 calls: C3 0 lower - 27500 0
    28.600  C   m2 is heard
    28.600  C   enqueue C3 -> m2
    29.000  A   m3 is heard
    29.000  A   enqueue A4 -> m3
    29.000  m1  rollback k A1 = 2
    29.000  m1  enqueue k A4 1000 0 1000021001 1000028000  0 0 A1 = 0 29000 1000021001 0 0 995 995 0
    30.000  B   m1 calls: B2 0 granted - 29000 0
    30.000  B   acquire: ok, valid for 978.000 ms
    30.000  A   m1: rollback A1 granted, handed off
    30.000  A   m1: enqueue A4 queued
    31.000  m2  enqueue k A1 1000 1 1000021001 1000020000  0 0 A1 = 0 31000 1000021001 0 0 995 995 0
    31.000  m2  rollback k A1 = -1
    31.000  m2  enqueue k A4 1000 0 1000021001 1000028000  0 0 A1 = 0 31000 1000021001 0 0 995 995 0
    31.000  m1  enqueue k B2 1000 0 1000021000 1000021000  0 0 B1 = 1 31000 1000021000 0 0 1001 -1 0
    31.300  m1  enqueue k C3 1000 0 1000022000 1000022000  0 0 C1 = 0 31300 1000022000 0 1 1001 998 0
    31.500  m3  rollback k A1 = -1
    31.500  m3  enqueue k A4 1000 0 1000021001 1000028000  0 0 A1 = 0 31500 1000021001 0 1 997 996 0
    31.600  m3  enqueue k B2 1000 0 1000021000 1000021000  0 0 B1 = 0 31600 1000021000 0 0 997 997 0
    31.900  m2  enqueue k C3 1000 0 1000022000 1000022000  0 0 C1 = 0 31900 1000022000 0 1 995 1000 0
    32.000  A   m2: enqueue A1 queued
    32.000  A   m2: rollback A1 refused, foreign
    32.000  A   m2: enqueue A4 queued
    32.000  A   waits behind 0 others
    32.000  B   m1: enqueue B2 granted
    32.300  C   m1: enqueue C3 queued
    32.500  A   m3: rollback A1 refused, foreign
    32.500  A   m3: enqueue A4 queued
    32.500  C   m3 calls: C3 0 lower - 31500 0
    32.500  m3  enqueue k A4 1000 0 1000021001 1000028000  0 0 A1 = 0 32500 1000021001 0 1 996 999 0
    32.600  B   m3: enqueue B2 queued
    32.600  C   m3 calls: C3 0 lower - 31600 0
    32.900  C   m2: enqueue C3 queued
    33.500  A   m3: enqueue A4 queued
    33.500  C   m3 calls: C3 0 lower - 32500 0
    36.400  C   enqueue C3 -> m1 m2 m3
    37.400  m3  enqueue k C3 1000 1 1000022000 1000022000  0 0 C1 = 1 37400 1000022000 1 0 1001 -1 0
    38.400  C   m3: enqueue C3 granted
    39.500  m1  enqueue k C3 1000 1 1000022000 1000022000  0 0 C1 = 0 39500 1000022000 0 1 993 990 0
    39.700  m2  enqueue k C3 1000 1 1000022000 1000022000  0 0 C1 = 0 39700 1000022000 0 1 987 992 0
    40.500  C   m1: enqueue C3 queued
    40.500  C   rollback C3 -> m1 m2 m3
    40.500  C   enqueue C5 -> m1 m2 m3
    40.700  C   m2: enqueue C3 queued
    41.500  m3  rollback k C3 = 2
    41.500  m3  enqueue k C5 1000 0 1000022000 1000042500  0 0 C1 = 0 41500 1000022000 0 1 991 991 0
    42.500  B   m3 calls: B2 0 granted - 41500 0
    42.500  C   m3: rollback C3 granted, handed off
    42.500  C   m3: enqueue C5 queued
    43.600  m1  rollback k C3 = -1
    43.600  m1  enqueue k C5 1000 0 1000022000 1000042500  0 0 C1 = 0 43600 1000022000 0 1 989 986 0
    43.800  m2  rollback k C3 = -1
    43.800  m2  enqueue k C5 1000 0 1000022000 1000042500  0 0 C1 = 0 43800 1000022000 0 1 983 988 0
    44.600  C   m1: rollback C3 refused, foreign
    44.600  C   m1: enqueue C5 queued
    44.800  C   m2: rollback C3 refused, foreign
    44.800  C   m2: enqueue C5 queued
   200.000  m1  has k = B2 for 833.000 ms
   200.000  m2  has k = B2 for 827.000 ms
   200.000  m3  has k = B2 for 833.000 ms
