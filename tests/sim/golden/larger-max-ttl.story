# A wants to hold locks for longer than the deployment's max_ttl, by votes of m1 and m2: no master lets it vote. m2 loses its
# memory, and has the quarantine that the deployment's max_ttl asks for. After that B gets the lock from m2 and m3.
masters 3
clients 2
guarded
max-ttl 1000
own-max-ttl A 4000
backoff 400 400
  15  partition A m3
  20  A acquire k ttl=4000 attempts=1
 100  flush m2
 110  partition B m1
 120  B acquire k ttl=1000 attempts=1
2800  B acquire k ttl=1000
3000  end
---
     8.000  A   m1: excluded, this client's max_ttl is larger than the deployment's
     8.000  A   m1 is ready
     8.000  A   m2: excluded, this client's max_ttl is larger than the deployment's
     8.000  A   m2 is ready
     8.000  A   m3: excluded, this client's max_ttl is larger than the deployment's
     8.000  A   m3 is ready
     8.000  B   m1 is ready
     8.000  B   m2 is ready
     8.000  B   m3 is ready
    15.000  --  partition A m3 
    20.000  A   acquire k ttl=4000
    20.000  A   acquire: no quorum
   100.000  m2  is flushed
   110.000  --  partition B m1 
   120.000  B   acquire k ttl=1000
   120.000  B   claim B2 -> m1 m2 m3
   121.000  m2  SET k B2 NX PX 1000 = OK
   121.000  m3  SET k B2 NX PX 1000 = OK
   122.000  B   m2: claim B2 granted
   122.000  B   m2: its memory is not the one that was admitted
   122.000  B   m2 is down
   122.000  B   m3: claim B2 granted
   170.000  B   m1 is late
   170.000  B   acquire: no quorum
   170.000  B   rollback B2 -> m1 m3
   171.000  m3  rollback k B2 = 1
   172.000  B   m3: rollback B2 granted
   172.987  B   m2: new memory
   172.987  B   m2: quarantined, its memory is new: it may have forgotten locks
   172.987  B   m2 is ready
   172.987  B   rollback B2 -> m2
   173.987  m2  rollback k B2 = 1
   174.987  B   m2: rollback B2 granted
   620.000  B   m1: silent for too long
   620.000  B   m1: claim B2 unknown, disconnected
   620.000  B   m1: rollback B2 unknown, disconnected
   620.000  B   m1 is down
  1024.548  B   m1: no connection in time
  1433.866  B   m1: no connection in time
  1751.723  B   m1: no connection in time
  2010.066  B   m1: no connection in time
  2300.345  B   m1: no connection in time
  2455.431  B   m1: no connection in time
  2800.000  B   acquire k ttl=1000
  2800.000  B   claim B3 -> m2 m3
  2801.000  m2  SET k B3 NX PX 1000 = OK
  2801.000  m3  SET k B3 NX PX 1000 = OK
  2802.000  B   m2: claim B3 granted
  2802.000  B   m3: claim B3 granted
  2802.000  B   acquire: ok, valid for 986.000 ms
  2803.800  B   m1: no connection in time
  3000.000  m2  has k = B3 for 802.000 ms
  3000.000  m3  has k = B3 for 802.000 ms
