# A process is stopped while its client shuts down, and runs again when the time for that is up. The answers have come
# meanwhile: they are read before the clock decides, and the shutdown ends well.
masters 3
clients 1
delay A m1 1 40
delay A m2 1 40
delay A m3 1 40
node-timeout 200
connect-timeout 300
 90   A acquire k ttl=1000
 300  A shutdown timeout=30
 301  pause A 100
 410  end
---
    82.000  A   m1 is ready
    82.000  A   m2 is ready
    82.000  A   m3 is ready
    90.000  A   acquire k ttl=1000
    90.000  A   claim A1 -> m1 m2 m3
    91.000  m1  SET k A1 NX PX 1000 = OK
    91.000  m2  SET k A1 NX PX 1000 = OK
    91.000  m3  SET k A1 NX PX 1000 = OK
   131.000  A   m1: claim A1 granted
   131.000  A   m2: claim A1 granted
   131.000  A   acquire: ok, valid for 947.000 ms
   131.000  A   m3: claim A1 granted
   300.000  A   shuts down, for 30.000 ms at most
   300.000  A   release
   300.000  A   release A1 -> m1 m2 m3
   301.000  A   is paused
   301.000  m1  release k A1 = 1
   301.000  m2  release k A1 = 1
   301.000  m3  release k A1 = 1
   401.000  A   m1: release A1 granted
   401.000  A   m2: release A1 granted
   401.000  A   m3: release A1 granted
   401.000  A   release: ok
   401.000  A   has shut down: confirmed
