//go:build linux

package redlockagent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"regexp"
	"syscall"
	"time"
	"unsafe"
)

// message is an answer or an event.
type message struct {
	Error
	Part
	ID         int64  `json:"id"`
	OK         bool   `json:"ok"`
	Event      string `json:"event"`
	Loss       string `json:"loss"`
	Lock       int64  `json:"lock"`
	DeadlineUS int64  `json:"deadline_us"`
	BoottimeUS int64  `json:"boottime_us"`
	Parts      []Part `json:"parts"`
}

// request is over when done is closed.
type request struct {
	conn   *connection
	id     int64
	op     string
	then   func(*message) // for any answer, as soon as it is read: an event may stand right behind it
	done   chan struct{}
	answer []byte
	err    error
}

func (r *request) finish(answer []byte, err error) {
	r.answer, r.err = answer, err
	close(r.done)
}

func (r *request) wait(ctx context.Context) ([]byte, error) {
	select {
	case <-r.done:
		return r.answer, r.err
	case <-ctx.Done():
	}
	r.conn.client.mutex.Lock()
	defer r.conn.client.mutex.Unlock()
	if r.conn.pending[r.id] == nil {
		return r.answer, r.err
	}
	if r.op == "acquire" { // what it brings nevertheless is given back
		r.then = func(m *message) {
			if m.OK {
				r.conn.request("release", map[string]any{"lock": m.Lock}, nil)
			}
		}
	}
	r.conn.request("cancel", map[string]any{"request": r.id}, nil)
	return nil, context.Cause(ctx)
}

type connection struct {
	client  *Client
	stream  net.Conn
	lines   []byte        // to be written
	wake    chan struct{} // the writer
	ids     int64
	pending map[int64]*request
	locks   map[int64]*Held
	offset  time.Duration // the agent's clock less this program's
	why     string
	over    bool
}

func connect(c *Client) *connection {
	n := &connection{client: c, wake: make(chan struct{}, 1), pending: map[int64]*request{}, locks: map[int64]*Held{}}
	stream, err := net.Dial("unix", c.path)
	if err != nil {
		n.end(fmt.Sprintf("%v: is there an agent? 'redlock agent' starts one", err))
		return n
	}
	n.stream = stream
	asked := now()
	n.request("hello", map[string]any{"version": 1}, func(m *message) {
		told := time.Duration(m.BoottimeUS) * time.Microsecond
		if !m.OK {
			n.end(m.Why)
		} else if told < asked || told > now() {
			n.offset = told - asked
		}
	})
	go n.write()
	go n.read()
	return n
}

func (n *connection) request(op string, members map[string]any, then func(*message)) *request {
	n.ids++
	r := &request{conn: n, id: n.ids, op: op, then: then, done: make(chan struct{})}
	line, err := lineOf(r, members)
	if n.over {
		err = gone(n.why)
	}
	if err != nil {
		r.finish(nil, err)
		return r
	}
	n.pending[r.id] = r
	n.lines = append(n.lines, line...)
	select {
	case n.wake <- struct{}{}:
	default:
	}
	return r
}

// NUL, or what stands for bytes that are no UTF-8: the agent would refuse it without the id.
var refusedEscape = regexp.MustCompile(`(^|[^\\])(\\\\)*\\u(0000|fffd)`)

func lineOf(r *request, members map[string]any) ([]byte, error) {
	whole := map[string]any{"id": r.id, "op": r.op}
	for name, value := range members {
		whole[name] = value
	}
	line, err := json.Marshal(whole)
	if refusedEscape.Match(line) {
		return nil, errors.New("a text has a NUL character, or is not UTF-8")
	}
	if len(line) >= 1<<20 {
		return nil, errors.New("the request is longer than 1 MiB")
	}
	return append(line, '\n'), err
}

func (n *connection) write() {
	for range n.wake {
		n.client.mutex.Lock()
		lines := n.lines
		n.lines = nil
		n.client.mutex.Unlock()
		n.stream.Write(lines) // the reader notices an error, too
	}
}

func (n *connection) read() {
	lines := json.NewDecoder(n.stream)
	for over := false; !over; {
		var line json.RawMessage
		err := lines.Decode(&line)
		n.client.mutex.Lock()
		if err != nil {
			n.end(cmp.Or(n.why, "the agent has ended the connection"))
		} else if !n.over {
			n.carryOut(line)
		}
		over = n.over
		n.client.mutex.Unlock()
	}
}

func (n *connection) carryOut(line []byte) {
	m := message{ID: -1}
	json.Unmarshal(line, &m)
	held := n.locks[m.Lock]
	switch {
	case m.Event == "closing":
		n.why = m.Why
	case m.Event == "lost" && held != nil:
		held.end(lost(cmp.Or(m.Why, m.Loss)))
	case m.DeadlineUS != 0 && held != nil:
		held.told(&m)
	}
	r := n.pending[m.ID]
	if r == nil {
		return
	}
	delete(n.pending, m.ID)
	if r.then != nil {
		r.then(&m)
	}
	if m.OK {
		r.finish(line, nil)
	} else {
		m.kind = kindOf(r.op, m.Status)
		r.finish(nil, &m.Error)
	}
}

func kindOf(op, status string) error {
	switch status {
	case "REDLOCK_LOST", "REDLOCK_E_NOT_HELD":
		return ErrLost
	case "REDLOCK_HELD", "REDLOCK_NO_QUORUM", "REDLOCK_TOO_SLOW", "REDLOCK_DEADLINE", "REDLOCK_CANCELED":
		if op == "acquire" {
			return ErrNotAcquired
		}
	}
	return nil
}

// What is held may be held by the next agent.
func (n *connection) end(why string) {
	if n.over {
		return
	}
	n.over, n.why = true, why
	if n.stream != nil {
		n.stream.Close()
		close(n.wake)
	}
	for _, r := range n.pending {
		r.finish(nil, gone(why))
	}
	clear(n.pending)
	time.AfterFunc(20*time.Millisecond, func() {
		n.client.mutex.Lock()
		defer n.client.mutex.Unlock()
		if len(n.client.held) > 0 {
			n.client.connection()
		}
	})
}

// The standard library has no name for CLOCK_BOOTTIME.
func now() time.Duration {
	var boot syscall.Timespec
	if _, _, e := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, 7, uintptr(unsafe.Pointer(&boot)), 0); e != 0 {
		panic("CLOCK_BOOTTIME cannot be read: " + e.Error())
	}
	return time.Duration(boot.Nano())
}
