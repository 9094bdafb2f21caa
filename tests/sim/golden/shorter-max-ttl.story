# The operator declares a shorter max_ttl while A holds a longer lock, by votes of m1 and m2. m2 loses its memory after
# that. B, whose max_ttl is the shorter one, learns from m3 that longer locks may be alive: m2 abstains for so long, and B does
# not get the lock while A has it.
masters 3
clients 2
guarded
max-ttl 6000
own-max-ttl B 1000
backoff 400 400
node-timeout 20
  15  partition A m3
  20  A acquire k ttl=6000
 100  declare 1000
 200  B acquire k ttl=1000 attempts=1
 900  partition B m1
 910  flush m2
 920  B acquire k ttl=1000 delay=800
5800  end
---
     8.000  A   m1 is ready
     8.000  A   m2 is ready
     8.000  A   m3 is ready
     8.000  B   m1 is ready
     8.000  B   m2 is ready
     8.000  B   m3 is ready
    15.000  --  partition A m3 
    20.000  A   acquire k ttl=6000
    20.000  A   claim A1 -> m1 m2 m3
    21.000  m1  SET k A1 NX PX 6000 = OK
    21.000  m2  SET k A1 NX PX 6000 = OK
    22.000  A   m1: claim A1 granted
    22.000  A   m2: claim A1 granted
    22.000  A   acquire: ok, valid for 5936.000 ms
    40.000  A   m3 is late
   100.000  --  max_ttl is to be 1000 ms
   100.000  m1  announce max_ttl 1000
   100.000  m2  announce max_ttl 1000
   100.000  m3  announce max_ttl 1000
   100.000  m1  confirm max_ttl 1000
   100.000  m2  confirm max_ttl 1000
   100.000  m3  confirm max_ttl 1000
   100.000  m1  allow max_ttl 1000
   100.000  m2  allow max_ttl 1000
   100.000  m3  allow max_ttl 1000
   200.000  B   acquire k ttl=1000
   200.000  B   claim B2 -> m1 m2 m3
   201.000  m1  SET k B2 NX PX 1000 = nil
   201.000  m2  SET k B2 NX PX 1000 = nil
   201.000  m3  SET k B2 NX PX 1000 = OK
   202.000  B   m1: claim B2 refused, held
   202.000  B   m2: claim B2 refused, held
   202.000  B   acquire: held
   202.000  B   rollback B2 -> m3
   202.000  B   m3: claim B2 granted
   203.000  m3  rollback k B2 = 1
   204.000  B   m1: looked at again: its memory is not the one that was admitted
   204.000  B   m1 is down
   204.000  B   m2: looked at again: its memory is not the one that was admitted
   204.000  B   m2 is down
   204.000  B   m3: rollback B2 granted
   204.000  B   m3: looked at again: its memory is not the one that was admitted
   204.000  B   m3 is down
   254.987  B   m1 is ready
   516.548  B   m2 is ready
   520.000  A   m3: silent for too long
   520.000  A   m3: claim A1 unknown, disconnected
   520.000  A   m3 is down
   521.318  B   m3 is ready
   837.857  A   m3: no connection in time
   900.000  --  partition B m1 
   910.000  m2  is flushed
   920.000  B   acquire k ttl=1000
   920.000  B   claim B3 -> m1 m2 m3
   921.000  m2  SET k B3 NX PX 1000 = OK
   921.000  m3  SET k B3 NX PX 1000 = OK
   922.000  B   m2: claim B3 granted
   922.000  B   m2: its memory is not the one that was admitted
   922.000  B   m2 is down
   922.000  B   m3: claim B3 granted
   940.000  B   m1 is late
   940.000  B   backs off: no quorum
   940.000  B   rollback B3 -> m1 m3
   941.000  m3  rollback k B3 = 1
   942.000  B   m3: rollback B3 granted
  1096.200  A   m3: no connection in time
  1120.279  B   m2: new memory
  1120.279  B   m2: quarantined, its memory is new: it may have forgotten locks
  1120.279  B   m2 is ready
  1120.279  B   rollback B3 -> m2
  1121.279  m2  rollback k B3 = 1
  1122.279  B   m2: rollback B3 granted
  1251.286  A   m3: no connection in time
  1420.000  B   m1: silent for too long
  1420.000  B   m1: claim B3 unknown, disconnected
  1420.000  B   m1: rollback B3 unknown, disconnected
  1420.000  B   m1 is down
  1599.655  A   m3: no connection in time
  1736.148  A   m3: no connection in time
  1740.000  B   backs off: no quorum
  1862.360  A   m3: no connection in time
  1916.849  B   m1: no connection in time
  2325.655  A   m3: no connection in time
  2388.516  B   m1: no connection in time
  2445.904  A   m3: no connection in time
  2540.000  B   backs off: no quorum
  2645.673  A   m3: no connection in time
  2763.805  A   m3: no connection in time
  2862.012  B   m1: no connection in time
  2988.901  B   m1: no connection in time
  3068.765  A   m3: no connection in time
  3194.372  A   m3: no connection in time
  3340.000  B   backs off: no quorum
  3399.724  B   m1: no connection in time
  3539.149  B   m1: no connection in time
  3653.083  A   m3: no connection in time
  3807.710  B   m1: no connection in time
  3963.796  A   m3: no connection in time
  4086.609  A   m3: no connection in time
  4105.300  B   m1: no connection in time
  4140.000  B   backs off: no quorum
  4428.775  A   m3: no connection in time
  4449.314  B   m1: no connection in time
  4627.774  A   m3: no connection in time
  4679.449  B   m1: no connection in time
  4809.667  B   m1: no connection in time
  4870.646  A   m3: no connection in time
  4940.000  B   backs off: no quorum
  5207.427  A   m3: no connection in time
  5292.031  B   m1: no connection in time
  5408.895  B   m1: no connection in time
  5510.178  A   m3: no connection in time
  5650.411  A   m3: no connection in time
  5740.000  B   backs off: no quorum
  5790.851  B   m1: no connection in time
  5800.000  m1  has k = A1 for 222.000 ms
