# The clock of m2 stands still: A's key stays there though A is dead and its lock has ended everywhere else. B has read the
# clock often enough to know: m2 has no vote, and gets one again when its clock goes on.
masters 3
guarded
max-ttl 3000
handles B 2
   2  freeze m2
  10  A acquire k ttl=300
  50  kill A
 100  B acquire other ttl=3000 renew=600
1500  B' acquire k ttl=200
3300  end
---
     8.000  A   m1 is ready
     8.000  A   m2 is ready
     8.000  A   m3 is ready
     8.000  B   m1 is ready
     8.000  B   m2 is ready
     8.000  B   m3 is ready
    10.000  A   acquire k ttl=300
    10.000  A   claim A1 -> m1 m2 m3
    11.000  m1  SET k A1 NX PX 300 = OK
    11.000  m2  SET k A1 NX PX 300 = OK
    11.000  m3  SET k A1 NX PX 300 = OK
    12.000  A   m1: claim A1 granted
    12.000  A   m2: claim A1 granted
    12.000  A   acquire: ok, valid for 293.000 ms
    12.000  A   m3: claim A1 granted
    50.000  A   dies
   100.000  B   acquire other ttl=3000
   100.000  B   claim B2 -> m1 m2 m3
   101.000  m1  SET other B2 NX PX 3000 = OK
   101.000  m2  SET other B2 NX PX 3000 = OK
   101.000  m3  SET other B2 NX PX 3000 = OK
   102.000  B   m1: claim B2 granted
   102.000  B   m2: claim B2 granted
   102.000  B   acquire: ok, valid for 2966.000 ms
   102.000  B   m3: claim B2 granted
   700.000  B   extend B2 -> m1 m2 m3
   701.000  m1  extend other B2 3000 = 1
   701.000  m2  extend other B2 3000 = 1
   701.000  m3  extend other B2 3000 = 1
   702.000  B   m1: extend B2 granted
   702.000  B   m2: extend B2 granted
   702.000  B   has renewed the lock
   702.000  B   m3: extend B2 granted
  1300.000  B   extend B2 -> m1 m2 m3
  1301.000  m1  extend other B2 3000 = 1
  1301.000  m2  extend other B2 3000 = 1
  1301.000  m3  extend other B2 3000 = 1
  1302.000  B   m1: extend B2 granted
  1302.000  B   m2: extend B2 granted
  1302.000  B   m2: excluded, its clock stands still, or runs much slower than this client's
  1302.000  B   has renewed the lock
  1302.000  B   m3: extend B2 granted
  1500.000  B'  acquire k ttl=200
  1500.000  B   claim B3 -> m1 m3
  1501.000  m1  SET k B3 NX PX 200 = OK
  1501.000  m3  SET k B3 NX PX 200 = OK
  1502.000  B   m1: claim B3 granted
  1502.000  B   m3: claim B3 granted
  1502.000  B'  acquire: ok, valid for 194.000 ms
  1696.000  B'  has lost the lock
  1696.000  B   release B3 -> m1 m3
  1697.000  m1  release k B3 = 1
  1697.000  m3  release k B3 = 1
  1698.000  B   m1: release B3 granted
  1698.000  B   m3: release B3 granted
  1900.000  B   extend B2 -> m1 m2 m3
  1901.000  m1  extend other B2 3000 = 1
  1901.000  m2  extend other B2 3000 = 1
  1901.000  m3  extend other B2 3000 = 1
  1902.000  B   m1: extend B2 granted
  1902.000  B   m2: extend B2 granted
  1902.000  B   has renewed the lock
  1902.000  B   m3: extend B2 granted
  2500.000  B   extend B2 -> m1 m2 m3
  2501.000  m1  extend other B2 3000 = 1
  2501.000  m2  extend other B2 3000 = 1
  2501.000  m3  extend other B2 3000 = 1
  2502.000  B   m1: extend B2 granted
  2502.000  B   m2: extend B2 granted
  2502.000  B   has renewed the lock
  2502.000  B   m3: extend B2 granted
  3100.000  B   extend B2 -> m1 m2 m3
  3101.000  m1  extend other B2 3000 = 1
  3101.000  m2  extend other B2 3000 = 1
  3101.000  m3  extend other B2 3000 = 1
  3102.000  B   m1: extend B2 granted
  3102.000  B   m2: extend B2 granted
  3102.000  B   has renewed the lock
  3102.000  B   m3: extend B2 granted
  3300.000  m1  has other = B2 for 2802.000 ms
  3300.000  m2  has k = A1 for 297702.000 ms
  3300.000  m2  has other = B2 for 3000702.000 ms
  3300.000  m3  has other = B2 for 2802.000 ms
