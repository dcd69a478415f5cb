package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/perf"
)

// atLeast attaches a program by f, and fails unless it was called n times or more while use was.
func atLeast(n uint64, f func(p *ebpf.Program) (link.Link, error)) error {
	got, err := counted(0, f, int(n))
	return errors.Join(err, want(fmt.Sprintf("%d calls", got), got >= n, true))
}

func kprobe() error {
	return atLeast(40, func(p *ebpf.Program) (link.Link, error) { return link.Kprobe("syscall_getppid", p, nil) })
}

func kretprobe() error {
	return atLeast(40, func(p *ebpf.Program) (link.Link, error) { return link.Kretprobe("syscall_getppid", p, nil) })
}

func uprobe() error {
	return atLeast(20, func(p *ebpf.Program) (link.Link, error) {
		exe, err := link.OpenExecutable("/proc/self/exe")
		if err != nil {
			return nil, err
		}
		return exe.Uprobe("main.use", p, nil)
	})
}

func uretprobe() error {
	return atLeast(20, func(p *ebpf.Program) (link.Link, error) {
		exe, err := link.OpenExecutable("/proc/self/exe")
		if err != nil {
			return nil, err
		}
		return exe.Uretprobe("main.use", p, nil)
	})
}

// tracepoint counts calls of a system call by its tracepoint, of which it reads the number.
func tracepoint() error {
	m, err := newMap(ebpf.Array, 4, 8, 1, 0)
	if err != nil {
		return err
	}
	defer m.Close()
	p, err := load(ebpf.TracePoint, 0,
		asm.LoadMem(asm.R6, asm.R1, 8, asm.Word),
		asm.StoreImm(asm.RFP, -4, 0, asm.Word), asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, -4), asm.LoadMapPtr(asm.R1, m.FD()),
		asm.FnMapLookupElem.Call(), asm.JEq.Imm(asm.R0, 0, "out"), asm.StoreMem(asm.R0, 0, asm.R6, asm.DWord),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("out"))
	if err != nil {
		return err
	}
	defer p.Close()
	l, err := link.Tracepoint("syscalls", "sys_enter_getppid", p, nil)
	if err != nil {
		return err
	}
	defer l.Close()
	use()
	var number uint64
	return errors.Join(m.Lookup(uint32(0), &number), want("the call", number, 110))
}

// perfEvents reads what a program puts out.
func perfEvents() error {
	m, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.PerfEventArray})
	if err != nil {
		return err
	}
	defer m.Close()
	p, err := load(ebpf.Kprobe, 0,
		asm.Mov.Imm(asm.R3, 0x1234), asm.StoreMem(asm.RFP, -8, asm.R3, asm.DWord), asm.LoadMapPtr(asm.R2, m.FD()), asm.LoadImm(asm.R3, 0xffffffff, asm.DWord),
		asm.Mov.Reg(asm.R4, asm.RFP), asm.Add.Imm(asm.R4, -8), asm.Mov.Imm(asm.R5, 8), asm.FnPerfEventOutput.Call(), asm.Mov.Imm(asm.R0, 0))
	if err != nil {
		return err
	}
	defer p.Close()
	r, err := perf.NewReader(m, os.Getpagesize())
	if err != nil {
		return err
	}
	defer r.Close()
	exe, err := link.OpenExecutable("/proc/self/exe")
	if err != nil {
		return err
	}
	l, err := exe.Uprobe("main.use", p, nil)
	if err != nil {
		return err
	}
	defer l.Close()
	for i := range 100 {
		use()
		r.SetDeadline(time.Now().Add(5 * time.Second))
		rec, err := r.Read()
		if err != nil {
			return fmt.Errorf("record %d: %w", i, err)
		}
		if rec.LostSamples != 0 || len(rec.RawSample) < 8 || binary.LittleEndian.Uint64(rec.RawSample) != 0x1234 {
			return fmt.Errorf("record %d is %x, and %d are lost", i, rec.RawSample, rec.LostSamples)
		}
	}
	return nil
}

// cookies have a program find what each of its places was given.
func cookies() error {
	m, err := newMap(ebpf.Array, 4, 8, 1, 0)
	if err != nil {
		return err
	}
	defer m.Close()
	p, err := load(ebpf.Kprobe, 0,
		asm.FnGetAttachCookie.Call(), asm.Mov.Reg(asm.R6, asm.R0),
		asm.StoreImm(asm.RFP, -4, 0, asm.Word), asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, -4), asm.LoadMapPtr(asm.R1, m.FD()),
		asm.FnMapLookupElem.Call(), asm.JEq.Imm(asm.R0, 0, "out"), asm.StoreMem(asm.R0, 0, asm.R6, asm.DWord),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("out"))
	if err != nil {
		return err
	}
	defer p.Close()
	exe, err := link.OpenExecutable("/proc/self/exe")
	if err != nil {
		return err
	}
	for cookie, attach := range map[uint64]func() (link.Link, error){
		7: func() (link.Link, error) { return link.Kprobe("syscall_getppid", p, &link.KprobeOptions{Cookie: 7}) },
		9: func() (link.Link, error) { return exe.Uprobe("main.use", p, &link.UprobeOptions{Cookie: 9}) },
	} {
		l, err := attach()
		if err != nil {
			return err
		}
		use()
		l.Close()
		var got uint64
		if err := errors.Join(m.Lookup(uint32(0), &got), want("the cookie", got, cookie)); err != nil {
			return err
		}
	}
	return nil
}

// objectDir is where object files are.
var objectDir string

// objects loads what clang has compiled: with maps and variables by BTF, and fields that are found by the kernel's
// types (CO-RE).
func objects() error {
	spec, err := ebpf.LoadCollectionSpec(filepath.Join(objectDir, "latency.o"))
	if err != nil {
		return err
	}
	if err := spec.Variables["kind"].Set(uint32(9)); err != nil {
		return err
	}
	all, err := ebpf.NewCollection(spec)
	if err != nil {
		return err
	}
	defer all.Close()
	var number uint32
	if err := errors.Join(all.Variables["number"].Get(&number), want("a variable", number, 100)); err != nil {
		return err
	}
	spec, err = ebpf.LoadCollectionSpec(filepath.Join(objectDir, "core.o"))
	if err != nil {
		return err
	}
	for _, name := range []string{"loads", "guarded"} {
		p, err := ebpf.NewCollection(&ebpf.CollectionSpec{Maps: spec.Maps, Programs: map[string]*ebpf.ProgramSpec{name: spec.Programs[name]}, Types: spec.Types, ByteOrder: spec.ByteOrder})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		p.Close()
	}
	return nil
}

// rawPoint finds the number of a call among all that are made.
func rawPoint() error {
	m, err := newMap(ebpf.Array, 4, 8, 400, 0)
	if err != nil {
		return err
	}
	defer m.Close()
	p, err := load(ebpf.RawTracepoint, 0,
		asm.LoadMem(asm.R6, asm.R1, 8, asm.DWord), asm.StoreMem(asm.RFP, -4, asm.R6, asm.Word),
		asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, -4), asm.LoadMapPtr(asm.R1, m.FD()),
		asm.FnMapLookupElem.Call(), asm.JEq.Imm(asm.R0, 0, "out"), asm.Mov.Imm(asm.R1, 1), asm.StoreXAdd(asm.R0, asm.R1, asm.DWord),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("out"))
	if err != nil {
		return err
	}
	defer p.Close()
	l, err := link.AttachRawTracepoint(link.RawTracepointOptions{Name: "sys_enter", Program: p})
	if err != nil {
		return err
	}
	defer l.Close()
	info, err := l.Info()
	if err != nil {
		return err
	}
	for range 10 {
		use()
	}
	var n uint64
	return errors.Join(m.Lookup(uint32(110), &n), want(fmt.Sprintf("%d calls", n), n >= 10, true), want("the kind", info.Type, link.RawTracepointType))
}
