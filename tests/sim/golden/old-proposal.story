# The number that a waiter proposes for its fencing token is as young as its command. m1 and m2 have recorded B's token,
# which B's fast clock has made; m1 loses it, and votes again when B's key there would have ended. A has waited since
# before that, with m3's vote, and m1 begins to count anew from what A proposes: with its first number, A's token would
# be the smaller one.
masters 3
clients 2
wall B 50
backoff 100 100
   5  partition B m3
  20  B acquire k ttl=1000 fenced once
  24  crash m1 lost
  26  kill B
  30  A acquire k ttl=1000 fenced fifo
1010  hang m2
1030  restart m1
1200  end
---
     4.000  A   m1 is ready
     4.000  A   m2 is ready
     4.000  A   m3 is ready
     4.000  B   m1 is ready
     4.000  B   m2 is ready
     4.000  B   m3 is ready
     5.000  --  partition B m3 
    20.000  B   acquire k ttl=1000
    20.000  B   claim B1 -> m1 m2 m3
    21.000  m1  claim k redlock:fence:k B1 1000 1000070000 86400000 = 1 1000070000
    21.000  m2  claim k redlock:fence:k B1 1000 1000070000 86400000 = 1 1000070000
    22.000  B   m1: claim B1 granted
    22.000  B   m2: claim B1 granted
    22.000  B   has the token 1000070000
    22.000  B   acquire: ok, valid for 986.000 ms
    24.000  m1  crashes
    25.000  A   m1: connection lost
    25.000  A   m1 is down
    25.000  B   m1: connection lost
    25.000  B   m1 is down
    26.000  B   dies
    30.000  A   acquire k ttl=1000
    30.000  A   enqueue A2 -> m2 m3
    31.000  m2  enqueue k A2 1000 0 0 1000030000  1000030000 86400000 A1 = 0 31000 1000030000 0 0 990 990 0
    31.000  m3  enqueue k A2 1000 0 0 1000030000  1000030000 86400000 A1 = 1 31000 1000030000 0 0 1001 -1 1000030000
    32.000  A   m2: enqueue A2 queued
    32.000  A   m3: enqueue A2 granted
    32.000  A   waits behind 0 others
    34.000  A   m2 is heard
    34.000  A   enqueue A2 -> m2
    34.000  A   m3 is heard
    34.000  A   enqueue A2 -> m3
    35.000  m2  enqueue k A2 1000 0 1000030000 1000030000  1000034000 86400000 A1 = 0 35000 1000030000 0 0 986 986 0
    35.000  m3  enqueue k A2 1000 0 1000030000 1000030000  1000034000 86400000 A1 = 1 35000 1000030000 0 0 1001 -1 1000030000
    36.000  A   m2: enqueue A2 queued
    36.000  A   m3: enqueue A2 granted
   110.775  A   m1: connection refused
   165.803  A   m1: connection refused
   231.279  A   m1: connection refused
   258.486  A   m1: connection refused
   268.054  A   m1: connection refused
   280.000  A   enqueue A2 -> m2 m3
   281.000  m2  enqueue k A2 1000 1 1000030000 1000030000  1000280000 86400000 A1 = 0 281000 1000030000 0 0 740 740 0
   281.000  m3  enqueue k A2 1000 1 1000030000 1000030000  1000280000 86400000 A1 = 1 281000 1000030000 0 0 1001 -1 1000030000
   282.000  A   m2: enqueue A2 queued
   282.000  A   m3: enqueue A2 granted
   328.870  A   m1: connection refused
   415.727  A   m1: connection refused
   511.514  A   m1: connection refused
   530.000  A   enqueue A2 -> m2 m3
   531.000  m2  enqueue k A2 1000 2 1000030000 1000030000  1000530000 86400000 A1 = 0 531000 1000030000 0 0 490 490 0
   531.000  m3  enqueue k A2 1000 2 1000030000 1000030000  1000530000 86400000 A1 = 1 531000 1000030000 0 0 1001 -1 1000030000
   532.000  A   m2: enqueue A2 queued
   532.000  A   m3: enqueue A2 granted
   595.968  A   m1: connection refused
   631.487  A   m1: connection refused
   646.028  A   m1: connection refused
   687.968  A   m1: connection refused
   751.542  A   m1: connection refused
   773.093  A   m1: connection refused
   780.000  A   enqueue A2 -> m2 m3
   781.000  m2  enqueue k A2 1000 3 1000030000 1000030000  1000780000 86400000 A1 = 0 781000 1000030000 0 0 240 240 0
   781.000  m3  enqueue k A2 1000 3 1000030000 1000030000  1000780000 86400000 A1 = 1 781000 1000030000 0 0 1001 -1 1000030000
   782.000  A   m2: enqueue A2 queued
   782.000  A   m3: enqueue A2 granted
   830.625  A   m1: connection refused
   837.931  A   m1: connection refused
   921.487  A   m1: connection refused
   969.035  A   m1: connection refused
  1010.000  m2  hangs
  1023.000  A   enqueue A2 -> m2 m3
  1024.000  m3  enqueue k A2 1000 4 1000030000 1000030000  1001023000 86400000 A1 = 1 1024000 1000030000 0 0 1001 -1 1000030000
  1025.000  A   m3: enqueue A2 granted
  1030.000  m1  restarts empty
  1034.000  A   m2 is not heard any more
  1038.159  A   m1 is heard
  1068.619  A   m1 is ready
  1068.619  A   enqueue A2 -> m1
  1069.619  m1  enqueue k A2 1000 4 1000030000 1000030000  1001068619 86400000 A1 = 1 1069619 1000030000 0 0 1001 -1 1001068619
  1070.619  A   m1: enqueue A2 granted
  1070.619  A   raise A2 -> m3
  1071.619  m3  raise k redlock:fence:k A2 1001068619 86400000 = 1
  1072.619  A   m3: raise A2 granted
  1072.619  A   has the token 1001068619
  1072.619  A   acquire: ok, valid for 938.381 ms
  1073.000  A   m2 is late
  1200.000  m1  has k = A2 for 871.000 ms
  1200.000  m3  has k = A2 for 826.000 ms
