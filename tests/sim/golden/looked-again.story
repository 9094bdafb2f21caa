# A view that has stood is looked at again. The list of m1 and m2 is told to both, and m2 forgets it at once. A, who does
# not reach m1 and knows the first list, greets m2 by that. When its quarantine is over A holds m2 and m3. If nobody looked
# again at m2, m1 and m4 would be told the next list, and would let B in.
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
1395 reach 1 m1 m4
1395 flush m2
1400 A acquire k ttl=900 once
3600 A acquire k ttl=900 renew=600
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
   950.016  m4  run 1: begin : no marker
  1150.000  --  run 1: view 1.1 is m1 m2 m3/2
  1170.048  m2  run 1: tell 1 1e8462930fab8be9 1 00000000-: marker kept
  1172.405  m4  run 1: vote : new memory
  1172.843  m1  run 1: tell 1 1e8462930fab8be9 1 00000000-: marker kept
  1370.000  --  run 1: view 1.2 is m1 m2/2, with another one before it
  1390.015  m2  run 1: tell 1 1e8462930fab8be9 2 00000000-: marker kept
  1390.019  m1  run 1: tell 1 1e8462930fab8be9 2 00000000-: marker kept
  1390.034  m4  run 1: vote 1 1e8462930fab8be9 1 00000000-: marker kept
  1395.000  m2  is flushed
  1400.000  A   acquire k ttl=900
  1400.000  A   claim A1 -> m2 m3
  1401.000  m2  SET k A1 NX PX 900 = OK
  1401.000  m3  SET k A1 NX PX 900 = OK
  1402.000  A   m2: claim A1 granted
  1402.000  A   m2: its memory is not the one that was admitted
  1402.000  A   m2 is down
  1402.000  A   m3: claim A1 granted
  1410.517  A   m2: new memory
  1410.517  A   m2: quarantined, its memory is new: it may have forgotten locks
  1410.517  A   m2 is ready
  1450.000  A   acquire: no quorum
  1450.000  A   rollback A1 -> m2 m3
  1451.000  m2  rollback k A1 = 1
  1451.000  m3  rollback k A1 = 1
  1452.000  A   m2: rollback A1 granted
  1452.000  A   m3: rollback A1 granted
  2591.585  m4  run 1: vote 1 1e8462930fab8be9 2 00000000-: marker kept
  3600.000  A   acquire k ttl=900
  3600.000  A   claim A2 -> m2 m3
  3601.000  m2  SET k A2 NX PX 900 = OK
  3601.000  m3  SET k A2 NX PX 900 = OK
  3602.000  A   m2: claim A2 granted
  3602.000  A   m3: claim A2 granted
  3602.000  A   acquire: ok, valid for 887.000 ms
  3630.044  m4  run 1: vote 1 1e8462930fab8be9 2 00000000-: marker kept
  3850.108  m4  run 1: begin 1 1e8462930fab8be9 2 00000000-: marker kept
  3859.639  m1  run 1: begin 1 1e8462930fab8be9 2 00000000-: marker kept
  4200.000  A   extend A2 -> m2 m3
  4201.000  m2  extend k A2 900 = 1
  4201.000  m3  extend k A2 900 = 1
  4202.000  A   m2: extend A2 granted
  4202.000  A   m3: extend A2 granted
  4202.000  A   has renewed the lock
  4310.094  m4  run 1: tell 1 1e8462930fab8be9 2 00000000-: marker kept
  4311.105  m1  run 1: begin 1 1e8462930fab8be9 2 00000000-: marker kept
  4500.000  --  partition B m2 
  4500.000  --  partition B m3 
  4600.000  B   acquire k ttl=900
  4600.000  B   claim B3 -> m1 m2 m3
  4601.000  m1  SET k B3 NX PX 900 = OK
  4602.000  B   m1: claim B3 granted
  4604.000  B   m1: unknown, not judged yet
  4604.000  B   m2: unknown, not judged yet
  4604.000  B   m3: excluded, it is in the list of masters no more
  4604.000  B   goes by the list m1 m2/2
  4604.000  B   rollback B3 -> m1 m2 m3
  4605.000  m1  rollback k B3 = 1
  4606.000  B   claim B4 -> m1
  4606.000  B   m1: rollback B3 granted
  4607.000  m1  SET k B4 NX PX 900 = OK
  4608.000  B   m1: claim B4 granted
  4650.000  B   m2 is late
  4650.000  B   backs off: no quorum
  4650.000  B   rollback B4 -> m1
  4650.000  B   m3 is late
  4651.000  m1  rollback k B4 = 1
  4652.000  B   m1: rollback B4 granted
  4770.034  m4  run 1: begin 1 1e8462930fab8be9 2 00000000-: marker kept
  4774.077  m1  run 1: begin 1 1e8462930fab8be9 2 00000000-: marker kept
  4800.000  A   extend A2 -> m2 m3
  4801.000  m2  extend k A2 900 = 1
  4801.000  m3  extend k A2 900 = 1
  4802.000  A   m2: extend A2 granted
  4802.000  A   m3: extend A2 granted
  4802.000  A   has renewed the lock
  5050.000  B   backs off: no quorum
  5100.000  B   m2: silent for too long
  5100.000  B   m2: claim B3 unknown, disconnected
  5100.000  B   m2: rollback B3 unknown, disconnected
  5100.000  B   m2 is down
  5100.000  B   m3: silent for too long
  5100.000  B   m3: claim B3 unknown, disconnected
  5100.000  B   m3: rollback B3 unknown, disconnected
  5100.000  B   m3 is down
  5230.017  m1  run 1: begin 1 1e8462930fab8be9 2 00000000-: marker kept
  5230.040  m4  run 1: begin 1 1e8462930fab8be9 2 00000000-: marker kept
  5400.000  A   extend A2 -> m2 m3
  5401.000  m2  extend k A2 900 = 1
  5401.000  m3  extend k A2 900 = 1
  5402.000  A   m2: extend A2 granted
  5402.000  A   m3: extend A2 granted
  5402.000  A   has renewed the lock
  5450.000  B   backs off: no quorum
  5475.000  B   backs off: no quorum
  5487.500  B   backs off: no quorum
  5493.750  B   backs off: no quorum
  5496.875  B   backs off: no quorum
  5498.438  B   acquire: deadline
  5600.000  m2  has k = A2 for 702.000 ms
  5600.000  m3  has k = A2 for 702.000 ms
