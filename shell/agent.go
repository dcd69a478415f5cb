package shell

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"strings"
	"sync"
	"syscall"
	"time"

	"sonde/kernel/abi"
	"sonde/kernel/kthread"
	"sonde/kernel/wire"
)

// Agent runs commands for a program on another machine, which package wire connects it with: several at once, each
// in a shell of its own. A command is its words: nothing in them is expanded.
type Agent struct {
	Shell   func(out io.Writer) *Shell
	Send    func(wire.Message)      // of any goroutine; it may block
	Hello   func(boot int64) []byte // what the kernel says of itself
	Present func(bool)              // is told whether the other end is there; it must not block

	mu sync.Mutex
	// guarded by mu:
	Boot  int64 // of the kernel; another one when the other end had vanished: what ran until then has been ended
	runs  map[uint16]*agentRun
	ended [mostRuns]struct { // the last ones, since a message about it may be lost; 0 is no number of a command
		id     uint16
		status uint32
	}
	last  int         // in ended
	other string      // who asked last
	heard time.Time   // when the last message came
	watch *time.Timer // while there are runs
}

const (
	// mostRuns is how many commands run at once.
	mostRuns = 64
	// mostWords is how many bytes the words of one may have.
	mostWords = 64 << 10
	// silence is how long commands run without a word from the other end.
	silence = 5 * time.Second
	// gather is how long output waits for more.
	gather = 5 * time.Millisecond
)

// agentRun is a command, or the beginning of one.
type agentRun struct {
	words     []byte // that have come
	job       *job   // nil before it begins
	interrupt chan struct{}
	canceled  bool
}

// Take takes a message; its data are not kept.
//
// Context: one goroutine.
func (a *Agent) Take(m wire.Message) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.heard = time.Now()
	r := a.runs[m.ID]
	switch {
	case m.Kind == wire.Ask:
		if other := string(m.Data); other != a.other {
			if a.other != "" { // the first one may have begun something before its question arrives
				a.vanish()
			}
			a.other = other
		}
		a.greet(m.ID)
	case m.Kind == wire.Query:
		a.answer(m, r)
	case m.Kind == wire.Cancel && r != nil:
		a.cancel(m.ID, r)
	case m.Kind != wire.Part && m.Kind != wire.Run, r != nil && r.job != nil: // of no use, or the number of a command that runs
	case r == nil && len(a.runs) >= mostRuns:
		a.refuse(m.ID, syscall.EAGAIN, "%d commands run already, and no more can", mostRuns)
	case r == nil:
		r = &agentRun{interrupt: make(chan struct{})}
		if a.runs == nil {
			a.runs = make(map[uint16]*agentRun)
		}
		if a.runs[m.ID] = r; a.watch == nil {
			a.Present(true)
			a.watch = time.AfterFunc(silence, a.look)
		}
		fallthrough
	default:
		a.take(m, r)
	}
}

// greet says who the kernel is. Context: mu held.
func (a *Agent) greet(id uint16) {
	go a.Send(wire.Message{Kind: wire.Hello, ID: id, Data: a.Hello(a.Boot)})
}

// vanish ends all commands, whose other end is not there any more. Context: mu held.
func (a *Agent) vanish() {
	a.Boot++
	clear(a.ended[:])
	for id, r := range maps.Clone(a.runs) {
		a.cancel(id, r)
	}
}

// answer says of a command what its other end may not have heard, since messages can be lost. Context: mu held.
func (a *Agent) answer(m wire.Message, r *agentRun) {
	switch {
	case len(m.Data) != 8 || int64(binary.LittleEndian.Uint64(m.Data)) != a.Boot:
		a.greet(0)
	case r != nil && r.job != nil:
		go a.Send(wire.Message{Kind: wire.Begun, ID: m.ID})
	default:
		for _, e := range a.ended {
			if e.id == m.ID && m.ID != 0 {
				go a.exit(e.id, e.status)
				return
			}
		}
		a.refuse(m.ID, wire.Unknown, "no command has this number")
	}
}

// exit says that a command has ended.
func (a *Agent) exit(id uint16, status uint32) {
	a.Send(wire.Message{Kind: wire.Exit, ID: id, Data: binary.LittleEndian.AppendUint32(nil, status)})
}

// take takes a command, or a part of it. Context: mu held.
func (a *Agent) take(m wire.Message, r *agentRun) {
	data := m.Data
	if m.Kind == wire.Run {
		data = data[min(len(data), 4):]
	}
	if r.words = append(r.words, data...); len(r.words) > mostWords {
		a.refuse(m.ID, syscall.E2BIG, "the words of a command have more than %d bytes", mostWords)
		return
	}
	if m.Kind == wire.Part {
		return
	}
	words := strings.Split(string(r.words), "\x00")
	last := len(words) - 1
	switch {
	case len(m.Data) < 4 || binary.LittleEndian.Uint32(m.Data) != crc32.ChecksumIEEE(r.words):
		a.refuse(m.ID, wire.Damaged, "a part of the command was lost")
	case words[last] != "" || words[0] == "":
		a.refuse(m.ID, syscall.EINVAL, "a command is a name and arguments, with a zero after each")
	default:
		a.begin(m.ID, r, words[:last])
	}
}

// refuse says that a command does not run, and why. Context: mu held.
func (a *Agent) refuse(id uint16, errno syscall.Errno, why string, args ...any) {
	delete(a.runs, id)
	data := fmt.Appendf(binary.LittleEndian.AppendUint32(nil, uint32(errno)), why, args...)
	go a.Send(wire.Message{Kind: wire.Refused, ID: id, Data: data})
}

// begin begins a command. Context: mu held.
func (a *Agent) begin(id uint16, r *agentRun, words []string) {
	out, errs := a.writer(id, wire.Output), a.writer(id, wire.Errors)
	s := a.Shell(out)
	s.Err, s.interrupt = errs, r.interrupt
	r.job = s.newJob(strings.Join(words, " "))
	kthread.Run(words[0], func() {
		a.Send(wire.Message{Kind: wire.Begun, ID: id})
		s.inline(r.job, func(s *Shell) { s.invokeCommand(words) })
		s.HangUp()
		out.flush()
		errs.flush()
		a.end(id, uint32(s.status))
		a.exit(id, uint32(s.status))
	})
}

// end notes that a command has ended.
func (a *Agent) end(id uint16, status uint32) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.runs, id)
	a.last = (a.last + 1) % len(a.ended)
	a.ended[a.last].id, a.ended[a.last].status = id, status
}

// cancel is ^C, and the second time what a program cannot overlook so easily. Context: mu held.
func (a *Agent) cancel(id uint16, r *agentRun) {
	switch {
	case r.job == nil:
		delete(a.runs, id)
	case r.canceled:
		go r.job.send(abi.SIGHUP)
	default:
		r.canceled = true
		close(r.interrupt)
	}
}

// look ends all commands if the other end has vanished, and comes again while there are any.
func (a *Agent) look() {
	a.mu.Lock()
	defer a.mu.Unlock()
	left := silence - time.Since(a.heard)
	if left <= 0 {
		left = silence
		a.Present(false)
		a.vanish()
	}
	if len(a.runs) == 0 {
		a.Present(false)
		a.watch = nil
		return
	}
	a.watch.Reset(left)
}

// agentWriter sends what a command prints: full messages at once, others when there was nothing more for a moment.
type agentWriter struct {
	send func(data []byte)

	mu sync.Mutex
	// guarded by mu:
	buf   []byte
	waits bool // for more
}

func (a *Agent) writer(id uint16, kind byte) *agentWriter {
	return &agentWriter{send: func(data []byte) { a.Send(wire.Message{Kind: kind, ID: id, Data: data}) }}
}

// Write implements io.Writer.
func (w *agentWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf = append(w.buf, p...)
	for len(w.buf) >= wire.Most {
		w.send(w.buf[:wire.Most])
		w.buf = append(w.buf[:0], w.buf[wire.Most:]...)
	}
	if len(w.buf) > 0 && !w.waits {
		w.waits = true
		time.AfterFunc(gather, func() { kthread.As("agent", w.flush) })
	}
	return len(p), nil
}

// flush sends what is left.
func (w *agentWriter) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waits = false; len(w.buf) > 0 {
		w.send(w.buf)
		w.buf = w.buf[:0]
	}
}
