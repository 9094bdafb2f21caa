module driver

go 1.22

require redlockagent v0.0.0

replace redlockagent => ../../tools/clients/go
