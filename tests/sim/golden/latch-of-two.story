# Masters with the counts 1, 2 and 1 (rule 12.1), the first way: p1 has arrived at m1 and m2, and p2 at m2 and m3: each
# of their clients is cut off from one master. Both have arrived. C, who reaches m1 and m3 only, finds one name at each
# of them: together they are two. So the latch is open, which C has recorded there before it says so.
masters 3
clients 3
 90  partition A m3
 90  partition B m1
 90  partition C m2
 700  A arrive 1 party=1
 800  B arrive 1 party=2
 800.5  B forget 1 party=2
 900  C await 1 once
 960  C forget 1
 1000  end
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
    90.000  --  partition A m3 
    90.000  --  partition B m1 
    90.000  --  partition C m2 
   700.000  p1  arrive, generation 1 of 2
   701.000  m1  latch redlock:latch:b 2 1 86400000  p1   * = 0  1@0701000 
   701.000  m2  latch redlock:latch:b 2 1 86400000  p1   * = 0  1@0701000 
   702.000  p1  arrive, generation 1: ok
   750.000  A   m3 is late
   800.000  p2  arrive, generation 1 of 2
   800.500  p2  destroys its handle of generation 1
   801.000  m2  latch redlock:latch:b 2 1 86400000  p2   * = 1  2@0801000 
   801.000  m3  latch redlock:latch:b 2 1 86400000  p2   * = 0  1@0801000 
   850.000  B   m1 is late
   900.000  C   await, generation 1 of 2, once
   901.000  m1  latch redlock:latch:b 2 1 86400000    C1  = 0  1@0701000 2 p1
   901.000  m3  latch redlock:latch:b 2 1 86400000    C1  = 0  1@0801000 2 p2
   903.000  m1  latch redlock:latch:b 2 1 86400000   1  1@0701000 = 1  1@0701000 
   903.000  m3  latch redlock:latch:b 2 1 86400000   1  1@0801000 = 1  1@0801000 
   904.000  C   m1 is heard
   904.000  C   m1 calls: latch redlock:latch:b
   904.000  C   m3 is heard
   904.000  C   m3 calls: latch redlock:latch:b
   904.000  C   await, generation 1: ok
   950.000  C   m2 is late
   960.000  C   destroys its handle of generation 1
