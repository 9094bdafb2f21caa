# A lock is lost while its owner is inside at depth 3, and another client has it. The owner may not enter again, also
# with no validity asked for. The releases of its inner entries send nothing, and what the last one sends does not touch
# the other's keys. Then the owner may acquire the lock anew, and begins at depth 1.
masters 3
clients 2
  20  A acquire k ttl=300
  30  A reenter
  30  A reenter min=100
  30  A reenter min=400
  40  partition A m1
  40  partition A m2
  40  partition A m3
 340  B acquire k ttl=500
 350  A reenter
 351  A release
 352  A reenter
 353  A release
 354  A release
 360  heal A m1
 360  heal A m2
 360  heal A m3
 400  B release
 420  A acquire k ttl=300
 430  A reenter
 431  A release
 432  A release
 500  end
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
    30.000  A   re-enter: depth 2
    30.000  A   re-enter: depth 3
    30.000  A   re-enter: the lock is held, but less validity is left than was asked for
    40.000  --  partition A m1 
    40.000  --  partition A m2 
    40.000  --  partition A m3 
   315.000  A   has lost the lock
   315.000  A   release A1 -> m1 m2 m3
   340.000  B   acquire k ttl=500
   340.000  B   claim B2 -> m1 m2 m3
   341.000  m1  SET k B2 NX PX 500 = OK
   341.000  m2  SET k B2 NX PX 500 = OK
   341.000  m3  SET k B2 NX PX 500 = OK
   342.000  B   m1: claim B2 granted
   342.000  B   m2: claim B2 granted
   342.000  B   acquire: ok, valid for 491.000 ms
   342.000  B   m3: claim B2 granted
   350.000  A   re-enter: the lock was lost: its validity ended
   351.000  A   release: depth 2
   352.000  A   re-enter: the lock was lost: its validity ended
   353.000  A   release: depth 1
   354.000  A   release
   360.000  --  heal A m1 
   360.000  --  heal A m2 
   360.000  --  heal A m3 
   361.000  m1  release k A1 = -1
   361.000  m2  release k A1 = -1
   361.000  m3  release k A1 = -1
   362.000  A   m1: release A1 refused, foreign
   362.000  A   m2: release A1 refused, foreign
   362.000  A   m3: release A1 refused, foreign
   362.000  A   release: lost
   400.000  B   release
   400.000  B   release B2 -> m1 m2 m3
   401.000  m1  release k B2 = 1
   401.000  m2  release k B2 = 1
   401.000  m3  release k B2 = 1
   402.000  B   m1: release B2 granted
   402.000  B   m2: release B2 granted
   402.000  B   m3: release B2 granted
   402.000  B   release: ok
   420.000  A   acquire k ttl=300
   420.000  A   claim A3 -> m1 m2 m3
   421.000  m1  SET k A3 NX PX 300 = OK
   421.000  m2  SET k A3 NX PX 300 = OK
   421.000  m3  SET k A3 NX PX 300 = OK
   422.000  A   m1: claim A3 granted
   422.000  A   m2: claim A3 granted
   422.000  A   acquire: ok, valid for 293.000 ms
   422.000  A   m3: claim A3 granted
   430.000  A   re-enter: depth 2
   431.000  A   release: depth 1
   432.000  A   release
   432.000  A   release A3 -> m1 m2 m3
   433.000  m1  release k A3 = 1
   433.000  m2  release k A3 = 1
   433.000  m3  release k A3 = 1
   434.000  A   m1: release A3 granted
   434.000  A   m2: release A3 granted
   434.000  A   m3: release A3 granted
   434.000  A   release: ok
