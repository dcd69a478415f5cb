package main

import (
	"errors"
	"os"
	"syscall"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
)

// goingOn returns a program that continues as the one at an index of an array, or returns 7. Before that it adds 1
// to the first word of counts, if there is one.
func goingOn(kind ebpf.ProgramType, next, counts *ebpf.Map, index int32) (*ebpf.Program, error) {
	insns := asm.Instructions{asm.Mov.Reg(asm.R6, asm.R1)}
	if counts != nil {
		insns = append(insns, asm.LoadMapValue(asm.R1, counts.FD(), 0), asm.Mov.Imm(asm.R2, 1), asm.StoreXAdd(asm.R1, asm.R2, asm.DWord))
	}
	insns = append(insns, asm.Mov.Reg(asm.R1, asm.R6), asm.LoadMapPtr(asm.R2, next.FD()), asm.Mov.Imm(asm.R3, index), asm.FnTailCall.Call(), asm.Mov.Imm(asm.R0, 7))
	return load(kind, 0, insns...)
}

// returns runs a program with the argument 41.
func returns(p *ebpf.Program, wanted uint32) {
	want("what it returns", got(p.Run(&ebpf.RunOptions{Context: [1]uint64{41}})), wanted)
}

// tails has programs continue as others.
func tails() {
	next := newMap(ebpf.ProgramArray, 4, 4, 4, 0)
	defer next.Close()
	counts := newMap(ebpf.Array, 4, 8, 1, 0)
	defer counts.Close()
	first := got(goingOn(ebpf.RawTracepoint, next, nil, 1))
	defer first.Close()
	self := got(goingOn(ebpf.RawTracepoint, next, counts, 0))
	defer self.Close()
	last := got(load(ebpf.RawTracepoint, 0, asm.LoadMem(asm.R0, asm.R1, 0, asm.DWord), asm.Add.Imm(asm.R0, 1)))
	returns(first, 7)
	check(next.Put(uint32(1), last), last.Close())
	returns(first, 42)
	check(next.Put(uint32(0), self))
	returns(self, 7)
	want("runs of one that continues as itself", at[uint64](counts, 0), 34)
	elements(next, self)
	refusedTails(next)
	probedTails()
	abandoned()
}

// elements of an array are programs, at each index one or none.
func elements(next *ebpf.Map, self *ebpf.Program) {
	found := at[*ebpf.Program](next, 0)
	defer found.Close()
	a, _ := found.Info()
	b, _ := self.Info()
	var key, keys uint32
	err := next.NextKey(nil, &key)
	for ; err == nil; keys++ {
		err = next.NextKey(key, &key)
	}
	want("what is there", a.Tag, b.Tag)
	want("keys", keys, 4)
	want("what is not there", errors.Is(next.Lookup(uint32(3), new(*ebpf.Program)), ebpf.ErrKeyNotExist), true)
	check(next.Delete(uint32(0)))
	want("what was removed", errors.Is(next.Delete(uint32(0)), ebpf.ErrKeyNotExist), true)
	returns(self, 7)
}

// refusedTails are programs that find something else, other descriptors and indices.
func refusedTails(next *ebpf.Map) {
	other := got(load(ebpf.Kprobe, 0, asm.Mov.Imm(asm.R0, 0)))
	defer other.Close()
	_, user := goingOn(ebpf.Kprobe, next, nil, 0)
	again := got(goingOn(ebpf.RawTracepoint, next, nil, 0))
	defer again.Close()
	for _, c := range []struct {
		what  string
		err   error
		errno syscall.Errno
	}{
		{"a program of another type", next.Put(uint32(0), other), syscall.EINVAL},
		{"an array of another type's programs", user, syscall.EINVAL},
		{"a map", next.Put(uint32(0), uint32(next.FD())), syscall.EINVAL},
		{"an index after the last", next.Put(uint32(4), again), syscall.E2BIG},
		{"only a new program", next.Update(uint32(0), again, ebpf.UpdateNoExist), syscall.EINVAL},
	} {
		if !errors.Is(c.err, c.errno) {
			fail("%s: %v, want %v", c.what, c.err, c.errno)
		}
	}
}

// probedTails: a program at a probe continues as one that counts.
func probedTails() {
	next := newMap(ebpf.ProgramArray, 4, 4, 1, 0)
	defer next.Close()
	first := got(goingOn(ebpf.Kprobe, next, nil, 0))
	defer first.Close()
	p, counts := counting(0)
	defer counts.Close()
	check(next.Put(uint32(0), p), p.Close())
	l := got(link.Kprobe("syscall_getppid", first, nil))
	for range 20 {
		use()
	}
	check(l.Close())
	want("calls", at[uint64](counts, 0) >= 20, true)
}

// abandoned: an array that only programs use has none any more, so that one that continues as itself is freed.
func abandoned() {
	next := newMap(ebpf.ProgramArray, 4, 4, 1, 0)
	self := got(goingOn(ebpf.RawTracepoint, next, nil, 0))
	id, _ := got(self.Info()).ID()
	check(next.Put(uint32(0), self), self.Close())
	check(got(ebpf.NewProgramFromID(id)).Close(), next.Close())
	if _, err := ebpf.NewProgramFromID(id); !errors.Is(err, os.ErrNotExist) {
		fail("a program in an array that nothing holds: %v", err)
	}
}
