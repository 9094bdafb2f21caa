# A waiter has the votes of m1 and m2, and asks m1 to record the token of m2, which is larger. m1 does, but the answer is
# late, and A's lease ends there. Then B gets m1 and m3, with a larger token, and releases. The vote that A gets of m3
# does not count together with the one that has ended: A begins anew, and its token is above that of B.
masters 3
clients 3
node-timeout 5000
stall-timeout 5000
max-ttl 10000
  20  refuse m1 before
  20  refuse m3 before
  21  C acquire k ttl=400 once
  22.5 partition C m2
  22.6 kill C
  40  accept m1
  40  accept m3
  90  slow B m1 up 2350
 100  B acquire k ttl=10000 fenced once
 150  A acquire k ttl=10000 fenced queue
 427.5 partition A m1
2400  slow B m1 up 0
2400  slow A m2 down 40
2460  B release
2500  heal A m1
2550  end
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
    21.000  C   acquire k ttl=400
    21.000  C   claim C1 -> m1 m2 m3
    22.000  m1  SET k C1 NX PX 400 = LOADING Redis is loading the dataset in memory
    22.000  m2  SET k C1 NX PX 400 = OK
    22.000  m3  SET k C1 NX PX 400 = LOADING Redis is loading the dataset in memory
    22.500  --  partition C m2 
    22.600  C   dies
    90.000  --  slow B m1 up
   100.000  B   acquire k ttl=10000
   100.000  B   claim B2 -> m1 m2 m3
   101.000  m2  claim k redlock:fence:k B2 10000 1000100000 86400000 = 0 321 0
   101.000  m3  claim k redlock:fence:k B2 10000 1000100000 86400000 = 1 1000100000
   102.000  B   m2: claim B2 refused, held
   102.000  B   m3: claim B2 granted
   150.000  A   acquire k ttl=10000
   150.000  A   claim A3 -> m1 m2 m3
   151.000  m1  claim k redlock:fence:k A3 10000 1000150000 86400000 = 1 1000150000
   151.000  m2  claim k redlock:fence:k A3 10000 1000150000 86400000 = 0 271 0
   151.000  m3  claim k redlock:fence:k A3 10000 1000150000 86400000 = 0 9950 1000100000
   152.000  A   m1: claim A3 granted
   152.000  A   m2: claim A3 refused, held
   152.000  A   m3: claim A3 refused, held
   152.000  A   rollback A3 -> m1
   152.000  A   enqueue A4 -> m1 m2 m3
   153.000  m1  rollback k A3 = 1
   153.000  m1  enqueue k A4 2000 0 0 1000152000  1000152000 86400000 A1 = 1 153000 1000152000 0 0 2001 -1 1000152000
   153.000  m2  enqueue k A4 2000 0 0 1000152000  1000152000 86400000 A1 = 0 153000 1000152000 0 0 269 269 0
   153.000  m3  enqueue k A4 2000 0 0 1000152000  1000152000 86400000 A1 = 0 153000 1000152000 0 0 9948 9948 0
   154.000  A   m1: rollback A3 granted
   154.000  A   m1: enqueue A4 granted
   154.000  A   m2: enqueue A4 queued
   154.000  A   waits behind 0 others
   154.000  A   m3: enqueue A4 queued
   156.000  A   m1 is heard
   156.000  A   enqueue A4 -> m1
   156.000  A   m2 is heard
   156.000  A   enqueue A4 -> m2
   156.000  A   m3 is heard
   156.000  A   enqueue A4 -> m3
   157.000  m1  enqueue k A4 2000 0 1000152000 1000152000  1000156000 86400000 A1 = 1 157000 1000152000 0 0 2001 -1 1000152000
   157.000  m2  enqueue k A4 2000 0 1000152000 1000152000  1000156000 86400000 A1 = 0 157000 1000152000 0 0 265 265 0
   157.000  m3  enqueue k A4 2000 0 1000152000 1000152000  1000156000 86400000 A1 = 0 157000 1000152000 0 0 9944 9944 0
   158.000  A   m1: enqueue A4 granted
   158.000  A   m2: enqueue A4 queued
   158.000  A   m3: enqueue A4 queued
   424.000  A   enqueue A4 -> m1 m2 m3
   425.000  m1  enqueue k A4 2000 1 1000152000 1000152000  1000424000 86400000 A1 = 1 425000 1000152000 0 0 2001 -1 1000152000
   425.000  m2  enqueue k A4 2000 1 1000152000 1000152000  1000424000 86400000 A1 = 1 425000 1000152000 0 0 2001 -1 1000424000
   425.000  m3  enqueue k A4 2000 1 1000152000 1000152000  1000424000 86400000 A1 = 0 425000 1000152000 0 0 9676 9676 0
   426.000  A   m1: enqueue A4 granted
   426.000  A   m2: enqueue A4 granted
   426.000  A   raise A4 -> m1
   426.000  A   m3: enqueue A4 queued
   427.000  m1  raise k redlock:fence:k A4 1000424000 86400000 = 1
   427.500  --  partition A m1 
   924.000  A   enqueue A4 -> m1 m2 m3
   925.000  m2  enqueue k A4 2000 2 1000152000 1000152000  1000924000 86400000 A1 = 1 925000 1000152000 0 0 2001 -1 1000424000
   925.000  m3  enqueue k A4 2000 2 1000152000 1000152000  1000924000 86400000 A1 = 0 925000 1000152000 0 0 9176 9176 0
   926.000  A   m2: enqueue A4 granted
   926.000  A   m3: enqueue A4 queued
  1424.000  A   enqueue A4 -> m1 m2 m3
  1425.000  m2  enqueue k A4 2000 3 1000152000 1000152000  1001424000 86400000 A1 = 1 1425000 1000152000 0 0 2001 -1 1000424000
  1425.000  m3  enqueue k A4 2000 3 1000152000 1000152000  1001424000 86400000 A1 = 0 1425000 1000152000 0 0 8676 8676 0
  1426.000  A   m2: enqueue A4 granted
  1426.000  A   m3: enqueue A4 queued
  1924.000  A   enqueue A4 -> m1 m2 m3
  1925.000  m2  enqueue k A4 2000 4 1000152000 1000152000  1001924000 86400000 A1 = 1 1925000 1000152000 0 0 2001 -1 1000424000
  1925.000  m3  enqueue k A4 2000 4 1000152000 1000152000  1001924000 86400000 A1 = 0 1925000 1000152000 0 0 8176 8176 0
  1926.000  A   m2: enqueue A4 granted
  1926.000  A   m3: enqueue A4 queued
  2400.000  --  slow B m1 up
  2400.000  --  slow A m2 down
  2424.000  A   enqueue A4 -> m1 m2 m3
  2425.000  m2  enqueue k A4 2000 5 1000152000 1000152000  1002424000 86400000 A1 = 1 2425000 1000152000 0 0 2001 -1 1000424000
  2425.000  m3  enqueue k A4 2000 5 1000152000 1000152000  1002424000 86400000 A1 = 0 2425000 1000152000 0 0 7676 7676 0
  2426.000  A   m3: enqueue A4 queued
  2451.000  m1  claim k redlock:fence:k B2 10000 1000100000 86400000 = 1 1000424001
  2452.000  B   m1: claim B2 granted
  2452.000  B   raise B2 -> m3
  2453.000  m3  raise k redlock:fence:k B2 1000424001 86400000 = 1
  2454.000  B   m3: raise B2 granted
  2454.000  B   has the token 1000424001
  2454.000  B   acquire: ok, valid for 7544.000 ms
  2460.000  B   release
  2460.000  B   release B2 -> m1 m3
  2461.000  m1  release k B2 = 1
  2461.000  m3  release k B2 = 4
  2462.000  B   m1: release B2 granted
  2462.000  B   release B2 -> m3
  2463.000  m3  release k B2 = 0
  2464.000  A   m3 calls: A4 5 granted - 2463000 1002424000
  2464.000  A   rollback A4 -> m1 m2 m3
  2464.000  A   enqueue A5 -> m1 m2 m3
  2464.000  B   m3: release B2 granted, handed off
  2464.000  B   release: ok
  2465.000  m2  rollback k A4 = 1
  2465.000  m2  enqueue k A5 2000 0 1000152000 1002464000  1002464000 86400000 A1 = 1 2465000 1000152000 0 0 2001 -1 1002464000
  2465.000  m3  rollback k A4 = 1
  2465.000  m3  enqueue k A5 2000 0 1000152000 1002464000  1002464000 86400000 A1 = 1 2465000 1000152000 0 0 2001 -1 1002464000
  2466.000  A   m2: enqueue A4 granted
  2466.000  A   m3: rollback A4 granted
  2466.000  A   m3: enqueue A5 granted
  2500.000  --  heal A m1 
  2501.000  m1  enqueue k A4 2000 2 1000152000 1000152000  1000924000 86400000 A1 = 1 2501000 1000152000 0 0 2001 -1 1000924000
  2501.000  m1  enqueue k A4 2000 3 1000152000 1000152000  1001424000 86400000 A1 = 1 2501000 1000152000 0 0 2001 -1 1000924000
  2501.000  m1  enqueue k A4 2000 4 1000152000 1000152000  1001924000 86400000 A1 = 1 2501000 1000152000 0 0 2001 -1 1000924000
  2501.000  m1  enqueue k A4 2000 5 1000152000 1000152000  1002424000 86400000 A1 = 1 2501000 1000152000 0 0 2001 -1 1000924000
  2501.000  m1  rollback k A4 = 1
  2501.000  m1  enqueue k A5 2000 0 1000152000 1002464000  1002464000 86400000 A1 = 1 2501000 1000152000 0 0 2001 -1 1002464000
  2501.000  A   m1: raise A4 granted
  2502.000  A   m1: enqueue A4 granted
  2502.000  A   m1: enqueue A4 granted
  2502.000  A   m1: enqueue A4 granted
  2502.000  A   m1: enqueue A4 granted
  2502.000  A   m1: rollback A4 granted
  2502.000  A   m1: enqueue A5 granted
  2502.000  A   has the token 1002464000
  2502.000  A   acquire: ok, valid for 1940.000 ms
  2506.000  A   m2: rollback A4 granted
  2506.000  A   m2: enqueue A5 granted
  2550.000  m1  has k = A5 for 1953.000 ms
  2550.000  m2  has k = A5 for 1917.000 ms
  2550.000  m3  has k = A5 for 1917.000 ms
