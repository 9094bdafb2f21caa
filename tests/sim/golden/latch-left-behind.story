# p1 and p2 meet three times, as at a barrier, and keep no handle of a generation that is over. m3 has heard of p1's
# first arrival, and refuses all commands from then on, until the third generation. So it has missed that the first one
# and the second one have opened. Who waits for the third one knows of the second one only, and tells m3 of that: m3
# must go on.
masters 3
clients 2
 100  A arrive 1 party=1
 110  refuse m3 before
 120  B arrive 1 party=2
 130  A await 1 party=1
 150  A forget 1 party=1
 150  B forget 1 party=2
 200  A arrive 2 party=1
 210  B arrive 2 party=2
 220  A await 2 party=1
 230  A forget 2 party=1
 230  B forget 2 party=2
 300  accept m3
 400  A arrive 3 party=1
 410  B arrive 3 party=2
 420  A await 3 party=1
 500  end
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
   120.000  p2  arrive, generation 1 of 2
   121.000  m1  latch redlock:latch:b 2 1 86400000  p2   * = 1  2@0121000 
   121.000  m2  latch redlock:latch:b 2 1 86400000  p2   * = 1  2@0121000 
   121.000  m3  latch redlock:latch:b 2 1 86400000  p2   * = LOADING Redis is loading the dataset in memory
   122.000  p2  arrive, generation 1: ok
   130.000  p1  await, generation 1 of 2
   131.000  m1  latch redlock:latch:b 2 1 86400000  p1  A1  = 1  2@0121000 2 p12 p2
   131.000  m2  latch redlock:latch:b 2 1 86400000  p1  A1  = 1  2@0121000 2 p12 p2
   131.000  m3  latch redlock:latch:b 2 1 86400000  p1  A1  = LOADING Redis is loading the dataset in memory
   132.000  p1  await, generation 1: ok
   134.000  A   m1 is heard
   134.000  A   m2 is heard
   150.000  p1  destroys its handle of generation 1
   150.000  p2  destroys its handle of generation 1
   200.000  p1  arrive, generation 2 of 2
   201.000  m1  latch redlock:latch:b 2 2 86400000  p1   * = 0 1 2 1@0201000 
   201.000  m2  latch redlock:latch:b 2 2 86400000  p1   * = 0 1 2 1@0201000 
   201.000  m3  latch redlock:latch:b 2 2 86400000  p1   * = LOADING Redis is loading the dataset in memory
   202.000  p1  arrive, generation 2: ok
   210.000  p2  arrive, generation 2 of 2
   211.000  m1  latch redlock:latch:b 2 2 86400000  p2   * = 1 1 2 2@0211000 
   211.000  m2  latch redlock:latch:b 2 2 86400000  p2   * = 1 1 2 2@0211000 
   211.000  m3  latch redlock:latch:b 2 2 86400000  p2   * = LOADING Redis is loading the dataset in memory
   212.000  p2  arrive, generation 2: ok
   220.000  p1  await, generation 2 of 2
   221.000  m1  latch redlock:latch:b 2 2 86400000 1 2 p1  A1  = 1 1 2 2@0211000 2 p12 p2
   221.000  m2  latch redlock:latch:b 2 2 86400000 1 2 p1  A1  = 1 1 2 2@0211000 2 p12 p2
   221.000  m3  latch redlock:latch:b 2 2 86400000 1 2 p1  A1  = LOADING Redis is loading the dataset in memory
   222.000  p1  await, generation 2: ok
   230.000  p1  destroys its handle of generation 2
   230.000  p2  destroys its handle of generation 2
   318.407  A   m3 is heard
   400.000  p1  arrive, generation 3 of 2
   401.000  m1  latch redlock:latch:b 2 3 86400000  p1   * = 0 2 2 1@0401000 
   401.000  m2  latch redlock:latch:b 2 3 86400000  p1   * = 0 2 2 1@0401000 
   401.000  m3  latch redlock:latch:b 2 3 86400000  p1   * = -2   
   402.000  p1  arrive, generation 3: ok
   403.000  m1  latch redlock:latch:b 2 3 86400000 2 2 p1   * = 0 2 2 1@0401000 
   403.000  m2  latch redlock:latch:b 2 3 86400000 2 2 p1   * = 0 2 2 1@0401000 
   403.000  m3  latch redlock:latch:b 2 3 86400000 2 2 p1   * = 0 2 2 1@0403000 
   410.000  p2  arrive, generation 3 of 2
   411.000  m1  latch redlock:latch:b 2 3 86400000  p2   * = 1 2 2 2@0411000 
   411.000  m2  latch redlock:latch:b 2 3 86400000  p2   * = 1 2 2 2@0411000 
   411.000  m3  latch redlock:latch:b 2 3 86400000  p2   * = 1 2 2 2@0411000 
   412.000  p2  arrive, generation 3: ok
   420.000  p1  await, generation 3 of 2
   421.000  m1  latch redlock:latch:b 2 3 86400000 2 2 p1  A1  = 1 2 2 2@0411000 2 p12 p2
   421.000  m2  latch redlock:latch:b 2 3 86400000 2 2 p1  A1  = 1 2 2 2@0411000 2 p12 p2
   421.000  m3  latch redlock:latch:b 2 3 86400000 2 2 p1  A1  = 1 2 2 2@0411000 2 p12 p2
   422.000  p1  await, generation 3: ok
