# A small step, and a long ttl (found by the simulator). The master's clock is set forward by 147 ms: A's key ends that
# much earlier, but not before 2.3 s later. B has seen the step at once. If it ignored the master for 147 ms only, it
# would get the lock at 2880 ms, and A, which has heard nothing of the master since, counts on its key until 2988 ms. So
# B ignores it for the longest ttl, whatever the step.
masters 1
clients 2
guarded
max-ttl 3000
  20  A acquire k ttl=3000
 500  step m1 147
 510  B acquire k ttl=1000 once
2880  B acquire k ttl=1000 once
3600  B acquire k ttl=1000 once
3620  end
---
     8.000  A   m1 is ready
     8.000  B   m1 is ready
    20.000  A   acquire k ttl=3000
    20.000  A   claim A1 -> m1
    21.000  m1  SET k A1 NX PX 3000 = OK
    22.000  A   m1: claim A1 granted
    22.000  A   acquire: ok, valid for 2966.000 ms
   500.000  m1  clock set by 147 ms
   510.000  B   acquire k ttl=1000
   510.000  B   claim B2 -> m1
   511.000  m1  SET k B2 NX PX 1000 = nil
   512.000  B   m1: claim B2 refused, held
   512.000  B   acquire: held
   512.000  B   m1: its clock was set forward, by 154.113 ms at most
   512.000  B   m1: quarantined, its clock was set forward: it may have dropped locks early
  2880.000  B   acquire k ttl=1000
  2880.000  B   acquire: no quorum
  2988.000  A   has lost the lock
  2988.000  A   release A1 -> m1
  2989.000  m1  release k A1 = 0
  2990.000  A   m1: release A1 refused, missing
  3600.000  B   acquire k ttl=1000
  3600.000  B   claim B4 -> m1
  3601.000  m1  SET k B4 NX PX 1000 = OK
  3602.000  B   m1: claim B4 granted
  3602.000  B   acquire: ok, valid for 986.000 ms
  3620.000  m1  has k = B4 for 982.000 ms
