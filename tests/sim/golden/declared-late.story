# No master is declared new that a view has named. m4 is declared new and takes the place of m3. A, who does not reach m2,
# holds m1 and m4, which forgets it. The operator's next run declares nothing new: if it did, m4 would vote at once, and B,
# who does not reach m1, would have m2 and m4.
masters 4
clients 2
guarded
max-ttl 1000
connect-timeout 60000
list 2 m1 m2 m3
list 2 m1 m2 m4
declares-new

0 partition A m2
0 partition B m1
10 change 1
6500 A acquire k ttl=900
6600 flush m4
6610 change 1
6700 B acquire k ttl=900 timeout=600 delay=100
7350 end
---
     0.000  --  partition A m2 
     0.000  --  partition B m1 
     8.000  A   m1 is ready
     8.000  A   m3 is ready
     8.000  B   m2 is ready
     8.000  B   m3 is ready
    33.505  m4  run 0: declare : declared
    50.011  m4  run 1: begin : marker kept
    50.012  m3  run 1: begin : marker kept
    50.239  m2  run 1: begin : marker kept
    55.083  m1  run 1: begin : marker kept
    70.000  --  run 1: view 1.1 is m1 m2 m3/2
    90.016  m2  run 1: tell 1 1e8462930fab8be9 1 00000000-: marker kept
    90.016  m1  run 1: tell 1 1e8462930fab8be9 1 00000000-: marker kept
    90.079  m4  run 1: tell 1 1e8462930fab8be9 1 00000000-: marker kept
    91.038  m3  run 1: tell 1 1e8462930fab8be9 1 00000000-: marker kept
   110.000  --  run 1: view 1.2 is m1 m2 m3 m4/3, with another one before it
   130.014  m3  run 1: tell 1 1e8462930fab8be9 2 00000000-: marker kept
   130.023  m1  run 1: tell 1 1e8462930fab8be9 2 00000000-: marker kept
   130.030  m4  run 1: tell 1 1e8462930fab8be9 2 00000000-: marker kept
   130.264  m2  run 1: tell 1 1e8462930fab8be9 2 00000000-: marker kept
  2230.084  m4  run 1: begin 1 1e8462930fab8be9 2 00000000-: marker kept
  2230.212  m2  run 1: begin 1 1e8462930fab8be9 2 00000000-: marker kept
  2230.503  m3  run 1: begin 1 1e8462930fab8be9 2 00000000-: marker kept
  2231.182  m1  run 1: begin 1 1e8462930fab8be9 2 00000000-: marker kept
  2250.000  --  run 1: view 1.3 is m1 m2 m4/2, with another one before it
  2250.000  --  the view m1 m2 m3 m4/3 has stood
  2270.014  m4  run 1: tell 1 1e8462930fab8be9 3 00000000-: marker kept
  2270.017  m2  run 1: tell 1 1e8462930fab8be9 3 00000000-: marker kept
  2270.029  m3  run 1: tell 1 1e8462930fab8be9 3 00000000-: marker kept
  2270.311  m1  run 1: tell 1 1e8462930fab8be9 3 00000000-: marker kept
  4370.189  m2  run 1: begin 1 1e8462930fab8be9 3 00000000-: marker kept
  4372.155  m4  run 1: begin 1 1e8462930fab8be9 3 00000000-: marker kept
  4373.775  m1  run 1: begin 1 1e8462930fab8be9 3 00000000-: marker kept
  4377.047  m3  run 1: begin 1 1e8462930fab8be9 3 00000000-: marker kept
  4390.000  --  run 1: view 1.4 is m1 m2 m4/2
  4390.000  --  the view m1 m2 m4/2 has stood
  4410.077  m4  run 1: tell 1 1e8462930fab8be9 4 00000000-: marker kept
  4413.137  m3  run 1: tell 1 1e8462930fab8be9 4 00000000-: marker kept
  4413.877  m1  run 1: tell 1 1e8462930fab8be9 4 00000000-: marker kept
  4418.916  m2  run 1: tell 1 1e8462930fab8be9 4 00000000-: marker kept
  4430.000  --  run 1 ends: its list is reached
  6500.000  A   acquire k ttl=900
  6500.000  A   claim A1 -> m1 m3
  6501.000  m1  SET k A1 NX PX 900 = OK
  6501.000  m3  SET k A1 NX PX 900 = OK
  6502.000  A   m1: claim A1 granted
  6502.000  A   m3: claim A1 granted
  6502.000  A   backs off: no quorum
  6502.000  A   rollback A1 -> m1 m3
  6503.000  m1  rollback k A1 = 1
  6503.000  m3  rollback k A1 = 1
  6504.000  A   m4 is to be a master
  6504.000  A   m1: unknown, not judged yet
  6504.000  A   m3: excluded, it is in the list of masters no more
  6504.000  A   goes by the list m1 m2 m4/2
  6504.000  A   m1: rollback A1 granted
  6504.000  A   m3: rollback A1 granted
  6512.000  A   m4 is ready
  6512.000  A   claim A2 -> m1 m4
  6513.000  m1  SET k A2 NX PX 900 = OK
  6513.000  m4  SET k A2 NX PX 900 = OK
  6514.000  A   m1: claim A2 granted
  6514.000  A   m4: claim A2 granted
  6514.000  A   acquire: ok, valid for 887.000 ms
  6600.000  m4  is flushed
  6610.270  m1  run 2: begin : marker kept
  6610.944  m2  run 2: begin : marker kept
  6611.127  m4  run 2: begin : no marker
  6700.000  B   acquire k ttl=900
  6700.000  B   claim B3 -> m2 m3
  6701.000  m2  SET k B3 NX PX 900 = OK
  6701.000  m3  SET k B3 NX PX 900 = OK
  6702.000  B   m2: claim B3 granted
  6702.000  B   m3: claim B3 granted
  6702.000  B   backs off: no quorum
  6702.000  B   rollback B3 -> m2 m3
  6703.000  m2  rollback k B3 = 1
  6703.000  m3  rollback k B3 = 1
  6704.000  B   m4 is to be a master
  6704.000  B   m2: unknown, not judged yet
  6704.000  B   m3: excluded, it is in the list of masters no more
  6704.000  B   goes by the list m1 m2 m4/2
  6704.000  B   m2: rollback B3 granted
  6704.000  B   m3: rollback B3 granted
  6706.000  B   claim B4 -> m2
  6707.000  m2  SET k B4 NX PX 900 = OK
  6708.000  B   m2: claim B4 granted
  6712.000  B   m4: new memory
  6712.000  B   m4: quarantined, its memory is new: it may have forgotten locks
  6712.000  B   m4 is ready
  6754.000  B   backs off: no quorum
  6754.000  B   rollback B4 -> m2
  6755.000  m2  rollback k B4 = 1
  6756.000  B   m2: rollback B4 granted
  6854.000  B   claim B5 -> m2
  6855.000  m2  SET k B5 NX PX 900 = OK
  6856.000  B   m2: claim B5 granted
  6890.011  m4  run 2: vote 1 1e8462930fab8be9 4 00000000-: marker kept
  6904.000  B   backs off: no quorum
  6904.000  B   rollback B5 -> m2
  6905.000  m2  rollback k B5 = 1
  6906.000  B   m2: rollback B5 granted
  7004.000  B   claim B6 -> m2
  7005.000  m2  SET k B6 NX PX 900 = OK
  7006.000  B   m2: claim B6 granted
  7054.000  B   backs off: no quorum
  7054.000  B   rollback B6 -> m2
  7055.000  m2  rollback k B6 = 1
  7056.000  B   m2: rollback B6 granted
  7154.000  B   claim B7 -> m2
  7155.000  m2  SET k B7 NX PX 900 = OK
  7156.000  B   m2: claim B7 granted
  7170.042  m4  run 2: vote 1 1e8462930fab8be9 4 00000000-: marker kept
  7190.000  --  run 2: view 1.1 is m1 m2 m4/2
  7190.013  m2  run 2: tell 1 c72ff69c804904c2 1 00000000-: marker kept
  7190.028  m4  run 2: vote 1 1e8462930fab8be9 4 00000000-: marker kept
  7190.063  m1  run 2: tell 1 c72ff69c804904c2 1 00000000-: marker kept
  7204.000  B   backs off: no quorum
  7204.000  B   rollback B7 -> m2
  7205.000  m2  rollback k B7 = 1
  7206.000  B   m2: rollback B7 granted
  7210.000  --  run 2 ends: its list is reached
  7252.000  B   claim B8 -> m2
  7253.000  m2  SET k B8 NX PX 900 = OK
  7254.000  B   m2: claim B8 granted
  7300.000  B   acquire: deadline
  7300.000  B   rollback B8 -> m2
  7301.000  m2  rollback k B8 = 1
  7302.000  B   m2: rollback B8 granted
  7350.000  m1  has k = A2 for 64.000 ms
