# A wants two permits of two, and B has one. A master refuses commands for a moment, so it has not given A its vote for
# the first one. A waits for the second one in the queue of the slot that it has itself, and that master gives it its
# vote there. A will not release the slot before it has both. The vote binds A until a quorum has answered its next
# refresh: then A moves to the slot that B has released.
masters 3
clients 2
max-ttl 10000
permits A 2
set A s#gate s s
  20  B acquire s limit=2 ttl=10000
  40  refuse m2 before
  50  A acquire ttl=10000 queue
  90  accept m2
 300  B release
6000  end
---
     4.000  A   m1 is ready
     4.000  A   m2 is ready
     4.000  A   m3 is ready
     4.000  B   m1 is ready
     4.000  B   m2 is ready
     4.000  B   m3 is ready
    20.000  B   acquire s ttl=10000
    20.000  B   claim B1 -> m1 m2 m3
    21.000  m1  claim s#1 s#1 s#0 redlock:queue:s#0 B1 10000 0 0 = 1 0 0
    21.000  m2  claim s#1 s#1 s#0 redlock:queue:s#0 B1 10000 0 0 = 1 0 0
    21.000  m3  claim s#1 s#1 s#0 redlock:queue:s#0 B1 10000 0 0 = 1 0 0
    22.000  B   m1: claim B1 granted
    22.000  B   m2: claim B1 granted
    22.000  B   acquire: ok, valid for 9896.000 ms
    22.000  B   m3: claim B1 granted
    50.000  A   acquires its set, ttl=10000
    50.000  A   acquire s#gate ttl=10000
    50.000  A   claim A2 -> m1 m2 m3
    50.000  A'  acquire s ttl=10000
    50.000  A   claim A3 -> m1 m2 m3
    50.000  A'' acquire s ttl=10000
    50.000  A   claim A4 -> m1 m2 m3
    51.000  m1  SET s#gate A2 NX PX 10000 = OK
    51.000  m1  claim s#0 s#0 s#1 redlock:queue:s#1 A3 10000 0 0 = 1 0 0
    51.000  m1  claim s#1 s#1 s#0 redlock:queue:s#0 A4 10000 0 0 = 0 9970 0 0
    51.000  m2  SET s#gate A2 NX PX 10000 = LOADING Redis is loading the dataset in memory
    51.000  m2  claim s#0 s#0 s#1 redlock:queue:s#1 A3 10000 0 0 = LOADING Redis is loading the dataset in memory
    51.000  m2  claim s#1 s#1 s#0 redlock:queue:s#0 A4 10000 0 0 = LOADING Redis is loading the dataset in memory
    51.000  m3  SET s#gate A2 NX PX 10000 = OK
    51.000  m3  claim s#0 s#0 s#1 redlock:queue:s#1 A3 10000 0 0 = 1 0 0
    51.000  m3  claim s#1 s#1 s#0 redlock:queue:s#0 A4 10000 0 0 = 0 9970 0 0
    52.000  A   m1: claim A2 granted
    52.000  A   m1: claim A3 granted
    52.000  A   m1: claim A4 refused, held
    52.000  A   m2: claim A2 failed, LOADING
    52.000  A   m2: claim A3 failed, LOADING
    52.000  A   m2: claim A4 failed, LOADING
    52.000  A'' acquire: held
    52.000  A   rollback A4 -> m3
    52.000  A   m3: claim A2 granted
    52.000  A   acquire: ok, valid for 9896.000 ms
    52.000  A   m3: claim A3 granted
    52.000  A'  acquire: ok, valid for 9896.000 ms
    52.000  A   m3: claim A4 refused, held
    52.000  A'' acquire s ttl=10000
    52.000  A   enqueue A5 -> m1 m2 m3
    53.000  m3  rollback s#1 A4 = -1
    53.000  m3  enqueue s#0 A5 2000 0 0 1000052000  0 0 A1 2 = 0 53000 1000052000 0 0 9998 9998 0 0
    53.000  m1  enqueue s#0 A5 2000 0 0 1000052000  0 0 A1 2 = 0 53000 1000052000 0 0 9998 9998 0 0
    53.000  m2  enqueue s#0 A5 2000 0 0 1000052000  0 0 A1 2 = LOADING Redis is loading the dataset in memory
    54.000  A   m3: rollback A4 refused, foreign
    54.000  A   m3: enqueue A5 queued
    54.000  A   m1: enqueue A5 queued
    54.000  A'' waits behind 0 others
    54.000  A   m2: enqueue A5 failed, LOADING
    56.000  A   m1 is heard
    56.000  A   enqueue A5 -> m1
    56.000  A   m3 is heard
    56.000  A   enqueue A5 -> m3
    57.000  m1  enqueue s#0 A5 2000 0 1000052000 1000052000  0 0 A1 2 = 0 57000 1000052000 0 0 9994 9994 0 0
    57.000  m3  enqueue s#0 A5 2000 0 1000052000 1000052000  0 0 A1 2 = 0 57000 1000052000 0 0 9994 9994 0 0
    58.000  A   m1: enqueue A5 queued
    58.000  A   m3: enqueue A5 queued
   109.583  A   m2 is heard
   109.583  A   enqueue A5 -> m2
   110.583  m2  enqueue s#0 A5 2000 0 1000052000 1000052000  0 0 A1 2 = 1 110582 1000052000 0 0 2001 -1 0 0
   111.583  A   m2: enqueue A5 granted
   300.000  B   release
   300.000  B   release B1 -> m1 m2 m3
   301.000  m1  release s#1 B1 = 4
   301.000  m2  release s#1 B1 = 1
   301.000  m3  release s#1 B1 = 4
   302.000  B   release B1 -> m1
   302.000  B   m2: release B1 granted
   302.000  B   release B1 -> m3
   303.000  m1  release s#1 B1 = 0
   303.000  m3  release s#1 B1 = 0
   304.000  A   m1 calls: A5 0 look - 303000 1
   304.000  B   m1: release B1 granted, handed off
   304.000  A   m3 calls: A5 0 look - 303000 1
   304.000  B   m3: release B1 granted, handed off
   304.000  B   release: ok
   552.000  A   enqueue A5 -> m1 m2 m3
   553.000  m1  enqueue s#0 A5 2000 1 1000052000 1000052000  0 0 A1 2 = 0 553000 1000052000 0 0 9498 9498 0 1
   553.000  m2  enqueue s#0 A5 2000 1 1000052000 1000052000  0 0 A1 2 = 1 553000 1000052000 0 0 2001 -1 0 0
   553.000  m3  enqueue s#0 A5 2000 1 1000052000 1000052000  0 0 A1 2 = 0 553000 1000052000 0 0 9498 9498 0 1
   554.000  A   m1: enqueue A5 queued
   554.000  A   m2: enqueue A5 granted
   554.000  A   m3: enqueue A5 queued
   554.000  A   rollback A5 -> m1 m2 m3
   554.000  A   enqueue A6 -> m1 m2 m3
   555.000  m1  rollback s#0 A5 = -1
   555.000  m1  enqueue s#1 A6 2000 0 1000052000 1000554000  0 0 A1 2 = 1 555000 1000052000 0 0 2001 -1 0 0
   555.000  m2  rollback s#0 A5 = 1
   555.000  m2  enqueue s#1 A6 2000 0 1000052000 1000554000  0 0 A1 2 = 1 555000 1000052000 0 0 2001 -1 0 0
   555.000  m3  rollback s#0 A5 = -1
   555.000  m3  enqueue s#1 A6 2000 0 1000052000 1000554000  0 0 A1 2 = 1 555000 1000052000 0 0 2001 -1 0 0
   556.000  A   m1: rollback A5 refused, foreign
   556.000  A   m1: enqueue A6 granted
   556.000  A   m2: rollback A5 granted
   556.000  A   m2: enqueue A6 granted
   556.000  A'' acquire: ok, valid for 1976.000 ms
   556.000  A   give up
   556.000  A   its set is held
   556.000  A   release A2 -> m1 m3
   556.000  A   m3: rollback A5 refused, foreign
   556.000  A   m3: enqueue A6 granted
   557.000  m1  release s#gate A2 = 1
   557.000  m3  release s#gate A2 = 1
   558.000  A   m1: release A2 granted
   558.000  A   m3: release A2 granted
  1544.000  A   extend A6 -> m1 m2 m3
  1545.000  m1  extend s#1 A6 10000 = 1
  1545.000  m2  extend s#1 A6 10000 = 1
  1545.000  m3  extend s#1 A6 10000 = 1
  1546.000  A   m1: extend A6 granted
  1546.000  A   m2: extend A6 granted
  1546.000  A'' has renewed the lock
  1546.000  A   m3: extend A6 granted
  6000.000  m1  has s#1 = A6 for 5546.000 ms
  6000.000  m1  has s#0 = A3 for 4052.000 ms
  6000.000  m2  has s#1 = A6 for 5546.000 ms
  6000.000  m3  has s#1 = A6 for 5546.000 ms
  6000.000  m3  has s#0 = A3 for 4052.000 ms
