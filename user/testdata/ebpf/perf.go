package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/perf"
)

// atLeast attaches a program by attach, and fails unless it was called n times or more while use was.
func atLeast(n uint64, attach func(p *ebpf.Program) (link.Link, error)) {
	if calls := counted(0, attach, int(n)); calls < n {
		fail("%d calls, want %d", calls, n)
	}
}

func kprobe() {
	atLeast(40, func(p *ebpf.Program) (link.Link, error) { return link.Kprobe("syscall_getppid", p, nil) })
}

func kretprobe() {
	atLeast(40, func(p *ebpf.Program) (link.Link, error) { return link.Kretprobe("syscall_getppid", p, nil) })
}

func uprobe() {
	atLeast(20, func(p *ebpf.Program) (link.Link, error) { return executable().Uprobe("main.use", p, nil) })
}

func uretprobe() {
	atLeast(20, func(p *ebpf.Program) (link.Link, error) { return executable().Uretprobe("main.use", p, nil) })
}

// executable is this program.
func executable() *link.Executable { return got(link.OpenExecutable("/proc/self/exe")) }

// tracepoint counts calls of a system call by its tracepoint, of which it reads the number.
func tracepoint() {
	m := newMap(ebpf.Array, 4, 8, 1, 0)
	defer m.Close()
	p := got(load(ebpf.TracePoint, 0, append(asm.Instructions{asm.LoadMem(asm.R6, asm.R1, 8, asm.Word)}, note(m)...)...))
	defer p.Close()
	l := got(link.Tracepoint("syscalls", "sys_enter_getppid", p, nil))
	defer l.Close()
	use()
	want("the call", at[uint64](m, 0), 110)
}

// output puts 0x1234 out, for the CPU that it runs on.
func output(m *ebpf.Map) *ebpf.Program {
	return got(load(ebpf.Kprobe, 0,
		asm.Mov.Imm(asm.R3, 0x1234), asm.StoreMem(asm.RFP, -8, asm.R3, asm.DWord), asm.LoadMapPtr(asm.R2, m.FD()), asm.LoadImm(asm.R3, 0xffffffff, asm.DWord),
		asm.Mov.Reg(asm.R4, asm.RFP), asm.Add.Imm(asm.R4, -8), asm.Mov.Imm(asm.R5, 8), asm.FnPerfEventOutput.Call(), asm.Mov.Imm(asm.R0, 0)))
}

// perfEvents reads what a program puts out.
func perfEvents() {
	m := got(ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.PerfEventArray}))
	defer m.Close()
	p := output(m)
	defer p.Close()
	r := got(perf.NewReader(m, os.Getpagesize()))
	defer r.Close()
	l := got(executable().Uprobe("main.use", p, nil))
	defer l.Close()
	for i := range 100 {
		use()
		r.SetDeadline(time.Now().Add(5 * time.Second))
		rec, err := r.Read()
		if err != nil {
			fail("record %d: %w", i, err)
		}
		if rec.LostSamples != 0 || len(rec.RawSample) < 8 || binary.LittleEndian.Uint64(rec.RawSample) != 0x1234 {
			fail("record %d is %x, and %d are lost", i, rec.RawSample, rec.LostSamples)
		}
	}
}

// cookies have a program find what each of its places was given.
func cookies() {
	m := newMap(ebpf.Array, 4, 8, 1, 0)
	defer m.Close()
	p := got(load(ebpf.Kprobe, 0, append(asm.Instructions{asm.FnGetAttachCookie.Call(), asm.Mov.Reg(asm.R6, asm.R0)}, note(m)...)...))
	defer p.Close()
	for cookie, attach := range map[uint64]func() (link.Link, error){
		7: func() (link.Link, error) { return link.Kprobe("syscall_getppid", p, &link.KprobeOptions{Cookie: 7}) },
		9: func() (link.Link, error) { return executable().Uprobe("main.use", p, &link.UprobeOptions{Cookie: 9}) },
	} {
		l := got(attach())
		use()
		l.Close()
		want("the cookie", at[uint64](m, 0), cookie)
	}
}

// objectDir is where object files are.
var objectDir string

// objects loads what clang has compiled: with maps and variables by BTF, and fields that are found by the kernel's
// types (CO-RE).
func objects() {
	spec := got(ebpf.LoadCollectionSpec(filepath.Join(objectDir, "latency.o")))
	check(spec.Variables["kind"].Set(uint32(9)))
	all := got(ebpf.NewCollection(spec))
	defer all.Close()
	var number uint32
	check(all.Variables["number"].Get(&number))
	want("a variable", number, 100)
	spec = got(ebpf.LoadCollectionSpec(filepath.Join(objectDir, "core.o")))
	for _, name := range []string{"loads", "guarded"} {
		p, err := ebpf.NewCollection(&ebpf.CollectionSpec{Maps: spec.Maps, Programs: map[string]*ebpf.ProgramSpec{name: spec.Programs[name]}, Types: spec.Types, ByteOrder: spec.ByteOrder})
		if err != nil {
			fail("%s: %w", name, err)
		}
		p.Close()
	}
}

// rawPoint finds the number of a call among all that are made.
func rawPoint() {
	m := newMap(ebpf.Array, 4, 8, 400, 0)
	defer m.Close()
	p := got(load(ebpf.RawTracepoint, 0,
		asm.LoadMem(asm.R6, asm.R1, 8, asm.DWord), asm.StoreMem(asm.RFP, -4, asm.R6, asm.Word),
		asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, -4), asm.LoadMapPtr(asm.R1, m.FD()),
		asm.FnMapLookupElem.Call(), asm.JEq.Imm(asm.R0, 0, "out"), asm.Mov.Imm(asm.R1, 1), asm.StoreXAdd(asm.R0, asm.R1, asm.DWord),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("out")))
	defer p.Close()
	l := got(link.AttachRawTracepoint(link.RawTracepointOptions{Name: "sys_enter", Program: p}))
	defer l.Close()
	for range 10 {
		use()
	}
	if n := at[uint64](m, 110); n < 10 {
		fail("%d calls, want 10", n)
	}
	want("the kind", got(l.Info()).Type, link.RawTracepointType)
}
