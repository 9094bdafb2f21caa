# No view is taken that does not know the stored one. The second operator, who wants m1 alone, begins at m2, which then
# forgets his turn. The first operator makes m2 alone, and A holds that. The second one goes on with the first list as he
# has seen it. If m2 took it, he would wait for nothing, make m1 alone, and B would have it, too.
masters 2
clients 2
guarded
max-ttl 1000
connect-timeout 60000
list 2 m1 m2
list 1 m2
list 1 m1

0 partition A m1
0 partition B m2
0 reach 1 m9
10 change 1
20 reach 2 m2
20 change 2
100 flush m2
110 reach 1
3355 reach 1 m2
3375 abandon 1
3380 break A m2
3400 A acquire k ttl=900 renew=500
3410 reach 2
4400 break B m1
4420 B acquire k ttl=900 timeout=150 delay=100
4650 end
---
     0.000  --  partition A m1 
     0.000  --  partition B m2 
     8.000  A   m2 is ready
     8.000  B   m1 is ready
    40.733  m2  run 2: begin : marker kept
   100.000  m2  is flushed
   490.153  m2  run 1: begin : no marker
   498.686  m1  run 1: begin : marker kept
   770.016  m2  run 1: vote : new memory
  1050.048  m2  run 1: vote : marker kept
  1332.555  m2  run 1: vote : marker kept
  1612.431  m2  run 1: vote : marker kept
  1895.756  m2  run 1: vote : marker kept
  2170.880  m2  run 1: vote : marker kept
  2450.018  m2  run 1: vote : marker kept
  2730.057  m2  run 1: vote : marker kept
  3010.010  m2  run 1: vote : marker kept
  3290.022  m2  run 1: begin : marker kept
  3310.000  --  run 1: view 1.1 is m1 m2/2
  3330.075  m2  run 1: tell 1 1e8462930fab8be9 1 00000000-: marker kept
  3333.423  m1  run 1: tell 1 1e8462930fab8be9 1 00000000-: marker kept
  3350.000  --  run 1: view 1.2 is m2/1, with another one before it
  3370.033  m2  run 1: tell 1 1e8462930fab8be9 2 00000000-: marker kept
  3375.000  --  run 1 ends: its operator's machine is gone
  3380.000  --  break A m2 
  3380.000  A   m2: connection lost
  3380.000  A   m2 is down
  3388.517  A   m2: a newer view
  3388.517  A   m1: excluded, it is in the list of masters no more
  3388.517  A   m2: unknown, not judged yet
  3388.517  A   goes by the list m2/1
  3390.517  A   m2 is ready
  3400.000  A   acquire k ttl=900
  3400.000  A   claim A1 -> m2
  3401.000  m2  SET k A1 NX PX 900 = OK
  3402.000  A   m2: claim A1 granted
  3402.000  A   acquire: ok, valid for 887.000 ms
  3723.057  m1  run 2: begin : marker kept
  3740.000  --  run 2: view 1.1 is m1 m2/2
  3760.027  m2  run 2: tell 1 b1c123b5a6102f5b 1 00000000-: not taken: a view that does not lead there
  3763.771  m1  run 2: tell 1 b1c123b5a6102f5b 1 00000000-: marker kept
  3780.000  --  run 2 ends: another change of the masters has taken over: so many follow it that no quorum is left
  3900.000  A   extend A1 -> m2
  3901.000  m2  extend k A1 900 = 1
  3902.000  A   m2: extend A1 granted
  3902.000  A   has renewed the lock
  4400.000  --  break B m1 
  4400.000  A   extend A1 -> m2
  4400.000  B   m1: connection lost
  4400.000  B   m1 is down
  4401.000  m2  extend k A1 900 = 1
  4402.000  A   m2: extend A1 granted
  4402.000  A   has renewed the lock
  4408.501  B   m1: a newer view
  4410.501  B   m1 is ready
  4420.000  B   acquire k ttl=900
  4570.000  B   acquire: deadline
  4650.000  m2  has k = A1 for 652.000 ms
