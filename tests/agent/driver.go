// What conformance.py tells this program, done by the client for Go.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"redlockagent"
)

type command struct {
	ID        int
	Do        string
	Name, Key string
	Keys      []string
	TTL       int
	Wait      any
	Fenced    bool
	Mode      string
	Permits   string
	Of        int
}

type answer map[string]any

var (
	client = redlockagent.New("")
	mutex  sync.Mutex // of what follows
	locks  = map[string]*redlockagent.Held{}
	waits  = map[int]context.CancelFunc{}
)

func milliseconds(d time.Duration) answer {
	return answer{"remaining": float64(d) / float64(time.Millisecond)}
}

func lock(c command, ctx context.Context) (answer, error) {
	options := redlockagent.Options{TTL: time.Duration(c.TTL) * time.Millisecond, Fenced: c.Fenced, Mode: c.Mode,
		Permits: c.Permits}
	if c.Wait == "forever" {
		options.Wait = redlockagent.Forever
	} else if ms, ok := c.Wait.(float64); ok {
		options.Wait = time.Duration(ms) * time.Millisecond
	}
	for i, key := range c.Keys {
		if i == 0 {
			c.Key = key
		} else {
			options.And = append(options.And, redlockagent.Key{Key: key})
		}
	}
	held, err := client.Lock(ctx, c.Key, options)
	if errors.Is(err, context.Canceled) {
		return answer{"canceled": true}, nil
	}
	if err != nil {
		return nil, err
	}
	mutex.Lock()
	defer mutex.Unlock()
	locks[c.Name] = held
	return answer{"fence": strconv.FormatUint(held.Parts()[0].Fence, 10)}, nil
}

func child() (answer, error) {
	sleep := exec.Command("sleep", "1000")
	if err := sleep.Start(); err != nil {
		return nil, err
	}
	return answer{"pid": sleep.Process.Pid}, nil
}

func run(c command, ctx context.Context) (answer, error) {
	mutex.Lock()
	held, cancel := locks[c.Name], waits[c.Of]
	mutex.Unlock()
	switch c.Do {
	case "lock":
		return lock(c, ctx)
	case "cancel":
		cancel()
		return answer{}, nil
	case "remaining":
		return milliseconds(held.Remaining()), nil
	case "extend":
		return answer{}, held.Extend(ctx, time.Duration(c.TTL)*time.Millisecond)
	case "release":
		return answer{}, held.Release(ctx)
	case "wait-lost":
		<-held.Context().Done()
		return milliseconds(held.Remaining()), nil
	case "child":
		return child()
	case "close":
		return answer{}, client.Close()
	}
	return answer{"unsupported": true}, nil
}

func reply(c command, ctx context.Context) {
	words, err := run(c, ctx)
	if err != nil {
		words = answer{"error": "other", "why": err.Error()}
		for kind, name := range map[error]string{redlockagent.ErrNotAcquired: "not-acquired", redlockagent.ErrLost: "lost"} {
			if errors.Is(err, kind) {
				words["error"] = name
			}
		}
	}
	words["id"] = c.ID
	line, _ := json.Marshal(words)
	mutex.Lock()
	defer mutex.Unlock()
	fmt.Println(string(line))
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var c command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			panic(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		mutex.Lock()
		waits[c.ID] = cancel
		mutex.Unlock()
		go reply(c, ctx)
	}
}
