package shell

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sonde/kernel/wire"
)

// heard is an agent, with what it has sent.
type heard struct {
	*Agent
	mu      sync.Mutex
	changed sync.Cond
	all     map[string]string // by kind and id
	present atomic.Bool
}

// newAgent is one with the commands "says", "waits" for ^C, and "panics".
func newAgent() *heard {
	h := &heard{all: map[string]string{}}
	h.changed.L = &h.mu
	h.Agent = &Agent{
		Shell: func(out io.Writer) *Shell {
			s := New(fakeMachine(), out)
			s.Register(
				&Command{Name: "says", Run: func(c *Context, args []string) error {
					io.WriteString(c.Out, strings.Join(args, "|"))
					io.WriteString(c.Err, "wrong")
					return Status(7)
				}},
				&Command{Name: "waits", Run: func(c *Context, _ []string) error {
					<-c.Interrupt
					return Status(statusInterrupted)
				}},
				&Command{Name: "panics", Run: func(*Context, []string) error { panic("on purpose") }})
			return s
		},
		Hello:   func(boot int64) []byte { return fmt.Append(nil, boot) },
		Boot:    1000,
		Present: func(is bool) { h.present.Store(is) },
		Send: func(m wire.Message) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.all[fmt.Sprintf("%c%d", m.Kind, m.ID)] += string(m.Data)
			h.changed.Broadcast()
		},
	}
	return h
}

// get waits for a message, and returns the data of all of its kind and id until then.
func (h *heard) get(what string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		if s, ok := h.all[what]; ok {
			delete(h.all, what)
			return s
		}
		h.changed.Wait()
	}
}

// status is the number at the beginning of an answer.
func status(data string) int { return int(binary.LittleEndian.Uint32([]byte(data))) }

func (h *heard) run(id uint16, words ...string) {
	h.Take(runs(id, strings.Join(words, "\x00")+"\x00", ""))
}

// runs is the message of a command whose words are these, with a part that has gone before.
func runs(id uint16, words, before string) wire.Message {
	sum := binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(before+words)))
	return wire.Message{Kind: wire.Run, ID: id, Data: append(sum, words...)}
}

// query is the question about a command of a boot.
func query(id uint16, boot int64) wire.Message {
	return wire.Message{Kind: wire.Query, ID: id, Data: binary.LittleEndian.AppendUint64(nil, uint64(boot))}
}

func TestAgentRunsWords(t *testing.T) {
	h := newAgent()
	h.Take(wire.Message{Kind: wire.Ask, ID: 9})
	if s := h.get("h9"); s != "1000" {
		t.Errorf("it says of itself %q", s)
	}
	long := strings.Repeat("x y", 500)
	words := "says\x00" + long + "\x00\x00<b>\x00$(ls)\x00"
	before := ""
	for ; len(words) > wire.Most-4; words = words[wire.Most-4:] {
		h.Take(wire.Message{Kind: wire.Part, ID: 1, Data: []byte(words[:wire.Most-4])})
		before += words[:wire.Most-4]
	}
	h.Take(runs(1, words, before))
	if n := status(h.get("x1")); n != 7 {
		t.Errorf("status %d", n)
	}
	if s := h.get("o1"); s != long+"||<b>|$(ls)" {
		t.Errorf("it says %q", s)
	}
	if s := h.get("e1"); s != "wrong" {
		t.Errorf("errors: %q", s)
	}
	h.run(2, "panics")
	if n := status(h.get("x2")); n == 0 {
		t.Error("a panic is a success")
	}
	for _, bad := range []string{"", "\x00", "no zero"} {
		h.Take(runs(3, bad, ""))
		if s := h.get("n3"); !strings.Contains(s, "a zero after each") {
			t.Errorf("%q: %q", bad, s)
		}
	}
	for range mostWords/wire.Most + 1 {
		h.Take(wire.Message{Kind: wire.Part, ID: 4, Data: make([]byte, wire.Most)})
	}
	if s := h.get("n4"); !strings.Contains(s, "more than 65536 bytes") {
		t.Errorf("%q", s)
	}
}

// TestAgentAnswersQueries: messages that were lost are found, and no command runs twice, or in part.
func TestAgentAnswersQueries(t *testing.T) {
	h := newAgent()
	h.Take(runs(1, "1234\x00", "says\x00lost"))
	if s := h.get("n1"); status(s) != int(wire.Damaged) {
		t.Errorf("a part of it was lost, and it says %q", s)
	}
	h.Take(query(1, 1000))
	if s := h.get("n1"); status(s) != int(wire.Unknown) {
		t.Errorf("%q", s)
	}
	h.run(1, "waits")
	h.get("s1")
	h.run(1, "says") // is of no use while it runs
	h.Take(query(1, 1000))
	h.get("s1")
	h.Take(wire.Message{Kind: wire.Cancel, ID: 1})
	h.get("x1")
	h.Take(query(1, 1000))
	if n := status(h.get("x1")); n != statusInterrupted {
		t.Errorf("status %d", n)
	}
	h.Take(query(1, 999)) // of another boot
	if s := h.get("h0"); s != "1000" {
		t.Errorf("%q", s)
	}
}

// TestAgentTakesAnother: what one launcher has begun ends when there is another.
func TestAgentTakesAnother(t *testing.T) {
	h := newAgent()
	h.Take(wire.Message{Kind: wire.Ask}) // the kernel's own, as it begins
	first := h.get("h0")
	h.run(1, "waits")
	h.Take(wire.Message{Kind: wire.Ask, Data: []byte("one")})
	if s := h.get("h0"); s != first {
		t.Errorf("it asks again, and the boot is %s instead of %s", s, first)
	}
	h.Take(wire.Message{Kind: wire.Ask, Data: []byte("two")})
	if s := h.get("h0"); s == first {
		t.Errorf("another one asks, and the boot is %s", s)
	}
	if n := status(h.get("x1")); n != statusInterrupted {
		t.Errorf("status %d", n)
	}
}

func TestAgentEndsCommands(t *testing.T) {
	h := newAgent()
	if h.present.Load() {
		t.Error("it is said that someone is there, before a command has come")
	}
	for id := range uint16(mostRuns + 1) {
		h.run(id, "waits")
	}
	if s := h.get(fmt.Sprint("n", mostRuns)); !strings.Contains(s, "64 commands run already") {
		t.Errorf("%q", s)
	}
	h.Take(wire.Message{Kind: wire.Cancel, ID: 7})
	if n := status(h.get("x7")); n != statusInterrupted {
		t.Errorf("status %d", n)
	}
	h.Take(wire.Message{Kind: wire.Cancel, ID: 7}) // has ended
	h.look()
	for id := range mostRuns {
		h.get(fmt.Sprint("s", id))
	}
	if h.mu.Lock(); len(h.all) > 0 {
		t.Errorf("the other end has just spoken, and commands ended: %q", h.all)
	}
	h.mu.Unlock()
	h.Agent.mu.Lock()
	h.heard = time.Now().Add(-silence)
	h.Agent.mu.Unlock()
	h.look()
	for id := range mostRuns {
		if id != 7 && status(h.get(fmt.Sprint("x", id))) != statusInterrupted {
			t.Errorf("%d goes on, and nobody is there", id)
		}
	}
	if h.present.Load() {
		t.Error("the other end is silent, and the log does not come back")
	}
}
