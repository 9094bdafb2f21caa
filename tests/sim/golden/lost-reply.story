# The reply is lost, the command was carried out: master m2 has set the key when the connection breaks. The attempt
# fails, m2 counts as unknown and its rollback is pending, which is the first thing it gets on the new connection.
masters 2
clients 1
  20    A acquire k ttl=1000 once
  21.5  break A m2 replies=0 requests=0
  60    end
---
     4.000  A   m1 is ready
     4.000  A   m2 is ready
    20.000  A   acquire k ttl=1000
    20.000  A   claim A1 -> m1 m2
    21.000  m1  SET k A1 NX PX 1000 = OK
    21.000  m2  SET k A1 NX PX 1000 = OK
    21.500  --  break A m2 replies=0
    21.500  A   m2: connection lost
    21.500  A   m2: claim A1 unknown, disconnected
    21.500  A   acquire: no quorum
    21.500  A   m2 is down
    21.500  A   rollback A1 -> m1 m2
    21.500  A   m2: rollback A1 failed, backlog full
    22.000  A   m1: claim A1 granted
    22.500  m1  rollback k A1 = 1
    23.500  A   m1: rollback A1 granted
    26.406  A   m2 is ready
    26.406  A   rollback A1 -> m2
    27.406  m2  rollback k A1 = 1
    28.406  A   m2: rollback A1 granted
