# Masters with the counts 1, 2 and 1 (rule 12.1), the second way: p1 alone has arrived, everywhere, and at m2 twice,
# since the reply was lost. A count of arrivals would be 2 there, though p2 is still away: the latch stays shut. When p2
# arrives it opens, and C, who waits, is notified.
masters 3
clients 3
 100  A arrive 1 party=1
 101.5  partition A m1
 101.5  partition A m3
 101.5  break A m2
 200  C await 1 once
 300  C await 1
 400  B arrive 1 party=2
 410  end
---
     4.000  A   m1 is ready
     4.000  A   m2 is ready
     4.000  A   m3 is ready
     4.000  B   m1 is ready
     4.000  B   m2 is ready
     4.000  B   m3 is ready
     4.000  C   m1 is ready
     4.000  C   m2 is ready
     4.000  C   m3 is ready
   100.000  p1  arrive, generation 1 of 2
   101.000  m1  latch redlock:latch:b 2 1 86400000  p1   * = 0  1@0101000 
   101.000  m2  latch redlock:latch:b 2 1 86400000  p1   * = 0  1@0101000 
   101.000  m3  latch redlock:latch:b 2 1 86400000  p1   * = 0  1@0101000 
   101.500  --  partition A m1 
   101.500  --  partition A m3 
   101.500  --  break A m2 
   101.500  A   m2: connection lost
   101.500  A   m2 is down
   106.001  A   m2 is ready
   150.000  A   m1 is late
   150.000  A   m3 is late
   151.000  m2  latch redlock:latch:b 2 1 86400000  p1   * = 0  1@0101000 
   200.000  C   await, generation 1 of 2, once
   201.000  m1  latch redlock:latch:b 2 1 86400000    C1  = 0  1@0101000 2 p1
   201.000  m2  latch redlock:latch:b 2 1 86400000    C1  = 0  1@0101000 2 p1
   201.000  m3  latch redlock:latch:b 2 1 86400000    C1  = 0  1@0101000 2 p1
   202.000  C   await, generation 1: not by the deadline
   204.000  C   m1 is heard
   204.000  C   m2 is heard
   204.000  C   m3 is heard
   300.000  C   await, generation 1 of 2
   301.000  m1  latch redlock:latch:b 2 1 86400000    C1 1@0101000 = 0  1@0101000 
   301.000  m2  latch redlock:latch:b 2 1 86400000    C1 1@0101000 = 0  1@0101000 
   301.000  m3  latch redlock:latch:b 2 1 86400000    C1 1@0101000 = 0  1@0101000 
   400.000  p2  arrive, generation 1 of 2
   401.000  m1  latch redlock:latch:b 2 1 86400000  p2   * = 1  2@0401000 
   401.000  m2  latch redlock:latch:b 2 1 86400000  p2   * = 1  2@0401000 
   401.000  m3  latch redlock:latch:b 2 1 86400000  p2   * = 1  2@0401000 
   402.000  C   m1 calls: latch redlock:latch:b
   402.000  C   m2 calls: latch redlock:latch:b
   402.000  p2  arrive, generation 1: ok
   402.000  C   m3 calls: latch redlock:latch:b
   403.000  m1  latch redlock:latch:b 2 1 86400000    C1 1@0101000 = 1  2@0401000 2 p12 p2
   403.000  m2  latch redlock:latch:b 2 1 86400000    C1 1@0101000 = 1  2@0401000 2 p12 p2
   403.000  m3  latch redlock:latch:b 2 1 86400000    C1 1@0101000 = 1  2@0401000 2 p12 p2
   404.000  C   await, generation 1: ok
