# B looks at k four times: while A's claim has reached one master only, when A holds k, when m2 has lost its memory with
# the look on its way, and m3 is out of reach, and after A's release. What m2 says then does not count, since B has not
# admitted that memory; so B does not know.
masters 3
clients 2
max-ttl 1000
guarded
delay A m2 5 5
delay A m3 9 9
 100  A acquire k ttl=1000
 101.5  B look k
 150  B look k
 190  partition B m3
 200  B look k
 200.5  flush m2
 300  A release
 330  heal B m3
 360  B look k
 400  end
---
     8.000  A   m1 is ready
     8.000  B   m1 is ready
     8.000  B   m2 is ready
     8.000  B   m3 is ready
    40.000  A   m2 is ready
    72.000  A   m3 is ready
   100.000  A   acquire k ttl=1000
   100.000  A   claim A1 -> m1 m2 m3
   101.000  m1  SET k A1 NX PX 1000 = OK
   101.500  B   looks at k
   102.000  A   m1: claim A1 granted
   102.500  m1  look k = string 999 0 1 0 x 999 2 A1  i1
   102.500  m2  look k = absent -2 0 0 0   i2
   102.500  m3  look k = absent -2 0 0 0   i3
   103.500  B   sees k: unsettled
   103.500  B     x A1 on 1, counter 0
   105.000  m2  SET k A1 NX PX 1000 = OK
   109.000  m3  SET k A1 NX PX 1000 = OK
   110.000  A   m2: claim A1 granted
   110.000  A   acquire: ok, valid for 978.000 ms
   118.000  A   m3: claim A1 granted
   150.000  B   looks at k
   151.000  m1  look k = string 950 0 1 0 x 950 2 A1  i1
   151.000  m2  look k = string 954 0 1 0 x 954 2 A1  i2
   151.000  m3  look k = string 958 0 1 0 x 958 2 A1  i3
   152.000  B   sees k: exclusive
   152.000  B     x A1 on 2, counter 0
   190.000  --  partition B m3 
   200.000  B   looks at k
   200.500  m2  is flushed
   201.000  m1  look k = string 900 0 1 0 x 900 2 A1  i1
   201.000  m2  look k = absent -2 0 0 0   
   204.000  B   m2: looked at again: its memory is not the one that was admitted
   204.000  B   m2 is down
   212.517  B   m2: quarantined, its memory is new: it may have forgotten locks
   212.517  B   m2 is ready
   250.000  B   m3 is late
   250.000  B   sees k: unknown
   250.000  B     x A1 on 1, counter 0
   300.000  A   release
   300.000  A   release A1 -> m1 m2 m3
   301.000  m1  release k A1 = 1
   302.000  A   m1: release A1 granted
   305.000  m2  release k A1 = 0
   309.000  m3  release k A1 = 1
   310.000  A   m2: release A1 refused, missing
   318.000  A   m3: release A1 granted
   318.000  A   release: ok
   330.000  --  heal B m3 
   331.000  m3  look k = absent -2 0 0 0   i3
   332.000  B   m3 is ready
   360.000  B   looks at k
   361.000  m1  look k = absent -2 0 0 0   i1
   361.000  m3  look k = absent -2 0 0 0   i3
   362.000  B   sees k: free
