# Rule 4.6: "a quarantined node gets the key back only while this handle's own bound from before the loss has not
# passed". A holds {1,2,3}; B's attempt has got {4,5}, and its SET to 2 is still on the way; 4 and 5 lose their memory.
# If A took those two it would go on without 2, B's SET would find nothing there, and B would count {2,4,5}: two holders.
# A never held them, so it does not. When 2 does not answer any more, A loses its lock, before B's SET arrives there.
masters 5
guarded
max-ttl 1000
node-timeout 400
connect-timeout 1000
stall-timeout 3000
delay A m4 20 1
delay A m5 20 1
  90  A acquire k ttl=200
  95  slow B m1 up 500
  95  slow B m2 up 270
  95  slow B m3 up 500
 100  B acquire k ttl=900 once
 130  flush m4
 130  flush m5
 150  A extend
 200  slow A m2 up 500
 260  A extend
 400  end
---
     8.000  A   m1 is ready
     8.000  A   m2 is ready
     8.000  A   m3 is ready
     8.000  B   m1 is ready
     8.000  B   m2 is ready
     8.000  B   m3 is ready
     8.000  B   m4 is ready
     8.000  B   m5 is ready
    84.000  A   m4 is ready
    84.000  A   m5 is ready
    90.000  A   acquire k ttl=200
    90.000  A   claim A1 -> m1 m2 m3 m4 m5
    91.000  m1  SET k A1 NX PX 200 = OK
    91.000  m2  SET k A1 NX PX 200 = OK
    91.000  m3  SET k A1 NX PX 200 = OK
    92.000  A   m1: claim A1 granted
    92.000  A   m2: claim A1 granted
    92.000  A   m3: claim A1 granted
    92.000  A   acquire: ok, valid for 194.000 ms
    95.000  --  slow B m1 up
    95.000  --  slow B m2 up
    95.000  --  slow B m3 up
   100.000  B   acquire k ttl=900
   100.000  B   claim B2 -> m1 m2 m3 m4 m5
   101.000  m4  SET k B2 NX PX 900 = OK
   101.000  m5  SET k B2 NX PX 900 = OK
   102.000  B   m4: claim B2 granted
   102.000  B   m5: claim B2 granted
   110.000  m4  SET k A1 NX PX 200 = nil
   110.000  m5  SET k A1 NX PX 200 = nil
   111.000  A   m4: claim A1 refused, held
   111.000  A   m5: claim A1 refused, held
   130.000  m4  is flushed
   130.000  m5  is flushed
   150.000  A   extend ttl=200
   150.000  A   extend A1 -> m1 m2 m3 m4 m5
   151.000  m1  extend k A1 200 = 1
   151.000  m2  extend k A1 200 = 1
   151.000  m3  extend k A1 200 = 1
   152.000  A   m1: extend A1 granted
   152.000  A   m2: extend A1 granted
   152.000  A   m3: extend A1 granted
   152.000  A   extend: ok, valid for 194.000 ms
   170.000  m4  extend k A1 200 = 0
   170.000  m5  extend k A1 200 = 0
   171.000  A   m4: extend A1 refused, missing
   171.000  A   m4: its memory is not the one that was admitted
   171.000  A   m4 is down
   171.000  A   m5: extend A1 refused, missing
   171.000  A   m5: its memory is not the one that was admitted
   171.000  A   m5 is down
   200.000  --  slow A m2 up
   255.501  A   m5: new memory
   255.501  A   m5: quarantined, its memory is new: it may have forgotten locks
   255.501  A   m5 is ready
   255.517  A   m4: new memory
   255.517  A   m4: quarantined, its memory is new: it may have forgotten locks
   255.517  A   m4 is ready
   260.000  A   extend ttl=200
   260.000  A   extend A1 -> m1 m2 m3
   261.000  m1  extend k A1 200 = 1
   261.000  m3  extend k A1 200 = 1
   262.000  A   m1: extend A1 granted
   262.000  A   m3: extend A1 granted
   346.000  A   has lost the lock
   346.000  A   extend: lost
   346.000  A   release A1 -> m1 m2 m3
   347.000  m1  release k A1 = 1
   347.000  m3  release k A1 = 1
   348.000  A   m1: release A1 granted
   348.000  A   m3: release A1 granted
   371.000  m2  SET k B2 NX PX 900 = OK
   372.000  B   m2: claim B2 granted
   372.000  B   acquire: ok, valid for 617.000 ms
   400.000  m2  has k = B2 for 872.000 ms
