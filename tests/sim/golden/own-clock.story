# Rule 6.3: A's machine is paused for 60 ms with its clocks. By A's clock all masters were set forward together, so it
# was A's own that stood still: what A holds ends that much earlier, and its next lock has the votes of all masters. B,
# whose clock went on, gets the lock only when A's keys have ended.
masters 3
guarded
drift 1000 2
handles A 2
  10  A acquire k ttl=400
 100  stand A 60
 180  A extend ttl=400
 200  A' acquire other ttl=300 once
 260  A release
 300  B acquire k ttl=300
 600  end
---
     8.000  A   m1 is ready
     8.000  A   m2 is ready
     8.000  A   m3 is ready
     8.000  B   m1 is ready
     8.000  B   m2 is ready
     8.000  B   m3 is ready
    10.000  A   acquire k ttl=400
    10.000  A   claim A1 -> m1 m2 m3
    11.000  m1  SET k A1 NX PX 400 = OK
    11.000  m2  SET k A1 NX PX 400 = OK
    11.000  m3  SET k A1 NX PX 400 = OK
    12.000  A   m1: claim A1 granted
    12.000  A   m2: claim A1 granted
    12.000  A   acquire: ok, valid for 395.000 ms
    12.000  A   m3: claim A1 granted
   100.000  --  a client's machine is paused, with its clocks: begins (A, m1)
   100.000  A   its machine is paused for 60.000 ms
   160.000  --  a client's machine is paused, with its clocks: ends (A, m1)
   180.000  A   extend ttl=400
   180.000  A   extend A1 -> m1 m2 m3
   181.000  m1  extend k A1 400 = 1
   181.000  m2  extend k A1 400 = 1
   181.000  m3  extend k A1 400 = 1
   182.000  A   m1: extend A1 granted
   182.000  A   m1: its clock was set forward, by 62.057 ms at most
   182.000  A   m1: quarantined, its clock was set forward: it may have dropped locks early
   182.000  A   m2: extend A1 granted
   182.000  A   m2: its clock was set forward, by 62.057 ms at most
   182.000  A   m2: quarantined, its clock was set forward: it may have dropped locks early
   182.000  A   extend: no quorum, valid for 222.883 ms
   182.000  A   m3: extend A1 granted
   182.000  A   m3: its clock was set forward, by 62.057 ms at most
   182.000  A   m3: quarantined, its clock was set forward: it may have dropped locks early
   182.000  A   its own clock stood still, for 62.119 ms at most
   200.000  A'  acquire other ttl=300
   200.000  A   claim A2 -> m1 m2 m3
   201.000  m1  SET other A2 NX PX 300 = OK
   201.000  m2  SET other A2 NX PX 300 = OK
   201.000  m3  SET other A2 NX PX 300 = OK
   202.000  A   m1: claim A2 granted
   202.000  A   m2: claim A2 granted
   202.000  A'  acquire: ok, valid for 295.000 ms
   202.000  A   m3: claim A2 granted
   260.000  A   release
   260.000  A   release A1 -> m1 m2 m3
   261.000  m1  release k A1 = 1
   261.000  m2  release k A1 = 1
   261.000  m3  release k A1 = 1
   262.000  A   m1: release A1 granted
   262.000  A   m2: release A1 granted
   262.000  A   m3: release A1 granted
   262.000  A   release: ok
   300.000  B   acquire k ttl=300
   300.000  B   claim B3 -> m1 m2 m3
   301.000  m1  SET k B3 NX PX 300 = OK
   301.000  m2  SET k B3 NX PX 300 = OK
   301.000  m3  SET k B3 NX PX 300 = OK
   302.000  B   m1: claim B3 granted
   302.000  B   m2: claim B3 granted
   302.000  B   acquire: ok, valid for 295.000 ms
   302.000  B   m3: claim B3 granted
   497.000  A'  has lost the lock
   497.000  A   release A2 -> m1 m2 m3
   498.000  m1  release other A2 = 1
   498.000  m2  release other A2 = 1
   498.000  m3  release other A2 = 1
   499.000  A   m1: release A2 granted
   499.000  A   m2: release A2 granted
   499.000  A   m3: release A2 granted
   597.000  B   has lost the lock
   597.000  B   release B3 -> m1 m2 m3
   598.000  m1  release k B3 = 1
   598.000  m2  release k B3 = 1
   598.000  m3  release k B3 = 1
   599.000  B   m1: release B3 granted
   599.000  B   m2: release B3 granted
   599.000  B   m3: release B3 granted
