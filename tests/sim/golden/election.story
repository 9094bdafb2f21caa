# A and B campaign for k. A leads until it is cut off from all masters: by its own clock it has lost before B is elected.
# It campaigns again at once, and is elected when B has resigned, for a larger term. B looks at who leads, campaigns
# again, and withdraws before its turn comes.
masters 3
clients 2
max-ttl 500
guarded
 100  A campaign k ttl=300 renew=100
 110  B campaign k ttl=300 renew=100
 150  partition A m1
 150  partition A m2
 150  partition A m3
 410  heal A m1
 410  heal A m2
 410  heal A m3
 440  A look k
 450  B resign
 460  B campaign k ttl=300 renew=100
 470  B look k
 480  B resign
 490  A resign
 550  end
---
     8.000  A   m1 is ready
     8.000  A   m2 is ready
     8.000  A   m3 is ready
     8.000  B   m1 is ready
     8.000  B   m2 is ready
     8.000  B   m3 is ready
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
   150.000  --  partition A m1 
   150.000  --  partition A m2 
   150.000  --  partition A m3 
   185.000  B   enqueue B2 -> m1 m2 m3
   186.000  m1  enqueue k B2 300 1 1000110000 1000110000 i1 1000185000 86400000 B1 = 0 186000 1000110000 0 0 216 216 0
   186.000  m2  enqueue k B2 300 1 1000110000 1000110000 i2 1000185000 86400000 B1 = 0 186000 1000110000 0 0 216 216 0
   186.000  m3  enqueue k B2 300 1 1000110000 1000110000 i3 1000185000 86400000 B1 = 0 186000 1000110000 0 0 216 216 0
   187.000  B   m1: enqueue B2 queued
   187.000  B   m2: enqueue B2 queued
   187.000  B   m3: enqueue B2 queued
   200.000  A   extend A1 -> m1 m2 m3
   250.000  A   m1 is late
   250.000  A   m2 is late
   250.000  A   m3 is late
   260.000  B   enqueue B2 -> m1 m2 m3
   261.000  m1  enqueue k B2 300 2 1000110000 1000110000 i1 1000260000 86400000 B1 = 0 261000 1000110000 0 0 141 141 0
   261.000  m2  enqueue k B2 300 2 1000110000 1000110000 i2 1000260000 86400000 B1 = 0 261000 1000110000 0 0 141 141 0
   261.000  m3  enqueue k B2 300 2 1000110000 1000110000 i3 1000260000 86400000 B1 = 0 261000 1000110000 0 0 141 141 0
   262.000  B   m1: enqueue B2 queued
   262.000  B   m2: enqueue B2 queued
   262.000  B   m3: enqueue B2 queued
   335.000  B   enqueue B2 -> m1 m2 m3
   336.000  m1  enqueue k B2 300 3 1000110000 1000110000 i1 1000335000 86400000 B1 = 0 336000 1000110000 0 0 66 66 0
   336.000  m2  enqueue k B2 300 3 1000110000 1000110000 i2 1000335000 86400000 B1 = 0 336000 1000110000 0 0 66 66 0
   336.000  m3  enqueue k B2 300 3 1000110000 1000110000 i3 1000335000 86400000 B1 = 0 336000 1000110000 0 0 66 66 0
   337.000  B   m1: enqueue B2 queued
   337.000  B   m2: enqueue B2 queued
   337.000  B   m3: enqueue B2 queued
   395.000  A   release A1 -> m1 m2 m3
   395.000  A   has lost the lock
   395.000  A   acquire k ttl=300
   395.000  A   backs off: no quorum
   395.000  A   leads no more
   404.000  B   enqueue B2 -> m1 m2 m3
   405.000  m1  enqueue k B2 300 4 1000110000 1000110000 i1 1000404000 86400000 B1 = 1 405000 1000110000 0 0 301 -1 1000404000
   405.000  m2  enqueue k B2 300 4 1000110000 1000110000 i2 1000404000 86400000 B1 = 1 405000 1000110000 0 0 301 -1 1000404000
   405.000  m3  enqueue k B2 300 4 1000110000 1000110000 i3 1000404000 86400000 B1 = 1 405000 1000110000 0 0 301 -1 1000404000
   406.000  B   m1: enqueue B2 granted
   406.000  B   m2: enqueue B2 granted
   406.000  B   has the token 1000404000
   406.000  B   acquire: ok, valid for 293.000 ms
   406.000  B   is elected
   406.000  B   m3: enqueue B2 granted
   410.000  --  heal A m1 
   410.000  --  heal A m2 
   410.000  --  heal A m3 
   411.000  m1  extend k A1 300 = -1
   411.000  m1  release k A1 = -1
   411.000  m2  extend k A1 300 = -1
   411.000  m2  release k A1 = -1
   411.000  m3  extend k A1 300 = -1
   411.000  m3  release k A1 = -1
   412.000  A   m1: extend A1 refused, foreign
   412.000  A   m1: release A1 refused, foreign
   412.000  A   m1 is ready
   412.000  A   m2: extend A1 refused, foreign
   412.000  A   m2: release A1 refused, foreign
   412.000  A   m2 is ready
   412.000  A   m3: extend A1 refused, foreign
   412.000  A   m3: release A1 refused, foreign
   412.000  A   m3 is ready
   415.000  A   enqueue A4 -> m1 m2 m3
   416.000  m1  enqueue k A4 300 0 0 1000415000 i1 1000415000 86400000 A1 = 0 416000 1000415000 0 0 290 290 0
   416.000  m2  enqueue k A4 300 0 0 1000415000 i2 1000415000 86400000 A1 = 0 416000 1000415000 0 0 290 290 0
   416.000  m3  enqueue k A4 300 0 0 1000415000 i3 1000415000 86400000 A1 = 0 416000 1000415000 0 0 290 290 0
   417.000  A   m1: enqueue A4 queued
   417.000  A   m2: enqueue A4 queued
   417.000  A   waits behind 0 others
   417.000  A   m3: enqueue A4 queued
   440.000  A   looks at k
   441.000  m1  look k = string 265 1000404000 1 1 x 265 2 B2 x 275 1000415000 2 A4 i1
   441.000  m2  look k = string 265 1000404000 1 1 x 265 2 B2 x 275 1000415000 2 A4 i2
   441.000  m3  look k = string 265 1000404000 1 1 x 265 2 B2 x 275 1000415000 2 A4 i3
   442.000  A   sees k: exclusive
   442.000  A     x B2 on 2, counter 1000404000
   450.000  B   release
   450.000  B   release B2 -> m1 m2 m3
   451.000  m1  release k B2 = 2
   451.000  m2  release k B2 = 2
   451.000  m3  release k B2 = 2
   452.000  A   m1 calls: A4 0 granted i1 451000 1000415000
   452.000  B   m1: release B2 granted, handed off
   452.000  A   m2 calls: A4 0 granted i2 451000 1000415000
   452.000  A   has the token 1000415000
   452.000  A   acquire: ok, valid for 258.000 ms
   452.000  A   is elected
   452.000  B   m2: release B2 granted, handed off
   452.000  A   m3 calls: A4 0 granted i3 451000 1000415000
   452.000  B   m3: release B2 granted, handed off
   452.000  B   release: ok
   452.000  B   has resigned
   460.000  B   acquire k ttl=300
   460.000  B   enqueue B5 -> m1 m2 m3
   461.000  m1  enqueue k B5 300 0 0 1000460000 i1 1000460000 86400000 B1 = 0 461000 1000460000 0 0 256 256 0
   461.000  m2  enqueue k B5 300 0 0 1000460000 i2 1000460000 86400000 B1 = 0 461000 1000460000 0 0 256 256 0
   461.000  m3  enqueue k B5 300 0 0 1000460000 i3 1000460000 86400000 B1 = 0 461000 1000460000 0 0 256 256 0
   462.000  B   m1: enqueue B5 queued
   462.000  B   m2: enqueue B5 queued
   462.000  B   waits behind 0 others
   462.000  B   m3: enqueue B5 queued
   470.000  B   looks at k
   471.000  m1  look k = string 246 1000415000 1 1 x 246 2 A4 x 290 1000460000 2 B5 i1
   471.000  m2  look k = string 246 1000415000 1 1 x 246 2 A4 x 290 1000460000 2 B5 i2
   471.000  m3  look k = string 246 1000415000 1 1 x 246 2 A4 x 290 1000460000 2 B5 i3
   472.000  B   sees k: exclusive
   472.000  B     x A4 on 2, counter 1000415000
   480.000  B   cancel
   480.000  B   rollback B5 -> m1 m2 m3
   480.000  B   acquire: canceled
   480.000  B   has resigned
   481.000  m1  rollback k B5 = -1
   481.000  m2  rollback k B5 = -1
   481.000  m3  rollback k B5 = -1
   482.000  B   m1: rollback B5 refused, foreign
   482.000  B   m2: rollback B5 refused, foreign
   482.000  B   m3: rollback B5 refused, foreign
   490.000  A   release
   490.000  A   release A4 -> m1 m2 m3
   491.000  m1  release k A4 = 1
   491.000  m2  release k A4 = 1
   491.000  m3  release k A4 = 1
   492.000  A   m1: release A4 granted
   492.000  A   m2: release A4 granted
   492.000  A   m3: release A4 granted
   492.000  A   release: ok
   492.000  A   has resigned
