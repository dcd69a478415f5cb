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
func refused() {
	_, err := load(ebpf.Kprobe, 0, asm.Mov.Reg(asm.R0, asm.R7))
	var why *ebpf.VerifierError
	if !errors.As(err, &why) || !strings.Contains(fmt.Sprintf("%+v", why), "R7 !read_ok") {
		fail("a register that was not written: %w", err)
	}
}

// raw runs a program with arguments.
func raw() {
	p := got(load(ebpf.RawTracepoint, 0, asm.LoadMem(asm.R0, asm.R1, 8, asm.DWord), asm.Add.Imm(asm.R0, 1)))
	defer p.Close()
	want("what it returns", got(p.Run(&ebpf.RunOptions{Context: [2]uint64{7, 41}})), 42)
}

// information tells what was loaded.
func information() {
	p := got(load(ebpf.SocketFilter, 0, asm.Mov.Imm(asm.R0, 1)))
	defer p.Close()
	info := got(p.Info())
	insns := got(info.Instructions())
	code, ok := info.JitedInsns()
	want("name", info.Name, "trial")
	want("instructions", len(insns), 2)
	want("machine code", ok && len(code) > 0, true)
	id, _ := info.ID()
	check(got(ebpf.NewProgramFromID(id)).Close())
}

// types of the kernel have a function that everybody knows.
func types() {
	var read *btf.Func
	check(got(btf.LoadKernelSpec()).TypeByName("vfs_Read", &read))
}

// counting counts in a map, and returns what was counted.
func counting(kind ebpf.AttachType) (*ebpf.Program, *ebpf.Map) {
	m := newMap(ebpf.Array, 4, 8, 1, 0)
	return got(load(ebpf.Kprobe, kind,
		asm.StoreImm(asm.RFP, -4, 0, asm.Word), asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, -4), asm.LoadMapPtr(asm.R1, m.FD()),
		asm.FnMapLookupElem.Call(), asm.JEq.Imm(asm.R0, 0, "out"), asm.Mov.Imm(asm.R1, 1), asm.StoreXAdd(asm.R0, asm.R1, asm.DWord),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("out"))), m
}

// counted returns how often a program was called that attach attaches, while the file was read n times.
func counted(kind ebpf.AttachType, attach func(p *ebpf.Program) (link.Link, error), n int) uint64 {
	p, m := counting(kind)
	defer p.Close()
	defer m.Close()
	l := got(attach(p))
	defer l.Close()
	got(l.Info())
	for range n {
		use()
	}
	return at[uint64](m, 0)
}

// use is what is probed here, and makes the kernel do what is probed there.
//
//go:noinline
func use() { os.Getppid() }

func kprobes() {
	n := counted(ebpf.AttachTraceKprobeMulti, func(p *ebpf.Program) (link.Link, error) {
		return link.KprobeMulti(p, link.KprobeMultiOptions{Symbols: []string{"sonde/linux/syscall.getppid"}})
	}, 50)
	want("calls", n >= 50, true)
}

func kretprobes() {
	n := counted(ebpf.AttachTraceKprobeMulti, func(p *ebpf.Program) (link.Link, error) {
		return link.KretprobeMulti(p, link.KprobeMultiOptions{Symbols: []string{"sonde/linux/syscall.getppid"}})
	}, 50)
	want("returns", n >= 50, true)
}

func uprobes() {
	n := counted(ebpf.AttachTraceUprobeMulti, func(p *ebpf.Program) (link.Link, error) {
		return executable().UprobeMulti([]string{"main.use"}, p, nil)
	}, 30)
	want("calls", n, 30)
}

// ring reads records that a program writes.
func ring() {
	m := got(ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.RingBuf, MaxEntries: 4096}))
	defer m.Close()
	p := got(load(ebpf.RawTracepoint, 0,
		asm.LoadMem(asm.R6, asm.R1, 0, asm.DWord),
		asm.LoadMapPtr(asm.R1, m.FD()), asm.Mov.Imm(asm.R2, 24), asm.Mov.Imm(asm.R3, 0), asm.FnRingbufReserve.Call(), asm.JEq.Imm(asm.R0, 0, "out"),
		asm.StoreMem(asm.R0, 0, asm.R6, asm.DWord), asm.StoreMem(asm.R0, 8, asm.R6, asm.DWord), asm.StoreMem(asm.R0, 16, asm.R6, asm.DWord),
		asm.Mov.Reg(asm.R1, asm.R0), asm.Mov.Imm(asm.R2, 0), asm.FnRingbufSubmit.Call(),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("out")))
	defer p.Close()
	r := got(ringbuf.NewReader(m))
	defer r.Close()
	const all = 1000 // many times around
	for i := range uint64(all) {
		got(p.Run(&ebpf.RunOptions{Context: [1]uint64{i}}))
		r.SetDeadline(time.Now().Add(5 * time.Second))
		rec, err := r.Read()
		if err != nil {
			fail("record %d: %w", i, err)
		}
		if len(rec.RawSample) != 24 || rec.RawSample[16] != byte(i) || rec.RawSample[1] != byte(i>>8) {
			fail("record %d is %x", i, rec.RawSample)
		}
	}
	r.SetDeadline(time.Now().Add(20 * time.Millisecond))
	if _, err := r.Read(); !errors.Is(err, os.ErrDeadlineExceeded) {
		fail("an empty ring: %w", err)
	}
}
