# The same with masters that come back at once: this is why there is a rule. One master that has forgotten A is no
# harm, since two still know. When the second one comes back empty, A believes to hold what only one master knows of:
# from then on B could win. The simulator objects at that very moment.
masters 3
clients 2
unsafe-restarts
  20  A acquire k ttl=3000
  30  crash m1 lost
  32  restart m1
 100  crash m2 lost
 102  restart m2
 150  end
---
     4.000  A   m1 is ready
     4.000  A   m2 is ready
     4.000  A   m3 is ready
     4.000  B   m1 is ready
     4.000  B   m2 is ready
     4.000  B   m3 is ready
    20.000  A   acquire k ttl=3000
    20.000  A   claim A1 -> m1 m2 m3
    21.000  m1  SET k A1 NX PX 3000 = OK
    21.000  m2  SET k A1 NX PX 3000 = OK
    21.000  m3  SET k A1 NX PX 3000 = OK
    22.000  A   m1: claim A1 granted
    22.000  A   m2: claim A1 granted
    22.000  A   acquire: ok, valid for 2966.000 ms
    22.000  A   m3: claim A1 granted
    30.000  m1  crashes
    31.000  A   m1: connection lost
    31.000  A   m1 is down
    31.000  B   m1: connection lost
    31.000  B   m1 is down
    32.000  m1  restarts empty
    35.501  B   m1 is ready
    35.517  A   m1 is ready
   100.000  m2  crashes
   101.000  A   m2: connection lost
   101.000  A   m2 is down
   101.000  B   m2: connection lost
   101.000  B   m2 is down
   102.000  m2  restarts empty
   102.000  !!  validity, at 102.000000 ms: A1 is valid until 2988.000000 ms: quorum 2, held so long by 1
