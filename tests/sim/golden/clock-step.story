# The clocks of two masters are set forward by three seconds: A's keys there are gone at once. B has known those clocks
# before, sees the step behind its own SETs, and does not count them. A learns of it from its next renewal.
masters 3
clients 2
guarded
max-ttl 3000
  20  A acquire k ttl=3000 renew=400 risk=600
 100  step m1 3100
 110  step m2 3100
 130  B acquire k ttl=3000 once
 430  end
---
     8.000  A   m1 is ready
     8.000  A   m2 is ready
     8.000  A   m3 is ready
     8.000  B   m1 is ready
     8.000  B   m2 is ready
     8.000  B   m3 is ready
    20.000  A   acquire k ttl=3000
    20.000  A   claim A1 -> m1 m2 m3
    21.000  m1  SET k A1 NX PX 3000 = OK
    21.000  m2  SET k A1 NX PX 3000 = OK
    21.000  m3  SET k A1 NX PX 3000 = OK
    22.000  A   m1: claim A1 granted
    22.000  A   m2: claim A1 granted
    22.000  A   acquire: ok, valid for 2966.000 ms
    22.000  A   m3: claim A1 granted
   100.000  m1  clock set by 3100 ms
   110.000  m2  clock set by 3100 ms
   130.000  B   acquire k ttl=3000
   130.000  B   claim B2 -> m1 m2 m3
   131.000  m1  SET k B2 NX PX 3000 = OK
   131.000  m2  SET k B2 NX PX 3000 = OK
   131.000  m3  SET k B2 NX PX 3000 = nil
   132.000  B   m1: claim B2 granted
   132.000  B   m1: its clock was set forward, by 3103.274 ms at most
   132.000  B   m1: quarantined, its clock was set forward: it may have dropped locks early
   132.000  B   m2: claim B2 granted
   132.000  B   m2: its clock was set forward, by 3103.274 ms at most
   132.000  B   m2: quarantined, its clock was set forward: it may have dropped locks early
   132.000  B   acquire: no quorum
   132.000  B   rollback B2 -> m1 m2 m3
   132.000  B   m3: claim B2 refused, held
   133.000  m2  rollback k B2 = 1
   133.000  m3  rollback k B2 = -1
   133.000  m1  rollback k B2 = 1
   134.000  B   m2: rollback B2 granted
   134.000  B   m3: rollback B2 refused, foreign
   134.000  B   m1: rollback B2 granted
   420.000  A   extend A1 -> m1 m2 m3
   421.000  m1  extend k A1 3000 = 0
   421.000  m2  extend k A1 3000 = 0
   421.000  m3  extend k A1 3000 = 1
   422.000  A   m1: extend A1 refused, missing
   422.000  A   m1: its clock was set forward, by 3106.203 ms at most
   422.000  A   m1: quarantined, its clock was set forward: it may have dropped locks early
   422.000  A   m2: extend A1 refused, missing
   422.000  A   m2: its clock was set forward, by 3106.203 ms at most
   422.000  A   m2: quarantined, its clock was set forward: it may have dropped locks early
   422.000  A   has lost the lock
   422.000  A   release A1 -> m1 m2 m3
   422.000  A   m3: extend A1 granted
   423.000  m2  release k A1 = 0
   423.000  m3  release k A1 = 1
   423.000  m1  release k A1 = 0
   424.000  A   m2: release A1 refused, missing
   424.000  A   m3: release A1 granted
   424.000  A   m1: release A1 refused, missing
