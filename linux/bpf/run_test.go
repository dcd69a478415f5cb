package sysbpf

import (
	"encoding/binary"
	"errors"
	"syscall"
	"testing"

	"sonde/bpf"
	"sonde/probe/program"
)

// caller is a process whose memory is zeroes.
type caller struct {
	Process
	left int // calls of Wanted until it is
}

func (*caller) In(b []byte, _ uint64) error { return nil }
func (c *caller) Wanted() bool              { c.left--; return c.left < 0 }

// TestRunsEnd: a program is run as often as asked for, or until the process has something else to do.
func TestRunsEnd(t *testing.T) {
	insns, err := bpf.Assemble("r0 = 0\nexit")
	if err != nil {
		t.Fatal(err)
	}
	p, err := program.Load(&bpf.Program{Name: "filter", Type: bpf.SocketFilter, Insns: insns}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for left, want := range map[int]error{10: syscall.EINTR, 20: nil} {
		c := &call{Process: &caller{left: left}}
		binary.LittleEndian.PutUint32(c.attr[8:], packetLeast)
		binary.LittleEndian.PutUint32(c.attr[32:], 20)
		if err := c.runFilter(p); !errors.Is(err, want) {
			t.Errorf("20 runs, of which there is time for %d: %v", left, err)
		}
	}
}
