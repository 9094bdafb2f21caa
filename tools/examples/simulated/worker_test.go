// The test of a worker, without servers: it stops when its lock is lost. The client is tools/clients/go.
//
//	go test
package worker

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"redlockagent"
)

// What is tested: one order after the other is shipped, each of them under the lock.
func ship(ctx context.Context, client *redlockagent.Client, orders []func()) error {
	held, err := client.Lock(ctx, "orders", redlockagent.Options{})
	if err != nil {
		return err
	}
	defer held.Release(ctx)
	for _, order := range orders {
		if err := held.Check(); err != nil {
			return err
		}
		order()
	}
	return nil
}

func start(t *testing.T) *redlockagent.Client {
	path := filepath.Join(t.TempDir(), "agent.sock")
	agent := exec.Command("redlock", "agent", "--simulate", "--socket", path)
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { agent.Process.Kill(); agent.Wait() })
	client := redlockagent.New(path)
	for until := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) { // it may not listen yet
		if _, err := client.Call(context.Background(), "ping", nil); err == nil {
			t.Cleanup(func() { client.Close() })
			return client
		} else if time.Now().After(until) {
			t.Fatal(err)
		}
	}
}

func TestItStopsWhenItsLockIsLost(t *testing.T) {
	ctx, client, shipped := context.Background(), start(t), []int{}
	simulate := func(op string, members map[string]any) {
		if _, err := client.Call(ctx, op, members); err != nil {
			t.Fatal(err)
		}
	}
	err := ship(ctx, client, []func(){
		func() { simulate("sim.advance", map[string]any{"by": "1h"}) },
		func() { shipped = append(shipped, 1) },
		func() { simulate("sim.steal", map[string]any{"key": "orders"}) },
		func() { simulate("sim.advance", map[string]any{"by": "10s"}) }, // the lock's ttl
		func() { shipped = append(shipped, 2) },
	})
	if !errors.Is(err, redlockagent.ErrLost) || !slices.Equal(shipped, []int{1}) {
		t.Fatal(err, shipped)
	}
}
