# Split vote. Three clients ask five masters at the same moment, and each reaches another master first: no one can get
# three of five. All give up as soon as that is certain and roll back what they have. Only B tries again, and wins.
masters 5
clients 3
delay A m1 1 1
delay A m2 1.5 1
delay B m3 1 1
delay B m4 1.5 1
delay C m5 1 1
delay A m3 3 1
delay A m4 3.1 1
delay A m5 3.2 1
delay B m1 3 1
delay B m2 3.1 1
delay B m5 3.2 1
delay C m1 4 1
delay C m2 4.1 1
delay C m3 4.2 1
delay C m4 4.3 1
  20  A acquire k ttl=1000 once
  20  B acquire k ttl=1000 attempts=2 delay=10
  20  C acquire k ttl=1000 once
  60  end
---
     4.000  A   m1 is ready
     4.000  B   m3 is ready
     4.000  C   m5 is ready
     5.000  A   m2 is ready
     5.000  B   m4 is ready
     8.000  A   m3 is ready
     8.000  B   m1 is ready
     8.200  A   m4 is ready
     8.200  B   m2 is ready
     8.400  A   m5 is ready
     8.400  B   m5 is ready
    10.000  C   m1 is ready
    10.200  C   m2 is ready
    10.400  C   m3 is ready
    10.600  C   m4 is ready
    20.000  A   acquire k ttl=1000
    20.000  A   claim A1 -> m1 m2 m3 m4 m5
    20.000  B   acquire k ttl=1000
    20.000  B   claim B2 -> m1 m2 m3 m4 m5
    20.000  C   acquire k ttl=1000
    20.000  C   claim C3 -> m1 m2 m3 m4 m5
    21.000  m1  SET k A1 NX PX 1000 = OK
    21.000  m3  SET k B2 NX PX 1000 = OK
    21.000  m5  SET k C3 NX PX 1000 = OK
    21.500  m2  SET k A1 NX PX 1000 = OK
    21.500  m4  SET k B2 NX PX 1000 = OK
    22.000  A   m1: claim A1 granted
    22.000  B   m3: claim B2 granted
    22.000  C   m5: claim C3 granted
    22.500  A   m2: claim A1 granted
    22.500  B   m4: claim B2 granted
    23.000  m3  SET k A1 NX PX 1000 = nil
    23.000  m1  SET k B2 NX PX 1000 = nil
    23.100  m4  SET k A1 NX PX 1000 = nil
    23.100  m2  SET k B2 NX PX 1000 = nil
    23.200  m5  SET k A1 NX PX 1000 = nil
    23.200  m5  SET k B2 NX PX 1000 = nil
    24.000  m1  SET k C3 NX PX 1000 = nil
    24.000  A   m3: claim A1 refused, held
    24.000  B   m1: claim B2 refused, held
    24.100  m2  SET k C3 NX PX 1000 = nil
    24.100  A   m4: claim A1 refused, held
    24.100  B   m2: claim B2 refused, held
    24.200  m3  SET k C3 NX PX 1000 = nil
    24.200  A   m5: claim A1 refused, held
    24.200  A   acquire: held
    24.200  A   rollback A1 -> m1 m2
    24.200  B   m5: claim B2 refused, held
    24.200  B   backs off: held
    24.200  B   rollback B2 -> m3 m4
    24.300  m4  SET k C3 NX PX 1000 = nil
    25.000  C   m1: claim C3 refused, held
    25.100  C   m2: claim C3 refused, held
    25.200  C   m3: claim C3 refused, held
    25.200  C   acquire: held
    25.200  C   rollback C3 -> m4 m5
    25.200  m1  rollback k A1 = 1
    25.200  m3  rollback k B2 = 1
    25.300  C   m4: claim C3 refused, held
    25.700  m2  rollback k A1 = 1
    25.700  m4  rollback k B2 = 1
    26.200  m5  rollback k C3 = 1
    26.200  A   m1: rollback A1 granted
    26.200  B   m3: rollback B2 granted
    26.700  A   m2: rollback A1 granted
    26.700  B   m4: rollback B2 granted
    27.200  C   m5: rollback C3 granted
    29.500  m4  rollback k C3 = 0
    30.500  C   m4: rollback C3 refused, missing
    34.200  B   claim B4 -> m1 m2 m3 m4 m5
    35.200  m3  SET k B4 NX PX 1000 = OK
    35.700  m4  SET k B4 NX PX 1000 = OK
    36.200  B   m3: claim B4 granted
    36.700  B   m4: claim B4 granted
    37.200  m1  SET k B4 NX PX 1000 = OK
    37.300  m2  SET k B4 NX PX 1000 = OK
    37.400  m5  SET k B4 NX PX 1000 = OK
    38.200  B   m1: claim B4 granted
    38.200  B   acquire: ok, valid for 984.000 ms
    38.300  B   m2: claim B4 granted
    38.400  B   m5: claim B4 granted
    60.000  m1  has k = B4 for 978.000 ms
    60.000  m2  has k = B4 for 978.000 ms
    60.000  m3  has k = B4 for 976.000 ms
    60.000  m4  has k = B4 for 976.000 ms
    60.000  m5  has k = B4 for 978.000 ms
