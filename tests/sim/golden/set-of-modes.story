# A set with a shared part. A wants to share k and to have other for itself. It shares k with B while it waits for D's
# other, until its k expires: A leaves the queue of other and begins again. Meanwhile C waits to write k, and A does not
# pass it: C has k when B has released it, and A's set is held when C has released k. Then B reads k beside A.
masters 3
clients 4
max-ttl 10000
set A k other
  20  B acquire k ttl=10000 shared
  40  D acquire other ttl=10000
  60  A acquire ttl=200 queue shared=k
 200  C acquire k ttl=10000 queue
 270  B release
 280  D release
 300  C release
 320  B acquire k ttl=10000 shared once
 340  A release
 350  end
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
     4.000  D   m1 is ready
     4.000  D   m2 is ready
     4.000  D   m3 is ready
    20.000  B   acquire k ttl=10000
    20.000  B   claim B1 -> m1 m2 m3
    21.000  m1  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k B1 10000 r 0 0  = 1 0
    21.000  m2  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k B1 10000 r 0 0  = 1 0
    21.000  m3  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k B1 10000 r 0 0  = 1 0
    22.000  B   m1: claim B1 granted
    22.000  B   m2: claim B1 granted
    22.000  B   acquire: ok, valid for 9896.000 ms
    22.000  B   m3: claim B1 granted
    40.000  D   acquire other ttl=10000
    40.000  D   claim D2 -> m1 m2 m3
    41.000  m1  SET other D2 NX PX 10000 = OK
    41.000  m2  SET other D2 NX PX 10000 = OK
    41.000  m3  SET other D2 NX PX 10000 = OK
    42.000  D   m1: claim D2 granted
    42.000  D   m2: claim D2 granted
    42.000  D   acquire: ok, valid for 9896.000 ms
    42.000  D   m3: claim D2 granted
    60.000  A   acquires its set, ttl=200
    60.000  A   acquire k ttl=200
    60.000  A   claim A3 -> m1 m2 m3
    60.000  A'  acquire other ttl=200
    60.000  A   claim A4 -> m1 m2 m3
    61.000  m1  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k A3 200 r 0 0  = 1 0
    61.000  m1  SET other A4 NX PX 200 = nil
    61.000  m2  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k A3 200 r 0 0  = 1 0
    61.000  m2  SET other A4 NX PX 200 = nil
    61.000  m3  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k A3 200 r 0 0  = 1 0
    61.000  m3  SET other A4 NX PX 200 = nil
    62.000  A   m1: claim A3 granted
    62.000  A   m1: claim A4 refused, held
    62.000  A   m2: claim A3 granted
    62.000  A   acquire: ok, valid for 194.000 ms
    62.000  A   m2: claim A4 refused, held
    62.000  A'  acquire: held
    62.000  A'  acquire other ttl=200
    62.000  A   rollback A4 -> m3
    62.000  A   enqueue A5 -> m1 m2 m3
    62.000  A   m3: claim A3 granted
    62.000  A   m3: claim A4 refused, held
    63.000  m1  enqueue other A5 200 0 0 1000062000  0 0 A1 = 0 63000 1000062000 0 0 9978 9978 0
    63.000  m2  enqueue other A5 200 0 0 1000062000  0 0 A1 = 0 63000 1000062000 0 0 9978 9978 0
    63.000  m3  rollback other A4 = -1
    63.000  m3  enqueue other A5 200 0 0 1000062000  0 0 A1 = 0 63000 1000062000 0 0 9978 9978 0
    64.000  A   m1: enqueue A5 queued
    64.000  A   m2: enqueue A5 queued
    64.000  A'  waits behind 0 others
    64.000  A   m3: rollback A4 refused, foreign
    64.000  A   m3: enqueue A5 queued
    66.000  A   m1 is heard
    66.000  A   enqueue A5 -> m1
    66.000  A   m2 is heard
    66.000  A   enqueue A5 -> m2
    66.000  A   m3 is heard
    66.000  A   enqueue A5 -> m3
    67.000  m1  enqueue other A5 200 0 1000062000 1000062000  0 0 A1 = 0 67000 1000062000 0 0 9974 9974 0
    67.000  m2  enqueue other A5 200 0 1000062000 1000062000  0 0 A1 = 0 67000 1000062000 0 0 9974 9974 0
    67.000  m3  enqueue other A5 200 0 1000062000 1000062000  0 0 A1 = 0 67000 1000062000 0 0 9974 9974 0
    68.000  A   m1: enqueue A5 queued
    68.000  A   m2: enqueue A5 queued
    68.000  A   m3: enqueue A5 queued
   112.000  A   enqueue A5 -> m1 m2 m3
   113.000  m1  enqueue other A5 200 1 1000062000 1000062000  0 0 A1 = 0 113000 1000062000 0 0 9928 9928 0
   113.000  m2  enqueue other A5 200 1 1000062000 1000062000  0 0 A1 = 0 113000 1000062000 0 0 9928 9928 0
   113.000  m3  enqueue other A5 200 1 1000062000 1000062000  0 0 A1 = 0 113000 1000062000 0 0 9928 9928 0
   114.000  A   m1: enqueue A5 queued
   114.000  A   m2: enqueue A5 queued
   114.000  A   m3: enqueue A5 queued
   162.000  A   enqueue A5 -> m1 m2 m3
   163.000  m1  enqueue other A5 200 2 1000062000 1000062000  0 0 A1 = 0 163000 1000062000 0 0 9878 9878 0
   163.000  m2  enqueue other A5 200 2 1000062000 1000062000  0 0 A1 = 0 163000 1000062000 0 0 9878 9878 0
   163.000  m3  enqueue other A5 200 2 1000062000 1000062000  0 0 A1 = 0 163000 1000062000 0 0 9878 9878 0
   164.000  A   m1: enqueue A5 queued
   164.000  A   m2: enqueue A5 queued
   164.000  A   m3: enqueue A5 queued
   200.000  C   acquire k ttl=10000
   200.000  C   claim C6 -> m1 m2 m3
   201.000  m1  SET k C6 NX PX 10000 = nil
   201.000  m2  SET k C6 NX PX 10000 = nil
   201.000  m3  SET k C6 NX PX 10000 = nil
   202.000  C   m1: claim C6 refused, held
   202.000  C   m2: claim C6 refused, held
   202.000  C   rollback C6 -> m3
   202.000  C   enqueue C7 -> m1 m2 m3
   202.000  C   m3: claim C6 refused, held
   203.000  m1  enqueue k C7 2000 0 0 1000202000  0 0 C1 = 0 203000 1000202000 0 0 9819 9819 0
   203.000  m2  enqueue k C7 2000 0 0 1000202000  0 0 C1 = 0 203000 1000202000 0 0 9819 9819 0
   203.000  m3  rollback k C6 = 0
   203.000  m3  enqueue k C7 2000 0 0 1000202000  0 0 C1 = 0 203000 1000202000 0 0 9819 9819 0
   204.000  C   m1: enqueue C7 queued
   204.000  C   m2: enqueue C7 queued
   204.000  C   waits behind 0 others
   204.000  C   m3: rollback C6 refused, missing
   204.000  C   m3: enqueue C7 queued
   206.000  C   m1 is heard
   206.000  C   enqueue C7 -> m1
   206.000  C   m2 is heard
   206.000  C   enqueue C7 -> m2
   206.000  C   m3 is heard
   206.000  C   enqueue C7 -> m3
   207.000  m1  enqueue k C7 2000 0 1000202000 1000202000  0 0 C1 = 0 207000 1000202000 0 0 9815 9815 0
   207.000  m2  enqueue k C7 2000 0 1000202000 1000202000  0 0 C1 = 0 207000 1000202000 0 0 9815 9815 0
   207.000  m3  enqueue k C7 2000 0 1000202000 1000202000  0 0 C1 = 0 207000 1000202000 0 0 9815 9815 0
   208.000  C   m1: enqueue C7 queued
   208.000  C   m2: enqueue C7 queued
   208.000  C   m3: enqueue C7 queued
   212.000  A   enqueue A5 -> m1 m2 m3
   213.000  m1  enqueue other A5 200 3 1000062000 1000062000  0 0 A1 = 0 213000 1000062000 0 0 9828 9828 0
   213.000  m2  enqueue other A5 200 3 1000062000 1000062000  0 0 A1 = 0 213000 1000062000 0 0 9828 9828 0
   213.000  m3  enqueue other A5 200 3 1000062000 1000062000  0 0 A1 = 0 213000 1000062000 0 0 9828 9828 0
   214.000  A   m1: enqueue A5 queued
   214.000  A   m2: enqueue A5 queued
   214.000  A   m3: enqueue A5 queued
   256.000  A   release A3 -> m1 m2 m3
   256.000  A   has lost the lock
   256.000  A   give up
   256.000  A'  give up
   256.000  A   rollback A5 -> m1 m2 m3
   256.000  A   acquire k ttl=200
   256.000  A   claim A8 -> m1 m2 m3
   256.000  A'  acquire other ttl=200
   256.000  A   claim A9 -> m1 m2 m3
   257.000  m1  release k A3 = 1
   257.000  m1  rollback other A5 = -1
   257.000  m1  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k A8 200 r 0 0  = 0 9765 0 2
   257.000  m1  SET other A9 NX PX 200 = nil
   257.000  m2  release k A3 = 1
   257.000  m2  rollback other A5 = -1
   257.000  m2  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k A8 200 r 0 0  = 0 9765 0 2
   257.000  m2  SET other A9 NX PX 200 = nil
   257.000  m3  release k A3 = 1
   257.000  m3  rollback other A5 = -1
   257.000  m3  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k A8 200 r 0 0  = 0 9765 0 2
   257.000  m3  SET other A9 NX PX 200 = nil
   258.000  A   m1: release A3 granted
   258.000  A   m1: rollback A5 refused, foreign
   258.000  A   m1: claim A8 refused, others wait
   258.000  A   m1: claim A9 refused, held
   258.000  A   m2: release A3 granted
   258.000  A   m2: rollback A5 refused, foreign
   258.000  A   m2: claim A8 refused, others wait
   258.000  A   rollback A8 -> m3
   258.000  A   acquire: held
   258.000  A   m2: claim A9 refused, held
   258.000  A   rollback A9 -> m3
   258.000  A'  acquire: held
   258.000  A'  give up
   258.000  A   acquire k ttl=200
   258.000  A   enqueue A10 -> m1 m2 m3
   258.000  A   m3: release A3 granted
   258.000  A   m3: rollback A5 refused, foreign
   258.000  A   m3: claim A8 refused, others wait
   258.000  A   m3: claim A9 refused, held
   259.000  m1  enqueue k A10 200 0 0 1000258000  0 0 A1 r  = 0 259000 1000258000 0 1 9763 1948 0
   259.000  m2  enqueue k A10 200 0 0 1000258000  0 0 A1 r  = 0 259000 1000258000 0 1 9763 1948 0
   259.000  m3  rollback k A8 = 0
   259.000  m3  rollback other A9 = -1
   259.000  m3  enqueue k A10 200 0 0 1000258000  0 0 A1 r  = 0 259000 1000258000 0 1 9763 1948 0
   260.000  A   m1: enqueue A10 queued
   260.000  A   m2: enqueue A10 queued
   260.000  A   waits behind 1 others
   260.000  A   m3: rollback A8 refused, missing
   260.000  A   m3: rollback A9 refused, foreign
   260.000  A   m3: enqueue A10 queued
   270.000  B   release
   270.000  B   release B1 -> m1 m2 m3
   271.000  m1  release k B1 = 2
   271.000  m2  release k B1 = 2
   271.000  m3  release k B1 = 2
   272.000  C   m1 calls: C7 0 granted - 271000 0
   272.000  B   m1: release B1 granted, handed off
   272.000  C   m2 calls: C7 0 granted - 271000 0
   272.000  C   acquire: ok, valid for 1908.000 ms
   272.000  B   m2: release B1 granted, handed off
   272.000  C   m3 calls: C7 0 granted - 271000 0
   272.000  B   m3: release B1 granted, handed off
   272.000  B   release: ok
   280.000  D   release
   280.000  D   release D2 -> m1 m2 m3
   281.000  m1  release other D2 = 1
   281.000  m2  release other D2 = 1
   281.000  m3  release other D2 = 1
   282.000  D   m1: release D2 granted
   282.000  D   m2: release D2 granted
   282.000  D   m3: release D2 granted
   282.000  D   release: ok
   300.000  C   release
   300.000  C   release C7 -> m1 m2 m3
   301.000  m1  release k C7 = 2
   301.000  m2  release k C7 = 2
   301.000  m3  release k C7 = 2
   302.000  A   m1 calls: A10 0 granted - 301000 0
   302.000  C   m1: release C7 granted, handed off
   302.000  A   m2 calls: A10 0 granted - 301000 0
   302.000  A   acquire: ok, valid for 152.000 ms
   302.000  A'  acquire other ttl=200
   302.000  A   claim A11 -> m1 m2 m3
   302.000  C   m2: release C7 granted, handed off
   302.000  A   m3 calls: A10 0 granted - 301000 0
   302.000  C   m3: release C7 granted, handed off
   302.000  C   release: ok
   303.000  m1  SET other A11 NX PX 200 = OK
   303.000  m2  SET other A11 NX PX 200 = OK
   303.000  m3  SET other A11 NX PX 200 = OK
   304.000  A   m1: claim A11 granted
   304.000  A   m2: claim A11 granted
   304.000  A'  acquire: ok, valid for 194.000 ms
   304.000  A   its set is held
   304.000  A   m3: claim A11 granted
   320.000  B   acquire k ttl=10000
   320.000  B   claim B12 -> m1 m2 m3
   321.000  m1  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k B12 10000 r 0 0  = 1 0
   321.000  m2  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k B12 10000 r 0 0  = 1 0
   321.000  m3  claim k redlock:queue:k redlock:waiters:k redlock:fence:k k B12 10000 r 0 0  = 1 0
   322.000  B   m1: claim B12 granted
   322.000  B   m2: claim B12 granted
   322.000  B   acquire: ok, valid for 9896.000 ms
   322.000  B   m3: claim B12 granted
   340.000  A   release
   340.000  A   release A10 -> m1 m2 m3
   340.000  A'  release
   340.000  A   release A11 -> m1 m2 m3
   341.000  m1  release k A10 = 1
   341.000  m1  release other A11 = 1
   341.000  m2  release k A10 = 1
   341.000  m2  release other A11 = 1
   341.000  m3  release k A10 = 1
   341.000  m3  release other A11 = 1
   342.000  A   m1: release A10 granted
   342.000  A   m1: release A11 granted
   342.000  A   m2: release A10 granted
   342.000  A   m2: release A11 granted
   342.000  A   m3: release A10 granted
   342.000  A   release: ok
   342.000  A   m3: release A11 granted
   342.000  A'  release: ok
   342.000  A   its set is idle
   350.000  m1  has k = B12, shared, for 9972.000 ms
   350.000  m2  has k = B12, shared, for 9972.000 ms
   350.000  m3  has k = B12, shared, for 9972.000 ms
