# C observes who leads k, and looks by itself every ten seconds. A and B campaign: each says that it has been elected, and
# C looks. Then C is cut off from all masters while A is elected again. What A says arrives late, and C cannot look: it
# looks when its masters are there again.
masters 3
clients 3
max-ttl 500
guarded
  50  C observe k interval=10000
 100  A campaign k ttl=300 renew=100
 110  B campaign k ttl=300 renew=100
 150  A resign
 180  break C m1
 180  break C m2
 180  break C m3
 181  partition C m1
 181  partition C m2
 181  partition C m3
 190  A campaign k ttl=300 renew=100
 200  B resign
 230  heal C m1
 230  heal C m2
 230  heal C m3
 480  end
---
     8.000  A   m1 is ready
     8.000  A   m2 is ready
     8.000  A   m3 is ready
     8.000  B   m1 is ready
     8.000  B   m2 is ready
     8.000  B   m3 is ready
     8.000  C   m1 is ready
     8.000  C   m2 is ready
     8.000  C   m3 is ready
    50.000  C   observes k
    54.000  C   m1 is heard
    54.000  C   m2 is heard
    54.000  C   m3 is heard
   100.000  A   acquire k ttl=300
   100.000  A   enqueue A1 -> m1 m2 m3
   101.000  m1  enqueue k A1 300 0 0 1000100000 i1 1000100000 86400000 A1 = 1 101000 1000100000 0 0 301 -1 1000100000
   101.000  m2  enqueue k A1 300 0 0 1000100000 i2 1000100000 86400000 A1 = 1 101000 1000100000 0 0 301 -1 1000100000
   101.000  m3  enqueue k A1 300 0 0 1000100000 i3 1000100000 86400000 A1 = 1 101000 1000100000 0 0 301 -1 1000100000
   102.000  A   m1: enqueue A1 granted
   102.000  A   m2: enqueue A1 granted
   102.000  A   has the token 1000100000
   102.000  A   acquire: ok, valid for 293.000 ms
   102.000  A   is elected
   102.000  A   m3: enqueue A1 granted
   104.000  A   m1 is heard
   104.000  A   m2 is heard
   104.000  A   m3 is heard
   104.000  C   m1 calls: 1000100000
   104.000  C   m2 calls: 1000100000
   104.000  C   m3 calls: 1000100000
   106.000  C   knows the leader of k: term 1000100000
   110.000  B   acquire k ttl=300
   110.000  B   enqueue B2 -> m1 m2 m3
   111.000  m1  enqueue k B2 300 0 0 1000110000 i1 1000110000 86400000 B1 = 0 111000 1000110000 0 0 291 291 0
   111.000  m2  enqueue k B2 300 0 0 1000110000 i2 1000110000 86400000 B1 = 0 111000 1000110000 0 0 291 291 0
   111.000  m3  enqueue k B2 300 0 0 1000110000 i3 1000110000 86400000 B1 = 0 111000 1000110000 0 0 291 291 0
   112.000  B   m1: enqueue B2 queued
   112.000  B   m2: enqueue B2 queued
   112.000  B   waits behind 0 others
   112.000  B   m3: enqueue B2 queued
   114.000  B   m1 is heard
   114.000  B   enqueue B2 -> m1
   114.000  B   m2 is heard
   114.000  B   enqueue B2 -> m2
   114.000  B   m3 is heard
   114.000  B   enqueue B2 -> m3
   115.000  m1  enqueue k B2 300 0 1000110000 1000110000 i1 1000114000 86400000 B1 = 0 115000 1000110000 0 0 287 287 0
   115.000  m2  enqueue k B2 300 0 1000110000 1000110000 i2 1000114000 86400000 B1 = 0 115000 1000110000 0 0 287 287 0
   115.000  m3  enqueue k B2 300 0 1000110000 1000110000 i3 1000114000 86400000 B1 = 0 115000 1000110000 0 0 287 287 0
   116.000  B   m1: enqueue B2 queued
   116.000  B   m2: enqueue B2 queued
   116.000  B   m3: enqueue B2 queued
   150.000  A   release
   150.000  A   release A1 -> m1 m2 m3
   151.000  m1  release k A1 = 2
   151.000  m2  release k A1 = 2
   151.000  m3  release k A1 = 2
   152.000  B   m1 calls: B2 0 granted i1 151000 1000114000
   152.000  A   m1: release A1 granted, handed off
   152.000  B   m2 calls: B2 0 granted i2 151000 1000114000
   152.000  B   has the token 1000114000
   152.000  B   acquire: ok, valid for 253.000 ms
   152.000  B   is elected
   152.000  A   m2: release A1 granted, handed off
   152.000  B   m3 calls: B2 0 granted i3 151000 1000114000
   152.000  A   m3: release A1 granted, handed off
   152.000  A   release: ok
   152.000  A   has resigned
   154.000  C   m1 calls: 1000114000
   154.000  C   m2 calls: 1000114000
   154.000  C   m3 calls: 1000114000
   156.000  C   knows the leader of k: term 1000114000
   180.000  --  break C m1 
   180.000  --  break C m2 
   180.000  --  break C m3 
   180.000  C   m1: connection lost
   180.000  C   m1 is down
   180.000  C   m2: connection lost
   180.000  C   m2 is down
   180.000  C   m3: connection lost
   180.000  C   m3 is down
   181.000  --  partition C m1 
   181.000  --  partition C m2 
   181.000  --  partition C m3 
   190.000  A   acquire k ttl=300
   190.000  A   enqueue A3 -> m1 m2 m3
   191.000  m1  enqueue k A3 300 0 0 1000190000 i1 1000190000 86400000 A1 = 0 191000 1000190000 0 0 225 225 0
   191.000  m2  enqueue k A3 300 0 0 1000190000 i2 1000190000 86400000 A1 = 0 191000 1000190000 0 0 225 225 0
   191.000  m3  enqueue k A3 300 0 0 1000190000 i3 1000190000 86400000 A1 = 0 191000 1000190000 0 0 225 225 0
   192.000  A   m1: enqueue A3 queued
   192.000  A   m2: enqueue A3 queued
   192.000  A   waits behind 0 others
   192.000  A   m3: enqueue A3 queued
   200.000  B   release
   200.000  B   release B2 -> m1 m2 m3
   201.000  m1  release k B2 = 2
   201.000  m2  release k B2 = 2
   201.000  m3  release k B2 = 2
   202.000  A   m1 calls: A3 0 granted i1 201000 1000190000
   202.000  B   m1: release B2 granted, handed off
   202.000  A   m2 calls: A3 0 granted i2 201000 1000190000
   202.000  A   has the token 1000190000
   202.000  A   acquire: ok, valid for 283.000 ms
   202.000  A   is elected
   202.000  B   m2: release B2 granted, handed off
   202.000  A   m3 calls: A3 0 granted i3 201000 1000190000
   202.000  B   m3: release B2 granted, handed off
   202.000  B   release: ok
   202.000  B   has resigned
   230.000  --  heal C m1 
   230.000  --  heal C m2 
   230.000  --  heal C m3 
   231.000  C   m1 calls: 1000190000
   231.000  C   m2 calls: 1000190000
   231.000  C   m3 calls: 1000190000
   231.000  C   knows the leader of k: term 0
   280.501  C   m1: no connection in time
   280.821  C   m2: no connection in time
   280.971  C   m3: no connection in time
   289.049  C   m2 is ready
   290.000  A   extend A3 -> m1 m2 m3
   290.088  C   m1 is ready
   290.408  C   m3 is ready
   291.000  m1  extend k A3 300 = 1
   291.000  m2  extend k A3 300 = 1
   291.000  m3  extend k A3 300 = 1
   292.000  A   m1: extend A3 granted
   292.000  A   m2: extend A3 granted
   292.000  A   has renewed the lock
   292.000  A   m3: extend A3 granted
   301.049  C   knows the leader of k: term 1000190000
   390.000  A   extend A3 -> m1 m2 m3
   391.000  m1  extend k A3 300 = 1
   391.000  m2  extend k A3 300 = 1
   391.000  m3  extend k A3 300 = 1
   392.000  A   m1: extend A3 granted
   392.000  A   m2: extend A3 granted
   392.000  A   has renewed the lock
   392.000  A   m3: extend A3 granted
   480.000  m1  has k = A3 for 212.000 ms
   480.000  m2  has k = A3 for 212.000 ms
   480.000  m3  has k = A3 for 212.000 ms
