//go:build linux

// Package redlockagent gives distributed locks over independent Redis masters, by the redlock agent of this machine.
//
//	client := redlockagent.New("")
//	options := redlockagent.Options{Wait: 5 * time.Second, Fenced: true}
//	err := client.Do(ctx, "orders", options, func(ctx context.Context, held *redlockagent.Held) error {
//		return shipOrders(ctx, held.Parts()[0].Fence)
//	})
//
// The agent renews a lock until it is released, and gives it back when the program closes its client or dies. It tells
// until which instant of CLOCK_BOOTTIME the lock is certain, and [Held.Remaining] compares that with this program's own
// reading: when it is 0 the lock may be another's, whatever has become of the agent. [Held.Context] ends when the lock
// is lost. That needs a timer, which stands still while the machine sleeps: it may come a second late.
//
// If the agent does not answer, because it is stopped for example, [Client.Lock] fails 10 s after its wait,
// [Held.Extend] fails at the lock's deadline, and [Held.Release] returns then, since the lock has ended.
package redlockagent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"regexp"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// Forever is an [Options.Wait] that only the context ends.
const Forever time.Duration = -1

// Options of a lock. The zero value is good: a ttl of 10 s, tried once.
type Options struct {
	TTL, Wait     time.Duration
	Mode, Permits string        // as in [Key]
	And           []Key         // more keys: all are held, or none
	Fenced        bool          // with a fencing token
	Label         string        // stands in front of USER@HOST:PID/PROGRAM in what redlock status shows
	Linger        time.Duration // for so long the lock is kept when the connection ends
	HoldAtLeast   time.Duration // a release leaves the lock held until so long after the grant
	MinValidity   time.Duration // a lock that would last for less is not taken
}

// Key says what is wanted of a key. Mode is "exclusive", "upgradeable" or "shared"; Permits is "1/10", one of ten.
type Key struct {
	Key     string `json:"key"`
	Mode    string `json:"mode,omitempty"`
	Permits string `json:"permits,omitempty"`
}

// Part is what is held of a key: Fence is 0 where none was asked for, Slot says which permit it is.
type Part struct {
	Key   string `json:"key"` // of several
	Token string `json:"token"`
	Fence uint64 `json:"fence,string"`
	Slot  int    `json:"slot"`
}

// Error is what the agent has refused, in its words. Retry: the same may succeed later.
type Error struct {
	Status string `json:"status"`
	Why    string `json:"why"`
	Retry  bool   `json:"retry"`
	kind   error
}

// What an [Error] is, for errors.Is.
var (
	ErrNotAcquired = errors.New("others have the lock, or too few masters could be asked")
	ErrLost        = errors.New("the lock was held, and is not certain to be held any more")
	ErrGone        = errors.New("no agent answers, or the client is closed")
)

var errReleased = errors.New("the lock has been given back")

func (e *Error) Error() string { return fmt.Sprintf("%s (%s)", e.Why, e.Status) }
func (e *Error) Unwrap() error { return e.kind }

func lost(why string) *Error { return &Error{"REDLOCK_LOST", why, false, ErrLost} }
func gone(why string) *Error { return &Error{"AGENT_E_GONE", why, true, ErrGone} }

func microseconds(d time.Duration) string { return fmt.Sprintf("%dus", d.Microseconds()) }

// Client is connected to the agent when it is first used, and again after the agent has been restarted.
type Client struct {
	path   string
	mutex  sync.Mutex // of all that is below, and of connections and locks. Nobody waits with it.
	conn   *connection
	held   map[*Held]bool
	closed bool
}

// New takes the path of the agent's socket; "" is $REDLOCK_AGENT, $XDG_RUNTIME_DIR/redlock.sock or /run/redlock.sock.
func New(path string) *Client {
	usual := cmp.Or(os.Getenv("XDG_RUNTIME_DIR"), "/run") + "/redlock.sock"
	return &Client{path: cmp.Or(path, os.Getenv("REDLOCK_AGENT"), usual), held: map[*Held]bool{}}
}

const patience = 10 * time.Second // with the agent, when the wait is over

// Lock waits for the lock as long as the options say and the context lasts.
func (c *Client) Lock(ctx context.Context, key string, o Options) (*Held, error) {
	members := map[string]any{"keys": append([]Key{{key, o.Mode, o.Permits}}, o.And...), "fenced": o.Fenced}
	for name, d := range map[string]time.Duration{"ttl": o.TTL, "wait": o.Wait, "linger": o.Linger,
		"hold_at_least": o.HoldAtLeast, "min_validity": o.MinValidity} {
		if d == Forever {
			members[name] = "forever"
		} else if d != 0 {
			members[name] = microseconds(d)
		}
	}
	if o.Label != "" {
		members["label"] = o.Label
	}
	held := &Held{client: c}
	held.ctx, held.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	if o.Wait != Forever {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.Wait+patience, gone("the agent does not answer"))
		defer cancel()
	}
	if _, err := c.ask(ctx, "acquire", members, held.join); err != nil {
		return nil, err
	}
	return held, nil
}

// Do calls work while the lock is held, with a context that ends when it is lost, and releases the lock.
func (c *Client) Do(ctx context.Context, key string, o Options, work func(context.Context, *Held) error) (err error) {
	held, err := c.Lock(ctx, key, o)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	context.AfterFunc(held.ctx, func() { cancel(context.Cause(held.ctx)) })
	defer func() { err = errors.Join(err, held.Release(context.WithoutCancel(ctx))) }()
	return work(ctx, held)
}

// Call makes any request of PROTOCOL.md that has one answer, and returns that as it is.
func (c *Client) Call(ctx context.Context, op string, members map[string]any) (json.RawMessage, error) {
	return c.ask(ctx, op, members, nil)
}

// Close gives back what is held.
func (c *Client) Close() error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for held := range c.held {
		held.cancel(errReleased)
	}
	c.held, c.closed = nil, true
	c.connection().end("this client is closed")
	return nil
}

func (c *Client) ask(ctx context.Context, op string, members map[string]any, then func(*message)) ([]byte, error) {
	c.mutex.Lock()
	r := c.connection().request(op, members, then)
	c.mutex.Unlock()
	return r.wait(ctx)
}

// The connection takes requests at once. What is held is adopted before anything else is asked.
func (c *Client) connection() *connection {
	if c.conn == nil || c.conn.over && !c.closed {
		c.conn = connect(c)
		for held := range c.held {
			c.conn.request("adopt", map[string]any{"token": held.parts[0].Token}, held.join)
		}
	}
	return c.conn
}

// Held is a lock that is held, until it is released or lost.
type Held struct {
	client   *Client
	conn     *connection
	number   int64 // of that connection
	ctx      context.Context
	cancel   context.CancelCauseFunc
	parts    []Part
	deadline time.Duration
	stopped  bool // the program was, until after the deadline
	timer    *time.Timer
}

// Parts are the keys that are held, at least one.
func (h *Held) Parts() []Part {
	h.client.mutex.Lock()
	defer h.client.mutex.Unlock()
	return h.parts
}

// Context has the values of that of [Client.Lock]. It ends when the lock is lost, the [Error] being its cause, or
// released.
func (h *Held) Context() context.Context { return h.ctx }

// Remaining is for how long the lock is certain to last. 0: it may be another's.
func (h *Held) Remaining() time.Duration {
	h.client.mutex.Lock()
	defer h.client.mutex.Unlock()
	if h.ctx.Err() != nil {
		return 0
	}
	return h.left()
}

// Check returns an error unless the lock is held at this moment: ErrLost, or that it has been given back. Right after
// the program has been stopped it may be ErrLost while the agent's word that the lock goes on has not been read yet.
func (h *Held) Check() error {
	h.client.mutex.Lock()
	defer h.client.mutex.Unlock()
	return h.check()
}

// Extend lets the ttl count from now on; 0 is the one it has. One that would end before Remaining is refused.
func (h *Held) Extend(ctx context.Context, ttl time.Duration) error {
	h.client.mutex.Lock()
	if err := h.check(); err != nil {
		h.client.mutex.Unlock()
		return err
	}
	members := map[string]any{"lock": h.number}
	if ttl != 0 {
		members["ttl"] = microseconds(ttl)
	}
	r := h.conn.request("extend", members, nil)
	waiting, cancel := context.WithTimeoutCause(ctx, h.left(), lost("its deadline has passed"))
	h.client.mutex.Unlock()
	defer cancel()
	_, err := r.wait(waiting)
	return err
}

// Release gives the lock back. ErrLost: it was lost before. A second release does nothing. Where no agent answers, the
// next one is told. The deadline is waited for at most: then the lock ends by itself.
func (h *Held) Release(ctx context.Context) error {
	h.client.mutex.Lock()
	err := h.check()
	waiting, cancel := context.WithTimeoutCause(ctx, h.left(), errReleased)
	defer cancel()
	r := h.end(cmp.Or(err, errReleased))
	h.client.mutex.Unlock()
	if err == nil {
		_, err = r.wait(waiting)
	}
	if err == errReleased || errors.Is(err, ErrGone) {
		return nil
	}
	return err
}

func (h *Held) left() time.Duration { return max(0, h.deadline-now()) }

func (h *Held) check() error {
	if h.ctx.Err() == nil && h.left() == 0 {
		return lost("its deadline has passed")
	}
	return context.Cause(h.ctx)
}

// A grant, by acquisition or adoption. What has ended meanwhile is given back.
func (h *Held) join(m *message) {
	if !m.OK {
		return
	}
	h.conn, h.number = h.client.conn, m.Lock
	h.conn.locks[h.number] = h
	h.client.held[h] = true
	h.told(m)
	if h.ctx.Err() != nil {
		h.giveBack()
	}
}

// What is told of its validity; a grant says what the lock is, too.
func (h *Held) told(m *message) {
	h.deadline, h.stopped = time.Duration(m.DeadlineUS)*time.Microsecond-h.conn.offset, false
	if m.Event == "" {
		h.parts = m.Parts
	}
	if h.parts == nil {
		h.parts = []Part{m.Part}
	}
	h.watch()
}

// The request is nil when it has ended before.
func (h *Held) end(why error) *request {
	if h.ctx.Err() != nil {
		return nil
	}
	h.cancel(why)
	return h.giveBack()
}

// Where the connection is over, the lock stays known, for an agent that adopts it.
func (h *Held) giveBack() *request {
	return h.conn.request("release", map[string]any{"lock": h.number}, func(*message) { h.forget() })
}

func (h *Held) forget() {
	h.timer.Stop()
	delete(h.conn.locks, h.number)
	delete(h.client.held, h)
}

func (h *Held) watch() {
	if h.timer != nil {
		h.timer.Stop()
	}
	h.timer = time.AfterFunc(min(h.left()+time.Millisecond, time.Second), h.look)
}

// After a stop of the program, what the agent has told meanwhile is read first.
func (h *Held) look() {
	h.client.mutex.Lock()
	defer h.client.mutex.Unlock()
	switch {
	case h.left() > 0:
		h.watch()
	case now()-h.deadline > stop && !h.stopped:
		h.stopped = true
		h.timer = time.AfterFunc(stop, h.look)
	default:
		h.end(lost("its deadline has passed"))
		h.forget()
	}
}

const stop = 10 * time.Millisecond

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
	maps.Copy(whole, members)
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
