# A held lock survives a restart of every master, one after the other, each with the loss of all its memory: it is in
# quarantine for everybody, but gets the key back from A, whose vote from before the loss has not expired. B does not
# get in, neither while A holds nor before the quarantines have ended.
masters 3
clients 2
guarded
max-ttl 1000
backoff 1 5
  20  A acquire k ttl=1000 renew=330 risk=300
 100  crash m1 lost
 110  restart m1
 450  crash m2 lost
 460  restart m2
 800  crash m3 lost
 810  restart m3
1100  B acquire k ttl=500 once
1200  A release
1250  B acquire k ttl=500 once
3000  B acquire k ttl=500 once
3020  end
---
     8.000  A   m1 is ready
     8.000  A   m2 is ready
     8.000  A   m3 is ready
     8.000  B   m1 is ready
     8.000  B   m2 is ready
     8.000  B   m3 is ready
    20.000  A   acquire k ttl=1000
    20.000  A   claim A1 -> m1 m2 m3
    21.000  m1  SET k A1 NX PX 1000 = OK
    21.000  m2  SET k A1 NX PX 1000 = OK
    21.000  m3  SET k A1 NX PX 1000 = OK
    22.000  A   m1: claim A1 granted
    22.000  A   m2: claim A1 granted
    22.000  A   acquire: ok, valid for 986.000 ms
    22.000  A   m3: claim A1 granted
   100.000  m1  crashes
   101.000  A   m1: connection lost
   101.000  A   m1 is down
   101.000  B   m1: connection lost
   101.000  B   m1 is down
   103.501  B   m1: connection refused
   103.517  A   m1: connection refused
   106.948  B   m1: connection refused
   107.508  A   m1: connection refused
   110.000  m1  restarts empty
   117.882  A   m1: new memory
   117.882  A   m1: quarantined, its memory is new: it may have forgotten locks
   117.882  A   m1 is ready
   118.028  B   m1: quarantined, its memory is new: it may have forgotten locks
   118.028  B   m1 is ready
   350.000  A   extend A1 -> m1 m2 m3
   351.000  m1  extend k A1 1000 = 0
   351.000  m2  extend k A1 1000 = 1
   351.000  m3  extend k A1 1000 = 1
   352.000  A   m1: extend A1 refused, missing
   352.000  A   repair A1 -> m1
   352.000  A   m2: extend A1 granted
   352.000  A   m3: extend A1 granted
   352.000  A   has renewed the lock
   353.000  m1  repair k redlock:marker A1 1000 i10 = 2
   354.000  A   m1: repair A1 granted
   450.000  m2  crashes
   451.000  A   m2: connection lost
   451.000  A   m2 is down
   451.000  B   m2: connection lost
   451.000  B   m2 is down
   453.444  A   m2: connection refused
   453.530  B   m2: connection refused
   456.278  A   m2: connection refused
   456.945  B   m2: connection refused
   460.000  m2  restarts empty
   467.713  A   m2: new memory
   467.713  A   m2: quarantined, its memory is new: it may have forgotten locks
   467.713  A   m2 is ready
   468.790  B   m2: quarantined, its memory is new: it may have forgotten locks
   468.790  B   m2 is ready
   680.000  A   extend A1 -> m1 m2 m3
   681.000  m1  extend k A1 1000 = 1
   681.000  m2  extend k A1 1000 = 0
   681.000  m3  extend k A1 1000 = 1
   682.000  A   m1: extend A1 granted
   682.000  A   m2: extend A1 refused, missing
   682.000  A   repair A1 -> m2
   682.000  A   m3: extend A1 granted
   682.000  A   has renewed the lock
   683.000  m2  repair k redlock:marker A1 1000 i12 = 2
   684.000  A   m2: repair A1 granted
   800.000  m3  crashes
   801.000  A   m3: connection lost
   801.000  A   m3 is down
   801.000  B   m3: connection lost
   801.000  B   m3 is down
   803.547  B   m3: connection refused
   803.827  A   m3: connection refused
   806.330  B   m3: connection refused
   806.953  A   m3: connection refused
   809.113  B   m3: connection refused
   810.000  m3  restarts empty
   818.699  A   m3: new memory
   818.699  A   m3: quarantined, its memory is new: it may have forgotten locks
   818.699  A   m3 is ready
   820.588  B   m3: quarantined, its memory is new: it may have forgotten locks
   820.588  B   m3 is ready
  1010.000  A   extend A1 -> m1 m2 m3
  1011.000  m1  extend k A1 1000 = 1
  1011.000  m2  extend k A1 1000 = 1
  1011.000  m3  extend k A1 1000 = 0
  1012.000  A   m1: extend A1 granted
  1012.000  A   m2: extend A1 granted
  1012.000  A   has renewed the lock
  1012.000  A   m3: extend A1 refused, missing
  1012.000  A   repair A1 -> m3
  1013.000  m3  repair k redlock:marker A1 1000 i14 = 2
  1014.000  A   m3: repair A1 granted
  1100.000  B   acquire k ttl=500
  1100.000  B   acquire: no quorum
  1200.000  A   release
  1200.000  A   release A1 -> m1 m2 m3
  1201.000  m1  release k A1 = 1
  1201.000  m2  release k A1 = 1
  1201.000  m3  release k A1 = 1
  1202.000  A   m1: release A1 granted
  1202.000  A   m2: release A1 granted
  1202.000  A   m3: release A1 granted
  1202.000  A   release: ok
  1250.000  B   acquire k ttl=500
  1250.000  B   acquire: no quorum
  3000.000  B   acquire k ttl=500
  3000.000  B   claim B4 -> m1 m2 m3
  3001.000  m1  SET k B4 NX PX 500 = OK
  3001.000  m2  SET k B4 NX PX 500 = OK
  3001.000  m3  SET k B4 NX PX 500 = OK
  3002.000  B   m1: claim B4 granted
  3002.000  B   m2: claim B4 granted
  3002.000  B   acquire: ok, valid for 491.000 ms
  3002.000  B   m3: claim B4 granted
  3020.000  m1  has k = B4 for 482.000 ms
  3020.000  m2  has k = B4 for 482.000 ms
  3020.000  m3  has k = B4 for 482.000 ms
