package sysbpf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"sonde/bpf"
	"sonde/bpf/verify"
	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/probe/program"
)

// progState is what only processes see of a program.
type progState struct {
	name  string
	gpl   bool
	room  int // bytes that it has taken
	btf   *btfObject
	funcs []byte // of funcSize bytes each
	lines []byte // of lineSize bytes each

	// Of a tracing program:
	when, target uint32 // the attach type, and the function's number in the kernel's BTF
	function     *program.Function
}

// Sizes of records of func_info and line_info, as others get them.
const funcSize, lineSize = 8, 16

// Gone is called when the program is freed.
func (s *progState) Gone() {
	s.btf.drop()
	giveRoom(s.room)
}

const (
	insnsMost   = 1_000_000
	licenseMost = 128
	mapsMost    = 64
)

// Flags of programs that make no difference here: alignment is always strict enough, and nothing sleeps.
const progFlags = 1<<0 | 1<<1 | 1<<2 | 1<<3 | 1<<4

// progLoad is PROG_LOAD: see load for where its arguments are.
func progLoad(c *call) (uint64, error) {
	l, err := c.newLog(c.u32(24), c.u32(28), c.u64(32), 140)
	if err != nil {
		return 0, err
	}
	p, state, err := c.program()
	if err != nil {
		return 0, l.write(logOf(nil, err, l.level), err)
	}
	maps, files, err := c.maps(p)
	defer closeAll(files)
	if err == nil {
		err = state.describe(c, p)
	}
	var prog *program.Prog
	if err == nil {
		err = licensed(p)
	}
	if err == nil {
		err = state.trace(c, p)
	}
	if err == nil {
		prog, err = program.Load(p, maps, &program.LoadOptions{Level: int(l.level & 3), Function: state.function, Extra: state, Constant: constants(maps)})
	}
	if err := l.write(logOf(prog, err, l.level), err); err != nil {
		if prog != nil {
			prog.Close()
		} else {
			state.Gone()
		}
		return 0, err
	}
	err = program.Hold(prog)
	if prog.Close(); err != nil {
		return 0, err
	}
	return c.installProg(prog)
}

// logOf is the text of the log of a program that was loaded, or was not.
func logOf(prog *program.Prog, err error, level uint32) string {
	var refused *verify.Error
	switch {
	case prog != nil && level&3 != 0:
		return prog.Checked.Log
	case prog != nil && level&logStats != 0:
		c := prog.Checked
		return fmt.Sprintf("stack depth %d\nprocessed %d insns (limit %d) max_states_per_insn 0 total_states %d peak_states %d mark_read 0\n",
			c.Stack, c.Steps, verify.DefaultLimits.Steps, c.States, c.States)
	case prog != nil:
		return ""
	case errors.As(err, &refused) && refused.Log != "":
		return refused.Log
	}
	return err.Error() + "\n"
}

// program copies the program: prog_type 0, insn_cnt 4, insns 8, license 16, prog_flags 44, prog_name 48.
func (c *call) program() (*bpf.Program, *progState, error) {
	t, count := bpf.Type(c.u32(0)), c.u32(4)
	switch {
	case c.u32(44)&^progFlags != 0:
		return nil, nil, refusal.New(syscall.EINVAL, "flags %#x of a program are not known", c.u32(44))
	case t.String() == "":
		return nil, nil, c.missing(fmt.Sprintf("a program of type %d", t))
	case count == 0 || count > insnsMost:
		return nil, nil, refusal.New(syscall.E2BIG, "a program of %d instructions: give 1 to %d", count, insnsMost)
	case c.u32(64) != 0:
		return nil, nil, c.missing("a program of a network interface")
	}
	name, err := c.name(48)
	if err != nil {
		return nil, nil, err
	}
	license, err := c.text(c.u64(16), licenseMost)
	if err != nil {
		return nil, nil, err
	}
	insns, err := c.insns(int(count))
	if err != nil {
		return nil, nil, err
	}
	gpl := slices.Contains(licenses, license)
	state := &progState{name: name, gpl: gpl, room: len(insns) * bpf.InsnBytes}
	if name == "" {
		name = "nameless"
	}
	return &bpf.Program{Name: name, Type: t, Insns: insns, GPL: gpl}, state, nil
}

// insns copies n instructions, and takes room for them.
func (c *call) insns(n int) ([]bpf.Insn, error) {
	if err := takeRoom(n * bpf.InsnBytes); err != nil {
		return nil, err
	}
	code, err := c.in(c.u64(8), n*bpf.InsnBytes)
	var insns []bpf.Insn
	if err == nil {
		insns, err = bpf.Decode(code)
	}
	if err != nil {
		giveRoom(n * bpf.InsnBytes)
	}
	return insns, err
}

// licenses are those that are compatible with the GPL.
//
// Source: Linux, include/linux/license.h.
var licenses = []string{"GPL", "GPL v2", "GPL and additional rights", "Dual BSD/GPL", "Dual MIT/GPL", "Dual MPL/GPL"}

// restricted are the helpers that only programs of these licences call.
var restricted = []int32{4, 6, 25, 27, 35, 36, 45, 58, 67, 112, 113, 114, 115, 158, 165, 177}

// licensed refuses a program that calls what its licence does not allow.
func licensed(p *bpf.Program) error {
	for pc, in := range p.Insns {
		if !p.GPL && in.Class() == bpf.JMP && in.Operation() == bpf.Call && in.Src() == bpf.CallHelper && slices.Contains(restricted, in.Imm) {
			return refusal.New(syscall.EINVAL, "instruction %d: cannot call GPL-restricted function from non-GPL compatible program", pc)
		}
	}
	return nil
}

// text copies a string of at most so many bytes; a longer one is cut.
func (c *call) text(addr uint64, most int) (string, error) {
	var b []byte
	for len(b) < most {
		at := addr + uint64(len(b))
		piece, err := c.in(at, min(most-len(b), int(pageSize-at%pageSize)))
		if err != nil {
			return "", err
		}
		if i := bytes.IndexByte(piece, 0); i >= 0 {
			return string(append(b, piece[:i]...)), nil
		}
		b = append(b, piece...)
	}
	return string(b), nil
}

func closeAll(files []*vfs.File) {
	for _, f := range files {
		vfs.Close(f)
	}
}

// maps finds the maps that a program refers to by descriptors, and has it refer to them by index: fd_array 120.
// The caller closes the files.
func (c *call) maps(p *bpf.Program) (maps []*program.Map, files []*vfs.File, err error) {
	p.Insns = slices.Clone(p.Insns)
	for pc := 0; pc < len(p.Insns); pc++ {
		in := &p.Insns[pc]
		if !in.IsWide() || pc+1 == len(p.Insns) {
			continue
		}
		kind, fd := in.Src(), int(in.Imm)
		switch kind {
		case bpf.MapIdx, bpf.MapIdxVal:
			if fd, err = c.fdOf(fd); err != nil {
				return maps, files, err
			}
		case bpf.MapFD, bpf.MapFDValue:
		case bpf.Variable:
			return maps, files, c.missing("a variable of the kernel")
		default:
			pc++
			continue
		}
		f, h, err := c.holdMap(fd, forAny)
		if err != nil {
			return maps, files, fmt.Errorf("fd %d is not pointing to valid bpf_map: %w", fd, err)
		}
		files = append(files, f.file)
		at := slices.Index(maps, h.m)
		if at < 0 {
			at = len(maps)
			maps, p.Maps = append(maps, h.m), append(p.Maps, &h.m.Spec)
		}
		if len(maps) > mapsMost {
			return maps, files, refusal.New(syscall.E2BIG, "a program has at most %d maps", mapsMost)
		}
		in.Imm = int32(at)
		in.Regs = in.Dst() | byIndex(kind)<<4
		pc++
	}
	return maps, files, nil
}

// byIndex is the kind of reference by index that does what one by descriptor does.
func byIndex(kind uint8) uint8 {
	if kind == bpf.MapFDValue || kind == bpf.MapIdxVal {
		return bpf.MapIdxVal
	}
	return bpf.MapIdx
}

// fdOf returns the descriptor at an index of the array that the process has given.
func (c *call) fdOf(i int) (int, error) {
	if c.u64(120) == 0 || i < 0 {
		return 0, refusal.New(syscall.EPROTO, "the program refers to map %d of an array, and there is none", i)
	}
	b, err := c.in(c.u64(120)+uint64(i)*4, 4)
	if err != nil {
		return 0, err
	}
	return int(int32(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24)), nil
}

// describe copies where the instructions come from: prog_btf_fd 72, func_info_rec_size 76, func_info 80,
// func_info_cnt 88, line_info_rec_size 92, line_info 96, line_info_cnt 104.
func (s *progState) describe(c *call, p *bpf.Program) (err error) {
	funcs, lines := c.u32(88), c.u32(104)
	if funcs == 0 && lines == 0 {
		return nil
	}
	if n := uint32(len(p.Insns)); funcs > n || lines > n {
		return refusal.New(syscall.EINVAL, "%d func_info and %d line_info for %d instructions", funcs, lines, n)
	}
	if s.btf, err = c.holdBTF(c.fd(72)); err != nil {
		return err
	}
	if s.btf.kernel {
		return refusal.New(syscall.EACCES, "the kernel's types describe no program")
	}
	if s.funcs, err = c.records(c.u64(80), funcs, c.u32(76), funcSize); err == nil {
		_, err = s.btf.table.ReadFuncs(s.funcs, funcSize)
	}
	if err != nil {
		return err
	}
	if s.lines, err = c.records(c.u64(96), lines, c.u32(92), lineSize); err == nil {
		p.Lines, err = s.btf.table.ReadLines(s.lines, lineSize)
	}
	if err != nil {
		return err
	}
	return errors.Join(inside("func_info", s.funcs, funcSize, p), inside("line_info", s.lines, lineSize, p))
}

// inside checks that records are of instructions that there are. They are in order.
func inside(what string, records []byte, size int, p *bpf.Program) error {
	if len(records) == 0 {
		return nil
	}
	if pc := binary.LittleEndian.Uint32(records[len(records)-size:]); pc >= uint32(len(p.Insns)) {
		return refusal.New(syscall.EINVAL, "%s of instruction %d: the program has %d", what, pc, len(p.Insns))
	}
	return nil
}

// records copies n records of size bytes, of which known are known and the others must be 0.
func (c *call) records(addr uint64, n, size uint32, known int) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	if int(size) < known || size > 252 || size%4 != 0 {
		return nil, refusal.New(syscall.EINVAL, "records of %d bytes: give at least %d, in words of 4", size, known)
	}
	kept := make([]byte, 0, int(n)*known)
	for i := range uint64(n) {
		rec, err := c.in(addr+i*uint64(size), int(size))
		if err != nil {
			return nil, err
		}
		if !zero(rec[known:]) {
			return nil, refusal.New(syscall.E2BIG, "a record has more than the %d bytes that are known", known)
		}
		kept = append(kept, rec[:known]...)
	}
	return kept, nil
}
