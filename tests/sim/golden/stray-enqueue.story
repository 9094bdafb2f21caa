# A place that nobody can take back at once. The connection from B to m1 breaks while B's ENQUEUE is on its way, and the
# master carries it out when B has given up. m1 gives the key to that value at A's release; C has its majority without
# m1. When B reaches m1 again its pending rollback is carried out, and m1's key is handed off to C.
masters 3
clients 3
delay B m1 30 1
stall-timeout 400
  60    A acquire k ttl=1000
 140    B acquire k ttl=300 fifo
 160    break B m1 requests=1
 165    B cancel
 175    C acquire k ttl=300 queue
 200    A release
 300    end
---
     4.000  A   m1 is ready
     4.000  A   m2 is ready
     4.000  A   m3 is ready
     4.000  B   m2 is ready
     4.000  B   m3 is ready
     4.000  C   m1 is ready
     4.000  C   m2 is ready
     4.000  C   m3 is ready
    60.000  A   acquire k ttl=1000
    60.000  A   claim A1 -> m1 m2 m3
    61.000  m1  SET k A1 NX PX 1000 = OK
    61.000  m2  SET k A1 NX PX 1000 = OK
    61.000  m3  SET k A1 NX PX 1000 = OK
    62.000  B   m1 is ready
    62.000  A   m1: claim A1 granted
    62.000  A   m2: claim A1 granted
    62.000  A   acquire: ok, valid for 986.000 ms
    62.000  A   m3: claim A1 granted
   140.000  B   acquire k ttl=300
   140.000  B   enqueue B2 -> m1 m2 m3
   141.000  m2  enqueue k B2 300 0 0 1000140000  0 0 B1 = 0 141000 1000140000 0 0 920 920 0
   141.000  m3  enqueue k B2 300 0 0 1000140000  0 0 B1 = 0 141000 1000140000 0 0 920 920 0
   142.000  B   m2: enqueue B2 queued
   142.000  B   m3: enqueue B2 queued
   142.000  B   waits behind 0 others
   144.000  B   m2 is heard
   144.000  B   enqueue B2 -> m2
   144.000  B   m3 is heard
   144.000  B   enqueue B2 -> m3
   145.000  m2  enqueue k B2 300 0 1000140000 1000140000  0 0 B1 = 0 145000 1000140000 0 0 916 916 0
   145.000  m3  enqueue k B2 300 0 1000140000 1000140000  0 0 B1 = 0 145000 1000140000 0 0 916 916 0
   146.000  B   m2: enqueue B2 queued
   146.000  B   m3: enqueue B2 queued
   160.000  --  break B m1 requests=1
   160.000  B   m1: connection lost
   160.000  B   m1: enqueue B2 unknown, disconnected
   160.000  B   m1 is down
   165.000  B   cancel
   165.000  B   rollback B2 -> m2 m3
   165.000  B   acquire: canceled
   166.000  m2  rollback k B2 = -1
   166.000  m3  rollback k B2 = -1
   167.000  B   m2: rollback B2 refused, foreign
   167.000  B   m3: rollback B2 refused, foreign
   170.000  m1  enqueue k B2 300 0 0 1000140000  0 0 B1 = 0 170000 1000140000 0 0 891 891 0  (ghost)
   175.000  C   acquire k ttl=300
   175.000  C   claim C3 -> m1 m2 m3
   176.000  m1  SET k C3 NX PX 300 = nil
   176.000  m2  SET k C3 NX PX 300 = nil
   176.000  m3  SET k C3 NX PX 300 = nil
   177.000  C   m1: claim C3 refused, held
   177.000  C   m2: claim C3 refused, held
   177.000  C   rollback C3 -> m3
   177.000  C   enqueue C4 -> m1 m2 m3
   177.000  C   m3: claim C3 refused, held
   178.000  m1  enqueue k C4 300 0 0 1000177000  0 0 C1 = 0 178000 1000177000 0 1 883 292 0
   178.000  m2  enqueue k C4 300 0 0 1000177000  0 0 C1 = 0 178000 1000177000 0 0 883 883 0
   178.000  m3  rollback k C3 = -1
   178.000  m3  enqueue k C4 300 0 0 1000177000  0 0 C1 = 0 178000 1000177000 0 0 883 883 0
   179.000  C   m1: enqueue C4 queued
   179.000  C   m2: enqueue C4 queued
   179.000  C   waits behind 1 others
   179.000  C   m3: rollback C3 refused, foreign
   179.000  C   m3: enqueue C4 queued
   179.000  C   waits behind 0 others
   181.000  C   m1 is heard
   181.000  C   enqueue C4 -> m1
   181.000  C   m2 is heard
   181.000  C   enqueue C4 -> m2
   181.000  C   m3 is heard
   181.000  C   enqueue C4 -> m3
   182.000  m1  enqueue k C4 300 0 1000177000 1000177000  0 0 C1 = 0 182000 1000177000 0 1 879 288 0
   182.000  m2  enqueue k C4 300 0 1000177000 1000177000  0 0 C1 = 0 182000 1000177000 0 0 879 879 0
   182.000  m3  enqueue k C4 300 0 1000177000 1000177000  0 0 C1 = 0 182000 1000177000 0 0 879 879 0
   183.000  C   m1: enqueue C4 queued
   183.000  C   m2: enqueue C4 queued
   183.000  C   m3: enqueue C4 queued
   200.000  A   release
   200.000  A   release A1 -> m1 m2 m3
   201.000  m1  release k A1 = 4
   201.000  m2  release k A1 = 4
   201.000  m3  release k A1 = 4
   202.000  B   m1 is heard
   202.000  A   release A1 -> m1 m2 m3
   203.000  m1  release k A1 = 0
   203.000  m2  release k A1 = 0
   203.000  m3  release k A1 = 0
   204.000  B   m1 calls: B2 0 granted - 203000 0
   204.000  A   m1: release A1 granted, handed off
   204.000  C   m2 calls: C4 0 granted - 203000 0
   204.000  A   m2: release A1 granted, handed off
   204.000  C   m3 calls: C4 0 granted - 203000 0
   204.000  C   acquire: ok, valid for 268.000 ms
   204.000  A   m3: release A1 granted, handed off
   204.000  A   release: ok
   222.501  B   m1 is ready
   222.501  B   rollback B2 -> m1
   252.501  m1  rollback k B2 = 2
   253.501  C   m1 calls: C4 0 granted - 252500 0
   253.501  B   m1: rollback B2 granted, handed off
   300.000  m1  has k = C4 for 184.000 ms
   300.000  m2  has k = C4 for 184.000 ms
   300.000  m3  has k = C4 for 184.000 ms
