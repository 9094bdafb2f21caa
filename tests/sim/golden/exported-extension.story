# A lock changes hands while an extension of it is on its way to m3. B extends it for longer, m3 says so first, and then
# carries out the short one. So B counts on m3 for the short ttl only, and on m2, which has answered A, for all of it.
masters 3
clients 2
  20    A acquire k ttl=300
  30    slow A m3 up 50
  31    A extend k
  34    A export
  35    B adopt
  36    B extend ttl=2000
  40    note of m3 B counts on 300 ms only, of m1 and m2 on 2000 ms
  45    hang m1
  50    B extend ttl=3000
  60    note m2 and m3 are a quorum: B has no more than m3 will have
 120    end
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
    30.000  --  slow A m3 up
    31.000  A   extend ttl=300
    31.000  A   extend A1 -> m1 m2 m3
    32.000  m1  extend k A1 300 = 1
    32.000  m2  extend k A1 300 = 1
    33.000  A   m1: extend A1 granted
    33.000  A   m2: extend A1 granted
    33.000  A   extend: ok, valid for 293.000 ms
    34.000  A   export A1
    35.000  B   adopt A1
    36.000  B   extend ttl=2000
    36.000  B   extend A1 -> m1 m2 m3
    37.000  m1  extend k A1 2000 = 1
    37.000  m2  extend k A1 2000 = 1
    37.000  m3  extend k A1 2000 = 1
    38.000  B   m1: extend A1 granted
    38.000  B   m2: extend A1 granted
    38.000  B   extend: ok, valid for 1976.000 ms
    38.000  B   m3: extend A1 granted
    40.000  --  of m3 B counts on 300 ms only, of m1 and m2 on 2000 ms
    45.000  m1  hangs
    50.000  B   extend ttl=3000
    50.000  B   extend A1 -> m1 m2 m3
    51.000  m2  extend k A1 3000 = 1
    51.000  m3  extend k A1 3000 = 1
    52.000  B   m2: extend A1 granted
    52.000  B   m3: extend A1 granted
    52.000  B   extend: ok, valid for 1962.000 ms
    60.000  --  m2 and m3 are a quorum: B has no more than m3 will have
    81.000  A   m3 is late
    82.000  m3  extend k A1 300 = 1
    83.000  A   m3: extend A1 granted
    83.000  A   m3 is ready
   100.000  B   m1 is late
   120.000  m1  has k = A1 for 1918.000 ms
   120.000  m2  has k = A1 for 2932.000 ms
   120.000  m3  has k = A1 for 263.000 ms
