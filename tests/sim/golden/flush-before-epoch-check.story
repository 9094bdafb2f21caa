# FLUSHALL while SETs are on their way: the connections stay up and the replies say OK, but the epoch checks find no
# marker. The votes do not count: A's first attempt has three OK, and an epoch check confirms one of them only.
masters 3
clients 1
guarded
max-ttl 1000
  20  A acquire k ttl=1000 attempts=2 delay=30
  21  flush m1
  21  flush m2
  60  end
---
     8.000  A   m1 is ready
     8.000  A   m2 is ready
     8.000  A   m3 is ready
    20.000  A   acquire k ttl=1000
    20.000  A   claim A1 -> m1 m2 m3
    21.000  m1  is flushed
    21.000  m2  is flushed
    21.000  m1  SET k A1 NX PX 1000 = OK
    21.000  m2  SET k A1 NX PX 1000 = OK
    21.000  m3  SET k A1 NX PX 1000 = OK
    22.000  A   m1: claim A1 granted
    22.000  A   m1: its memory is not the one that was admitted
    22.000  A   m1 is down
    22.000  A   m2: claim A1 granted
    22.000  A   backs off: no quorum
    22.000  A   m2: its memory is not the one that was admitted
    22.000  A   m2 is down
    22.000  A   rollback A1 -> m2
    22.000  A   m2: rollback A1 failed, backlog full
    22.000  A   rollback A1 -> m3
    22.000  A   m3: claim A1 granted
    23.000  m3  rollback k A1 = 1
    24.000  A   m3: rollback A1 granted
    30.517  A   m2: new memory
    30.517  A   m2: quarantined, its memory is new: it may have forgotten locks
    30.517  A   m2 is ready
    30.517  A   rollback A1 -> m2
    30.906  A   m1: new memory
    30.906  A   m1: quarantined, its memory is new: it may have forgotten locks
    30.906  A   m1 is ready
    30.906  A   rollback A1 -> m1
    31.517  m2  rollback k A1 = 1
    31.906  m1  rollback k A1 = 1
    32.517  A   m2: rollback A1 granted
    32.906  A   m1: rollback A1 granted
    52.000  A   acquire: no quorum
