package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"
)

// load loads a program of type kprobe or another.
func load(kind ebpf.ProgramType, attach ebpf.AttachType, insns ...asm.Instruction) (*ebpf.Program, error) {
	return ebpf.NewProgram(&ebpf.ProgramSpec{Name: "trial", Type: kind, AttachType: attach, License: "GPL", Instructions: append(insns, asm.Return())})
}

// refused: the verifier says why.
func refused() error {
	_, err := load(ebpf.Kprobe, 0, asm.Mov.Reg(asm.R0, asm.R7))
	var why *ebpf.VerifierError
	if !errors.As(err, &why) || !strings.Contains(fmt.Sprintf("%+v", why), "R7 !read_ok") {
		return fmt.Errorf("a register that was not written: %w", err)
	}
	return nil
}

// raw runs a program with arguments.
func raw() error {
	p, err := load(ebpf.RawTracepoint, 0, asm.LoadMem(asm.R0, asm.R1, 8, asm.DWord), asm.Add.Imm(asm.R0, 1))
	if err != nil {
		return err
	}
	defer p.Close()
	ret, err := p.Run(&ebpf.RunOptions{Context: [2]uint64{7, 41}})
	return errors.Join(err, want("what it returns", ret, 42))
}

// information tells what was loaded.
func information() error {
	p, err := load(ebpf.SocketFilter, 0, asm.Mov.Imm(asm.R0, 1))
	if err != nil {
		return err
	}
	defer p.Close()
	info, err := p.Info()
	if err != nil {
		return err
	}
	insns, err := info.Instructions()
	if err != nil {
		return err
	}
	code, ok := info.JitedInsns()
	if err := errors.Join(want("name", info.Name, "trial"), want("instructions", len(insns), 2), want("machine code", ok && len(code) > 0, true)); err != nil {
		return err
	}
	id, _ := info.ID()
	again, err := ebpf.NewProgramFromID(id)
	if err != nil {
		return err
	}
	return again.Close()
}

// types of the kernel have a function that everybody knows.
func types() error {
	spec, err := btf.LoadKernelSpec()
	if err != nil {
		return err
	}
	var read *btf.Func
	return spec.TypeByName("vfs_Read", &read)
}

// counting counts in a map, and returns what was counted.
func counting(kind ebpf.AttachType) (*ebpf.Program, *ebpf.Map, error) {
	m, err := newMap(ebpf.Array, 4, 8, 1, 0)
	if err != nil {
		return nil, nil, err
	}
	p, err := load(ebpf.Kprobe, kind,
		asm.StoreImm(asm.RFP, -4, 0, asm.Word), asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, -4), asm.LoadMapPtr(asm.R1, m.FD()),
		asm.FnMapLookupElem.Call(), asm.JEq.Imm(asm.R0, 0, "out"), asm.Mov.Imm(asm.R1, 1), asm.StoreXAdd(asm.R0, asm.R1, asm.DWord),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("out"))
	return p, m, err
}

// counted returns how often a program was called that attach attaches, while the file was read n times.
func counted(kind ebpf.AttachType, attach func(p *ebpf.Program) (link.Link, error), n int) (uint64, error) {
	p, m, err := counting(kind)
	if err != nil {
		return 0, err
	}
	defer p.Close()
	defer m.Close()
	l, err := attach(p)
	if err != nil {
		return 0, err
	}
	defer l.Close()
	if _, err := l.Info(); err != nil {
		return 0, err
	}
	for range n {
		use()
	}
	var count uint64
	return count, m.Lookup(uint32(0), &count)
}

// use is what is probed here, and makes the kernel do what is probed there.
//
//go:noinline
func use() { os.Getppid() }

func kprobes() error {
	n, err := counted(ebpf.AttachTraceKprobeMulti, func(p *ebpf.Program) (link.Link, error) {
		return link.KprobeMulti(p, link.KprobeMultiOptions{Symbols: []string{"sonde/linux/syscall.getppid"}})
	}, 50)
	return errors.Join(err, want("calls", n >= 50, true))
}

func kretprobes() error {
	n, err := counted(ebpf.AttachTraceKprobeMulti, func(p *ebpf.Program) (link.Link, error) {
		return link.KretprobeMulti(p, link.KprobeMultiOptions{Symbols: []string{"sonde/linux/syscall.getppid"}})
	}, 50)
	return errors.Join(err, want("returns", n >= 50, true))
}

func uprobes() error {
	n, err := counted(ebpf.AttachTraceUprobeMulti, func(p *ebpf.Program) (link.Link, error) {
		exe, err := link.OpenExecutable("/proc/self/exe")
		if err != nil {
			return nil, err
		}
		return exe.UprobeMulti([]string{"main.use"}, p, nil)
	}, 30)
	return errors.Join(err, want("calls", n, 30))
}

// ring reads records that a program writes.
func ring() error {
	m, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.RingBuf, MaxEntries: 4096})
	if err != nil {
		return err
	}
	defer m.Close()
	p, err := load(ebpf.RawTracepoint, 0,
		asm.LoadMem(asm.R6, asm.R1, 0, asm.DWord),
		asm.LoadMapPtr(asm.R1, m.FD()), asm.Mov.Imm(asm.R2, 24), asm.Mov.Imm(asm.R3, 0), asm.FnRingbufReserve.Call(), asm.JEq.Imm(asm.R0, 0, "out"),
		asm.StoreMem(asm.R0, 0, asm.R6, asm.DWord), asm.StoreMem(asm.R0, 8, asm.R6, asm.DWord), asm.StoreMem(asm.R0, 16, asm.R6, asm.DWord),
		asm.Mov.Reg(asm.R1, asm.R0), asm.Mov.Imm(asm.R2, 0), asm.FnRingbufSubmit.Call(),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("out"))
	if err != nil {
		return err
	}
	defer p.Close()
	r, err := ringbuf.NewReader(m)
	if err != nil {
		return err
	}
	defer r.Close()
	const all = 1000 // many times around
	for i := range uint64(all) {
		if _, err := p.Run(&ebpf.RunOptions{Context: [1]uint64{i}}); err != nil {
			return err
		}
		r.SetDeadline(time.Now().Add(5 * time.Second))
		rec, err := r.Read()
		if err != nil {
			return fmt.Errorf("record %d: %w", i, err)
		}
		if len(rec.RawSample) != 24 || rec.RawSample[16] != byte(i) || rec.RawSample[1] != byte(i>>8) {
			return fmt.Errorf("record %d is %x", i, rec.RawSample)
		}
	}
	r.SetDeadline(time.Now().Add(20 * time.Millisecond))
	if _, err := r.Read(); !errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("an empty ring: %w", err)
	}
	return nil
}
