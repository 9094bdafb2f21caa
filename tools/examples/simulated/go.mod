module worker

go 1.22

require redlockagent v0.0.0

replace redlockagent => ../../clients/go
