//go:build tamago

// Package bpf tests eBPF programs at probes of every kind.
package bpf

import (
	"encoding/binary"
	"errors"
	"strings"
	"syscall"

	"sonde/kernel/cpu"
	"sonde/ktest/suites"
	"sonde/probe/program"
)

func init() {
	suites.Add("bpf/program_on_each_kind", eachKind)
	suites.Add("bpf/program_reads_registers_and_memory", reads)
	suites.Add("bpf/helpers", helpers)
	suites.Add("bpf/refused", refused)
	suites.Add("bpf/hits_inside_a_program", nested)
	suites.Add("bpf/program_that_faults_is_named", faults)
	suites.Add("bpf/nothing_is_left", left)
}

// pkg is how the names of the targets begin.
const pkg = "ktest/suites/bpf."

//go:noinline
func square(n uint64) uint64 { return n * n }

//go:noinline
func cube(n uint64) uint64 { return n * n * n }

var watched uint64

// count is a program that counts its hits for each CPU.
const count = `
	map hits percpu_array 4 8 1
	*(u32 *)(r10 - 4) = 0
	r1 = map[idx:0]
	r2 = r10
	r2 += -4
	call 1
	if r0 == 0 goto out
	r1 = *(u64 *)(r0 + 0)
	r1 += 1
	*(u64 *)(r0 + 0) = r1
out:	r0 = 0
	exit`

// loaded is a program that is loaded, with its maps.
type loaded struct {
	*program.Prog
	maps []*program.Map
}

func load(t *suites.T, text string) *loaded {
	p, maps, err := program.Assemble("test", text)
	t.Must(err)
	prog, err := program.Load(p, maps, nil)
	t.Must(err)
	return &loaded{prog, maps}
}

func (p *loaded) close() {
	p.Close()
	for _, m := range p.maps {
		m.Close()
	}
}

func (p *loaded) attach(t *suites.T, places ...string) *program.Link {
	l, err := p.AttachTo(nil, places...)
	t.Must(err)
	return l
}

func key4(i uint32) []byte { return binary.LittleEndian.AppendUint32(nil, i) }
func key8(i uint64) []byte { return binary.LittleEndian.AppendUint64(nil, i) }

// word returns a word of a map's value, of all CPUs.
func word(t *suites.T, m *program.Map, key []byte) (sum uint64) {
	value := make([]byte, m.Spec.ValueSize)
	for i := range m.Tables() {
		if err := m.Lookup(i, key, value); err != nil && !errors.Is(err, syscall.ENOENT) {
			t.Errorf("%v", err)
		} else if err == nil {
			sum += binary.LittleEndian.Uint64(value)
		}
	}
	return sum
}

// balance checks that what the map counts is what the link's ledger says.
func (p *loaded) balance(t *suites.T, l *program.Link, least uint64) {
	got, sum := l.Ledger(), word(t, p.maps[0], key4(0))
	if got.Handled != sum+p.Recursion() || got.Handled < least || got.Unexplained() != 0 {
		t.Errorf("%s: %+v: the map has %d, %d hits were inside of others, want at least %d", l.Places()[0].Where, got, sum, p.Recursion(), least)
	}
}

func eachKind(t *suites.T) {
	for _, place := range []string{pkg + "square", pkg + "square+0x4", "ret:" + pkg + "square", "w@" + pkg + "watched", "tick:1000hz", "every:1ms"} {
		p := load(t, count)
		l := p.attach(t, place)
		for i := range uint64(200) {
			if watched = i; square(i) != i*i {
				t.Errorf("%s changes the result", place)
			}
		}
		t.Until("hits of "+place, func() bool { return l.Ledger().Handled >= 20 })
		l.Close()
		p.balance(t, l, 20)
		p.close()
	}
}

func reads(t *suites.T) {
	p := load(t, `
		map seen array 4 24 1
		r6 = *(u64 *)(r1 + 80)
		r7 = *(u64 *)(r1 + 128)
		*(u64 *)(r10 - 8) = 0
		r1 = r10
		r1 += -8
		r2 = 8
		r3 = r6
		call 113
		r8 = r0
		r9 = *(u64 *)(r10 - 8)
		r1 = map[idx:0][0]+0
		*(u64 *)(r1 + 0) = r9
		*(u64 *)(r1 + 8) = r7
		*(u64 *)(r1 + 16) = r8
		r0 = 0
		exit`)
	defer p.close()
	watched = 0x1234_5678_9abc
	l := p.attach(t, pkg+"pointed")
	defer l.Close()
	value := make([]byte, 24)
	pointed(&watched)
	t.Must(p.maps[0].Lookup(0, key4(0), value))
	if read, ip := binary.LittleEndian.Uint64(value), binary.LittleEndian.Uint64(value[8:]); read != watched || ip-l.Places()[0].Addr > 1 {
		t.Errorf("read %#x at %#x, want %#x at %#x", read, ip, watched, l.Places()[0].Addr)
	}
	pointed(nil)
	t.Must(p.maps[0].Lookup(0, key4(0), value))
	if code := int64(binary.LittleEndian.Uint64(value[16:])); code != -int64(syscall.EFAULT) || binary.LittleEndian.Uint64(value) != 0 {
		t.Errorf("a wild address: %d, %x", code, value[:8])
	}
}

//go:noinline
func pointed(*uint64) {}

func helpers(t *suites.T) {
	p := load(t, `
		map seen array 4 48 1
		call 5
		r6 = r0
		call 8
		r7 = r0
		call 14
		r8 = r0
		call 15
		r9 = r0
		*(u64 *)(r10 - 16) = -1
		*(u64 *)(r10 - 8) = -1
		r1 = r10
		r1 += -16
		r2 = 16
		call 16
		r1 = map[idx:0][0]+0
		*(u64 *)(r1 + 0) = r6
		*(u64 *)(r1 + 8) = r7
		*(u64 *)(r1 + 16) = r8
		*(u64 *)(r1 + 24) = r9
		r2 = *(u64 *)(r10 - 16)
		*(u64 *)(r1 + 32) = r2
		r2 = *(u64 *)(r10 - 8)
		*(u64 *)(r1 + 40) = r2
		r0 = 0
		exit`)
	defer p.close()
	l := p.attach(t, pkg+"square")
	defer l.Close()
	before := cpu.Nanotime()
	square(1)
	after := cpu.Nanotime()
	value := make([]byte, 48)
	t.Must(p.maps[0].Lookup(0, key4(0), value))
	at := func(i int) uint64 { return binary.LittleEndian.Uint64(value[8*i:]) }
	if at(0) < uint64(before) || at(0) > uint64(after) || at(1) >= uint64(cpu.Num()) || at(2)>>32 != 0 || at(2) < 0x400000 || at(3) != 0 {
		t.Errorf("%x, between %d and %d", value, before, after)
	}
	if comm := strings.TrimRight(string(value[32:]), "\x00"); comm != "ktest" {
		t.Errorf("comm %q", comm)
	}
}

func refused(t *suites.T) {
	for text, want := range map[string]string{
		"r0 = *(u64 *)(r1 + 1000); exit": "invalid bpf_context access",
		"again: goto again":              "",
		"r0 = *(u64 *)(r1 + 120); exit":  "orig_ax",
		"call 9; exit":                   "invalid func unknown#9",
		"r1 = map[idx:0]; r0 = 0; exit":  "",
	} {
		p, maps, err := program.Assemble("test", strings.ReplaceAll(text, ";", "\n"))
		t.Must(err)
		prog, err := program.Load(p, maps, nil)
		if err == nil || !strings.Contains(err.Error(), want) || !errors.Is(err, syscall.EACCES) && !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%s: %v, %v", text, prog, err)
		}
	}
	p := load(t, count)
	if _, err := p.AttachTo(nil, "no.such.function"); err == nil {
		t.Errorf("attached to nothing")
	}
	p.close()
	if _, err := p.AttachTo(nil, pkg+"square"); !errors.Is(err, syscall.EBADF) {
		t.Errorf("attached after it was closed: %v", err)
	}
}

// nested: ticks come while a program runs that a jump has called; a probe is hit in them.
func nested(t *suites.T) {
	p, other := load(t, slow), load(t, count)
	l := p.attach(t, pkg+"square")
	ticks := other.attach(t, "tick:500hz")
	calls := uint64(0)
	t.Until("ticks inside of a program", func() bool {
		for range 100 {
			square(calls)
			calls++
		}
		return ticks.Ledger().Handled > word(t, other.maps[0], key4(0))
	})
	l.Close()
	ticks.Close()
	p.balance(t, l, calls)
	other.balance(t, ticks, 1)
	p.close()
	other.close()
}

// slow counts, and takes a while.
var slow = strings.Replace(count, "*(u32 *)(r10 - 4) = 0", "*(u32 *)(r10 - 4) = 0\n"+strings.Repeat("*(u64 *)(r10 - 16) = 0\n", 4000), 1)

func left(t *suites.T) {
	used := program.InUse()
	for range 20 {
		p := load(t, count)
		p.attach(t, pkg+"square")
		square(2)
		p.close()
	}
	if n := program.InUse(); n != used || len(program.Programs()) != 0 {
		t.Errorf("%d bytes of maps, and %d programs are left", n-used, len(program.Programs()))
	}
}
