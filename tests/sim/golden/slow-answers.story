# Answers take longer than the interval at which A renews its lock. A round of renewal goes on until its answers are
# there, and A keeps k for as long as it wants.
masters 3
clients 1
max-ttl 10000
node-timeout 500
connect-timeout 1000
stall-timeout 2000
calm
delay A m1 75 75
delay A m2 75 75
delay A m3 75 75
1000  A acquire k ttl=1000 renew=100
2200  A release
2400  end
---
   300.000  A   m1 is ready
   300.000  A   m2 is ready
   300.000  A   m3 is ready
  1000.000  A   acquire k ttl=1000
  1000.000  A   claim A1 -> m1 m2 m3
  1075.000  m1  SET k A1 NX PX 1000 = OK
  1075.000  m2  SET k A1 NX PX 1000 = OK
  1075.000  m3  SET k A1 NX PX 1000 = OK
  1150.000  A   m1: claim A1 granted
  1150.000  A   m2: claim A1 granted
  1150.000  A   acquire: ok, valid for 838.000 ms
  1150.000  A   m3: claim A1 granted
  1150.000  A   extend A1 -> m1 m2 m3
  1225.000  m1  extend k A1 1000 = 1
  1225.000  m2  extend k A1 1000 = 1
  1225.000  m3  extend k A1 1000 = 1
  1300.000  A   m1: extend A1 granted
  1300.000  A   m2: extend A1 granted
  1300.000  A   has renewed the lock
  1300.000  A   m3: extend A1 granted
  1300.000  A   extend A1 -> m1 m2 m3
  1375.000  m1  extend k A1 1000 = 1
  1375.000  m2  extend k A1 1000 = 1
  1375.000  m3  extend k A1 1000 = 1
  1450.000  A   m1: extend A1 granted
  1450.000  A   m2: extend A1 granted
  1450.000  A   has renewed the lock
  1450.000  A   m3: extend A1 granted
  1450.000  A   extend A1 -> m1 m2 m3
  1525.000  m1  extend k A1 1000 = 1
  1525.000  m2  extend k A1 1000 = 1
  1525.000  m3  extend k A1 1000 = 1
  1600.000  A   m1: extend A1 granted
  1600.000  A   m2: extend A1 granted
  1600.000  A   has renewed the lock
  1600.000  A   m3: extend A1 granted
  1600.000  A   extend A1 -> m1 m2 m3
  1675.000  m1  extend k A1 1000 = 1
  1675.000  m2  extend k A1 1000 = 1
  1675.000  m3  extend k A1 1000 = 1
  1750.000  A   m1: extend A1 granted
  1750.000  A   m2: extend A1 granted
  1750.000  A   has renewed the lock
  1750.000  A   m3: extend A1 granted
  1750.000  A   extend A1 -> m1 m2 m3
  1825.000  m1  extend k A1 1000 = 1
  1825.000  m2  extend k A1 1000 = 1
  1825.000  m3  extend k A1 1000 = 1
  1900.000  A   m1: extend A1 granted
  1900.000  A   m2: extend A1 granted
  1900.000  A   has renewed the lock
  1900.000  A   m3: extend A1 granted
  1900.000  A   extend A1 -> m1 m2 m3
  1975.000  m1  extend k A1 1000 = 1
  1975.000  m2  extend k A1 1000 = 1
  1975.000  m3  extend k A1 1000 = 1
  2050.000  A   m1: extend A1 granted
  2050.000  A   m2: extend A1 granted
  2050.000  A   has renewed the lock
  2050.000  A   m3: extend A1 granted
  2050.000  A   extend A1 -> m1 m2 m3
  2125.000  m1  extend k A1 1000 = 1
  2125.000  m2  extend k A1 1000 = 1
  2125.000  m3  extend k A1 1000 = 1
  2200.000  A   release
  2200.000  A   release A1 -> m1 m2 m3
  2200.000  A   m1: extend A1 granted
  2200.000  A   m2: extend A1 granted
  2200.000  A   m3: extend A1 granted
  2275.000  m1  release k A1 = 1
  2275.000  m2  release k A1 = 1
  2275.000  m3  release k A1 = 1
  2350.000  A   m1: release A1 granted
  2350.000  A   m2: release A1 granted
  2350.000  A   m3: release A1 granted
  2350.000  A   release: ok
