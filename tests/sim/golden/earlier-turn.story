# No view of a run is taken where a later turn has begun. The first operator wants m1 alone, the second one m2 alone. The
# first is about to tell m1 its list when the second one's turn begins at both, which have the first list. He tells m2 that
# again, and is gone; m1, if it took its list, would be A's. The second operator's next run takes what m2 has for the
# newest, waits for nothing, and makes m2 alone: B.
masters 2
clients 2
guarded
max-ttl 1000
connect-timeout 60000
list 2 m1 m2
list 1 m1
list 1 m2

0 partition A m2
0 partition B m1
10 change 1
75 change 2
105 reach 1 m1
125 reach 2 m2
125 abandon 1
126 break A m1
140 A acquire k ttl=900 timeout=150 delay=40
300 abandon 2
310 reach 2
320 change 2
400 break B m2
500 B acquire k ttl=900 timeout=300 delay=100
750 end
---
     0.000  --  partition A m2 
     0.000  --  partition B m1 
     8.000  A   m1 is ready
     8.000  B   m2 is ready
    33.505  m1  run 1: begin : marker kept
    34.996  m2  run 1: begin : marker kept
    50.000  --  run 1: view 1.1 is m1 m2/2
    70.110  m1  run 1: tell 1 1e8462930fab8be9 1 00000000-: marker kept
    71.003  m2  run 1: tell 1 1e8462930fab8be9 1 00000000-: marker kept
    90.000  --  run 1: view 1.2 is m1/1, with another one before it
    95.016  m2  run 2: begin : marker kept
    97.264  m1  run 2: begin : marker kept
   110.079  m1  run 1: tell 1 1e8462930fab8be9 2 00000000-: not taken: a view that does not lead there
   115.000  --  run 2: view 1.1 is m1 m2/2
   125.000  --  run 1 ends: its operator's machine is gone
   126.000  --  break A m1 
   126.000  A   m1: connection lost
   126.000  A   m1 is down
   134.517  A   m1: a newer view
   135.012  m2  run 2: tell 1 866f02ea1edcdf17 1 00000000-: marker kept
   136.517  A   m1 is ready
   140.000  A   acquire k ttl=900
   290.000  A   acquire: deadline
   300.000  --  run 2 ends: its operator's machine is gone
   335.014  m2  run 3: begin : marker kept
   335.264  m1  run 3: begin : marker kept
   355.000  --  run 3: view 1.1 is m1 m2/2
   360.062  m1  run 3: tell 1 c43325fdba4d55a5 1 00000000-: marker kept
   360.255  m2  run 3: tell 1 c43325fdba4d55a5 1 00000000-: marker kept
   375.000  --  run 3: view 1.2 is m2/1, with another one before it
   381.585  m1  run 3: tell 1 c43325fdba4d55a5 2 00000000-: marker kept
   384.121  m2  run 3: tell 1 c43325fdba4d55a5 2 00000000-: marker kept
   400.000  --  break B m2 
   400.000  B   m2: connection lost
   400.000  B   m2 is down
   408.501  B   m2: a newer view
   408.501  B   m1: excluded, it is in the list of masters no more
   408.501  B   m2: unknown, not judged yet
   408.501  B   goes by the list m2/1
   410.501  B   m2 is ready
   500.000  B   acquire k ttl=900
   500.000  B   claim B1 -> m2
   501.000  m2  SET k B1 NX PX 900 = OK
   502.000  B   m2: claim B1 granted
   502.000  B   acquire: ok, valid for 887.000 ms
   750.000  m2  has k = B1 for 652.000 ms
