package tracefs

import (
	"fmt"
	"strings"

	"sonde/arch/amd64/goabi"
	"sonde/bpf"
	"sonde/probe/program"
)

// The program of an event, as text of package bpf. r6 is what the hit gives, r7 this CPU's scratch, r8 a value:
//
//	is it this program's turn? ── make the record in scratch ── filter ── triggers ── put it into the ring
//
// Scratch begins with the name of what runs; then comes the record.
const recordAt = 16

// Maps that all programs of an instance have, by index.
const (
	controlMap = iota // words, see control
	scratchMap
	ringMap
	pidMap   // those of set_event_pid
	firstMap // the event's own
)

// code is a program that is being made.
type code struct {
	strings.Builder
	labels int
	maps   []ownMap // from firstMap on
}

// An ownMap is a map of one event's programs: a table with its contents, or the data of a histogram.
type ownMap struct {
	table []byte
	data  *program.Map
}

// own adds a map, and returns its index.
func (c *code) own(m ownMap) int {
	c.maps = append(c.maps, m)
	return firstMap + len(c.maps) - 1
}

func (c *code) line(format string, args ...any) { fmt.Fprintf(c, format+"\n", args...) }

func (c *code) label() string {
	c.labels++
	return fmt.Sprintf("l%d", c.labels)
}

// call calls a helper that wants the address of what is in front of r10 in r2.
func (c *code) lookup(index, from int, missing string) {
	c.line("r2 = r10\nr2 += -%d\nr1 = map[idx:%d]\ncall 1\nif r0 == 0 goto %s", from, index, missing)
}

// control leaves the address of a control word in r0.
func (c *code) control(word int) {
	c.line("*(u32 *)(r10 - 4) = %d", word)
	c.lookup(controlMap, 4, "out")
}

// begin is the start of each program. Kernel events leave out the goroutine that takes records.
func (c *code) begin(s *state, generation int, kernel bool) {
	c.line("r6 = r1")
	c.control(s.slot)
	c.line("r0 = *(u64 *)(r0 + 0)\nif r0 != %d goto out", generation)
	if kernel {
		c.control(taker)
		c.line("r8 = *(u64 *)(r0 + 0)\ncall %d\nif r0 == r8 goto out", bpf.HelperGoid)
	}
	c.line("*(u32 *)(r10 - 4) = 0")
	c.lookup(scratchMap, 4, "out")
	c.line("r7 = r0\nr1 = r7\nr2 = %d\ncall 16\ncall 14", recordAt)
	c.line("*(u32 *)(r7 + %d) = r0", recordAt+4)
	c.line("*(u32 *)(r7 + %d) = %d", recordAt, s.event.id)
}

// copy makes a tracepoint's record of what the hit gives.
func (c *code) copy(size int) {
	for at := commonSize; at < size; {
		n, bits := 8, 64
		for at%n != 0 || at+n > size {
			n, bits = n/2, bits/2
		}
		c.line("r1 = *(u%d *)(r6 + %d)\n*(u%d *)(r7 + %d) = r1", bits, at, bits, recordAt+at)
		at += n
	}
}

// probe makes the record of a line.
func (c *code) probe(p *probe) {
	switch p.kind {
	case 'p':
		c.line("r1 = r6\ncall 173\n*(u64 *)(r7 + %d) = r0", recordAt+commonSize)
		if p.user {
			c.line("r1 = *(u64 *)(r6 + %d)\n*(u64 *)(r7 + %d) = r1", goabi.PtRegsIP, recordAt+commonSize)
		}
	case 'r':
		c.line("r1 = r6\ncall 173\n*(u64 *)(r7 + %d) = r0", recordAt+commonSize)
		c.line("r1 = *(u64 *)(r6 + %d)\n*(u64 *)(r7 + %d) = r1", goabi.PtRegsIP, recordAt+commonSize+8)
	}
	for _, a := range p.args {
		c.arg(a)
	}
}

// arg records an argument.
func (c *code) arg(a *arg) {
	f, at := a.fetch, recordAt+a.offset
	switch {
	case f.kind == fetchComm:
		c.line("r1 = r7\nr1 += %d\nr2 = 16\ncall 16\n*(u32 *)(r7 + %d) = %d", recordAt+a.at, at, 16<<16|a.at)
	case f.kind == fetchText:
		text := f.text[:min(len(f.text), a.room-1)]
		for i := range len(text) {
			c.line("*(u8 *)(r7 + %d) = %d", recordAt+a.at+i, text[i])
		}
		c.line("*(u8 *)(r7 + %d) = 0\n*(u32 *)(r7 + %d) = %d", recordAt+a.at+len(text), at, (len(text)+1)<<16|a.at)
	case f.kind == fetchField && f.field.text:
		n := min(f.field.room, a.room)
		for i := range n {
			c.line("r1 = *(u8 *)(r6 + %d)\n*(u8 *)(r7 + %d) = r1", f.field.at+i, recordAt+a.at+i)
		}
		c.line("*(u32 *)(r7 + %d) = %d", at, n<<16|a.at)
	case a.typ.text:
		c.address(f)
		for i := range max(1, a.count) {
			c.text(a, i)
		}
	case f.kind == fetchMemory && a.typ.width == 0:
		c.address(f)
		n := a.typ.size * max(1, a.count)
		c.line("r1 = r7\nr1 += %d\nr2 = %d\nr3 = r8\ncall %d", at, n, reading(f.user))
	default:
		c.value(f)
		if t := a.typ; t.width > 0 {
			c.line("r8 <<= %d\nr8 >>= %d", 64-t.shift-t.width, 64-t.width)
		}
		c.line("*(u%d *)(r7 + %d) = r8", 8*a.typ.size, at)
	}
}

// reading is the helper that reads memory: a program's, or any.
func reading(user bool) int {
	if user {
		return 112
	}
	return 4
}

// text records the i-th text of an argument, which is at r8, or at the i-th address there.
func (c *code) text(a *arg, i int) {
	helper := 45
	if a.typ.user || a.fetch.user {
		helper = 114
	}
	from := "r8"
	if a.count > 0 {
		c.line("r1 = r10\nr1 += -16\nr2 = 8\nr3 = r8\nr3 += %d\ncall %d", 8*i, reading(a.fetch.user))
		from = "*(u64 *)(r10 - 16)"
	}
	where := a.at + i*a.room
	c.line("r1 = r7\nr1 += %d\nr2 = %d\nr3 = %s\ncall %d", recordAt+where, a.room, from, helper)
	c.keepText(recordAt+a.offset+4*i, where)
}

// keepText notes where a text is whose length, or what is wrong, is in r0.
func (c *code) keepText(at, where int) {
	fault := c.label()
	c.line("r1 = %d\nif r0 s<= 0 goto %s\nr0 <<= 16\nr1 |= r0\n%s: *(u32 *)(r7 + %d) = r1", where, fault, fault, at)
}

// address leaves in r8 the address that a fetchMemory reads.
func (c *code) address(f *fetch) {
	if f.kind != fetchMemory && f.kind != fetchWord {
		c.value(f)
		return
	}
	c.value(f.of)
	if f.number != 0 {
		c.line("r8 += %d", f.number)
	}
}

// value leaves in r8 what a fetch finds, as 8 bytes.
func (c *code) value(f *fetch) {
	switch f.kind {
	case fetchReg:
		c.line("r8 = *(u64 *)(r6 + %d)", f.number)
	case fetchStack:
		c.line("r8 = *(u64 *)(r6 + %d)", goabi.PtRegsSP)
	case fetchNumber:
		c.line("r8 = %#x ll", uint64(f.number))
	case fetchField:
		c.line("r8 = *(%s *)(r6 + %d)", f.field.load(), f.field.Offset)
	case fetchMemory, fetchWord:
		c.address(f)
		c.line("r1 = r10\nr1 += -16\nr2 = 8\nr3 = r8\ncall %d\nr8 = *(u64 *)(r10 - 16)", reading(f.user))
	default:
		c.line("r8 = 0")
	}
}

// load is the type by which a number is read.
func (f *field) load() string {
	sign := "u"
	if f.Signed && f.Size < 8 {
		sign = "s"
	}
	return fmt.Sprintf("%s%d", sign, 8*f.Size)
}

// put puts the record into the ring, if that is wanted; else it continues at over.
func (c *code) put(s *state, size int, over string) {
	for _, word := range []int{tracingOn, s.slot + 1} {
		c.control(word)
		c.line("r0 = *(u64 *)(r0 + 0)\nif r0 == 0 goto %s", over)
	}
	c.output(size)
}

// output puts what is in scratch into the ring.
func (c *code) output(size int) {
	c.line("r1 = map[idx:%d]\nr2 = r7\nr3 = %d\nr4 = 0\ncall 130", ringMap, recordAt+size)
}

func (c *code) end() { c.line("out: r0 = 0\nexit") }
