# A master restarts empty, and the operator keeps to the rule: it stays away until every key that it may have lost has
# ended. B cannot gather a second majority while A is valid.
masters 3
clients 2
max-ttl 300
backoff 100 100
  20  A acquire k ttl=300
  30  crash m1 lost
  40  crash m2 lost
 100  B acquire k ttl=300 delay=60
 345  restart m1
 345  restart m2
 520  end
---
     4.000  A   m1 is ready
     4.000  A   m2 is ready
     4.000  A   m3 is ready
     4.000  B   m1 is ready
     4.000  B   m2 is ready
     4.000  B   m3 is ready
    20.000  A   acquire k ttl=300
    20.000  A   claim A1 -> m1 m2 m3
    21.000  m1  SET k A1 NX PX 300 = OK
    21.000  m2  SET k A1 NX PX 300 = OK
    21.000  m3  SET k A1 NX PX 300 = OK
    22.000  A   m1: claim A1 granted
    22.000  A   m2: claim A1 granted
    22.000  A   acquire: ok, valid for 293.000 ms
    22.000  A   m3: claim A1 granted
    30.000  m1  crashes
    31.000  A   m1: connection lost
    31.000  A   m1 is down
    31.000  B   m1: connection lost
    31.000  B   m1 is down
    40.000  m2  crashes
    41.000  A   m2: connection lost
    41.000  A   m2 is down
    41.000  B   m2: connection lost
    41.000  B   m2 is down
    73.499  B   m2: connection refused
   100.000  B   acquire k ttl=300
   100.000  B   backs off: no quorum
   100.842  A   m2: connection refused
   116.775  A   m1: connection refused
   128.528  B   m2: connection refused
   128.906  B   m1: connection refused
   156.113  B   m1: connection refused
   160.000  B   backs off: no quorum
   169.419  B   m2: connection refused
   178.987  B   m2: connection refused
   182.250  A   m1: connection refused
   183.301  A   m2: connection refused
   220.000  B   backs off: no quorum
   239.804  B   m2: connection refused
   249.423  B   m1: connection refused
   269.107  A   m1: connection refused
   272.514  A   m2: connection refused
   280.000  B   backs off: no quorum
   281.126  B   m1: connection refused
   300.808  A   m1: connection refused
   315.000  A   has lost the lock
   315.000  A   release A1 -> m3
   316.000  m3  release k A1 = 1
   317.000  A   m3: release A1 granted
   322.679  A   m1: connection refused
   334.694  A   m1: connection refused
   335.591  B   m2: connection refused
   339.788  A   m2: connection refused
   340.000  B   backs off: no quorum
   345.000  m1  restarts empty
   345.000  m2  restarts empty
   356.328  A   m2 is ready
   356.328  A   rollback A1 -> m2
   357.328  m2  rollback k A1 = 0
   358.328  A   m2: rollback A1 refused, missing
   367.579  B   m1 is ready
   373.111  B   m2 is ready
   400.000  B   claim B7 -> m1 m2 m3
   401.000  m1  SET k B7 NX PX 300 = OK
   401.000  m2  SET k B7 NX PX 300 = OK
   401.000  m3  SET k B7 NX PX 300 = OK
   402.000  B   m1: claim B7 granted
   402.000  B   m2: claim B7 granted
   402.000  B   acquire: ok, valid for 293.000 ms
   402.000  B   m3: claim B7 granted
   423.972  A   m1 is ready
   423.972  A   rollback A1 -> m1
   424.972  m1  rollback k A1 = -1
   425.972  A   m1: rollback A1 refused, foreign
   520.000  m1  has k = B7 for 182.000 ms
   520.000  m2  has k = B7 for 182.000 ms
   520.000  m3  has k = B7 for 182.000 ms
