# The holder is stopped for longer than its ttl. Meanwhile the lock goes to another client. When it wakes up, before
# anything else, its clock tells it that the lock is lost: at no instant do both think that they hold it. The replies
# of its extension, which waited in its sockets, bring nothing back.
masters 3
clients 2
  20  A acquire k ttl=200
 100  A extend ttl=200
 101  pause A 400
 300  B acquire k ttl=1000 delay=30
 520  A release
 560  end
---
     4.000  A   m1 is ready
     4.000  A   m2 is ready
     4.000  A   m3 is ready
     4.000  B   m1 is ready
     4.000  B   m2 is ready
     4.000  B   m3 is ready
    20.000  A   acquire k ttl=200
    20.000  A   claim A1 -> m1 m2 m3
    21.000  m1  SET k A1 NX PX 200 = OK
    21.000  m2  SET k A1 NX PX 200 = OK
    21.000  m3  SET k A1 NX PX 200 = OK
    22.000  A   m1: claim A1 granted
    22.000  A   m2: claim A1 granted
    22.000  A   acquire: ok, valid for 194.000 ms
    22.000  A   m3: claim A1 granted
   100.000  A   extend ttl=200
   100.000  A   extend A1 -> m1 m2 m3
   101.000  A   is paused
   101.000  m1  extend k A1 200 = 1
   101.000  m2  extend k A1 200 = 1
   101.000  m3  extend k A1 200 = 1
   300.000  B   acquire k ttl=1000
   300.000  B   claim B2 -> m1 m2 m3
   301.000  m1  SET k B2 NX PX 1000 = nil
   301.000  m2  SET k B2 NX PX 1000 = nil
   301.000  m3  SET k B2 NX PX 1000 = nil
   302.000  B   m1: claim B2 refused, held
   302.000  B   m2: claim B2 refused, held
   302.000  B   backs off: held
   302.000  B   rollback B2 -> m3
   302.000  B   m3: claim B2 refused, held
   303.000  m3  rollback k B2 = 0
   304.000  B   m3: rollback B2 refused, missing
   332.000  B   claim B3 -> m1 m2 m3
   333.000  m1  SET k B3 NX PX 1000 = OK
   333.000  m2  SET k B3 NX PX 1000 = OK
   333.000  m3  SET k B3 NX PX 1000 = OK
   334.000  B   m1: claim B3 granted
   334.000  B   m2: claim B3 granted
   334.000  B   acquire: ok, valid for 986.000 ms
   334.000  B   m3: claim B3 granted
   501.000  A   m1: extend A1 granted
   501.000  A   has lost the lock
   501.000  A   extend: lost
   501.000  A   release A1 -> m1 m2 m3
   501.000  A   m2: extend A1 granted
   501.000  A   m3: extend A1 granted
   502.000  m1  release k A1 = -1
   502.000  m2  release k A1 = -1
   502.000  m3  release k A1 = -1
   503.000  A   m1: release A1 refused, foreign
   503.000  A   m2: release A1 refused, foreign
   503.000  A   m3: release A1 refused, foreign
   520.000  A   release
   520.000  A   release: lost
   560.000  m1  has k = B3 for 774.000 ms
   560.000  m2  has k = B3 for 774.000 ms
   560.000  m3  has k = B3 for 774.000 ms
