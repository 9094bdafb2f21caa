# Fencing tokens over masters whose counters differ. B's number is the larger one, but only m3 hears it. A's next
# acquisition cannot use m1; m2 and m3 answer differently, so the larger answer is written to m2 before the token is
# handed out.
masters 3
clients 2
guarded
wall B 1000
  20  A acquire k ttl=500 fenced once
  40  A release
  50  partition B m1
  50  partition B m2
  60  B acquire k ttl=500 fenced once
 130  hang m1
 160  A acquire k ttl=500 fenced once
 180  A release
 200  end
---
     8.000  A   m1 is ready
     8.000  A   m2 is ready
     8.000  A   m3 is ready
     8.000  B   m1 is ready
     8.000  B   m2 is ready
     8.000  B   m3 is ready
    20.000  A   acquire k ttl=500
    20.000  A   claim A1 -> m1 m2 m3
    21.000  m1  claim k redlock:fence:k A1 500 1000020000 86400000 = 1 1000020000
    21.000  m2  claim k redlock:fence:k A1 500 1000020000 86400000 = 1 1000020000
    21.000  m3  claim k redlock:fence:k A1 500 1000020000 86400000 = 1 1000020000
    22.000  A   m1: claim A1 granted
    22.000  A   m2: claim A1 granted
    22.000  A   has the token 1000020000
    22.000  A   acquire: ok, valid for 491.000 ms
    22.000  A   m3: claim A1 granted
    40.000  A   release
    40.000  A   release A1 -> m1 m2 m3
    41.000  m1  release k A1 = 1
    41.000  m2  release k A1 = 1
    41.000  m3  release k A1 = 1
    42.000  A   m1: release A1 granted
    42.000  A   m2: release A1 granted
    42.000  A   m3: release A1 granted
    42.000  A   release: ok
    50.000  --  partition B m1 
    50.000  --  partition B m2 
    60.000  B   acquire k ttl=500
    60.000  B   claim B2 -> m1 m2 m3
    61.000  m3  claim k redlock:fence:k B2 500 1001060000 86400000 = 1 1001060000
    62.000  B   m3: claim B2 granted
   110.000  B   acquire: no quorum
   110.000  B   rollback B2 -> m1 m2 m3
   110.000  B   m1 is late
   110.000  B   m2 is late
   111.000  m3  rollback k B2 = 1
   112.000  B   m3: rollback B2 granted
   130.000  m1  hangs
   160.000  A   acquire k ttl=500
   160.000  A   claim A3 -> m1 m2 m3
   161.000  m2  claim k redlock:fence:k A3 500 1000160000 86400000 = 1 1000160000
   161.000  m3  claim k redlock:fence:k A3 500 1000160000 86400000 = 1 1001060001
   162.000  A   m2: claim A3 granted
   162.000  A   m3: claim A3 granted
   162.000  A   raise A3 -> m2
   163.000  m2  raise k redlock:fence:k A3 1001060001 86400000 = 1
   164.000  A   m2: raise A3 granted
   164.000  A   has the token 1001060001
   164.000  A   acquire: ok, valid for 489.000 ms
   180.000  A   release
   180.000  A   release A3 -> m1 m2 m3
   181.000  m2  release k A3 = 1
   181.000  m3  release k A3 = 1
   182.000  A   m2: release A3 granted
   182.000  A   m3: release A3 granted
