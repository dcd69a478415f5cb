package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

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

// room is how many bytes are read at once here, and by nobody else.
const room = 77

// note stores R6 in the only element of a map.
func note(m *ebpf.Map) asm.Instructions {
	return asm.Instructions{
		asm.StoreImm(asm.RFP, -4, 0, asm.Word), asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, -4), asm.LoadMapPtr(asm.R1, m.FD()),
		asm.FnMapLookupElem.Call(), asm.JEq.Imm(asm.R0, 0, "out"), asm.StoreMem(asm.R0, 0, asm.R6, asm.DWord),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("out"), asm.Return(),
	}
}

// traced returns what a program notes that is attached to a function of the kernel, while a file of 10 bytes is read.
func traced(attach ebpf.AttachType, function string, insns ...asm.Instruction) (noted uint64, err error) {
	m, err := newMap(ebpf.Array, 4, 8, 1, 0)
	if err != nil {
		return 0, err
	}
	defer m.Close()
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: "traced", Type: ebpf.Tracing, AttachType: attach, AttachTo: function, License: "GPL",
		Instructions: append(append(asm.Instructions{asm.Mov.Reg(asm.R7, asm.R1), asm.LoadMem(asm.R1, asm.R1, readLength, asm.DWord), asm.JNE.Imm(asm.R1, room, "out")}, insns...), note(m)...)})
	if err != nil {
		return 0, err
	}
	defer p.Close()
	for _, by := range []ebpf.AttachType{attach, ebpf.AttachNone} { // as a link, and as tools did before there were such links
		l, err := link.AttachTracing(link.TracingOptions{Program: p, AttachType: by, Cookie: 0})
		if err != nil {
			return 0, err
		}
		info, err := l.Info()
		if err == nil {
			err = errors.Join(want("the kind", info.Type, link.TracingType), readFew())
		}
		if l.Close(); err != nil {
			return 0, err
		}
	}
	return noted, m.Lookup(uint32(0), &noted)
}

// readFew reads 10 bytes with room for more.
func readFew() error {
	name := filepath.Join(os.TempDir(), "ten")
	if err := os.WriteFile(name, make([]byte, 10), 0o600); err != nil {
		return err
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := f.Read(make([]byte, room))
	return errors.Join(err, want("what was read", n, 10))
}

// fentry finds an argument of a function, by its name of Go's.
func fentry() error {
	n, err := traced(ebpf.AttachTraceFEntry, "vfs_Read", asm.Mov.Reg(asm.R6, asm.R1))
	return errors.Join(err, want("the length", n, room))
}

// fexit finds an argument and the result of a function, by Linux's name: in its context, and by helpers.
func fexit() error {
	n, err := traced(ebpf.AttachTraceFExit, "vfs_read", asm.LoadMem(asm.R6, asm.R7, readResult, asm.DWord))
	if err := errors.Join(err, want("the result", n, 10)); err != nil {
		return err
	}
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
		n, err := traced(ebpf.AttachTraceFExit, "vfs_Read", insns...)
		if err := errors.Join(err, want(fmt.Sprint(by.helper), n, by.want)); err != nil {
			return err
		}
	}
	n, err = traced(ebpf.AttachTraceFExit, "vfs_read", asm.Mov.Reg(asm.R1, asm.R7), asm.FnGetFuncArgCnt.Call(), asm.Mov.Reg(asm.R6, asm.R0))
	return errors.Join(err, want("words of arguments", n, readWords))
}

// untraced: what a tracing program may not do is said.
func untraced() error {
	var why *ebpf.VerifierError
	_, err := traced(ebpf.AttachTraceFEntry, "vfs_read", asm.LoadMem(asm.R6, asm.R7, readResult, asm.DWord))
	if !errors.As(err, &why) {
		return fmt.Errorf("a result of a function that is entered: %w", err)
	}
	_, err = traced(ebpf.AttachTraceFEntry, "vfs_nothing")
	return want("a function that is not there", errors.Is(err, os.ErrNotExist) || errors.Is(err, ebpf.ErrNotSupported), true)
}
