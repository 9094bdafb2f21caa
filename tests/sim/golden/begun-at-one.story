# A run goes on from what a quorum says. The first operator wants m1 alone, the second one m2 alone. The second one's list is
# told to m2, whose lock A has then, and not to m1. The first operator reaches m1 only, and waits. If he told m1 the first
# list again, it would be the newest: his next run would wait for nothing, and let B have m1.
masters 2
clients 2
guarded
max-ttl 4000
connect-timeout 60000
list 2 m1 m2
list 1 m1
list 1 m2

0 partition A m1
0 partition B m2
10 change 2
85 reach 2 m2
200 abandon 2
300 break A m2
400 A acquire k ttl=3900
500 reach 1 m1
510 change 1
2500 abandon 1
2510 reach 1
2520 change 1
2700 break B m1
2800 B acquire k ttl=900 timeout=600 delay=100
3500 end
---
     0.000  --  partition A m1 
     0.000  --  partition B m2 
     8.000  A   m2 is ready
     8.000  B   m1 is ready
    33.505  m1  run 1: begin : marker kept
    34.996  m2  run 1: begin : marker kept
    50.000  --  run 1: view 1.1 is m1 m2/2
    70.110  m1  run 1: tell 1 1e8462930fab8be9 1 00000000-: marker kept
    71.003  m2  run 1: tell 1 1e8462930fab8be9 1 00000000-: marker kept
    90.000  --  run 1: view 1.2 is m2/1, with another one before it
   112.264  m2  run 1: tell 1 1e8462930fab8be9 2 00000000-: marker kept
   200.000  --  run 1 ends: its operator's machine is gone
   300.000  --  break A m2 
   300.000  A   m2: connection lost
   300.000  A   m2 is down
   308.517  A   m2: a newer view
   308.517  A   m1: excluded, it is in the list of masters no more
   308.517  A   m2: unknown, not judged yet
   308.517  A   goes by the list m2/1
   310.517  A   m2 is ready
   400.000  A   acquire k ttl=3900
   400.000  A   claim A1 -> m2
   401.000  m2  SET k A1 NX PX 3900 = OK
   402.000  A   m2: claim A1 granted
   402.000  A   acquire: ok, valid for 3857.000 ms
   530.613  m1  run 2: begin : not taken: a view that does not lead there
   756.198  m1  run 2: begin 1 1e8462930fab8be9 1 00000000-: marker kept
  2500.000  --  run 2 ends: its operator's machine is gone
  2530.062  m2  run 3: begin : marker kept
  2533.520  m1  run 3: begin : not taken: a view that does not lead there
  2550.011  m1  run 3: begin 1 1e8462930fab8be9 2 00000000-: marker kept
  2550.012  m2  run 3: begin 1 1e8462930fab8be9 2 00000000-: marker kept
  2560.000  --  run 3: view 3.1 is m2/1, with another one before it
  2570.014  m1  run 3: tell 3 24158ce5c931c212 1 00000000-: marker kept
  2570.044  m2  run 3: tell 3 24158ce5c931c212 1 00000000-: marker kept
  2700.000  --  break B m1 
  2700.000  B   m1: connection lost
  2700.000  B   m1 is down
  2708.501  B   m1: a newer view
  2708.501  B   m1: excluded, it is in the list of masters no more
  2708.501  B   goes by the list m2/1
  2710.501  B   m1 is ready
  2800.000  B   acquire k ttl=900
  3400.000  B   acquire: deadline
  3500.000  m2  has k = A1 for 802.000 ms
