# The operator declares a smaller max_ttl than A's own: A has no new votes from then on. But its lock of k is no longer
# than the new max_ttl, so it is kept until A releases it. The lock of other is longer: it is not extended, and ends.
# Were it extended, B would get it, too, when m2 and m3 have lost their memory and abstained for as long as the new
# max_ttl asks for.
masters 3
clients 2
handles A 2
guarded
max-ttl 6000
own-max-ttl B 1000
backoff 400 400
  20  A acquire k ttl=900 renew=300
  30  A' acquire other ttl=4000 renew=1000
 100  declare 1000
1500  A release
12000  partition A m1
12000  partition A m2
12000  partition A m3
12010  flush m2
12010  flush m3
12020  B acquire other ttl=900 delay=300
14900  end
---
     8.000  A   m1 is ready
     8.000  A   m2 is ready
     8.000  A   m3 is ready
     8.000  B   m1 is ready
     8.000  B   m2 is ready
     8.000  B   m3 is ready
    20.000  A   acquire k ttl=900
    20.000  A   claim A1 -> m1 m2 m3
    21.000  m1  SET k A1 NX PX 900 = OK
    21.000  m2  SET k A1 NX PX 900 = OK
    21.000  m3  SET k A1 NX PX 900 = OK
    22.000  A   m1: claim A1 granted
    22.000  A   m2: claim A1 granted
    22.000  A   acquire: ok, valid for 887.000 ms
    22.000  A   m3: claim A1 granted
    30.000  A'  acquire other ttl=4000
    30.000  A   claim A2 -> m1 m2 m3
    31.000  m1  SET other A2 NX PX 4000 = OK
    31.000  m2  SET other A2 NX PX 4000 = OK
    31.000  m3  SET other A2 NX PX 4000 = OK
    32.000  A   m1: claim A2 granted
    32.000  A   m2: claim A2 granted
    32.000  A'  acquire: ok, valid for 3956.000 ms
    32.000  A   m3: claim A2 granted
   100.000  --  max_ttl is to be 1000 ms
   100.000  m1  announce max_ttl 1000
   100.000  m2  announce max_ttl 1000
   100.000  m3  announce max_ttl 1000
   100.000  m1  confirm max_ttl 1000
   100.000  m2  confirm max_ttl 1000
   100.000  m3  confirm max_ttl 1000
   100.000  m1  allow max_ttl 1000
   100.000  m2  allow max_ttl 1000
   100.000  m3  allow max_ttl 1000
   320.000  A   extend A1 -> m1 m2 m3
   321.000  m1  extend k A1 900 = 1
   321.000  m2  extend k A1 900 = 1
   321.000  m3  extend k A1 900 = 1
   322.000  A   m1: extend A1 granted
   322.000  A   m2: extend A1 granted
   322.000  A   m3: extend A1 granted
   324.000  A   m1: looked at again: its memory is not the one that was admitted
   324.000  A   m1 is down
   324.000  A   m2: looked at again: its memory is not the one that was admitted
   324.000  A   m2 is down
   324.000  A   m3: looked at again: its memory is not the one that was admitted
   324.000  A   m3 is down
   374.987  A   m1: excluded, this client's max_ttl is larger than the deployment's
   374.987  A   m1 is ready
   407.509  A   extend A1 -> m1
   408.509  m1  extend k A1 900 = 1
   409.509  A   m1: extend A1 granted
   445.577  A   extend A1 -> m1
   446.577  m1  extend k A1 900 = 1
   447.577  A   m1: extend A1 granted
   494.170  A   extend A1 -> m1
   495.170  m1  extend k A1 900 = 1
   496.170  A   m1: extend A1 granted
   542.852  A   extend A1 -> m1
   543.852  m1  extend k A1 900 = 1
   544.852  A   m1: extend A1 granted
   595.855  A   extend A1 -> m1
   596.855  m1  extend k A1 900 = 1
   597.855  A   m1: extend A1 granted
   636.548  A   m2: excluded, this client's max_ttl is larger than the deployment's
   636.548  A   m2 is ready
   638.332  A   extend A1 -> m1 m2
   639.332  m1  extend k A1 900 = 1
   639.332  m2  extend k A1 900 = 1
   640.332  A   m1: extend A1 granted
   640.332  A   m2: extend A1 granted
   640.332  A   has renewed the lock
   641.318  A   m3: excluded, this client's max_ttl is larger than the deployment's
   641.318  A   m3 is ready
   938.332  A   extend A1 -> m1 m2
   939.332  m1  extend k A1 900 = 1
   939.332  m2  extend k A1 900 = 1
   940.332  A   m1: extend A1 granted
   940.332  A   m2: extend A1 granted
   940.332  A   has renewed the lock
  1238.332  A   extend A1 -> m1 m2
  1239.332  m1  extend k A1 900 = 1
  1239.332  m2  extend k A1 900 = 1
  1240.332  A   m1: extend A1 granted
  1240.332  A   m2: extend A1 granted
  1240.332  A   has renewed the lock
  1500.000  A   release
  1500.000  A   release A1 -> m1 m2 m3
  1501.000  m1  release k A1 = 1
  1501.000  m2  release k A1 = 1
  1501.000  m3  release k A1 = 0
  1502.000  A   m1: release A1 granted
  1502.000  A   m2: release A1 granted
  1502.000  A   m3: release A1 refused, missing
  1502.000  A   release: ok
  3988.000  A'  has lost the lock
  3988.000  A   release A2 -> m1 m2 m3
  3989.000  m1  release other A2 = 1
  3989.000  m2  release other A2 = 1
  3989.000  m3  release other A2 = 1
  3990.000  A   m1: release A2 granted
  3990.000  A   m2: release A2 granted
  3990.000  A   m3: release A2 granted
 10012.000  B   m1: looked at again: its memory is not the one that was admitted
 10012.000  B   m1 is down
 10012.000  B   m2: looked at again: its memory is not the one that was admitted
 10012.000  B   m2 is down
 10012.000  B   m3: looked at again: its memory is not the one that was admitted
 10012.000  B   m3 is down
 10178.343  B   m2 is ready
 10210.279  B   m3 is ready
 10237.857  B   m1 is ready
 12000.000  --  partition A m1 
 12000.000  --  partition A m2 
 12000.000  --  partition A m3 
 12010.000  m2  is flushed
 12010.000  m3  is flushed
 12020.000  B   acquire other ttl=900
 12020.000  B   claim B3 -> m1 m2 m3
 12021.000  m1  SET other B3 NX PX 900 = OK
 12021.000  m2  SET other B3 NX PX 900 = OK
 12021.000  m3  SET other B3 NX PX 900 = OK
 12022.000  B   m1: claim B3 granted
 12022.000  B   m2: claim B3 granted
 12022.000  B   m2: its memory is not the one that was admitted
 12022.000  B   m2 is down
 12022.000  B   m3: claim B3 granted
 12022.000  B   backs off: no quorum
 12022.000  B   m3: its memory is not the one that was admitted
 12022.000  B   m3 is down
 12022.000  B   rollback B3 -> m1 m3
 12022.000  B   m3: rollback B3 failed, backlog full
 12023.000  m1  rollback other B3 = 1
 12024.000  B   m1: rollback B3 granted
 12085.086  B   m2: new memory
 12085.086  B   m2: quarantined, its memory is new: it may have forgotten locks
 12085.086  B   m2 is ready
 12085.086  B   rollback B3 -> m2
 12086.086  m2  rollback other B3 = 1
 12087.086  B   m2: rollback B3 granted
 12278.369  B   m3: new memory
 12278.369  B   m3: quarantined, its memory is new: it may have forgotten locks
 12278.369  B   m3 is ready
 12278.369  B   rollback B3 -> m3
 12279.369  m3  rollback other B3 = 1
 12280.369  B   m3: rollback B3 granted
 12322.000  B   backs off: no quorum
 12622.000  B   backs off: no quorum
 12922.000  B   backs off: no quorum
 13222.000  B   backs off: no quorum
 13522.000  B   backs off: no quorum
 13822.000  B   backs off: no quorum
 14122.000  B   claim B10 -> m1 m2
 14123.000  m1  SET other B10 NX PX 900 = OK
 14123.000  m2  SET other B10 NX PX 900 = OK
 14124.000  B   m1: claim B10 granted
 14124.000  B   m2: claim B10 granted
 14124.000  B   acquire: ok, valid for 887.000 ms
 14900.000  m1  has other = B10 for 124.000 ms
 14900.000  m2  has other = B10 for 124.000 ms
