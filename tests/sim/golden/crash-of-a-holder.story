# The holder's process dies. Its keys stay until their ttl has passed on the masters' clocks; then the one who waits
# gets the lock, not a moment before.
masters 3
clients 2
  10  A acquire k ttl=200
  30  kill A
  40  B acquire k ttl=200 delay=60
 260  B release
 300  end
---
     4.000  A   m1 is ready
     4.000  A   m2 is ready
     4.000  A   m3 is ready
     4.000  B   m1 is ready
     4.000  B   m2 is ready
     4.000  B   m3 is ready
    10.000  A   acquire k ttl=200
    10.000  A   claim A1 -> m1 m2 m3
    11.000  m1  SET k A1 NX PX 200 = OK
    11.000  m2  SET k A1 NX PX 200 = OK
    11.000  m3  SET k A1 NX PX 200 = OK
    12.000  A   m1: claim A1 granted
    12.000  A   m2: claim A1 granted
    12.000  A   acquire: ok, valid for 194.000 ms
    12.000  A   m3: claim A1 granted
    30.000  A   dies
    40.000  B   acquire k ttl=200
    40.000  B   claim B2 -> m1 m2 m3
    41.000  m1  SET k B2 NX PX 200 = nil
    41.000  m2  SET k B2 NX PX 200 = nil
    41.000  m3  SET k B2 NX PX 200 = nil
    42.000  B   m1: claim B2 refused, held
    42.000  B   m2: claim B2 refused, held
    42.000  B   backs off: held
    42.000  B   rollback B2 -> m3
    42.000  B   m3: claim B2 refused, held
    43.000  m3  rollback k B2 = -1
    44.000  B   m3: rollback B2 refused, foreign
   102.000  B   claim B3 -> m1 m2 m3
   103.000  m1  SET k B3 NX PX 200 = nil
   103.000  m2  SET k B3 NX PX 200 = nil
   103.000  m3  SET k B3 NX PX 200 = nil
   104.000  B   m1: claim B3 refused, held
   104.000  B   m2: claim B3 refused, held
   104.000  B   backs off: held
   104.000  B   rollback B3 -> m3
   104.000  B   m3: claim B3 refused, held
   105.000  m3  rollback k B3 = -1
   106.000  B   m3: rollback B3 refused, foreign
   164.000  B   claim B4 -> m1 m2 m3
   165.000  m1  SET k B4 NX PX 200 = nil
   165.000  m2  SET k B4 NX PX 200 = nil
   165.000  m3  SET k B4 NX PX 200 = nil
   166.000  B   m1: claim B4 refused, held
   166.000  B   m2: claim B4 refused, held
   166.000  B   backs off: held
   166.000  B   rollback B4 -> m3
   166.000  B   m3: claim B4 refused, held
   167.000  m3  rollback k B4 = -1
   168.000  B   m3: rollback B4 refused, foreign
   226.000  B   claim B5 -> m1 m2 m3
   227.000  m1  SET k B5 NX PX 200 = OK
   227.000  m2  SET k B5 NX PX 200 = OK
   227.000  m3  SET k B5 NX PX 200 = OK
   228.000  B   m1: claim B5 granted
   228.000  B   m2: claim B5 granted
   228.000  B   acquire: ok, valid for 194.000 ms
   228.000  B   m3: claim B5 granted
   260.000  B   release
   260.000  B   release B5 -> m1 m2 m3
   261.000  m1  release k B5 = 1
   261.000  m2  release k B5 = 1
   261.000  m3  release k B5 = 1
   262.000  B   m1: release B5 granted
   262.000  B   m2: release B5 granted
   262.000  B   m3: release B5 granted
   262.000  B   release: ok
