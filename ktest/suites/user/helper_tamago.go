//go:build tamago

package user

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"sonde/arch/amd64"
	ring3 "sonde/arch/amd64/user"
	"sonde/kallsyms"
	"sonde/kernel/text"
	"sonde/ktest/suites"
	"sonde/linux/usermode/bare"
)

func pieces() (calls, spin, keeps, reads, shows, bases uintptr)

// piece returns the code for ring 3 that begins at addr, and int3 after it.
func piece(t *suites.T, addr uintptr) []byte {
	sym, ok := kallsyms.Kernel().At(uint64(addr))
	if !ok {
		t.Fatalf("%#x has no symbol", addr)
	}
	return append(append([]byte(nil), text.Bytes(addr, uintptr(sym.Size))...), 0xcc)
}

// The layout of a program of these tests.
const (
	codeAt  = 0x400000
	dataAt  = 0x7000_0000_0000
	stackAt = 0x7fff_0000_0000
	stackIP = stackAt + pageSize - 64 // what SP is at first
)

const pageSize = 4096

// program is a space with a page each for code, data and stack.
type program struct {
	*bare.Space
	code, data, stack *bare.Page
}

// load makes a program of code.
func load(t *suites.T, code []byte) *program {
	s, err := bare.New()
	t.Must(err)
	p := &program{Space: s}
	p.code, err = s.Map(codeAt, 0)
	t.Must(err)
	p.data, err = s.Map(dataAt, amd64.PTE_W|amd64.PTE_NX)
	t.Must(err)
	p.stack, err = s.Map(stackAt, amd64.PTE_W|amd64.PTE_NX)
	t.Must(err)
	copy(p.code[:], code)
	return p
}

// thread returns a thread of p at its beginning.
func (p *program) thread() *ring3.Context {
	c := p.Thread(codeAt)
	c.Regs.SP = stackIP
	c.FSBase, c.GSBase = dataAt, dataAt
	return c
}

// word is the word at off of a page.
func word(p *bare.Page, off int) *uint64 { return (*uint64)(unsafe.Pointer(&p[off])) }

// settle runs c until an event comes that is more than a request to yield, and returns it.
func settle(c *ring3.Context) ring3.Event {
	for {
		switch e := c.Run(); {
		case e == ring3.NotEntered, !e.Exception() && e < ring3.SystemCall:
		default:
			return e
		}
	}
}

// once runs code as a program of its own, with set on its registers, and returns the
// thread and what it ended with.
func once(t *suites.T, code []byte, set func(p *program, c *ring3.Context)) (*ring3.Context, ring3.Event) {
	p := load(t, code)
	defer p.Close()
	c := p.thread()
	if set != nil {
		set(p, c)
	}
	return c, settle(c)
}

// what describes an event with its details.
func what(c *ring3.Context, e ring3.Event) string {
	s := fmt.Sprintf("event %#x at %#x, error code %#x", uint64(e), c.Regs.IP, c.Regs.Err)
	if e == amd64.VEC_PF {
		s += fmt.Sprintf(", address %#x", c.CR2)
	}
	return s
}

// mov is MOVQ $v, AX.
func mov(v uint64) []byte { return binary.LittleEndian.AppendUint64([]byte{0x48, 0xb8}, v) }
