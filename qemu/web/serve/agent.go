package serve

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"sonde/kernel/wire"
)

// A Runner runs commands in a kernel.
type Runner interface {
	// Run runs a command, which is words, to its end; when ctx ends, it gets ^C. out and errs get what it prints, and
	// must not block.
	//
	// Errors: ErrGone; *Refusal.
	Run(ctx context.Context, words []string, out, errs io.Writer) (status int, err error)
	// Kernel says which kernel it is, and whether it is there.
	Kernel() (Hello, bool)
}

// Hello is what a kernel says of itself.
type Hello struct {
	Version string
	CPUs    int
	Symbols uint32 // checksum of the table
	Boot    int64  // differs after each boot
	Lost    uint32 // bytes that it had no room for

	Damaged int           // messages from it that were lost
	Silent  time.Duration // since when it has not answered; 0: it does
}

// ErrGone says that the kernel has ended, or does not answer.
var ErrGone = errors.New("the kernel does not answer")

// A Refusal is why the kernel does not run a command.
type Refusal struct {
	Errno uint32
	Why   string
}

func (r *Refusal) Error() string { return r.Why }

const (
	beat = time.Second
	// doubt is after what silence about a command the kernel is asked whether a message was lost.
	doubt = 2 * time.Second
	// silence is after what time without a word the kernel is said not to answer.
	silence = 5 * time.Second
	// again is how long a command has for ^C, before it gets another, and then before it counts as gone.
	again = 3 * time.Second
)

// Agent is the kernel at the other end of a line.
type Agent struct {
	line    io.ReadWriter
	Gone    chan struct{}  // closed when the line ends
	Changed chan struct{}  // receives when a kernel has said who it is, or whether it answers has changed
	rest    func(b []byte) // what is between messages
	name    []byte         // tells us from others

	sending sync.Mutex
	mu      sync.Mutex
	// guarded by mu:
	last  uint16
	runs  map[uint16]*running
	hello Hello
	here  bool
	heard time.Time
}

// running is a command.
type running struct {
	out, errs io.Writer
	end       chan ending
	messages  []byte // that begin it

	// guarded by Agent.mu:
	heard    time.Time
	canceled bool
}

type ending struct {
	status int
	err    error
}

// NewAgent begins to read the line; terminal gets what is between messages, and may be nil.
func NewAgent(line io.ReadWriter, terminal func([]byte)) *Agent {
	a := &Agent{
		line: line, rest: terminal, name: []byte(rand.Text()), runs: make(map[uint16]*running), heard: time.Now(),
		Gone: make(chan struct{}), Changed: make(chan struct{}, 1),
	}
	a.last = binary.LittleEndian.Uint16(a.name) // another launcher's commands may still be ending
	arrived := make(chan []byte)
	go a.receive(arrived)
	go a.read(arrived)
	go a.beats()
	a.ask()
	return a
}

func (a *Agent) ask() { a.send(wire.Message{Kind: wire.Ask, Data: a.name}) }

// Kernel implements Runner.
func (a *Agent) Kernel() (Hello, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	h := a.hello
	if h.Silent = time.Since(a.heard); len(a.runs) == 0 || h.Silent < silence {
		h.Silent = 0
	}
	return h, a.here
}

// receive passes on what arrives.
func (a *Agent) receive(to chan<- []byte) {
	defer close(to)
	for {
		buf := make([]byte, 64<<10)
		n, err := a.line.Read(buf)
		to <- buf[:n]
		if err != nil {
			return
		}
	}
}

// read takes messages from what arrives.
func (a *Agent) read(from <-chan []byte) {
	r := wire.Reader{Rest: a.rest}
	var late <-chan time.Time
	for {
		select {
		case b, more := <-from:
			r.Feed(b, func(m wire.Message) { a.take(m, r.Bad) })
			if !more {
				a.mu.Lock()
				a.here = false
				a.mu.Unlock()
				close(a.Gone)
				return
			}
		case <-late:
			r.GiveUp()
		}
		if late = nil; r.Patience() >= 0 {
			late = time.After(max(doubt, r.Patience())) // on a busy host a message may take long
		}
	}
}

// take takes a message, before which so many were damaged.
func (a *Agent) take(m wire.Message, damaged int) {
	switch r := a.hear(m.ID, damaged); {
	case r != nil && m.Kind == wire.Output:
		r.out.Write(m.Data)
		return
	case r != nil && m.Kind == wire.Errors:
		r.errs.Write(m.Data)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch r := a.runs[m.ID]; {
	case m.Kind == wire.Hello:
		a.greet(m.Data)
	case r == nil:
	case m.Kind == wire.Exit && len(m.Data) == 4:
		a.end(m.ID, ending{status: int(int32(binary.LittleEndian.Uint32(m.Data)))})
	case m.Kind == wire.Refused && len(m.Data) >= 4:
		a.refused(m.ID, r, &Refusal{binary.LittleEndian.Uint32(m.Data), string(m.Data[4:])})
	}
}

// hear notes that there is a word of a command, and returns the command.
func (a *Agent) hear(id uint16, damaged int) *running {
	a.mu.Lock()
	defer a.mu.Unlock()
	if time.Since(a.heard) >= silence || damaged != a.hello.Damaged {
		a.changed()
	}
	a.heard, a.hello.Damaged = time.Now(), damaged
	r := a.runs[id]
	if r != nil {
		r.heard = a.heard
	}
	return r
}

// end notes that a command has ended. Context: mu held.
func (a *Agent) end(id uint16, e ending) {
	if r := a.runs[id]; r != nil {
		r.end <- e
		delete(a.runs, id)
	}
}

// refused ends a command, or sends it again: then the kernel has not got all of it. Context: mu held.
func (a *Agent) refused(id uint16, r *running, why *Refusal) {
	switch lost := why.Errno == uint32(wire.Unknown) || why.Errno == uint32(wire.Damaged); {
	case lost && r.canceled:
		a.end(id, ending{status: interrupted})
	case lost:
		go a.write(r.messages)
	default:
		a.end(id, ending{err: why})
	}
}

// interrupted is the status of a command that ^C has ended.
const interrupted = 128 + int(syscall.SIGINT)

// changed says so. Context: mu held.
func (a *Agent) changed() {
	select {
	case a.Changed <- struct{}{}:
	default:
	}
}

// greet notes which kernel it is. The commands of another one that was there before are gone, and so are those of one
// that has not heard of us for too long. Context: mu held.
func (a *Agent) greet(data []byte) {
	var h Hello
	if json.Unmarshal(data, &h) != nil {
		return
	}
	if h.Boot != a.hello.Boot {
		for id := range a.runs {
			a.end(id, ending{err: fmt.Errorf("%w: it has been started again, or has not heard of the launcher", ErrGone)})
			go a.send(wire.Message{Kind: wire.Cancel, ID: id})
		}
	}
	h.Damaged = a.hello.Damaged
	a.hello, a.here = h, true
	a.changed()
}

// beats tells the kernel that we are here while commands run, and asks about those of which nothing is heard.
func (a *Agent) beats() {
	t := time.NewTicker(beat)
	defer t.Stop()
	for {
		select {
		case <-a.Gone:
			return
		case <-t.C:
		}
		for _, m := range a.due() {
			a.send(m)
		}
	}
}

// due is what is to be sent now.
func (a *Agent) due() (all []wire.Message) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case !a.here && a.rest != nil: // it may be firmware's line, or a boot loader's
		return nil
	case !a.here:
		return []wire.Message{{Kind: wire.Ask, Data: a.name}}
	case len(a.runs) == 0:
		return nil
	}
	if time.Since(a.heard) >= silence {
		a.changed()
	}
	all = append(all, wire.Message{Kind: wire.Beat})
	for id, r := range a.runs {
		if time.Since(r.heard) >= doubt {
			all = append(all, wire.Message{Kind: wire.Query, ID: id, Data: binary.LittleEndian.AppendUint64(nil, uint64(a.hello.Boot))})
		}
	}
	return all
}

func (a *Agent) send(m wire.Message) error { return a.write(wire.Append(nil, m)) }

func (a *Agent) write(b []byte) error {
	a.sending.Lock()
	defer a.sending.Unlock()
	if _, err := a.line.Write(b); err != nil {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	return nil
}

// register returns a number for a command that no other has whose end has not come.
func (a *Agent) register(r *running) uint16 {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.last++; a.last == 0 || a.runs[a.last] != nil; a.last++ {
	}
	r.heard = time.Now()
	a.runs[a.last] = r
	return a.last
}

// Run implements Runner.
func (a *Agent) Run(ctx context.Context, words []string, out, errs io.Writer) (status int, err error) {
	if _, here := a.Kernel(); !here {
		return 0, ErrGone
	}
	if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, "\x00") }) {
		return 0, &Refusal{uint32(syscall.EINVAL), "a word of a command cannot have a zero byte in it"}
	}
	r := &running{out: out, errs: errs, end: make(chan ending, 1)}
	id := a.register(r)
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.runs, id)
	}()
	if err := a.begin(id, r, words); err != nil {
		return 0, err
	}
	end := ctx.Done()
	var late <-chan time.Time
	for cancels := 0; ; {
		select {
		case e := <-r.end:
			return e.status, e.err
		case <-a.Gone:
			return 0, ErrGone
		case <-end:
		case <-late:
		}
		if cancels++; cancels > 3 {
			return 0, ErrGone
		}
		end, late = nil, time.After(again)
		a.mu.Lock()
		r.canceled = true
		a.mu.Unlock()
		a.send(wire.Message{Kind: wire.Cancel, ID: id})
	}
}

// begin sends a command.
func (a *Agent) begin(id uint16, r *running, words []string) error {
	a.mu.Lock()
	r.messages = command(id, words)
	a.mu.Unlock()
	return a.write(r.messages)
}

// command is the messages of a command.
func command(id uint16, words []string) (b []byte) {
	var data []byte
	for _, w := range words {
		data = append(append(data, w...), 0)
	}
	sum := binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(data))
	for len(sum)+len(data) > wire.Most {
		n := min(len(data), wire.Most)
		b = wire.Append(b, wire.Message{Kind: wire.Part, ID: id, Data: data[:n]})
		data = data[n:]
	}
	return wire.Append(b, wire.Message{Kind: wire.Run, ID: id, Data: append(sum, data...)})
}

// Type sends what is typed at a terminal that shares the line. With Enter it asks for a kernel, if none is known.
func (a *Agent) Type(b []byte) error {
	if _, here := a.Kernel(); !here && bytes.ContainsRune(b, '\r') {
		a.ask()
	}
	return a.write(b)
}
