package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
)

// What the kernel's function gets that serves read(2), and where that lies: a file, a slice of bytes, and who waits.
const (
	readLength = 16
	readResult = 48
	readWords  = 6
)

// room is how many bytes are read at once here, and by nothing else.
const room = 77

// note stores R6 in the only element of a map.
func note(m *ebpf.Map) asm.Instructions {
	return asm.Instructions{
		asm.StoreImm(asm.RFP, -4, 0, asm.Word), asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, -4), asm.LoadMapPtr(asm.R1, m.FD()),
		asm.FnMapLookupElem.Call(), asm.JEq.Imm(asm.R0, 0, "out"), asm.StoreMem(asm.R0, 0, asm.R6, asm.DWord),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("out"),
	}
}

// traced returns what a program notes that is attached to a function of the kernel, while a file of 10 bytes is read.
func traced(attach ebpf.AttachType, function string, insns ...asm.Instruction) uint64 {
	m := newMap(ebpf.Array, 4, 8, 1, 0)
	defer m.Close()
	all := slices.Concat(asm.Instructions{asm.Mov.Reg(asm.R7, asm.R1), asm.LoadMem(asm.R1, asm.R1, readLength, asm.DWord), asm.JNE.Imm(asm.R1, room, "out")}, insns, note(m), asm.Instructions{asm.Return()})
	p := got(ebpf.NewProgram(&ebpf.ProgramSpec{Name: "traced", Type: ebpf.Tracing, AttachType: attach, AttachTo: function, License: "GPL", Instructions: all}))
	defer p.Close()
	for _, by := range []ebpf.AttachType{attach, ebpf.AttachNone} { // as a link, and as tools did before there were such links
		l := got(link.AttachTracing(link.TracingOptions{Program: p, AttachType: by, Cookie: 0}))
		defer l.Close() // if it fails
		want("the kind", got(l.Info()).Type, link.TracingType)
		readFew()
		l.Close()
	}
	return at[uint64](m, 0)
}

// readFew reads 10 bytes with room for more.
func readFew() {
	name := filepath.Join(os.TempDir(), "ten")
	check(os.WriteFile(name, make([]byte, 10), 0o600))
	f := got(os.Open(name))
	defer f.Close()
	want("what was read", got(f.Read(make([]byte, room))), 10)
}

// fentry finds an argument of a function, by its name of Go's.
func fentry() {
	want("the length", traced(ebpf.AttachTraceFEntry, "vfs_Read", asm.Mov.Reg(asm.R6, asm.R1)), room)
}

// fexit finds an argument and the result of a function, by Linux's name: in its context, and by helpers.
func fexit() {
	want("the result", traced(ebpf.AttachTraceFExit, "vfs_read", asm.LoadMem(asm.R6, asm.R7, readResult, asm.DWord)), 10)
	for _, by := range []struct {
		helper asm.BuiltinFunc
		want   uint64
		args   asm.Instructions // before the address of a word
		to     asm.Register
	}{
		{asm.FnGetFuncArg, room, asm.Instructions{asm.Mov.Imm(asm.R2, 2)}, asm.R3},
		{asm.FnGetFuncRet, 10, nil, asm.R2},
	} {
		insns := append(asm.Instructions{asm.Mov.Reg(asm.R1, asm.R7)}, by.args...)
		insns = append(insns, asm.Mov.Reg(by.to, asm.RFP), asm.Add.Imm(by.to, -16), by.helper.Call(), asm.LoadMem(asm.R6, asm.RFP, -16, asm.DWord))
		want(fmt.Sprint(by.helper), traced(ebpf.AttachTraceFExit, "vfs_Read", insns...), by.want)
	}
	n := traced(ebpf.AttachTraceFExit, "vfs_read", asm.Mov.Reg(asm.R1, asm.R7), asm.FnGetFuncArgCnt.Call(), asm.Mov.Reg(asm.R6, asm.R0))
	want("words of arguments", n, readWords)
}

// untraced: what a tracing program may not do is said.
func untraced() {
	var why *ebpf.VerifierError
	err := outcome(func() { traced(ebpf.AttachTraceFEntry, "vfs_read", asm.LoadMem(asm.R6, asm.R7, readResult, asm.DWord)) })
	if !errors.As(err, &why) {
		fail("a result of a function that is entered: %w", err)
	}
	err = outcome(func() { traced(ebpf.AttachTraceFEntry, "vfs_nothing") })
	want("a function that is not there", errors.Is(err, os.ErrNotExist) || errors.Is(err, ebpf.ErrNotSupported), true)
}
