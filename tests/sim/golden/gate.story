# A and B each want two permits of two, and C has one. A gets the other one, and may keep it while it waits for C's, since
# it holds the semaphore's gate. B waits for the gate, and has no permit meanwhile. If both could wait for a second permit
# with one in their hands, neither would ever get it. A lets the gate go as soon as it has both.
masters 3
clients 3
max-ttl 10000
permits A 2
permits B 2
set A s#gate s s
set B s#gate s s
  20  C acquire s limit=2 ttl=10000
  40  A acquire ttl=10000 queue
  60  B acquire ttl=10000 queue
 200  C release
 400  A release
 600  B release
 800  end
---
     4.000  A   m1 is ready
     4.000  A   m2 is ready
     4.000  A   m3 is ready
     4.000  B   m1 is ready
     4.000  B   m2 is ready
     4.000  B   m3 is ready
     4.000  C   m1 is ready
     4.000  C   m2 is ready
     4.000  C   m3 is ready
    20.000  C   acquire s ttl=10000
    20.000  C   claim C1 -> m1 m2 m3
    21.000  m1  claim s#1 s#1 s#0 redlock:queue:s#0 C1 10000 0 0 = 1 0 0
    21.000  m2  claim s#1 s#1 s#0 redlock:queue:s#0 C1 10000 0 0 = 1 0 0
    21.000  m3  claim s#1 s#1 s#0 redlock:queue:s#0 C1 10000 0 0 = 1 0 0
    22.000  C   m1: claim C1 granted
    22.000  C   m2: claim C1 granted
    22.000  C   acquire: ok, valid for 9896.000 ms
    22.000  C   m3: claim C1 granted
    40.000  A   acquires its set, ttl=10000
    40.000  A   acquire s#gate ttl=10000
    40.000  A   claim A2 -> m1 m2 m3
    40.000  A'  acquire s ttl=10000
    40.000  A   claim A3 -> m1 m2 m3
    40.000  A'' acquire s ttl=10000
    40.000  A   claim A4 -> m1 m2 m3
    41.000  m1  SET s#gate A2 NX PX 10000 = OK
    41.000  m1  claim s#0 s#0 s#1 redlock:queue:s#1 A3 10000 0 0 = 1 0 0
    41.000  m1  claim s#1 s#1 s#0 redlock:queue:s#0 A4 10000 0 0 = 0 9980 0 0
    41.000  m2  SET s#gate A2 NX PX 10000 = OK
    41.000  m2  claim s#0 s#0 s#1 redlock:queue:s#1 A3 10000 0 0 = 1 0 0
    41.000  m2  claim s#1 s#1 s#0 redlock:queue:s#0 A4 10000 0 0 = 0 9980 0 0
    41.000  m3  SET s#gate A2 NX PX 10000 = OK
    41.000  m3  claim s#0 s#0 s#1 redlock:queue:s#1 A3 10000 0 0 = 1 0 0
    41.000  m3  claim s#1 s#1 s#0 redlock:queue:s#0 A4 10000 0 0 = 0 9980 0 0
    42.000  A   m1: claim A2 granted
    42.000  A   m1: claim A3 granted
    42.000  A   m1: claim A4 refused, held
    42.000  A   m2: claim A2 granted
    42.000  A   acquire: ok, valid for 9896.000 ms
    42.000  A   m2: claim A3 granted
    42.000  A'  acquire: ok, valid for 9896.000 ms
    42.000  A   m2: claim A4 refused, held
    42.000  A'' acquire: held
    42.000  A'' acquire s ttl=10000
    42.000  A   enqueue A5 -> m1 m2 m3
    42.000  A   rollback A4 -> m3
    42.000  A   m3: claim A2 granted
    42.000  A   m3: claim A3 granted
    42.000  A   m3: claim A4 refused, held
    43.000  m1  enqueue s#0 A5 2000 0 0 1000042000  0 0 A1 2 = 0 43000 1000042000 0 0 9998 9998 0 0
    43.000  m2  enqueue s#0 A5 2000 0 0 1000042000  0 0 A1 2 = 0 43000 1000042000 0 0 9998 9998 0 0
    43.000  m3  enqueue s#0 A5 2000 0 0 1000042000  0 0 A1 2 = 0 43000 1000042000 0 0 9998 9998 0 0
    43.000  m3  rollback s#1 A4 = -1
    44.000  A   m1: enqueue A5 queued
    44.000  A   m2: enqueue A5 queued
    44.000  A'' waits behind 0 others
    44.000  A   m3: enqueue A5 queued
    44.000  A   m3: rollback A4 refused, foreign
    46.000  A   m1 is heard
    46.000  A   enqueue A5 -> m1
    46.000  A   m2 is heard
    46.000  A   enqueue A5 -> m2
    46.000  A   m3 is heard
    46.000  A   enqueue A5 -> m3
    47.000  m1  enqueue s#0 A5 2000 0 1000042000 1000042000  0 0 A1 2 = 0 47000 1000042000 0 0 9994 9994 0 0
    47.000  m2  enqueue s#0 A5 2000 0 1000042000 1000042000  0 0 A1 2 = 0 47000 1000042000 0 0 9994 9994 0 0
    47.000  m3  enqueue s#0 A5 2000 0 1000042000 1000042000  0 0 A1 2 = 0 47000 1000042000 0 0 9994 9994 0 0
    48.000  A   m1: enqueue A5 queued
    48.000  A   m2: enqueue A5 queued
    48.000  A   m3: enqueue A5 queued
    60.000  B   acquires its set, ttl=10000
    60.000  B   acquire s#gate ttl=10000
    60.000  B   claim B6 -> m1 m2 m3
    60.000  B'  acquire s ttl=10000
    60.000  B   claim B7 -> m1 m2 m3
    60.000  B'' acquire s ttl=10000
    60.000  B   claim B8 -> m1 m2 m3
    61.000  m1  SET s#gate B6 NX PX 10000 = nil
    61.000  m1  claim s#1 s#1 s#0 redlock:queue:s#0 B7 10000 0 0 = 0 9960 0 0
    61.000  m1  claim s#0 s#0 s#1 redlock:queue:s#1 B8 10000 0 0 = 0 9980 0 0
    61.000  m2  SET s#gate B6 NX PX 10000 = nil
    61.000  m2  claim s#1 s#1 s#0 redlock:queue:s#0 B7 10000 0 0 = 0 9960 0 0
    61.000  m2  claim s#0 s#0 s#1 redlock:queue:s#1 B8 10000 0 0 = 0 9980 0 0
    61.000  m3  SET s#gate B6 NX PX 10000 = nil
    61.000  m3  claim s#1 s#1 s#0 redlock:queue:s#0 B7 10000 0 0 = 0 9960 0 0
    61.000  m3  claim s#0 s#0 s#1 redlock:queue:s#1 B8 10000 0 0 = 0 9980 0 0
    62.000  B   m1: claim B6 refused, held
    62.000  B   m1: claim B7 refused, held
    62.000  B   m1: claim B8 refused, held
    62.000  B   m2: claim B6 refused, held
    62.000  B   acquire: held
    62.000  B   m2: claim B7 refused, held
    62.000  B   rollback B6 -> m3
    62.000  B'  acquire: held
    62.000  B   m2: claim B8 refused, held
    62.000  B'' acquire: held
    62.000  B'  give up
    62.000  B'' give up
    62.000  B   acquire s#gate ttl=10000
    62.000  B   enqueue B9 -> m1 m2 m3
    62.000  B   rollback B7 -> m3
    62.000  B   rollback B8 -> m3
    62.000  B   m3: claim B6 refused, held
    62.000  B   m3: claim B7 refused, held
    62.000  B   m3: claim B8 refused, held
    63.000  m1  enqueue s#gate B9 2000 0 0 1000062000  0 0 B1 = 0 63000 1000062000 0 0 9978 9978 0
    63.000  m2  enqueue s#gate B9 2000 0 0 1000062000  0 0 B1 = 0 63000 1000062000 0 0 9978 9978 0
    63.000  m3  rollback s#gate B6 = -1
    63.000  m3  enqueue s#gate B9 2000 0 0 1000062000  0 0 B1 = 0 63000 1000062000 0 0 9978 9978 0
    63.000  m3  rollback s#1 B7 B8 = --
    64.000  B   m1: enqueue B9 queued
    64.000  B   m2: enqueue B9 queued
    64.000  B   waits behind 0 others
    64.000  B   m3: rollback B6 refused, foreign
    64.000  B   m3: enqueue B9 queued
    64.000  B   m3: rollback B7 refused, foreign
    64.000  B   m3: rollback B8 refused, foreign
    66.000  B   m1 is heard
    66.000  B   enqueue B9 -> m1
    66.000  B   m2 is heard
    66.000  B   enqueue B9 -> m2
    66.000  B   m3 is heard
    66.000  B   enqueue B9 -> m3
    67.000  m1  enqueue s#gate B9 2000 0 1000062000 1000062000  0 0 B1 = 0 67000 1000062000 0 0 9974 9974 0
    67.000  m2  enqueue s#gate B9 2000 0 1000062000 1000062000  0 0 B1 = 0 67000 1000062000 0 0 9974 9974 0
    67.000  m3  enqueue s#gate B9 2000 0 1000062000 1000062000  0 0 B1 = 0 67000 1000062000 0 0 9974 9974 0
    68.000  B   m1: enqueue B9 queued
    68.000  B   m2: enqueue B9 queued
    68.000  B   m3: enqueue B9 queued
   200.000  C   release
   200.000  C   release C1 -> m1 m2 m3
   201.000  m1  release s#1 C1 = 4
   201.000  m2  release s#1 C1 = 4
   201.000  m3  release s#1 C1 = 4
   202.000  C   release C1 -> m1 m2 m3
   203.000  m1  release s#1 C1 = 0
   203.000  m2  release s#1 C1 = 0
   203.000  m3  release s#1 C1 = 0
   204.000  A   m1 calls: A5 0 look - 203000 1
   204.000  A   rollback A5 -> m1 m2 m3
   204.000  A   enqueue A10 -> m1 m2 m3
   204.000  C   m1: release C1 granted, handed off
   204.000  A   m2 calls: A5 0 look - 203000 1
   204.000  C   m2: release C1 granted, handed off
   204.000  A   m3 calls: A5 0 look - 203000 1
   204.000  C   m3: release C1 granted, handed off
   204.000  C   release: ok
   205.000  m1  rollback s#0 A5 = -1
   205.000  m1  enqueue s#1 A10 2000 0 1000042000 1000204000  0 0 A1 2 = 1 205000 1000042000 0 0 2001 -1 0 0
   205.000  m2  rollback s#0 A5 = -1
   205.000  m2  enqueue s#1 A10 2000 0 1000042000 1000204000  0 0 A1 2 = 1 205000 1000042000 0 0 2001 -1 0 0
   205.000  m3  rollback s#0 A5 = -1
   205.000  m3  enqueue s#1 A10 2000 0 1000042000 1000204000  0 0 A1 2 = 1 205000 1000042000 0 0 2001 -1 0 0
   206.000  A   m1: rollback A5 refused, foreign
   206.000  A   m1: enqueue A10 granted
   206.000  A   m2: rollback A5 refused, foreign
   206.000  A   m2: enqueue A10 granted
   206.000  A'' acquire: ok, valid for 1976.000 ms
   206.000  A   give up
   206.000  A   its set is held
   206.000  A   release A2 -> m1 m2 m3
   206.000  A   m3: rollback A5 refused, foreign
   206.000  A   m3: enqueue A10 granted
   207.000  m1  release s#gate A2 = 4
   207.000  m2  release s#gate A2 = 4
   207.000  m3  release s#gate A2 = 4
   208.000  A   release A2 -> m1 m2 m3
   209.000  m1  release s#gate A2 = 0
   209.000  m2  release s#gate A2 = 0
   209.000  m3  release s#gate A2 = 0
   210.000  B   m1 calls: B9 0 granted - 209000 0
   210.000  A   m1: release A2 granted, handed off
   210.000  B   m2 calls: B9 0 granted - 209000 0
   210.000  B   acquire: ok, valid for 1830.000 ms
   210.000  B'  acquire s ttl=10000
   210.000  B   claim B11 -> m1 m2 m3
   210.000  B'' acquire s ttl=10000
   210.000  B   claim B12 -> m1 m2 m3
   210.000  A   m2: release A2 granted, handed off
   210.000  B   m3 calls: B9 0 granted - 209000 0
   210.000  A   m3: release A2 granted, handed off
   211.000  m1  claim s#1 s#1 s#0 redlock:queue:s#0 B11 10000 0 0 = 0 1995 0 0
   211.000  m1  claim s#0 s#0 s#1 redlock:queue:s#1 B12 10000 0 0 = 0 9830 0 0
   211.000  m2  claim s#1 s#1 s#0 redlock:queue:s#0 B11 10000 0 0 = 0 1995 0 0
   211.000  m2  claim s#0 s#0 s#1 redlock:queue:s#1 B12 10000 0 0 = 0 9830 0 0
   211.000  m3  claim s#1 s#1 s#0 redlock:queue:s#0 B11 10000 0 0 = 0 1995 0 0
   211.000  m3  claim s#0 s#0 s#1 redlock:queue:s#1 B12 10000 0 0 = 0 9830 0 0
   212.000  B   m1: claim B11 refused, held
   212.000  B   m1: claim B12 refused, held
   212.000  B   m2: claim B11 refused, held
   212.000  B'  acquire: held
   212.000  B   m2: claim B12 refused, held
   212.000  B'' acquire: held
   212.000  B'  acquire s ttl=10000
   212.000  B   rollback B11 -> m3
   212.000  B   rollback B12 -> m3
   212.000  B   enqueue B13 -> m1 m2 m3
   212.000  B   m3: claim B11 refused, held
   212.000  B   m3: claim B12 refused, held
   213.000  m1  enqueue s#1 B13 2000 0 0 1000212000  0 0 B1 2 = 0 213000 1000212000 0 0 1993 1993 0 0
   213.000  m2  enqueue s#1 B13 2000 0 0 1000212000  0 0 B1 2 = 0 213000 1000212000 0 0 1993 1993 0 0
   213.000  m3  rollback s#1 B11 B12 = --
   213.000  m3  enqueue s#1 B13 2000 0 0 1000212000  0 0 B1 2 = 0 213000 1000212000 0 0 1993 1993 0 0
   214.000  B   m1: enqueue B13 queued
   214.000  B   m2: enqueue B13 queued
   214.000  B'  waits behind 0 others
   214.000  B   m3: rollback B11 refused, foreign
   214.000  B   m3: rollback B12 refused, foreign
   214.000  B   m3: enqueue B13 queued
   400.000  A'  release
   400.000  A   release A3 -> m1 m2 m3
   400.000  A'' release
   400.000  A   release A10 -> m1 m2 m3
   401.000  m1  release s#0 A3 = 1
   401.000  m1  release s#1 A10 = 2
   401.000  m2  release s#0 A3 = 1
   401.000  m2  release s#1 A10 = 2
   401.000  m3  release s#0 A3 = 1
   401.000  m3  release s#1 A10 = 2
   402.000  B   m1 calls: B13 0 look - 401000 0
   402.000  B   rollback B13 -> m1 m2 m3
   402.000  B   enqueue B14 -> m1 m2 m3
   402.000  B   m1 calls: B13 0 granted - 401000 0
   402.000  A   m1: release A3 granted
   402.000  A   m1: release A10 granted, handed off
   402.000  B   m2 calls: B13 0 look - 401000 0
   402.000  B   m2 calls: B13 0 granted - 401000 0
   402.000  A   m2: release A3 granted
   402.000  A   m2: release A10 granted, handed off
   402.000  B   m3 calls: B13 0 look - 401000 0
   402.000  B   m3 calls: B13 0 granted - 401000 0
   402.000  A   m3: release A3 granted
   402.000  A'  release: ok
   402.000  A   m3: release A10 granted, handed off
   402.000  A'' release: ok
   402.000  A   its set is idle
   403.000  m1  rollback s#1 B13 = 1
   403.000  m1  enqueue s#0 B14 2000 0 1000212000 1000402000  0 0 B1 2 = 1 403000 1000212000 0 0 2001 -1 0 0
   403.000  m2  rollback s#1 B13 = 1
   403.000  m2  enqueue s#0 B14 2000 0 1000212000 1000402000  0 0 B1 2 = 1 403000 1000212000 0 0 2001 -1 0 0
   403.000  m3  rollback s#1 B13 = 1
   403.000  m3  enqueue s#0 B14 2000 0 1000212000 1000402000  0 0 B1 2 = 1 403000 1000212000 0 0 2001 -1 0 0
   404.000  B   m1: rollback B13 granted
   404.000  B   m1: enqueue B14 granted
   404.000  B   m2: rollback B13 granted
   404.000  B   m2: enqueue B14 granted
   404.000  B'  acquire: ok, valid for 1976.000 ms
   404.000  B'' acquire s ttl=10000
   404.000  B   claim B15 -> m1 m2 m3
   404.000  B   m3: rollback B13 granted
   404.000  B   m3: enqueue B14 granted
   405.000  m1  claim s#1 s#1 s#0 redlock:queue:s#0 B15 10000 0 0 = 1 0 0
   405.000  m2  claim s#1 s#1 s#0 redlock:queue:s#0 B15 10000 0 0 = 1 0 0
   405.000  m3  claim s#1 s#1 s#0 redlock:queue:s#0 B15 10000 0 0 = 1 0 0
   406.000  B   m1: claim B15 granted
   406.000  B   m2: claim B15 granted
   406.000  B'' acquire: ok, valid for 9896.000 ms
   406.000  B   give up
   406.000  B   release B9 -> m1 m2 m3
   406.000  B   its set is held
   406.000  B   m3: claim B15 granted
   407.000  m1  release s#gate B9 = 1
   407.000  m2  release s#gate B9 = 1
   407.000  m3  release s#gate B9 = 1
   408.000  B   m1: release B9 granted
   408.000  B   m2: release B9 granted
   408.000  B   m3: release B9 granted
   600.000  B'  release
   600.000  B   release B14 -> m1 m2 m3
   600.000  B'' release
   600.000  B   release B15 -> m1 m2 m3
   601.000  m1  release s#0 B14 = 1
   601.000  m1  release s#1 B15 = 1
   601.000  m2  release s#0 B14 = 1
   601.000  m2  release s#1 B15 = 1
   601.000  m3  release s#0 B14 = 1
   601.000  m3  release s#1 B15 = 1
   602.000  B   m1: release B14 granted
   602.000  B   m1: release B15 granted
   602.000  B   m2: release B14 granted
   602.000  B   m2: release B15 granted
   602.000  B   m3: release B14 granted
   602.000  B'  release: ok
   602.000  B   m3: release B15 granted
   602.000  B'' release: ok
   602.000  B   its set is idle
