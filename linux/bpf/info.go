package sysbpf

import (
	"encoding/binary"
	"encoding/hex"
	"syscall"
	"time"

	"sonde/bpf"
	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/probe/program"
)

// Sizes of what OBJ_GET_INFO_BY_FD tells, in bytes.
//
// Source: Linux, uapi/linux/bpf.h, struct bpf_{map,prog,btf,link}_info.
const (
	mapInfoSize  = 88
	progInfoSize = 232
	btfInfoSize  = 32
	linkInfoSize = 56
)

// info is what a process reads about an object. It has said before which lists it wants, and how much room there
// is for each.
type info struct {
	*call
	b []byte
}

func (i *info) put32(off int, v uint32) { binary.LittleEndian.PutUint32(i.b[off:], v) }
func (i *info) put64(off int, v uint64) { binary.LittleEndian.PutUint64(i.b[off:], v) }
func (i *info) u32(off int) uint32      { return binary.LittleEndian.Uint32(i.b[off:]) }
func (i *info) u64(off int) uint64      { return binary.LittleEndian.Uint64(i.b[off:]) }
func (i *info) name(off int, s string)  { copy(i.b[off:off+nameMost-1], s) }

// list copies data of n elements to the address at pointer, as many as there is room for at count, where the
// number goes that there are.
func (i *info) list(pointer, count int, data []byte, n int) error {
	room, to := int(i.u32(count)), i.u64(pointer)
	i.put32(count, uint32(n))
	if room = min(room, n); room == 0 || n == 0 {
		return nil
	}
	return i.Out(to, data[:room*(len(data)/n)])
}

// objInfo is OBJ_GET_INFO_BY_FD: bpf_fd 0, info_len 4, info 8.
func objInfo(c *call) (uint64, error) {
	f, err := c.Hold(c.fd(0))
	if err != nil {
		return 0, syscall.EBADFD // not EBADF, in this call alone
	}
	defer vfs.Close(f)
	size, fill := 0, func(*info) error { return nil }
	switch h := f.Handle().(type) {
	case *progFile:
		size, fill = progInfoSize, func(i *info) error { return i.prog(h.p) }
	case *btfFile:
		size, fill = btfInfoSize, func(i *info) error { return i.btf(h.b) }
	case *linkFile:
		size, fill = linkInfoSize, func(i *info) error { return i.link(h.l) }
	default:
		m := mapOf(f)
		if m == nil {
			return 0, refusal.New(syscall.EINVAL, "descriptor %d is no object", c.fd(0))
		}
		size, fill = mapInfoSize, func(i *info) error { return i.mapInfo(m.m) }
	}
	return done(c.tell(size, fill))
}

// tell copies what the process has said, has it filled in, and copies it back, as far as the process knows of it.
func (c *call) tell(size int, fill func(*info) error) error {
	given := int(c.u32(4))
	if given > pageSize {
		return refusal.New(syscall.E2BIG, "%d bytes of information: at most %d are read", given, pageSize)
	}
	all, err := c.in(c.u64(8), given)
	if err != nil {
		return err
	}
	i := &info{call: c, b: make([]byte, size)}
	n := copy(i.b, all)
	if !zero(all[n:]) {
		return refusal.New(syscall.E2BIG, "information behind byte %d is not known", size)
	}
	if err := fill(i); err != nil {
		return err
	}
	if err := c.Out(c.u64(8), i.b[:n]); err != nil {
		return err
	}
	return c.put32(4, uint32(n))
}

func (i *info) mapInfo(m *program.Map) error {
	clear(i.b)
	s, state := &m.Spec, stateOf(m)
	for at, v := range []uint32{uint32(s.Type), uint32(m.ID), s.KeySize, s.ValueSize, s.MaxEntries, state.flags} {
		i.put32(4*at, v)
	}
	i.name(24, s.Name)
	if state.btf != nil {
		i.put32(64, uint32(state.btf.id))
		i.put32(68, state.key)
		i.put32(72, state.value)
	}
	return nil
}

func (i *info) btf(b *btfObject) error {
	room, to := i.u32(8), i.u64(0)
	nameTo, nameRoom := i.u64(16), i.u32(24)
	i.put32(8, uint32(len(b.data)))
	i.put32(12, uint32(b.id))
	i.put32(28, 0)
	name := ""
	if b.kernel {
		name = "vmlinux"
		i.put32(28, 1)
	}
	i.put32(24, uint32(len(name)))
	if room > 0 && to != 0 {
		if err := i.Out(to, b.data[:min(int(room), len(b.data))]); err != nil {
			return err
		}
	}
	if nameRoom == 0 || nameTo == 0 {
		return nil
	}
	if int(nameRoom) <= len(name) {
		if err := i.Out(nameTo, append([]byte(name[:nameRoom-1]), 0)); err != nil {
			return err
		}
		return refusal.New(syscall.ENOSPC, "the name %s takes %d bytes", name, len(name)+1)
	}
	return i.Out(nameTo, append([]byte(name), 0))
}

// bootTime is when the machine was started.
func bootTime(t time.Time) uint64 { return uint64(max(0, program.Now()-int64(time.Since(t)))) }

func (i *info) prog(p *program.Prog) error {
	state := progStateOf(p)
	i.put32(0, uint32(p.Type()))
	i.put32(4, uint32(p.ID))
	if _, err := hex.Decode(i.b[8:16], []byte(p.Tag())); err != nil {
		return err
	}
	i.put64(40, bootTime(p.LoadedAt))
	i.put32(48, 0) // everyone is root
	clear(i.b[64:104])
	i.name(64, state.name)
	if state.gpl {
		i.put32(84, 1)
	}
	a := p.Account()
	i.put64(192, spent(p))
	i.put64(200, a.Run)
	i.put64(208, p.Recursion())
	i.put32(216, uint32(p.Checked.Steps))
	clear(i.b[220:])
	if p.Function != nil {
		i.put32(220, kernelBTF)
		i.put32(224, state.target)
	}
	if err := i.code(p); err != nil {
		return err
	}
	return i.source(p, state)
}

// code tells of a program's instructions, and those of the machine: jited_prog_len 16, xlated_prog_len 20,
// jited_prog_insns 24, xlated_prog_insns 32, nr_map_ids 52, map_ids 56, nr_jited_ksyms 104, nr_jited_func_lens
// 108, jited_ksyms 112, jited_func_lens 120.
func (i *info) code(p *program.Prog) error {
	at, code := p.Code()
	translated := bpf.Encode(named(p))
	var maps []byte
	for _, m := range p.Maps() {
		maps = binary.LittleEndian.AppendUint32(maps, uint32(m.ID))
	}
	for _, l := range []struct {
		pointer, count int
		data           []byte
		n              int
	}{
		{24, 16, code, len(code)}, {32, 20, translated, len(translated)}, {56, 52, maps, len(p.Maps())},
		{112, 104, binary.LittleEndian.AppendUint64(nil, uint64(at)), 1}, {120, 108, binary.LittleEndian.AppendUint32(nil, uint32(len(code))), 1},
	} {
		if err := i.list(l.pointer, l.count, l.data, l.n); err != nil {
			return err
		}
	}
	return nil
}

// source tells where the instructions come from: btf_id 128, func_info_rec_size 132, func_info 136, nr_func_info
// 144, nr_line_info 148, line_info 152, jited_line_info 160, nr_jited_line_info 168, line_info_rec_size 172,
// jited_line_info_rec_size 176, nr_prog_tags 180, prog_tags 184.
func (i *info) source(p *program.Prog, s *progState) error {
	i.put32(128, 0)
	if s.btf != nil {
		i.put32(128, uint32(s.btf.id))
	}
	i.put32(132, funcSize)
	i.put32(172, lineSize)
	i.put32(176, 8)
	var places []byte
	for at := 0; at < len(s.lines); at += lineSize {
		places = binary.LittleEndian.AppendUint64(places, uint64(p.At(int(binary.LittleEndian.Uint32(s.lines[at:])))))
	}
	if err := i.list(136, 144, s.funcs, len(s.funcs)/funcSize); err != nil {
		return err
	}
	if err := i.list(152, 148, s.lines, len(s.lines)/lineSize); err != nil {
		return err
	}
	if err := i.list(160, 168, places, len(places)/8); err != nil {
		return err
	}
	tag, err := hex.DecodeString(p.Tag())
	if err != nil {
		return err
	}
	return i.list(184, 180, tag, 1)
}

// named returns a program's instructions as others see them: maps by their numbers.
func named(p *program.Prog) []bpf.Insn {
	insns := append([]bpf.Insn(nil), p.Checked.Insns...)
	for pc := range insns {
		if in := &insns[pc]; in.IsWide() && (in.Src() == bpf.MapIdx || in.Src() == bpf.MapIdxVal) {
			kind := bpf.MapFD
			if in.Src() == bpf.MapIdxVal {
				kind = bpf.MapFDValue
			}
			in.Imm, in.Regs = int32(p.Maps()[in.Imm].ID), in.Dst()|kind<<4
		}
	}
	return insns
}

// link tells what a program is attached to: type 0, id 4, prog_id 8; of kprobe_multi: addrs 16, count 24, flags
// 28; of raw_tracepoint: tp_name 16, tp_name_len 24; of tracing: see tracing.
func (i *info) link(l *program.Link) error {
	state := linkStateOf(l)
	to, room := i.u64(16), i.u32(24)
	clear(i.b)
	i.put32(0, state.kind)
	i.put32(4, uint32(l.ID))
	i.put32(8, uint32(l.Prog.ID))
	switch state.kind {
	case linkRawPoint:
		text := append([]byte(state.name), 0)
		i.put64(16, to)
		i.put32(24, uint32(len(text)))
		if to == 0 || room == 0 {
			return nil
		}
		return i.Out(to, text[:min(len(text), int(room))])
	case linkTrace:
		i.tracing(l.Prog)
	case linkKprobes:
		return i.functions(l, state, to, room)
	}
	return nil
}

// functions tells which functions a link is attached to.
func (i *info) functions(l *program.Link, state *linkState, to uint64, room uint32) error {
	var addrs []byte
	places := l.Places()
	for _, p := range places {
		addrs = binary.LittleEndian.AppendUint64(addrs, p.Addr)
	}
	i.put64(16, to)
	i.put32(24, room)
	if state.returns {
		i.put32(28, 1)
	}
	return i.list(16, 24, addrs, len(places))
}

// progStateOf returns a program's state; of one that the kernel has loaded, one that is not kept.
func progStateOf(p *program.Prog) *progState {
	if s, ok := p.Extra.(*progState); ok {
		return s
	}
	return &progState{name: p.Checked.Program.Name, gpl: true}
}
