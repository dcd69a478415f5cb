package main

import (
	"fmt"
	"slices"

	lab6 "sonde/course/labs/6/starter"
)

const (
	size    = 5 // bytes of a jump
	second  = 2 // where the second instruction of the old code begins
	maxCPUs = 3
	outside = -1 // a CPU that executes other code, and may come here at any time
)

// A step is what a protocol does: a write if there are bytes, or else the other two.
type step struct {
	off   int
	bytes []byte
	wait  bool
}

// A protocol is what a student's function has done, and what it should do.
type protocol struct {
	name     string
	from, to [size]byte
	steps    []step
	odd      string // what cannot be done
}

// Write, Sync and Wait make a protocol a machine that takes down what is done to it.
func (p *protocol) Write(off int, bytes ...byte) {
	if off < 0 || len(bytes) == 0 || off+len(bytes) > size {
		p.odd = fmt.Sprintf("%s writes %d bytes at +%d", p.name, len(bytes), off)
		return
	}
	p.add(step{off: off, bytes: slices.Clone(bytes)})
}

// Sync waits until all CPUs have synchronized.
func (p *protocol) Sync() { p.add(step{}) }

// Wait waits until no CPU is inside.
func (p *protocol) Wait() { p.add(step{wait: true}) }

const maxSteps = 20

func (p *protocol) add(s step) {
	if p.steps = append(p.steps, s); len(p.steps) > maxSteps {
		p.odd = fmt.Sprintf("%s takes more than %d steps", p.name, maxSteps)
		p.steps = p.steps[:maxSteps]
	}
}

// record takes down what a function does.
func record(name string, from, to [size]byte, f func(lab6.Machine)) *protocol {
	p := &protocol{name: name, from: from, to: to}
	f(p)
	return p
}

// needless returns how many steps can be left out, one at a time, and nothing goes wrong.
func (p *protocol) needless() (n int) {
	for i := range p.steps {
		less := *p
		less.steps = slices.Delete(slices.Clone(p.steps), i, i+1)
		if less.try(2, true) == "" {
			n++
		}
	}
	return n
}

// A cpu is where a CPU stands, and what it may read in each byte: one of a set of values.
type cpu struct {
	at   int8
	sees [size]uint16 // bits by index in explorer.values
}

// A state is how far the protocol is, and what each CPU does.
type state struct {
	step int8
	done uint8 // bytes that the write has stored, CPUs that have synchronized
	mem  [size]uint8
	cpus [maxCPUs]cpu
}

// An explorer goes through all states.
type explorer struct {
	*protocol
	cpus       int
	interrupts bool
	code, jump [size]byte
	values     []byte
	seen       map[state]bool
	todo       []state
	wrong      string
}

// try goes through all orders in which things can happen, and returns what goes wrong, "" if nothing.
func (p *protocol) try(cpus int, interrupts bool) string {
	if p.odd != "" {
		return p.odd
	}
	x := &explorer{protocol: p, cpus: cpus, interrupts: interrupts, code: p.from, jump: p.to, seen: map[state]bool{}}
	if p.name == "Remove" {
		x.code, x.jump = p.to, p.from
	}
	var s state
	for i, b := range p.from {
		s.mem[i] = x.index(b)
		for c := range s.cpus {
			s.cpus[c].sees[i] = 1 << s.mem[i]
		}
	}
	for c := range s.cpus {
		s.cpus[c].at = outside
	}
	for x.visit(s); len(x.todo) > 0 && x.wrong == ""; {
		s, x.todo = x.todo[len(x.todo)-1], x.todo[:len(x.todo)-1]
		x.protocolGoesOn(s)
		for c := range x.cpus {
			x.cpuGoesOn(s, c)
		}
	}
	return x.wrong
}

// index returns the number of a value.
func (x *explorer) index(b byte) uint8 {
	if i := slices.Index(x.values, b); i >= 0 {
		return uint8(i)
	}
	x.values = append(x.values, b)
	return uint8(len(x.values) - 1)
}

func (x *explorer) visit(s state) {
	if !x.seen[s] {
		x.seen[s] = true
		x.todo = append(x.todo, s)
	}
}

// protocolGoesOn visits what the next step of the protocol can lead to.
func (x *explorer) protocolGoesOn(s state) {
	if int(s.step) == len(x.steps) {
		for i, b := range x.to {
			if x.values[s.mem[i]] != b {
				x.wrong = fmt.Sprintf("%s ends, and byte %d is not what it should be", x.name, i)
			}
		}
		return
	}
	switch now := x.steps[s.step]; {
	case len(now.bytes) > 0:
		x.store(s, now)
	case now.wait:
		for _, c := range s.cpus[:x.cpus] {
			if c.at == second {
				return
			}
		}
		s.step++
		x.visit(s)
	default:
		x.sync(s)
	}
}

// store stores any byte that is not stored yet.
func (x *explorer) store(s state, now step) {
	for i, b := range now.bytes {
		if s.done&(1<<i) != 0 {
			continue
		}
		next, v := s, x.index(b)
		next.mem[now.off+i] = v
		for c := range next.cpus {
			next.cpus[c].sees[now.off+i] |= 1 << v
		}
		if next.done |= 1 << i; next.done == 1<<len(now.bytes)-1 {
			next.step, next.done = s.step+1, 0
		}
		x.visit(next)
	}
}

// sync lets any CPU synchronize that can and has not: at its next interrupt, or, if there are none
// inside, when it is outside.
func (x *explorer) sync(s state) {
	for c := range x.cpus {
		if s.done&(1<<c) != 0 || !x.interrupts && s.cpus[c].at != outside {
			continue
		}
		next := s
		for i := range size {
			next.cpus[c].sees[i] = 1 << s.mem[i]
		}
		if next.done |= 1 << c; next.done == 1<<x.cpus-1 {
			next.step, next.done = s.step+1, 0
		}
		x.visit(next)
	}
}

// cpuGoesOn visits what a CPU can do.
func (x *explorer) cpuGoesOn(s state, c int) {
	now := &s.cpus[c]
	if now.at == outside {
		now.at = 0
		x.visit(s)
		return
	}
	at := int(now.at)
	for v := range x.values {
		if now.sees[at]&(1<<v) == 0 {
			continue
		}
		length, to := x.instruction(at, x.values[v])
		if length == 0 || !x.reads(now, at, length, x.values[v]) {
			x.mixture(s, c, at)
			return
		}
		next := s
		next.cpus[c].at = to
		x.visit(next)
	}
}

// instruction returns the length of the instruction at an offset that begins with a byte, 0 if there is
// none, and where the CPU stands after it.
func (x *explorer) instruction(at int, b byte) (length int, to int8) {
	switch {
	case b == lab6.Int3:
		return 1, outside
	case at == 0 && b == x.jump[0]:
		return size, outside
	case at == 0 && b == x.code[0]:
		return second, second
	case at == second && b == x.code[second]:
		return size - second, outside
	}
	return 0, outside
}

// reads reports whether all that a CPU can read after the first byte of an instruction belongs to it.
func (x *explorer) reads(c *cpu, at, length int, first byte) bool {
	is := x.jump
	if first == x.code[at] {
		is = x.code
	}
	for i := at + 1; i < at+length; i++ {
		if c.sees[i] != 1<<x.index(is[i]) {
			return false
		}
	}
	return true
}

func (x *explorer) mixture(s state, c, at int) {
	bytes := ""
	for i := at; i < size; i++ {
		for v, b := range x.values {
			if s.cpus[c].sees[i]&(1<<v) != 0 {
				bytes += fmt.Sprintf("%02x|", b)
			}
		}
		bytes = bytes[:len(bytes)-1] + " "
	}
	x.wrong = fmt.Sprintf("%s: when %d of %d steps are done, a CPU at +%d may read %sthere, and executes what nobody has written", x.name, s.step, len(x.steps), at, bytes)
}
