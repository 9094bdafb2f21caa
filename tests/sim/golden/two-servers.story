# One name that leads to two servers by turns: m4 is in nobody's list, but B's name of m1 has led there before, so that it
# votes for m1, too. A holds k with the votes of m1 and m2, and m3 has not heard of that. B, whose name of m1 leads to m4
# again, has met both: it takes no vote from either of them, and does not get k by m4 and m3.
masters 4
spare 1
quorum 2
clients 2
guarded
max-ttl 3000
backoff 400 400
   5  lead B m1 m4
   6  break B m1
5000  partition A m3
5010  lead B m1 m1
5011  break B m1
5300  A acquire k ttl=3000
5400  lead B m1 m4
5401  break B m1
5900  partition B m2
6000  B acquire k ttl=500 once
6600  end
---
     5.000  --  lead B m1 m4
     6.000  --  break B m1 
     6.000  B   m1: connection lost
     6.000  B   m1 is down
     8.000  A   m1 is ready
     8.000  A   m2 is ready
     8.000  A   m3 is ready
     8.000  B   m2 is ready
     8.000  B   m3 is ready
    56.987  B   m1: new memory
    56.987  B   m1: quarantined, its memory is new: it may have forgotten locks
    56.987  B   m1 is ready
  5000.000  --  partition A m3 
  5010.000  --  lead B m1 m1
  5011.000  --  break B m1 
  5011.000  B   m1: connection lost
  5011.000  B   m1 is down
  5300.000  A   acquire k ttl=3000
  5300.000  A   claim A1 -> m1 m2 m3
  5301.000  m1  SET k A1 NX PX 3000 = OK
  5301.000  m2  SET k A1 NX PX 3000 = OK
  5302.000  A   m1: claim A1 granted
  5302.000  A   m2: claim A1 granted
  5302.000  A   acquire: ok, valid for 2966.000 ms
  5323.548  B   m1 is ready
  5350.000  A   m3 is late
  5400.000  --  lead B m1 m4
  5401.000  --  break B m1 
  5401.000  B   m1: connection lost
  5401.000  B   m1 is down
  5718.318  B   m1: excluded, its name leads to two servers by turns
  5718.318  B   m1 is ready
  5800.000  A   m3: silent for too long
  5800.000  A   m3: claim A1 unknown, disconnected
  5800.000  A   m3 is down
  5900.000  --  partition B m2 
  6000.000  B   acquire k ttl=500
  6000.000  B   claim B2 -> m2 m3
  6001.000  m3  SET k B2 NX PX 500 = OK
  6002.000  B   m3: claim B2 granted
  6050.000  B   m2 is late
  6050.000  B   acquire: no quorum
  6050.000  B   rollback B2 -> m2 m3
  6051.000  m3  rollback k B2 = 1
  6052.000  B   m3: rollback B2 granted
  6117.857  A   m3: no connection in time
  6376.200  A   m3: no connection in time
  6500.000  B   m2: silent for too long
  6500.000  B   m2: claim B2 unknown, disconnected
  6500.000  B   m2: rollback B2 unknown, disconnected
  6500.000  B   m2 is down
  6600.000  m1  has k = A1 for 1702.000 ms
  6600.000  m2  has k = A1 for 1702.000 ms
