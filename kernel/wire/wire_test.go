package wire

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// random returns n messages, with many zeros in them.
func random(r *rand.Rand, n int) (all []Message) {
	for i := range n {
		data := make([]byte, r.IntN(Most+1))
		for j := range data {
			if r.IntN(3) > 0 {
				data[j] = byte(r.Uint32())
			}
		}
		all = append(all, Message{byte(r.Uint32()), uint16(i), data})
	}
	return all
}

// read returns the messages that arrive, as text, and what was between them.
func read(b []byte, piece int) (all []string, rest []byte, bad int) {
	r := Reader{Rest: func(b []byte) { rest = append(rest, b...) }}
	for part := range slices.Chunk(b, piece) {
		r.Feed(part, func(m Message) { all = append(all, fmt.Sprint(m)) })
	}
	return all, rest, r.Bad
}

func line(all []Message) (b []byte, text []string) {
	for _, m := range all {
		b = Append(b, m)
		text = append(text, fmt.Sprint(m))
	}
	return b, text
}

func TestMessagesArrive(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	b, want := line(random(r, 500))
	for _, piece := range []int{1, 7, 1 << 20} {
		if got, rest, bad := read(b, piece); !slices.Equal(got, want) || len(rest) > 0 || bad > 0 {
			t.Errorf("in pieces of %d: %d of %d messages, %d bytes of rest, %d bad", piece, len(got), len(want), len(rest), bad)
		}
	}
	for _, data := range [][]byte{nil, {0}, make([]byte, Most), bytes.Repeat([]byte{1}, Most)} {
		if got, _, _ := read(Append(nil, Message{'R', 0, data}), 5); len(got) != 1 || got[0] != fmt.Sprint(Message{'R', 0, data}) {
			t.Errorf("%d bytes: %v", len(data), got)
		}
	}
}

// TestWhatIsBetweenMessages: it is passed on, byte for byte.
func TestWhatIsBetweenMessages(t *testing.T) {
	b := []byte("ls\r")
	b = Append(b, Message{Kind: Run, ID: 1, Data: []byte("a\x00")})
	b = append(b, "x\x1b[A"...)
	b = Append(b, Message{Kind: Beat})
	b = append(b, '\r')
	if got, rest, _ := read(b, 3); len(got) != 2 || string(rest) != "ls\rx\x1b[A\r" {
		t.Errorf("%v, %q", got, rest)
	}
}

// TestAZeroThatIsTyped: it and what follows are the terminal's once no message comes of it.
func TestAZeroThatIsTyped(t *testing.T) {
	var rest []byte
	r := Reader{Rest: func(b []byte) { rest = append(rest, b...) }}
	r.Feed([]byte("a\x00bc"), func(m Message) { t.Error(m) })
	if r.Patience() != patience || string(rest) != "a" {
		t.Fatalf("%v, %q", r.Patience(), rest)
	}
	r.GiveUp()
	r.Feed([]byte("d"), func(m Message) { t.Error(m) })
	if r.Patience() >= 0 || string(rest) != "a\x00bcd" {
		t.Errorf("%q", rest)
	}
	rest = nil
	long := append([]byte{0}, bytes.Repeat([]byte{'x'}, 1000)...)
	if r.Feed(long, func(m Message) { t.Error(m) }); !bytes.Equal(rest, long) {
		t.Errorf("%d bytes of %d that are no message", len(rest), len(long))
	}
}

// TestSlowMessage: what begins as messages do has longer than what is typed after one zero, and arrives in pieces.
func TestSlowMessage(t *testing.T) {
	r := Reader{Rest: func(b []byte) { t.Errorf("%q is the terminal's", b) }}
	got := 0
	b := Append(nil, Message{Run, 1, []byte("a\x00")})
	for i := range b {
		r.Feed(b[i:i+1], func(Message) { got++ })
		if i > 0 && i < len(b)-1 && r.Patience() != longest {
			t.Errorf("after %d bytes of %d: %v", i+1, len(b), r.Patience())
		}
	}
	if got != 1 || r.Patience() >= 0 {
		t.Errorf("%d messages, %v", got, r.Patience())
	}
	r.Rest = nil
	r.Feed(make([]byte, 1000), nil)
	if r.GiveUp(); r.Patience() >= 0 {
		t.Error("a line that breaks for long is waited for")
	}
}

// TestEveryByteLostDoubledAndFlipped: that loses two messages at most, never one behind them, and makes none up.
func TestEveryByteLostDoubledAndFlipped(t *testing.T) {
	b, want := line(random(rand.New(rand.NewPCG(3, 4)), 6))
	for i := range b {
		for name, broken := range map[string][]byte{
			"lost":    slices.Concat(b[:i], b[i+1:]),
			"doubled": slices.Concat(b[:i+1], b[i:]),
			"flipped": slices.Concat(b[:i], []byte{b[i] ^ 0x10}, b[i+1:]),
			"a zero":  slices.Concat(b[:i], []byte{0}, b[i+1:]),
		} {
			got, _, _ := read(broken, 64)
			if len(got) < len(want)-2 {
				t.Errorf("byte %d %s: %d of %d messages", i, name, len(got), len(want))
			}
			for _, m := range got {
				if !slices.Contains(want, m) {
					t.Errorf("byte %d %s: made up %s", i, name, m)
				}
			}
		}
	}
}

// FuzzReader: whatever arrives, reading goes on, and a message that follows a zero arrives.
func FuzzReader(f *testing.F) {
	f.Add([]byte("a\x00\x03bc\x00"), 3)
	f.Fuzz(func(t *testing.T, b []byte, piece int) {
		if piece < 1 {
			return
		}
		last := Message{Exit, 7, []byte{1, 0, 0, 0}}
		got, _, _ := read(Append(append(b, 0), last), piece)
		if len(got) == 0 || got[len(got)-1] != fmt.Sprint(last) {
			t.Errorf("%q: %v", b, got)
		}
	})
}
