package main

import (
	"errors"
	"fmt"
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
func returns(p *ebpf.Program, wanted uint32) error {
	got, err := p.Run(&ebpf.RunOptions{Context: [1]uint64{41}})
	return errors.Join(err, want("what it returns", got, wanted))
}

// tails has programs continue as others.
func tails() error {
	next, err := newMap(ebpf.ProgramArray, 4, 4, 4, 0)
	if err != nil {
		return err
	}
	defer next.Close()
	counts, err := newMap(ebpf.Array, 4, 8, 1, 0)
	if err != nil {
		return err
	}
	defer counts.Close()
	first, err := goingOn(ebpf.RawTracepoint, next, nil, 1)
	if err != nil {
		return err
	}
	defer first.Close()
	self, err := goingOn(ebpf.RawTracepoint, next, counts, 0)
	if err != nil {
		return err
	}
	defer self.Close()
	last, err := load(ebpf.RawTracepoint, 0, asm.LoadMem(asm.R0, asm.R1, 0, asm.DWord), asm.Add.Imm(asm.R0, 1))
	if err != nil {
		return err
	}
	if err := errors.Join(returns(first, 7), next.Put(uint32(1), last), last.Close(), returns(first, 42), next.Put(uint32(0), self), returns(self, 7)); err != nil {
		return err
	}
	var runs uint64
	if err := errors.Join(counts.Lookup(uint32(0), &runs), want("runs of one that goes on as itself", runs, 34)); err != nil {
		return err
	}
	return errors.Join(elements(next, self), refusedTails(next), probedTails(), abandoned())
}

// elements of an array are programs, at each index one or none.
func elements(next *ebpf.Map, self *ebpf.Program) error {
	var found *ebpf.Program
	if err := next.Lookup(uint32(0), &found); err != nil {
		return err
	}
	defer found.Close()
	a, _ := found.Info()
	b, _ := self.Info()
	var key, keys uint32
	err := next.NextKey(nil, &key)
	for ; err == nil; keys++ {
		err = next.NextKey(key, &key)
	}
	none := next.Lookup(uint32(3), &found)
	return errors.Join(want("what is there", a.Tag, b.Tag), want("keys", keys, 4), want("what is not there", errors.Is(none, ebpf.ErrKeyNotExist), true),
		next.Delete(uint32(0)), want("what was removed", errors.Is(next.Delete(uint32(0)), ebpf.ErrKeyNotExist), true), returns(self, 7))
}

// refusedTails are programs that find something else, other descriptors and indices.
func refusedTails(next *ebpf.Map) error {
	other, err := load(ebpf.Kprobe, 0, asm.Mov.Imm(asm.R0, 0))
	if err != nil {
		return err
	}
	defer other.Close()
	_, user := goingOn(ebpf.Kprobe, next, nil, 0)
	again, err := goingOn(ebpf.RawTracepoint, next, nil, 0)
	if err != nil {
		return err
	}
	defer again.Close()
	for _, c := range []struct {
		what  string
		err   error
		errno syscall.Errno
	}{
		{"a program of another type", next.Put(uint32(0), other), syscall.EINVAL},
		{"an array of another type's programs", user, syscall.EINVAL},
		{"a map", next.Put(uint32(0), uint32(next.FD())), syscall.EINVAL},
		{"an index behind the last", next.Put(uint32(4), again), syscall.E2BIG},
		{"only a new program", next.Update(uint32(0), again, ebpf.UpdateNoExist), syscall.EINVAL},
	} {
		if !errors.Is(c.err, c.errno) {
			return fmt.Errorf("%s: %v, want %v", c.what, c.err, c.errno)
		}
	}
	return nil
}

// probedTails: a program at a probe continues as one that counts.
func probedTails() error {
	next, err := newMap(ebpf.ProgramArray, 4, 4, 1, 0)
	if err != nil {
		return err
	}
	defer next.Close()
	first, err := goingOn(ebpf.Kprobe, next, nil, 0)
	if err != nil {
		return err
	}
	defer first.Close()
	p, counts, err := counting(0)
	if err != nil {
		return err
	}
	defer counts.Close()
	if err := errors.Join(next.Put(uint32(0), p), p.Close()); err != nil {
		return err
	}
	l, err := link.Kprobe("syscall_getppid", first, nil)
	if err != nil {
		return err
	}
	for range 20 {
		use()
	}
	var n uint64
	return errors.Join(l.Close(), counts.Lookup(uint32(0), &n), want("calls", n >= 20, true))
}

// abandoned: an array that only programs use has none any more, so that one that continues as itself is freed.
func abandoned() error {
	next, err := newMap(ebpf.ProgramArray, 4, 4, 1, 0)
	if err != nil {
		return err
	}
	self, err := goingOn(ebpf.RawTracepoint, next, nil, 0)
	if err != nil {
		return err
	}
	info, err := self.Info()
	if err != nil {
		return err
	}
	id, _ := info.ID()
	if err := errors.Join(next.Put(uint32(0), self), self.Close()); err != nil {
		return err
	}
	kept, err := ebpf.NewProgramFromID(id)
	if err != nil {
		return fmt.Errorf("a program in an array: %w", err)
	}
	if err := errors.Join(kept.Close(), next.Close()); err != nil {
		return err
	}
	if _, err = ebpf.NewProgramFromID(id); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("a program in an array that nobody holds: %v", err)
	}
	return nil
}
