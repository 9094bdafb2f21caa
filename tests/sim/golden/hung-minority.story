# A hung minority costs nothing: the lock is acquired at the third grant of five, extended and released, while two
# masters do not answer at all. The release is written to them all the same, behind the claim, and is carried out when
# they wake up: nothing is left. Once they are late they are not asked any more.
masters 5
clients 1
  10  hang m4
  10  hang m5
  20  A acquire k ttl=1000
  30  A extend
  80  A release
 150  A acquire k ttl=1000
 160  A release
 200  resume m4
 200  resume m5
 220  end
---
     4.000  A   m1 is ready
     4.000  A   m2 is ready
     4.000  A   m3 is ready
     4.000  A   m4 is ready
     4.000  A   m5 is ready
    10.000  m4  hangs
    10.000  m5  hangs
    20.000  A   acquire k ttl=1000
    20.000  A   claim A1 -> m1 m2 m3 m4 m5
    21.000  m1  SET k A1 NX PX 1000 = OK
    21.000  m2  SET k A1 NX PX 1000 = OK
    21.000  m3  SET k A1 NX PX 1000 = OK
    22.000  A   m1: claim A1 granted
    22.000  A   m2: claim A1 granted
    22.000  A   m3: claim A1 granted
    22.000  A   acquire: ok, valid for 986.000 ms
    30.000  A   extend ttl=1000
    30.000  A   extend A1 -> m1 m2 m3 m4 m5
    31.000  m1  extend k A1 1000 = 1
    31.000  m2  extend k A1 1000 = 1
    31.000  m3  extend k A1 1000 = 1
    32.000  A   m1: extend A1 granted
    32.000  A   m2: extend A1 granted
    32.000  A   m3: extend A1 granted
    32.000  A   extend: ok, valid for 986.000 ms
    70.000  A   m4 is late
    70.000  A   m5 is late
    80.000  A   release
    80.000  A   release A1 -> m1 m2 m3 m4 m5
    81.000  m1  release k A1 = 1
    81.000  m2  release k A1 = 1
    81.000  m3  release k A1 = 1
    82.000  A   m1: release A1 granted
    82.000  A   m2: release A1 granted
    82.000  A   m3: release A1 granted
    82.000  A   release: ok
   150.000  A   acquire k ttl=1000
   150.000  A   claim A2 -> m1 m2 m3
   151.000  m1  SET k A2 NX PX 1000 = OK
   151.000  m2  SET k A2 NX PX 1000 = OK
   151.000  m3  SET k A2 NX PX 1000 = OK
   152.000  A   m1: claim A2 granted
   152.000  A   m2: claim A2 granted
   152.000  A   m3: claim A2 granted
   152.000  A   acquire: ok, valid for 986.000 ms
   160.000  A   release
   160.000  A   release A2 -> m1 m2 m3
   161.000  m1  release k A2 = 1
   161.000  m2  release k A2 = 1
   161.000  m3  release k A2 = 1
   162.000  A   m1: release A2 granted
   162.000  A   m2: release A2 granted
   162.000  A   m3: release A2 granted
   162.000  A   release: ok
   200.000  m4  resumes
   200.000  m5  resumes
   200.000  m5  SET k A1 NX PX 1000 = OK
   200.000  m5  extend k A1 1000 = 1
   200.000  m5  release k A1 = 1
   200.000  m4  SET k A1 NX PX 1000 = OK
   200.000  m4  extend k A1 1000 = 1
   200.000  m4  release k A1 = 1
   201.000  A   m5: claim A1 granted
   201.000  A   m5: extend A1 granted
   201.000  A   m5: release A1 granted
   201.000  A   m5 is ready
   201.000  A   m4: claim A1 granted
   201.000  A   m4: extend A1 granted
   201.000  A   m4: release A1 granted
   201.000  A   m4 is ready
