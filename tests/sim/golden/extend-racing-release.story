# Release while an extension is under way: the extension ends as canceled, the release is written behind it on every
# connection, and the late answers of the extension give no validity back.
masters 3
clients 1
delay A m3 5 5
  20  A acquire k ttl=500
  40  A extend ttl=900
  41  A release
  80  end
---
     4.000  A   m1 is ready
     4.000  A   m2 is ready
    20.000  A   acquire k ttl=500
    20.000  A   claim A1 -> m1 m2
    20.000  A   m3 is ready
    20.000  A   claim A1 -> m3
    21.000  m1  SET k A1 NX PX 500 = OK
    21.000  m2  SET k A1 NX PX 500 = OK
    22.000  A   m1: claim A1 granted
    22.000  A   m2: claim A1 granted
    22.000  A   acquire: ok, valid for 491.000 ms
    25.000  m3  SET k A1 NX PX 500 = OK
    30.000  A   m3: claim A1 granted
    40.000  A   extend ttl=900
    40.000  A   extend A1 -> m1 m2 m3
    41.000  A   release
    41.000  A   extend: canceled
    41.000  A   release A1 -> m1 m2 m3
    41.000  m1  extend k A1 900 = 1
    41.000  m2  extend k A1 900 = 1
    42.000  A   m1: extend A1 granted
    42.000  m1  release k A1 = 1
    42.000  A   m2: extend A1 granted
    42.000  m2  release k A1 = 1
    43.000  A   m1: release A1 granted
    43.000  A   m2: release A1 granted
    45.000  m3  extend k A1 900 = 1
    46.000  m3  release k A1 = 1
    50.000  A   m3: extend A1 granted
    51.000  A   m3: release A1 granted
    51.000  A   release: ok
