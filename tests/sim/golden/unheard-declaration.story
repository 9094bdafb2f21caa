# A longer max_ttl is declared, and A holds a lock of that length, by votes of m1 and m2. m2 loses its memory, and C, who
# reaches no other master and has not heard of the declaration, gives it too short a quarantine. When that is over, B
# comes, who knows from m3: m2 abstains for the rest of the right time.
masters 3
clients 3
guarded
max-ttl 1000
own-max-ttl A 4000
backoff 9000 9000
   1  kill B
   1  kill C
   2  declare 4000
  15  partition A m3
  20  A acquire k ttl=4000
 100  flush m2
 110  partition C m1
 110  partition C m3
 110  partition B m1
 120  start C
2300  kill C
2400  start B
2500  B acquire k ttl=1000 delay=900
3900  end
---
     1.000  B   dies
     1.000  C   dies
     2.000  --  max_ttl is to be 4000 ms
     2.000  m1  announce max_ttl 4000
     2.000  m2  announce max_ttl 4000
     2.000  m3  announce max_ttl 4000
     2.000  m1  confirm max_ttl 4000
     2.000  m2  confirm max_ttl 4000
     2.000  m3  confirm max_ttl 4000
     2.000  m1  allow max_ttl 4000
     2.000  m2  allow max_ttl 4000
     2.000  m3  allow max_ttl 4000
     8.000  A   m1 is ready
     8.000  A   m2 is ready
     8.000  A   m3 is ready
    15.000  --  partition A m3 
    20.000  A   acquire k ttl=4000
    20.000  A   claim A1 -> m1 m2 m3
    21.000  m1  SET k A1 NX PX 4000 = OK
    21.000  m2  SET k A1 NX PX 4000 = OK
    22.000  A   m1: claim A1 granted
    22.000  A   m2: claim A1 granted
    22.000  A   acquire: ok, valid for 3956.000 ms
    70.000  A   m3 is late
   100.000  m2  is flushed
   110.000  --  partition C m1 
   110.000  --  partition C m3 
   110.000  --  partition B m1 
   120.000  C   starts again
   128.000  C   m2: new memory
   128.000  C   m2: quarantined, its memory is new: it may have forgotten locks
   128.000  C   m2 is ready
   220.000  C   m1: no connection in time
   220.000  C   m1 is down
   220.000  C   m3: no connection in time
   220.000  C   m3 is down
   520.000  A   m3: silent for too long
   520.000  A   m3: claim A1 unknown, disconnected
   520.000  A   m3 is down
   534.603  C   m1: no connection in time
  2300.000  C   dies
  2400.000  B   starts again
  2408.000  B   m2 is ready
  2408.000  B   m2: unknown, not judged yet
  2408.000  B   m3 is ready
  2408.000  B   m2: it has not heard of the latest declaration of max_ttl, and is asked again
  2408.000  B   m2 is down
  2500.000  B   acquire k ttl=1000
  2500.000  B   m1: no connection in time
  2500.000  B   m1 is down
  2500.000  B   backs off: no quorum
  3361.517  A   m3: no connection in time
  3400.000  B   backs off: no quorum
  3900.000  m1  has k = A1 for 122.000 ms
