# Two slots are free. A has three of four permits, and gives one back. C begins at a slot that is taken; the masters show
# it the two that are free, and it has one of them two round trips later. C' begins at the other one: it has no need to
# draw a slot, which may be taken.
masters 3
calm
clients 3
handles A 3
handles C 2
max-ttl 10000
  20  A acquire s limit=4 ttl=10000
  25  A' acquire s limit=4 ttl=10000
  30  A'' acquire s limit=4 ttl=10000
  40  A release
  50  C acquire s limit=4 ttl=10000 queue
  70  C' acquire s limit=4 ttl=10000 queue
 100  end
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
    20.000  A   acquire s ttl=10000
    20.000  A   claim A1 -> m1 m2 m3
    21.000  m1  claim s#2 s#2 s#0 redlock:queue:s#0 s#1 redlock:queue:s#1 s#3 redlock:queue:s#3 A1 10000 0 0 = 1 0 0
    21.000  m2  claim s#2 s#2 s#0 redlock:queue:s#0 s#1 redlock:queue:s#1 s#3 redlock:queue:s#3 A1 10000 0 0 = 1 0 0
    21.000  m3  claim s#2 s#2 s#0 redlock:queue:s#0 s#1 redlock:queue:s#1 s#3 redlock:queue:s#3 A1 10000 0 0 = 1 0 0
    22.000  A   m1: claim A1 granted
    22.000  A   m2: claim A1 granted
    22.000  A   acquire: ok, valid for 9896.000 ms
    22.000  A   m3: claim A1 granted
    25.000  A'  acquire s ttl=10000
    25.000  A   claim A2 -> m1 m2 m3
    26.000  m1  claim s#0 s#0 s#1 redlock:queue:s#1 s#2 redlock:queue:s#2 s#3 redlock:queue:s#3 A2 10000 0 0 = 1 0 0
    26.000  m2  claim s#0 s#0 s#1 redlock:queue:s#1 s#2 redlock:queue:s#2 s#3 redlock:queue:s#3 A2 10000 0 0 = 1 0 0
    26.000  m3  claim s#0 s#0 s#1 redlock:queue:s#1 s#2 redlock:queue:s#2 s#3 redlock:queue:s#3 A2 10000 0 0 = 1 0 0
    27.000  A   m1: claim A2 granted
    27.000  A   m2: claim A2 granted
    27.000  A'  acquire: ok, valid for 9896.000 ms
    27.000  A   m3: claim A2 granted
    30.000  A'' acquire s ttl=10000
    30.000  A   claim A3 -> m1 m2 m3
    31.000  m1  claim s#1 s#1 s#0 redlock:queue:s#0 s#2 redlock:queue:s#2 s#3 redlock:queue:s#3 A3 10000 0 0 = 1 0 0
    31.000  m2  claim s#1 s#1 s#0 redlock:queue:s#0 s#2 redlock:queue:s#2 s#3 redlock:queue:s#3 A3 10000 0 0 = 1 0 0
    31.000  m3  claim s#1 s#1 s#0 redlock:queue:s#0 s#2 redlock:queue:s#2 s#3 redlock:queue:s#3 A3 10000 0 0 = 1 0 0
    32.000  A   m1: claim A3 granted
    32.000  A   m2: claim A3 granted
    32.000  A'' acquire: ok, valid for 9896.000 ms
    32.000  A   m3: claim A3 granted
    40.000  A   release
    40.000  A   release A1 -> m1 m2 m3
    41.000  m1  release s#2 A1 = 1
    41.000  m2  release s#2 A1 = 1
    41.000  m3  release s#2 A1 = 1
    42.000  A   m1: release A1 granted
    42.000  A   m2: release A1 granted
    42.000  A   m3: release A1 granted
    42.000  A   release: ok
    50.000  C   acquire s ttl=10000
    50.000  C   claim C4 -> m1 m2 m3
    51.000  m1  claim s#1 s#1 s#0 redlock:queue:s#0 s#2 redlock:queue:s#2 s#3 redlock:queue:s#3 C4 10000 0 0 = 0 9980 0 6
    51.000  m2  claim s#1 s#1 s#0 redlock:queue:s#0 s#2 redlock:queue:s#2 s#3 redlock:queue:s#3 C4 10000 0 0 = 0 9980 0 6
    51.000  m3  claim s#1 s#1 s#0 redlock:queue:s#0 s#2 redlock:queue:s#2 s#3 redlock:queue:s#3 C4 10000 0 0 = 0 9980 0 6
    52.000  C   m1: claim C4 refused, held
    52.000  C   m2: claim C4 refused, held
    52.000  C   enqueue C5 -> m1 m2 m3
    52.000  C   rollback C4 -> m3
    52.000  C   m3: claim C4 refused, held
    53.000  m1  enqueue s#2 C5 2000 0 0 1000052000  0 0 C1 4 = 1 53000 1000052000 0 0 2001 -1 0 0
    53.000  m2  enqueue s#2 C5 2000 0 0 1000052000  0 0 C1 4 = 1 53000 1000052000 0 0 2001 -1 0 0
    53.000  m3  enqueue s#2 C5 2000 0 0 1000052000  0 0 C1 4 = 1 53000 1000052000 0 0 2001 -1 0 0
    53.000  m3  rollback s#1 C4 = -1
    54.000  C   m1: enqueue C5 granted
    54.000  C   m2: enqueue C5 granted
    54.000  C   acquire: ok, valid for 1976.000 ms
    54.000  C   m3: enqueue C5 granted
    54.000  C   m3: rollback C4 refused, foreign
    56.000  C   m1 is heard
    56.000  C   m2 is heard
    56.000  C   m3 is heard
    70.000  C'  acquire s ttl=10000
    70.000  C   enqueue C6 -> m1 m2 m3
    71.000  m1  enqueue s#3 C6 2000 0 0 1000070000  0 0 C1 4 = 1 71000 1000070000 0 0 2001 -1 0 0
    71.000  m2  enqueue s#3 C6 2000 0 0 1000070000  0 0 C1 4 = 1 71000 1000070000 0 0 2001 -1 0 0
    71.000  m3  enqueue s#3 C6 2000 0 0 1000070000  0 0 C1 4 = 1 71000 1000070000 0 0 2001 -1 0 0
    72.000  C   m1: enqueue C6 granted
    72.000  C   m2: enqueue C6 granted
    72.000  C'  acquire: ok, valid for 1976.000 ms
    72.000  C   m3: enqueue C6 granted
   100.000  m1  has s#1 = A3 for 9932.000 ms
   100.000  m1  has s#0 = A2 for 9927.000 ms
   100.000  m1  has s#2 = C5 for 1955.000 ms
   100.000  m1  has s#3 = C6 for 1973.000 ms
   100.000  m2  has s#1 = A3 for 9932.000 ms
   100.000  m2  has s#0 = A2 for 9927.000 ms
   100.000  m2  has s#2 = C5 for 1955.000 ms
   100.000  m2  has s#3 = C6 for 1973.000 ms
   100.000  m3  has s#1 = A3 for 9932.000 ms
   100.000  m3  has s#0 = A2 for 9927.000 ms
   100.000  m3  has s#2 = C5 for 1955.000 ms
   100.000  m3  has s#3 = C6 for 1973.000 ms
