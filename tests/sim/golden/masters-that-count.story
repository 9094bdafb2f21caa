# Masters that count. Three clients want one of two permits, and each reaches two of three masters, so that every master
# is asked by two of them. A master that counted its holders would have room for both, and three would have a permit. But
# a claim is for one slot: A has the first one, B the second, and C is refused by a master wherever it tries.
masters 3
clients 3
max-ttl 10000
node-timeout 20
  20  partition A m3
  20  partition B m1
  20  partition C m2
  30  A acquire s limit=2 ttl=10000 once
  40  B acquire s limit=2 ttl=10000 once
  50  C acquire s limit=2 ttl=10000 attempts=2 delay=10
 150  end
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
    20.000  --  partition A m3 
    20.000  --  partition B m1 
    20.000  --  partition C m2 
    30.000  A   acquire s ttl=10000
    30.000  A   claim A1 -> m1 m2 m3
    31.000  m1  claim s#0 s#0 s#1 redlock:queue:s#1 A1 10000 0 0 = 1 0 0
    31.000  m2  claim s#0 s#0 s#1 redlock:queue:s#1 A1 10000 0 0 = 1 0 0
    32.000  A   m1: claim A1 granted
    32.000  A   m2: claim A1 granted
    32.000  A   acquire: ok, valid for 9896.000 ms
    40.000  B   acquire s ttl=10000
    40.000  B   claim B2 -> m1 m2 m3
    41.000  m2  claim s#1 s#1 s#0 redlock:queue:s#0 B2 10000 0 0 = 1 0 0
    41.000  m3  claim s#1 s#1 s#0 redlock:queue:s#0 B2 10000 0 0 = 1 0 0
    42.000  B   m2: claim B2 granted
    42.000  B   m3: claim B2 granted
    42.000  B   acquire: ok, valid for 9896.000 ms
    50.000  C   acquire s ttl=10000
    50.000  C   claim C3 -> m1 m2 m3
    50.000  A   m3 is late
    51.000  m1  claim s#1 s#1 s#0 redlock:queue:s#0 C3 10000 0 0 = 1 0 0
    51.000  m3  claim s#1 s#1 s#0 redlock:queue:s#0 C3 10000 0 0 = 0 9990 0 1
    52.000  C   m1: claim C3 granted
    52.000  C   m3: claim C3 refused, held
    60.000  B   m1 is late
    70.000  C   m2 is late
    70.000  C   backs off: no quorum
    70.000  C   rollback C3 -> m1 m2
    71.000  m1  rollback s#1 C3 = 1
    72.000  C   m1: rollback C3 granted
    90.000  C   claim C4 -> m1 m3
    91.000  m1  claim s#0 s#0 s#1 redlock:queue:s#1 C4 10000 0 0 = 0 9940 0 1
    91.000  m3  claim s#0 s#0 s#1 redlock:queue:s#1 C4 10000 0 0 = 1 0 0
    92.000  C   m1: claim C4 refused, held
    92.000  C   acquire: held
    92.000  C   rollback C4 -> m3
    92.000  C   m3: claim C4 granted
    93.000  m3  rollback s#0 C4 = 1
    94.000  C   m3: rollback C4 granted
   150.000  m1  has s#0 = A1 for 9882.000 ms
   150.000  m2  has s#0 = A1 for 9882.000 ms
   150.000  m2  has s#1 = B2 for 9892.000 ms
   150.000  m3  has s#1 = B2 for 9892.000 ms
