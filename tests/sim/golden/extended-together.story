# A has other and k, and one command renews both. On m3 k is what a process that has died has left there, and m1 does
# not hear A any more: other is renewed on m2 and m3, k on m2 alone. The reply of m3 says yes to other and no to k, so A
# loses k in time, and C may have it.
masters 3
clients 3
max-ttl 10000
handles A 2
  10  partition B m1
  10  partition B m2
  20  B acquire k ttl=1000 once
  21.5  kill B
  30  A acquire other ttl=500 renew=200
  30  A' acquire k ttl=500 renew=200
 200  partition A m1
 540  C acquire k ttl=500
 600  A release
 600  A' release
 600  C release
 700  end
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
    10.000  --  partition B m1 
    10.000  --  partition B m2 
    20.000  B   acquire k ttl=1000
    20.000  B   claim B1 -> m1 m2 m3
    21.000  m3  SET k B1 NX PX 1000 = OK
    21.500  B   dies
    30.000  A   acquire other ttl=500
    30.000  A   claim A2 -> m1 m2 m3
    30.000  A'  acquire k ttl=500
    30.000  A   claim A3 -> m1 m2 m3
    31.000  m1  SET other A2 NX PX 500 = OK
    31.000  m1  SET k A3 NX PX 500 = OK
    31.000  m2  SET other A2 NX PX 500 = OK
    31.000  m2  SET k A3 NX PX 500 = OK
    31.000  m3  SET other A2 NX PX 500 = OK
    31.000  m3  SET k A3 NX PX 500 = nil
    32.000  A   m1: claim A2 granted
    32.000  A   m1: claim A3 granted
    32.000  A   m2: claim A2 granted
    32.000  A   acquire: ok, valid for 491.000 ms
    32.000  A   m2: claim A3 granted
    32.000  A'  acquire: ok, valid for 491.000 ms
    32.000  A   m3: claim A2 granted
    32.000  A   m3: claim A3 refused, held
   200.000  --  partition A m1 
   230.000  A   extend A2 -> m1
   230.000  A   extend A3 -> m1
   230.000  A   extend A2 -> m2
   230.000  A   extend A3 -> m2
   230.000  A   extend A2 -> m3
   230.000  A   extend A3 -> m3
   231.000  m2  extend other k 500 A2 A3 = 11
   231.000  m3  extend other k 500 A2 A3 = 1-
   232.000  A   m2: extend A2 granted
   232.000  A   m2: extend A3 granted
   232.000  A   m3: extend A2 granted
   232.000  A   has renewed the lock
   232.000  A   m3: extend A3 refused, foreign
   280.000  A   m1 is late
   317.719  A   extend A3 -> m2 m3
   318.719  m2  extend k A3 500 = 1
   318.719  m3  extend k A3 500 = -1
   319.719  A   m2: extend A3 granted
   319.719  A   m3: extend A3 refused, foreign
   353.469  A   extend A3 -> m2 m3
   354.469  m2  extend k A3 500 = 1
   354.469  m3  extend k A3 500 = -1
   355.469  A   m2: extend A3 granted
   355.469  A   m3: extend A3 refused, foreign
   393.828  A   extend A3 -> m2 m3
   394.828  m2  extend k A3 500 = 1
   394.828  m3  extend k A3 500 = -1
   395.828  A   m2: extend A3 granted
   395.828  A   m3: extend A3 refused, foreign
   430.000  A   extend A2 -> m2 m3
   430.152  A   extend A3 -> m2 m3
   431.000  m2  extend other A2 500 = 1
   431.000  m3  extend other A2 500 = 1
   431.152  m2  extend k A3 500 = 1
   431.152  m3  extend k A3 500 = -1
   432.000  A   m2: extend A2 granted
   432.000  A   m3: extend A2 granted
   432.000  A   has renewed the lock
   432.152  A   m2: extend A3 granted
   432.152  A   m3: extend A3 refused, foreign
   468.555  A   extend A3 -> m2 m3
   469.555  m2  extend k A3 500 = 1
   469.555  m3  extend k A3 500 = -1
   470.555  A   m2: extend A3 granted
   470.555  A   m3: extend A3 refused, foreign
   504.808  A   extend A3 -> m2 m3
   505.808  m2  extend k A3 500 = 1
   505.808  m3  extend k A3 500 = -1
   506.808  A   m2: extend A3 granted
   506.808  A   m3: extend A3 refused, foreign
   523.000  A'  has lost the lock
   523.000  A   release A3 -> m1 m2
   524.000  m2  release k A3 = 1
   525.000  A   m2: release A3 granted
   540.000  C   acquire k ttl=500
   540.000  C   claim C4 -> m1 m2 m3
   541.000  m1  SET k C4 NX PX 500 = OK
   541.000  m2  SET k C4 NX PX 500 = OK
   541.000  m3  SET k C4 NX PX 500 = nil
   542.000  C   m1: claim C4 granted
   542.000  C   m2: claim C4 granted
   542.000  C   acquire: ok, valid for 491.000 ms
   542.000  C   m3: claim C4 refused, held
   600.000  A   release
   600.000  A   release A2 -> m1 m2 m3
   600.000  A'  release
   600.000  A'  release: lost
   600.000  C   release
   600.000  C   release C4 -> m1 m2
   601.000  m2  release other A2 = 1
   601.000  m3  release other A2 = 1
   601.000  m1  release k C4 = 1
   601.000  m2  release k C4 = 1
   602.000  A   m2: release A2 granted
   602.000  A   m3: release A2 granted
   602.000  A   release: ok
   602.000  C   m1: release C4 granted
   602.000  C   m2: release C4 granted
   602.000  C   release: ok
   700.000  m3  has k = B1 for 322.000 ms
