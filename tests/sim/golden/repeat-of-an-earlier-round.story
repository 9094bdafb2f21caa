# A script that m1 had, and has forgotten, is sent again with its text, but not for an extension that is no longer the
# latest one: it would carry the ttl of the later one, which was not sent to m1, whose bound therefore does not know of
# it (found by the simulator).
masters 1
clients 1
   5    A acquire other ttl=2000
   8    A extend
  11    A release
  14    A acquire k ttl=2000
  20    forget-scripts m1
  25    hang m1
  30    A extend
 140    A extend ttl=300
 150    resume m1
 160    note m1 still has the key for 2000 ms from the acquisition on, as A's ledger says
 170    end
---
     4.000  A   m1 is ready
     5.000  A   acquire other ttl=2000
     5.000  A   claim A1 -> m1
     6.000  m1  SET other A1 NX PX 2000 = OK
     7.000  A   m1: claim A1 granted
     7.000  A   acquire: ok, valid for 1976.000 ms
     8.000  A   extend ttl=2000
     8.000  A   extend A1 -> m1
     9.000  m1  extend other A1 2000 = 1
    10.000  A   m1: extend A1 granted
    10.000  A   extend: ok, valid for 1976.000 ms
    11.000  A   release
    11.000  A   release A1 -> m1
    12.000  m1  release other A1 = 1
    13.000  A   m1: release A1 granted
    13.000  A   release: ok
    14.000  A   acquire k ttl=2000
    14.000  A   claim A2 -> m1
    15.000  m1  SET k A2 NX PX 2000 = OK
    16.000  A   m1: claim A2 granted
    16.000  A   acquire: ok, valid for 1976.000 ms
    25.000  m1  hangs
    30.000  A   extend ttl=2000
    30.000  A   extend A2 -> m1
    80.000  A   m1 is late
    80.000  A   extend: no quorum, valid for 1912.000 ms
   140.000  A   extend ttl=300
   140.000  A   extend: no quorum, valid for 1852.000 ms
   150.000  m1  resumes
   150.000  m1  extend k A2 2000 = NOSCRIPT No matching script. Please use EVAL.
   151.000  A   m1: extend A2 failed, NOSCRIPT
   151.000  A   m1 is ready
   160.000  --  m1 still has the key for 2000 ms from the acquisition on, as A's ledger says
   170.000  m1  has k = A2 for 1846.000 ms
