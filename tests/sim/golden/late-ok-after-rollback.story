# The OK comes after the rollback: m3 is slow and m1 out of reach, the round ends without a quorum, and the rollback is
# written behind the claim without waiting for its answer. The late grant needs nothing: its rollback is under way
# already.
masters 3
clients 2
node-timeout 20
  10  B acquire k ttl=1000 once
  15  slow A m3 up 40
  16  partition A m1
  20  A acquire k ttl=1000 once
  24  B release
  90  heal A m1
 120  end
---
     4.000  A   m1 is ready
     4.000  A   m2 is ready
     4.000  A   m3 is ready
     4.000  B   m1 is ready
     4.000  B   m2 is ready
     4.000  B   m3 is ready
    10.000  B   acquire k ttl=1000
    10.000  B   claim B1 -> m1 m2 m3
    11.000  m1  SET k B1 NX PX 1000 = OK
    11.000  m2  SET k B1 NX PX 1000 = OK
    11.000  m3  SET k B1 NX PX 1000 = OK
    12.000  B   m1: claim B1 granted
    12.000  B   m2: claim B1 granted
    12.000  B   acquire: ok, valid for 986.000 ms
    12.000  B   m3: claim B1 granted
    15.000  --  slow A m3 up
    16.000  --  partition A m1 
    20.000  A   acquire k ttl=1000
    20.000  A   claim A2 -> m1 m2 m3
    21.000  m2  SET k A2 NX PX 1000 = nil
    22.000  A   m2: claim A2 refused, held
    24.000  B   release
    24.000  B   release B1 -> m1 m2 m3
    25.000  m1  release k B1 = 1
    25.000  m2  release k B1 = 1
    25.000  m3  release k B1 = 1
    26.000  B   m1: release B1 granted
    26.000  B   m2: release B1 granted
    26.000  B   m3: release B1 granted
    26.000  B   release: ok
    40.000  A   m1 is late
    40.000  A   m3 is late
    40.000  A   acquire: no quorum
    40.000  A   rollback A2 -> m1 m3
    61.000  m3  SET k A2 NX PX 1000 = OK
    62.000  A   m3: claim A2 granted
    81.000  m3  rollback k A2 = 1
    82.000  A   m3: rollback A2 granted
    82.000  A   m3 is ready
    90.000  --  heal A m1 
    91.000  m1  SET k A2 NX PX 1000 = OK
    91.000  m1  rollback k A2 = 1
    92.000  A   m1: claim A2 granted
    92.000  A   m1: rollback A2 granted
    92.000  A   m1 is ready
