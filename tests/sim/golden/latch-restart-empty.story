# All masters restart empty when p1 has arrived, and been told that this is recorded. So the latch is shut for p2 and
# for C until p1's handle repeats its arrival, which it does every third of max_ttl. The masters are in quarantine then,
# which does not concern names.
masters 3
clients 3
max-ttl 1500
guarded
backoff 40 60
 100  A arrive 1 party=1
 300  crash m1 lost
 300  crash m2 lost
 300  crash m3 lost
 300.5  restart m1
 300.5  restart m2
 300.5  restart m3
 400  B arrive 1 party=2
 420  C await 1
 700  end
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
   100.000  p1  arrive, generation 1 of 2
   101.000  m1  latch redlock:latch:b 2 1 86400000  p1   * = 0  1@0101000 
   101.000  m2  latch redlock:latch:b 2 1 86400000  p1   * = 0  1@0101000 
   101.000  m3  latch redlock:latch:b 2 1 86400000  p1   * = 0  1@0101000 
   102.000  p1  arrive, generation 1: ok
   300.000  m1  crashes
   300.000  m2  crashes
   300.000  m3  crashes
   300.500  m1  restarts empty
   300.500  m2  restarts empty
   300.500  m3  restarts empty
   301.000  A   m1: connection lost
   301.000  A   m1 is down
   301.000  B   m1: connection lost
   301.000  B   m1 is down
   301.000  C   m1: connection lost
   301.000  C   m1 is down
   301.000  A   m2: connection lost
   301.000  A   m2 is down
   301.000  B   m2: connection lost
   301.000  B   m2 is down
   301.000  C   m2: connection lost
   301.000  C   m2 is down
   301.000  A   m3: connection lost
   301.000  A   m3 is down
   301.000  B   m3: connection lost
   301.000  B   m3 is down
   301.000  C   m3: connection lost
   301.000  C   m3 is down
   309.818  B   m2: new memory
   309.818  B   m2: quarantined, its memory is new: it may have forgotten locks
   309.818  B   m2 is ready
   311.401  A   m2: quarantined, its memory is new: it may have forgotten locks
   311.401  A   m2 is ready
   329.261  C   m2: quarantined, its memory is new: it may have forgotten locks
   329.261  C   m2 is ready
   329.948  C   m3: new memory
   329.948  C   m3: quarantined, its memory is new: it may have forgotten locks
   329.948  C   m3 is ready
   330.927  B   m3: quarantined, its memory is new: it may have forgotten locks
   330.927  B   m3 is ready
   343.892  B   m1: new memory
   343.892  B   m1: quarantined, its memory is new: it may have forgotten locks
   343.892  B   m1 is ready
   344.786  C   m1: quarantined, its memory is new: it may have forgotten locks
   344.786  C   m1 is ready
   347.626  A   m1: quarantined, its memory is new: it may have forgotten locks
   347.626  A   m1 is ready
   348.938  A   m3: quarantined, its memory is new: it may have forgotten locks
   348.938  A   m3 is ready
   400.000  p2  arrive, generation 1 of 2
   401.000  m1  latch redlock:latch:b 2 1 86400000  p2   * = 0  1@0401000 
   401.000  m2  latch redlock:latch:b 2 1 86400000  p2   * = 0  1@0401000 
   401.000  m3  latch redlock:latch:b 2 1 86400000  p2   * = 0  1@0401000 
   402.000  p2  arrive, generation 1: ok
   420.000  C   await, generation 1 of 2
   421.000  m1  latch redlock:latch:b 2 1 86400000    C1  = 0  1@0401000 2 p2
   421.000  m2  latch redlock:latch:b 2 1 86400000    C1  = 0  1@0401000 2 p2
   421.000  m3  latch redlock:latch:b 2 1 86400000    C1  = 0  1@0401000 2 p2
   424.000  C   m1 is heard
   424.000  C   m2 is heard
   424.000  C   m3 is heard
   425.000  m1  latch redlock:latch:b 2 1 86400000    C1 1@0401000 = 0  1@0401000 
   425.000  m2  latch redlock:latch:b 2 1 86400000    C1 1@0401000 = 0  1@0401000 
   425.000  m3  latch redlock:latch:b 2 1 86400000    C1 1@0401000 = 0  1@0401000 
   427.000  m1  latch redlock:latch:b 2 1 86400000    C1 1@0401000 = 0  1@0401000 
   427.000  m2  latch redlock:latch:b 2 1 86400000    C1 1@0401000 = 0  1@0401000 
   427.000  m3  latch redlock:latch:b 2 1 86400000    C1 1@0401000 = 0  1@0401000 
   601.000  m1  latch redlock:latch:b 2 1 86400000  p1   * = 1  2@0601000 
   601.000  m2  latch redlock:latch:b 2 1 86400000  p1   * = 1  2@0601000 
   601.000  m3  latch redlock:latch:b 2 1 86400000  p1   * = 1  2@0601000 
   602.000  C   m1 calls: latch redlock:latch:b
   602.000  C   m2 calls: latch redlock:latch:b
   602.000  C   m3 calls: latch redlock:latch:b
   603.000  m1  latch redlock:latch:b 2 1 86400000    C1 1@0401000 = 1  2@0601000 2 p22 p1
   603.000  m2  latch redlock:latch:b 2 1 86400000    C1 1@0401000 = 1  2@0601000 2 p22 p1
   603.000  m3  latch redlock:latch:b 2 1 86400000    C1 1@0401000 = 1  2@0601000 2 p22 p1
   604.000  C   await, generation 1: ok
