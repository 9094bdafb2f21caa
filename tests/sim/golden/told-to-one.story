# A view stands when a quorum of its own list stores it, and not before. The operator replaces m3 by m4, over the list of
# m1 and m2. Only m1 is told that: m2 is cut off from him. A, who does not reach m1, goes on with m2 and m3 for ever. If
# that list counted as standing, m1 and m4 would be told the next one, and would let B in.
masters 4
clients 2
guarded
max-ttl 1000
connect-timeout 60000
list 2 m1 m2 m3
list 2 m1 m2 m4

0 reach 1 m1 m2 m4
0 partition A m1
10 change 1
500 A acquire k ttl=900 renew=600
1375 reach 1 m1 m4
4500 partition B m2
4500 partition B m3
4600 B acquire k ttl=900 timeout=900 delay=400
5600 end
---
     0.000  --  partition A m1 
     8.000  A   m2 is ready
     8.000  A   m3 is ready
     8.000  B   m1 is ready
     8.000  B   m2 is ready
     8.000  B   m3 is ready
    30.519  m4  run 1: begin : no marker
    34.142  m1  run 1: begin : marker kept
    37.837  m2  run 1: begin : marker kept
   490.670  m4  run 1: begin : no marker
   500.000  A   acquire k ttl=900
   500.000  A   claim A1 -> m2 m3
   501.000  m2  SET k A1 NX PX 900 = OK
   501.000  m3  SET k A1 NX PX 900 = OK
   502.000  A   m2: claim A1 granted
   502.000  A   m3: claim A1 granted
   502.000  A   acquire: ok, valid for 887.000 ms
   950.016  m4  run 1: begin : no marker
  1100.000  A   extend A1 -> m2 m3
  1101.000  m2  extend k A1 900 = 1
  1101.000  m3  extend k A1 900 = 1
  1102.000  A   m2: extend A1 granted
  1102.000  A   m3: extend A1 granted
  1102.000  A   has renewed the lock
  1150.000  --  run 1: view 1.1 is m1 m2 m3/2
  1170.048  m2  run 1: tell 1 1e8462930fab8be9 1 00000000-: marker kept
  1172.405  m4  run 1: vote : new memory
  1172.843  m1  run 1: tell 1 1e8462930fab8be9 1 00000000-: marker kept
  1370.000  --  run 1: view 1.2 is m1 m2/2, with another one before it
  1390.019  m1  run 1: tell 1 1e8462930fab8be9 2 00000000-: marker kept
  1390.034  m4  run 1: vote 1 1e8462930fab8be9 1 00000000-: marker kept
  1700.000  A   extend A1 -> m2 m3
  1701.000  m2  extend k A1 900 = 1
  1701.000  m3  extend k A1 900 = 1
  1702.000  A   m2: extend A1 granted
  1702.000  A   m3: extend A1 granted
  1702.000  A   has renewed the lock
  1850.091  m4  run 1: vote 1 1e8462930fab8be9 2 00000000-: marker kept
  2300.000  A   extend A1 -> m2 m3
  2301.000  m2  extend k A1 900 = 1
  2301.000  m3  extend k A1 900 = 1
  2302.000  A   m2: extend A1 granted
  2302.000  A   m3: extend A1 granted
  2302.000  A   has renewed the lock
  2310.295  m4  run 1: vote 1 1e8462930fab8be9 2 00000000-: marker kept
  2778.139  m4  run 1: vote 1 1e8462930fab8be9 2 00000000-: marker kept
  2900.000  A   extend A1 -> m2 m3
  2901.000  m2  extend k A1 900 = 1
  2901.000  m3  extend k A1 900 = 1
  2902.000  A   m2: extend A1 granted
  2902.000  A   m3: extend A1 granted
  2902.000  A   has renewed the lock
  3233.423  m4  run 1: vote 1 1e8462930fab8be9 2 00000000-: marker kept
  3500.000  A   extend A1 -> m2 m3
  3501.000  m2  extend k A1 900 = 1
  3501.000  m3  extend k A1 900 = 1
  3502.000  A   m2: extend A1 granted
  3502.000  A   m3: extend A1 granted
  3502.000  A   has renewed the lock
  3690.780  m4  run 1: begin 1 1e8462930fab8be9 2 00000000-: marker kept
  4100.000  A   extend A1 -> m2 m3
  4101.000  m2  extend k A1 900 = 1
  4101.000  m3  extend k A1 900 = 1
  4102.000  A   m2: extend A1 granted
  4102.000  A   m3: extend A1 granted
  4102.000  A   has renewed the lock
  4150.026  m4  run 1: tell 1 1e8462930fab8be9 2 00000000-: marker kept
  4500.000  --  partition B m2 
  4500.000  --  partition B m3 
  4600.000  B   acquire k ttl=900
  4600.000  B   claim B2 -> m1 m2 m3
  4601.000  m1  SET k B2 NX PX 900 = OK
  4602.000  B   m1: claim B2 granted
  4604.000  B   m1: unknown, not judged yet
  4604.000  B   m2: unknown, not judged yet
  4604.000  B   m3: excluded, it is in the list of masters no more
  4604.000  B   goes by the list m1 m2/2
  4604.000  B   rollback B2 -> m1 m2 m3
  4605.000  m1  rollback k B2 = 1
  4606.000  B   claim B3 -> m1
  4606.000  B   m1: rollback B2 granted
  4607.000  m1  SET k B3 NX PX 900 = OK
  4608.000  B   m1: claim B3 granted
  4650.000  B   m2 is late
  4650.000  B   backs off: no quorum
  4650.000  B   rollback B3 -> m1
  4650.000  B   m3 is late
  4651.000  m1  rollback k B3 = 1
  4652.000  B   m1: rollback B3 granted
  4700.000  A   extend A1 -> m2 m3
  4701.000  m2  extend k A1 900 = 1
  4701.000  m3  extend k A1 900 = 1
  4702.000  A   m2: extend A1 granted
  4702.000  A   m3: extend A1 granted
  4702.000  A   has renewed the lock
  5050.000  B   backs off: no quorum
  5100.000  B   m2: silent for too long
  5100.000  B   m2: claim B2 unknown, disconnected
  5100.000  B   m2: rollback B2 unknown, disconnected
  5100.000  B   m2 is down
  5100.000  B   m3: silent for too long
  5100.000  B   m3: claim B2 unknown, disconnected
  5100.000  B   m3: rollback B2 unknown, disconnected
  5100.000  B   m3 is down
  5300.000  A   extend A1 -> m2 m3
  5301.000  m2  extend k A1 900 = 1
  5301.000  m3  extend k A1 900 = 1
  5302.000  A   m2: extend A1 granted
  5302.000  A   m3: extend A1 granted
  5302.000  A   has renewed the lock
  5450.000  B   backs off: no quorum
  5475.000  B   backs off: no quorum
  5487.500  B   backs off: no quorum
  5493.750  B   backs off: no quorum
  5496.875  B   backs off: no quorum
  5498.438  B   acquire: deadline
  5600.000  m2  has k = A1 for 602.000 ms
  5600.000  m3  has k = A1 for 602.000 ms
