# A repair names the memory that it is meant for. m3 loses its memory, and A, which has a vote there that still counts,
# gives it the key back; but the REPAIR is on its way for longer than the quarantine lasts. By then m3 has voted for B,
# and lost that memory, too. Carried out there, the REPAIR would make A a holder next to B, whose second vote is still to
# come. It finds another incarnation than the one that it carries, and does nothing; so A's time on m2 is A's last.
masters 3
guarded
max-ttl 3000
node-timeout 2500
stall-timeout 10000
connect-timeout 5000
   20  A acquire k ttl=3000
   30  partition A m3
   31  crash m3 lost
   32  restart m3
 1900  A extend
 2000  heal A m3
 2800  slow A m2 up 3000
 2850  A extend
 2851.5 slow A m3 up 1450
 4200  slow B m2 up 720
 4240  B acquire k ttl=3000 once
 4250  flush m3
 5000  end
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
    30.000  --  partition A m3 
    31.000  m3  crashes
    32.000  m3  restarts empty
    32.000  A   m3: connection lost
    32.000  A   m3 is down
    32.000  B   m3: connection lost
    32.000  B   m3 is down
    40.501  B   m3: new memory
    40.501  B   m3: quarantined, its memory is new: it may have forgotten locks
    40.501  B   m3 is ready
  1900.000  A   extend ttl=3000
  1900.000  A   extend A1 -> m1 m2
  1901.000  m1  extend k A1 3000 = 1
  1901.000  m2  extend k A1 3000 = 1
  1902.000  A   m1: extend A1 granted
  1902.000  A   m2: extend A1 granted
  1902.000  A   extend: ok, valid for 2966.000 ms
  2000.000  --  heal A m3 
  2069.758  A   m3: quarantined, its memory is new: it may have forgotten locks
  2069.758  A   m3 is ready
  2800.000  --  slow A m2 up
  2850.000  A   extend ttl=3000
  2850.000  A   extend A1 -> m1 m2 m3
  2851.000  m1  extend k A1 3000 = 1
  2851.000  m3  extend k A1 3000 = 0
  2851.500  --  slow A m3 up
  2852.000  A   m1: extend A1 granted
  2852.000  A   m3: extend A1 refused, missing
  2852.000  A   repair A1 -> m3
  4200.000  --  slow B m2 up
  4240.000  B   acquire k ttl=3000
  4240.000  B   claim B2 -> m1 m2 m3
  4241.000  m1  SET k B2 NX PX 3000 = nil
  4241.000  m3  SET k B2 NX PX 3000 = OK
  4242.000  B   m1: claim B2 refused, held
  4242.000  B   m3: claim B2 granted
  4250.000  m3  is flushed
  4303.000  m3  repair k redlock:marker A1 3000 i10 = -2
  4304.000  A   m3: repair A1 failed, memory lost
  4521.758  A   m3: its memory is not the one that was admitted
  4521.758  A   m3 is down
  4868.000  A   has lost the lock
  4868.000  A   extend: lost
  4868.000  A   release A1 -> m1 m2
  4869.000  m1  release k A1 = 1
  4870.000  A   m1: release A1 granted
  4961.000  m2  SET k B2 NX PX 3000 = OK
  4962.000  B   m2: claim B2 granted
  4962.000  B   acquire: ok, valid for 2246.000 ms
  5000.000  m2  has k = B2 for 2962.000 ms
