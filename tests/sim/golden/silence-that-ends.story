# A master is silent while the client shuts down, and is not awaited. Then its first answer comes, by which a quorum has
# confirmed all releases. It is silent no more, so its other answer is awaited, too.
masters 3
clients 1
node-timeout 200
connect-timeout 300
stall-timeout 5000
backoff 400 1000
 90   A acquire k ttl=3000
 200  crash m3
 290  slow A m1 up 500
 300  A destroy
 345  slow A m1 up 440
 350  A acquire k ttl=3000
 355  slow A m1 up 600
 360  A cancel
 520  A shutdown timeout=2000
 1100 end
---
     4.000  A   m1 is ready
     4.000  A   m2 is ready
     4.000  A   m3 is ready
    90.000  A   acquire k ttl=3000
    90.000  A   claim A1 -> m1 m2 m3
    91.000  m1  SET k A1 NX PX 3000 = OK
    91.000  m2  SET k A1 NX PX 3000 = OK
    91.000  m3  SET k A1 NX PX 3000 = OK
    92.000  A   m1: claim A1 granted
    92.000  A   m2: claim A1 granted
    92.000  A   acquire: ok, valid for 2966.000 ms
    92.000  A   m3: claim A1 granted
   200.000  m3  crashes
   201.000  A   m3: connection lost
   201.000  A   m3 is down
   290.000  --  slow A m1 up
   300.000  A   destroy
   300.000  A   release A1 -> m1 m2
   301.000  m2  release k A1 = 1
   302.000  A   m2: release A1 granted
   345.000  --  slow A m1 up
   350.000  A   acquire k ttl=3000
   350.000  A   claim A2 -> m1 m2
   351.000  m2  SET k A2 NX PX 3000 = OK
   352.000  A   m2: claim A2 granted
   355.000  --  slow A m1 up
   360.000  A   cancel
   360.000  A   acquire: canceled
   360.000  A   rollback A2 -> m1 m2
   361.000  m2  rollback k A2 = 1
   362.000  A   m2: rollback A2 granted
   500.000  A   m1 is late
   512.706  A   m3: connection refused
   520.000  A   shuts down, for 2000.000 ms at most
   667.561  A   m3: connection refused
   801.000  m1  release k A1 = 1
   801.000  m1  SET k A2 NX PX 3000 = OK
   802.000  A   m1: release A1 granted
   802.000  A   m1: claim A2 granted
   961.000  m1  rollback k A2 = 1
   962.000  A   m1: rollback A2 granted
   962.000  A   m1 is ready
   962.000  A   has shut down: confirmed
  1100.000  m3  has k = A1 for 1992.000 ms
