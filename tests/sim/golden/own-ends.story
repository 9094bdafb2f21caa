# Each vote has an end of its own. A shares k for 6 s, then B for half a second. If the key ended with the ttl of the
# latest vote, A's would be gone after that half second, while A counts on it for six.
masters 3
clients 2
  20    A acquire k ttl=6000 shared
  40    B acquire k ttl=500 shared
  60    end
---
     4.000  A   m1 is ready
     4.000  A   m2 is ready
     4.000  A   m3 is ready
     4.000  B   m1 is ready
     4.000  B   m2 is ready
     4.000  B   m3 is ready
    20.000  A   acquire k ttl=6000
    20.000  A   claim A1 -> m1 m2 m3
    21.000  m1  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k A1 6000 r 0 0  = 1 0
    21.000  m2  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k A1 6000 r 0 0  = 1 0
    21.000  m3  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k A1 6000 r 0 0  = 1 0
    22.000  A   m1: claim A1 granted
    22.000  A   m2: claim A1 granted
    22.000  A   acquire: ok, valid for 5936.000 ms
    22.000  A   m3: claim A1 granted
    40.000  B   acquire k ttl=500
    40.000  B   claim B2 -> m1 m2 m3
    41.000  m1  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k B2 500 r 0 0  = 1 0
    41.000  m2  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k B2 500 r 0 0  = 1 0
    41.000  m3  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k B2 500 r 0 0  = 1 0
    42.000  B   m1: claim B2 granted
    42.000  B   m2: claim B2 granted
    42.000  B   acquire: ok, valid for 491.000 ms
    42.000  B   m3: claim B2 granted
    60.000  m1  has k = B2, shared, for 482.000 ms
    60.000  m1  has k = A1, shared, for 5962.000 ms
    60.000  m2  has k = B2, shared, for 482.000 ms
    60.000  m2  has k = A1, shared, for 5962.000 ms
    60.000  m3  has k = B2, shared, for 482.000 ms
    60.000  m3  has k = A1, shared, for 5962.000 ms
