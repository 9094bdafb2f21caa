// Redsync with go-redis as an engine (tools/lab/engines/README.md), as its README has it: go-redis's clients with their
// defaults, redsync.New(pools...), NewMutex(name), LockContext, UnlockContext. Its mutexes have an expiry and are
// extended by hand or not at all; it tries again after 50 to 250 ms. The context has the caller's time.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	goredislib "github.com/redis/go-redis/v9"
)

var (
	table  sync.Mutex
	holds  = map[string]*redsync.Mutex{}
	rs     *redsync.Redsync
	prefix string
)

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if strings.HasPrefix(module.Path, "github.com/go-redsync/redsync") {
				return strings.TrimPrefix(module.Version, "v")
			}
		}
	}
	return "unknown"
}

func open(fields []string) {
	settings := parse(fields)
	prefix = settings["prefix"]
	var pools []redis.Pool
	for _, node := range strings.Split(settings["nodes"], ",") {
		client := goredislib.NewClient(&goredislib.Options{Addr: strings.TrimPrefix(node, "redis://")})
		pools = append(pools, goredis.NewPool(client))
	}
	rs = redsync.New(pools...)
	say("opened")
}

func reason(err error, ctx context.Context) string {
	var taken *redsync.ErrTaken
	switch {
	case errors.As(err, &taken) || errors.Is(err, redsync.ErrFailed):
		return "held"
	case ctx.Err() != nil:
		return "deadline"
	}
	return "unreachable"
}

func acquire(id, key string, ttl, timeout time.Duration) {
	tries := 1
	if timeout > 0 {
		tries = 1 << 30
	}
	// A single try has no time of its own to be done in; the expiry is its limit.
	limit := timeout
	if limit == 0 {
		limit = ttl
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	mutex := rs.NewMutex(prefix+key, redsync.WithExpiry(ttl), redsync.WithTries(tries))
	t0 := now()
	err := mutex.LockContext(ctx)
	t1 := now()
	if err != nil {
		say("refused", id, t0, t1, reason(err, ctx), encode(err.Error()))
		return
	}
	table.Lock()
	holds[id] = mutex
	table.Unlock()
	say("acquired", id, t0, t1, fmt.Sprintf("until=%d", now()+int64(time.Until(mutex.Until()))))
}

func take(id string, remove bool) *redsync.Mutex {
	table.Lock()
	defer table.Unlock()
	mutex := holds[id]
	if mutex == nil {
		fail(id + " is not held")
	}
	if remove {
		delete(holds, id)
	}
	return mutex
}

func valid(id string) {
	mutex := take(id, false)
	t0 := now()
	left := time.Until(mutex.Until()).Milliseconds()
	if left < 0 {
		left = 0
	}
	say("valid", id, t0, now(), left)
}

func release(id string) {
	mutex := take(id, true)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	t0 := now()
	expired := time.Now().After(mutex.Until())
	done, err := mutex.UnlockContext(ctx)
	outcome := "unconfirmed"
	if done {
		outcome = "ok"
	} else if expired || errors.Is(err, redsync.ErrLockAlreadyExpired) {
		outcome = "lost"
	}
	say("released", id, t0, now(), outcome)
}

func obey(words []string) {
	switch {
	case words[0] == "hello":
		say("hello", 1, "redsync", version(), "can=lease", "on=redis:5", "ttl=8000")
	case words[0] == "open":
		open(words[1:])
	case words[0] == "acquire" && len(words) >= 5:
		go acquire(words[1], decode(words[2]), time.Duration(number(words[3]))*time.Millisecond,
			time.Duration(number(words[4]))*time.Millisecond)
	case words[0] == "valid" && len(words) >= 2:
		go valid(words[1])
	case words[0] == "release" && len(words) >= 2:
		go release(words[1])
	case words[0] == "bye":
		say("bye")
		os.Exit(0)
	default:
		fail("what is " + words[0] + "?")
	}
}
