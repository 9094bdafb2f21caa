module redlockagent

go 1.22
