# p1 has been told that generation 1 is open, keeps that handle, and goes on to generation 2. p2 has not been told yet.
# The masters lose their memory twice. In between they know of generation 2 only, and refuse what p1's handle repeats of
# the first one. It repeats it all the same, so p2, who begins generation 1 anew, is told that it is open.
masters 3
clients 2
max-ttl 1500
  100  A arrive 1 party=1
  110  B arrive 1 party=2
  120  A await 1 party=1
  150  B forget 1 party=2
  200  flush m1
  200  flush m2
  200  flush m3
  210  A arrive 2 party=1
  702  flush m1
  702  flush m2
  702  flush m3
  705  B arrive 1 party=2
  707  B await 1 party=2
 1300  end
---
     4.000  A   m1 is ready
     4.000  A   m2 is ready
     4.000  A   m3 is ready
     4.000  B   m1 is ready
     4.000  B   m2 is ready
     4.000  B   m3 is ready
   100.000  p1  arrive, generation 1 of 2
   101.000  m1  latch redlock:latch:b 2 1 86400000  p1   * = 0  1@0101000 
   101.000  m2  latch redlock:latch:b 2 1 86400000  p1   * = 0  1@0101000 
   101.000  m3  latch redlock:latch:b 2 1 86400000  p1   * = 0  1@0101000 
   102.000  p1  arrive, generation 1: ok
   110.000  p2  arrive, generation 1 of 2
   111.000  m1  latch redlock:latch:b 2 1 86400000  p2   * = 1  2@0111000 
   111.000  m2  latch redlock:latch:b 2 1 86400000  p2   * = 1  2@0111000 
   111.000  m3  latch redlock:latch:b 2 1 86400000  p2   * = 1  2@0111000 
   112.000  p2  arrive, generation 1: ok
   120.000  p1  await, generation 1 of 2
   121.000  m1  latch redlock:latch:b 2 1 86400000  p1  A1  = 1  2@0111000 2 p12 p2
   121.000  m2  latch redlock:latch:b 2 1 86400000  p1  A1  = 1  2@0111000 2 p12 p2
   121.000  m3  latch redlock:latch:b 2 1 86400000  p1  A1  = 1  2@0111000 2 p12 p2
   122.000  p1  await, generation 1: ok
   124.000  A   m1 is heard
   124.000  A   m2 is heard
   124.000  A   m3 is heard
   150.000  p2  destroys its handle of generation 1
   200.000  m1  is flushed
   200.000  m2  is flushed
   200.000  m3  is flushed
   210.000  p1  arrive, generation 2 of 2
   211.000  m1  latch redlock:latch:b 2 2 86400000  p1   * = 0  1@0211000 
   211.000  m2  latch redlock:latch:b 2 2 86400000  p1   * = 0  1@0211000 
   211.000  m3  latch redlock:latch:b 2 2 86400000  p1   * = 0  1@0211000 
   212.000  p1  arrive, generation 2: ok
   621.000  m1  latch redlock:latch:b 2 1 86400000  p1 1  * = -2   
   621.000  m2  latch redlock:latch:b 2 1 86400000  p1 1  * = -2   
   621.000  m3  latch redlock:latch:b 2 1 86400000  p1 1  * = -2   
   702.000  m1  is flushed
   702.000  m2  is flushed
   702.000  m3  is flushed
   705.000  p2  arrive, generation 1 of 2
   706.000  m1  latch redlock:latch:b 2 1 86400000  p2   * = 0  1@0706000 
   706.000  m2  latch redlock:latch:b 2 1 86400000  p2   * = 0  1@0706000 
   706.000  m3  latch redlock:latch:b 2 1 86400000  p2   * = 0  1@0706000 
   707.000  p2  await, generation 1 of 2
   708.000  m1  latch redlock:latch:b 2 1 86400000  p2  B1  = 0  1@0706000 2 p2
   708.000  m2  latch redlock:latch:b 2 1 86400000  p2  B1  = 0  1@0706000 2 p2
   708.000  m3  latch redlock:latch:b 2 1 86400000  p2  B1  = 0  1@0706000 2 p2
   709.000  p2  arrive, generation 1: ok
   711.000  m1  latch redlock:latch:b 2 2 86400000  p1   * = -2   
   711.000  m2  latch redlock:latch:b 2 2 86400000  p1   * = -2   
   711.000  m3  latch redlock:latch:b 2 2 86400000  p1   * = -2   
   711.000  B   m1 is heard
   711.000  B   m2 is heard
   711.000  B   m3 is heard
   712.000  m1  latch redlock:latch:b 2 1 86400000  p2  B1 1@0706000 = 0  1@0706000 
   712.000  m2  latch redlock:latch:b 2 1 86400000  p2  B1 1@0706000 = 0  1@0706000 
   712.000  m3  latch redlock:latch:b 2 1 86400000  p2  B1 1@0706000 = 0  1@0706000 
   714.000  m1  latch redlock:latch:b 2 1 86400000  p2  B1 1@0706000 = 0  1@0706000 
   714.000  m2  latch redlock:latch:b 2 1 86400000  p2  B1 1@0706000 = 0  1@0706000 
   714.000  m3  latch redlock:latch:b 2 1 86400000  p2  B1 1@0706000 = 0  1@0706000 
  1121.000  m1  latch redlock:latch:b 2 1 86400000  p1 1  * = 1  2@1121000 
  1121.000  m2  latch redlock:latch:b 2 1 86400000  p1 1  * = 1  2@1121000 
  1121.000  m3  latch redlock:latch:b 2 1 86400000  p1 1  * = 1  2@1121000 
  1122.000  B   m1 calls: latch redlock:latch:b
  1122.000  B   m2 calls: latch redlock:latch:b
  1122.000  B   m3 calls: latch redlock:latch:b
  1123.000  m1  latch redlock:latch:b 2 1 86400000  p2  B1 1@0706000 = 1  2@1121000 2 p22 p1
  1123.000  m2  latch redlock:latch:b 2 1 86400000  p2  B1 1@0706000 = 1  2@1121000 2 p22 p1
  1123.000  m3  latch redlock:latch:b 2 1 86400000  p2  B1 1@0706000 = 1  2@1121000 2 p22 p1
  1124.000  p2  await, generation 1: ok
