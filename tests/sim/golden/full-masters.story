# Rules 4.1, 5.6 and 5.7: an extension needs no memory, so a held lock outlives the restart of every master, also where
# all of them are full. They are durable: each notes in its marker that it has been restarted, with a write that a full
# master would refuse by itself.
masters 3
clients 1
guarded
calm
durability m1 always
durability m2 always
durability m3 always
node-timeout 50
connect-timeout 50
backoff 20 40
  20  A acquire k ttl=600 renew=150
 100  refuse m1 memory
 100  refuse m2 memory
 100  refuse m3 memory
 110  crash m1 kept
 120  restart m1
 250  crash m2 kept
 260  restart m2
 400  crash m3 kept
 410  restart m3
1300  end
---
     8.000  A   m1 is ready
     8.000  A   m2 is ready
     8.000  A   m3 is ready
    20.000  A   acquire k ttl=600
    20.000  A   claim A1 -> m1 m2 m3
    21.000  m1  SET k A1 NX PX 600 = OK
    21.000  m2  SET k A1 NX PX 600 = OK
    21.000  m3  SET k A1 NX PX 600 = OK
    22.000  A   m1: claim A1 granted
    22.000  A   m2: claim A1 granted
    22.000  A   acquire: ok, valid for 590.000 ms
    22.000  A   m3: claim A1 granted
   110.000  m1  crashes
   111.000  A   m1: connection lost
   111.000  A   m1 is down
   115.386  A   m1: connection refused
   120.000  m1  restarts with its keys
   148.739  A   m1: resumed
   148.739  A   m1 is ready
   170.000  A   extend A1 -> m1 m2 m3
   171.000  m1  extend k A1 600 = 1
   171.000  m2  extend k A1 600 = 1
   171.000  m3  extend k A1 600 = 1
   172.000  A   m1: extend A1 granted
   172.000  A   m2: extend A1 granted
   172.000  A   has renewed the lock
   172.000  A   m3: extend A1 granted
   250.000  m2  crashes
   251.000  A   m2: connection lost
   251.000  A   m2 is down
   260.000  m2  restarts with its keys
   275.503  A   m2: resumed
   275.503  A   m2 is ready
   320.000  A   extend A1 -> m1 m2 m3
   321.000  m1  extend k A1 600 = 1
   321.000  m2  extend k A1 600 = 1
   321.000  m3  extend k A1 600 = 1
   322.000  A   m1: extend A1 granted
   322.000  A   m2: extend A1 granted
   322.000  A   has renewed the lock
   322.000  A   m3: extend A1 granted
   400.000  m3  crashes
   401.000  A   m3: connection lost
   401.000  A   m3 is down
   406.310  A   m3: connection refused
   410.000  m3  restarts with its keys
   450.097  A   m3: resumed
   450.097  A   m3 is ready
   470.000  A   extend A1 -> m1 m2 m3
   471.000  m1  extend k A1 600 = 1
   471.000  m2  extend k A1 600 = 1
   471.000  m3  extend k A1 600 = 1
   472.000  A   m1: extend A1 granted
   472.000  A   m2: extend A1 granted
   472.000  A   has renewed the lock
   472.000  A   m3: extend A1 granted
   620.000  A   extend A1 -> m1 m2 m3
   621.000  m1  extend k A1 600 = 1
   621.000  m2  extend k A1 600 = 1
   621.000  m3  extend k A1 600 = 1
   622.000  A   m1: extend A1 granted
   622.000  A   m2: extend A1 granted
   622.000  A   has renewed the lock
   622.000  A   m3: extend A1 granted
   770.000  A   extend A1 -> m1 m2 m3
   771.000  m1  extend k A1 600 = 1
   771.000  m2  extend k A1 600 = 1
   771.000  m3  extend k A1 600 = 1
   772.000  A   m1: extend A1 granted
   772.000  A   m2: extend A1 granted
   772.000  A   has renewed the lock
   772.000  A   m3: extend A1 granted
   920.000  A   extend A1 -> m1 m2 m3
   921.000  m1  extend k A1 600 = 1
   921.000  m2  extend k A1 600 = 1
   921.000  m3  extend k A1 600 = 1
   922.000  A   m1: extend A1 granted
   922.000  A   m2: extend A1 granted
   922.000  A   has renewed the lock
   922.000  A   m3: extend A1 granted
  1070.000  A   extend A1 -> m1 m2 m3
  1071.000  m1  extend k A1 600 = 1
  1071.000  m2  extend k A1 600 = 1
  1071.000  m3  extend k A1 600 = 1
  1072.000  A   m1: extend A1 granted
  1072.000  A   m2: extend A1 granted
  1072.000  A   has renewed the lock
  1072.000  A   m3: extend A1 granted
  1220.000  A   extend A1 -> m1 m2 m3
  1221.000  m1  extend k A1 600 = 1
  1221.000  m2  extend k A1 600 = 1
  1221.000  m3  extend k A1 600 = 1
  1222.000  A   m1: extend A1 granted
  1222.000  A   m2: extend A1 granted
  1222.000  A   has renewed the lock
  1222.000  A   m3: extend A1 granted
  1300.000  m1  has k = A1 for 522.000 ms
  1300.000  m2  has k = A1 for 522.000 ms
  1300.000  m3  has k = A1 for 522.000 ms
