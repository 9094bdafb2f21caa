# A view is told to the memory in which the run has begun, and to no other. The first operator wants m1 alone, the second one
# m2 alone. The first is cut off when he is about to tell m1 its list. The second one begins at both, and m1 forgets it. When
# m1 is out of quarantine, the first one's list reaches it: if m1 took that, A would have it. The second one's next run finds
# his own list on m2, which is newer, waits for nothing, and lets B have m2.
masters 3
spare 1
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
85 reach 1 m3
100 change 2
130 reach 2 m2
140 flush m1
150 break A m1
400 abandon 2
2400 reach 1 m1
2750 break A m1
2800 A acquire k ttl=900 timeout=300 delay=100
2900 abandon 1
2910 reach 2
2920 change 2
3100 break B m2
3200 B acquire k ttl=900 timeout=300 delay=100
3600 end
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
   120.032  m1  run 2: begin : marker kept
   120.115  m2  run 2: begin : marker kept
   140.000  m1  is flushed
   140.000  --  run 2: view 1.1 is m1 m2/2
   150.000  --  break A m1 
   150.000  A   m1: connection lost
   150.000  A   m1 is down
   158.517  A   m1: new memory
   158.517  A   m1: quarantined, its memory is new: it may have forgotten locks
   158.517  A   m1 is ready
   161.142  m2  run 2: tell 1 9d02242991b506ad 1 00000000-: marker kept
   400.000  --  run 2 ends: its operator's machine is gone
  2411.585  m1  run 1: tell 1 1e8462930fab8be9 2 00000000-: another memory
  2750.000  --  break A m1 
  2750.000  A   m1: connection lost
  2750.000  A   m1 is down
  2758.501  A   m1 is ready
  2800.000  A   acquire k ttl=900
  2870.044  m1  run 1: begin 1 1e8462930fab8be9 2 00000000-: marker kept
  2900.000  --  run 1 ends: its operator's machine is gone
  2920.010  m1  run 3: begin : marker kept
  2924.553  m2  run 3: begin : not taken: a view that does not lead there
  2941.031  m1  run 3: begin 1 9d02242991b506ad 1 00000000-: marker kept
  2941.105  m2  run 3: begin 1 9d02242991b506ad 1 00000000-: marker kept
  2960.000  --  run 3: view 2.1 is m1 m2/2
  2960.111  m1  run 3: tell 2 6aeed257664d44b0 1 00000000-: marker kept
  2961.855  m2  run 3: tell 2 6aeed257664d44b0 1 00000000-: marker kept
  2980.000  --  run 3: view 2.2 is m2/1, with another one before it
  2980.080  m2  run 3: tell 2 6aeed257664d44b0 2 00000000-: marker kept
  2983.623  m1  run 3: tell 2 6aeed257664d44b0 2 00000000-: marker kept
  3100.000  --  break B m2 
  3100.000  A   acquire: deadline
  3100.000  B   m2: connection lost
  3100.000  B   m2 is down
  3108.821  B   m2: a newer view
  3108.821  B   m1: excluded, it is in the list of masters no more
  3108.821  B   m2: unknown, not judged yet
  3108.821  B   goes by the list m2/1
  3110.821  B   m2 is ready
  3200.000  B   acquire k ttl=900
  3200.000  B   claim B1 -> m2
  3201.000  m2  SET k B1 NX PX 900 = OK
  3202.000  B   m2: claim B1 granted
  3202.000  B   acquire: ok, valid for 887.000 ms
  3600.000  m2  has k = B1 for 502.000 ms
