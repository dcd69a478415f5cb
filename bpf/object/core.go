package object

import (
	"fmt"
	"math"
	"strings"

	"sonde/bpf"
	"sonde/bpf/btf"
)

// core changes instructions by what types of the kernel are like.
type core struct {
	local, kernel *btf.Table
}

// unreachable is the number of a helper that does not exist: whatever needs what the kernel does not have
// becomes a call of it.
const unreachable = 0xbad2310

// relocate changes the instructions of a program that begin at at, and are those from first to last of a
// section.
func (l *linker) relocate(p *Func, section string, first, last, at int) error {
	for _, r := range l.ext.Relos[section] {
		if r.PC < first || r.PC >= last {
			continue
		}
		if l.core == nil {
			kernel, err := l.kernel()
			if err != nil {
				return fmt.Errorf("the kernel's types: %w", err)
			}
			l.core = &core{l.o.Types, kernel}
		}
		pc := at + r.PC - first
		want, found, why := l.core.resolve(&r)
		if why == "" {
			why = patch(p.Insns[pc:at+last-first], want, found)
		} else if found.missing {
			p.Missing[pc] = why
			poison(p.Insns[pc:])
			continue
		}
		if why != "" {
			return bad("instruction %d of section %s needs %s: %s", r.PC, section, l.core.name(&r), why)
		}
	}
	return nil
}

// essential is a name without what tells versions of a type apart.
func essential(name string) string {
	if base, _, ok := strings.Cut(name, "___"); ok && base != "" {
		return base
	}
	return name
}

// name is what a relocation is about.
func (c *core) name(r *btf.Relocation) string {
	text := c.local.Text(r.Type)
	if head, _, ok := strings.Cut(text, " {"); ok {
		text = head
	}
	if f, why := follow(c.local, r.Type, r.Access); why == "" {
		for _, s := range f.steps {
			if s.name != "" {
				text += "." + s.name
			}
		}
	}
	return text
}

// answer is a number that a relocation stands for.
type answer struct {
	value   uint64
	missing bool   // the kernel does not have it
	size    uint32 // of a field that is loaded or stored at value
	signed  bool
	loads   bool // size and signed are known
}

// resolve returns what the instruction has now, and what it is to have. why says why there is no answer.
func (c *core) resolve(r *btf.Relocation) (now, then answer, why string) {
	if r.Kind == btf.TypeIDLocal {
		return answer{value: uint64(r.Type)}, answer{value: uint64(r.Type)}, ""
	}
	if now, why = measure(c.local, r.Type, r.Access, r.Kind); why != "" {
		return now, now, why
	}
	root := c.local.Type(r.Type)
	if root.Name == "" {
		return now, then, "the type has no name to look for"
	}
	found := 0
	for _, id := range c.kernel.Named(essential(root.Name)) {
		if c.kernel.Type(id).Kind != root.Kind && !(isEnum(root) && isEnum(c.kernel.Type(id))) {
			continue
		}
		access, ok := c.match(r, id)
		if !ok {
			continue
		}
		one, no := measure(c.kernel, id, access, r.Kind)
		if no != "" {
			return now, then, no
		}
		if r.Kind == btf.TypeIDTarget {
			one.value = uint64(id)
		}
		if found++; found > 1 && one != then && r.Kind != btf.TypeIDTarget {
			return now, then, "the kernel has several types of this name, which differ there"
		}
		then = one
	}
	if found > 0 {
		return now, then, ""
	}
	switch r.Kind {
	case btf.FieldExists, btf.TypeExists, btf.TypeMatches, btf.ValueExists, btf.TypeIDTarget, btf.TypeSize:
		return now, answer{}, ""
	}
	return now, answer{missing: true}, fmt.Sprintf("the kernel has no %s", c.name(r))
}

func isEnum(x *btf.Type) bool { return x.Kind == btf.Enum || x.Kind == btf.Enum64 }

// measure returns the number of a kind for a field, type or constant of a table.
func measure(t *btf.Table, id btf.ID, access []int, kind btf.RelocationKind) (a answer, why string) {
	switch kind {
	case btf.TypeExists, btf.TypeMatches:
		return answer{value: 1}, ""
	case btf.TypeIDTarget:
		return answer{value: uint64(id)}, ""
	case btf.TypeSize:
		size, ok := t.Size(id)
		if !ok {
			return a, "the type has no size"
		}
		return answer{value: uint64(size)}, ""
	case btf.ValueExists, btf.ValueNumber:
		x := t.Type(t.Underlying(id))
		if !isEnum(x) || len(access) != 1 || access[0] >= len(x.Values) {
			return a, "it has no such constant"
		}
		if kind == btf.ValueExists {
			return answer{value: 1}, ""
		}
		return answer{value: x.Values[access[0]].Number}, ""
	}
	f, why := follow(t, id, access)
	if why != "" {
		return a, why
	}
	return f.measure(t, kind)
}

// measure returns the number of a kind for a field.
func (f *field) measure(t *btf.Table, kind btf.RelocationKind) (answer, string) {
	if kind == btf.FieldExists {
		return answer{value: 1}, ""
	}
	x := t.Type(t.Underlying(f.of))
	size, ok := t.Size(f.of)
	if !ok || size == 0 && f.width > 0 {
		return answer{}, "the field has no size"
	}
	at := f.bit / 8
	if f.width > 0 {
		// The number that is loaded is as long as the type, or longer if the bits are not in one of those.
		for at = f.bit / 8 / uint64(size) * uint64(size); f.bit+f.width > 8*(at+uint64(size)); at = f.bit / 8 / uint64(size) * uint64(size) {
			if size >= 8 {
				return answer{}, "the bits are not in one word"
			}
			size *= 2
		}
	}
	signed := x.Kind == btf.Int && x.Encoding&btf.Signed != 0 || isEnum(x) && x.Flag
	width := f.width
	if width == 0 {
		width = 8 * uint64(size)
	}
	switch kind {
	case btf.FieldOffset:
		return answer{value: at, size: size, signed: signed, loads: f.width == 0 && (x.Kind == btf.Int || x.Kind == btf.Ptr || isEnum(x))}, ""
	case btf.FieldSize:
		return answer{value: uint64(size)}, ""
	case btf.FieldSigned:
		if signed {
			return answer{value: 1}, ""
		}
		return answer{}, ""
	case btf.FieldShiftLeft:
		return answer{value: 64 - (f.bit + width - 8*at)}, ""
	case btf.FieldShiftRight:
		return answer{value: 64 - width}, ""
	}
	return answer{}, fmt.Sprintf("relocations of kind %d are not known", kind)
}

// patch changes the number in the instruction at insns[0].
func patch(insns []bpf.Insn, now, then answer) string {
	in := &insns[0]
	was := uint64(int64(in.Imm))
	switch in.Class() {
	case bpf.LDX, bpf.ST, bpf.STX:
		was = uint64(int64(in.Off))
		if then.value > math.MaxInt16 {
			return fmt.Sprintf("the offset is %d there: an instruction has room for %d", then.value, math.MaxInt16)
		}
		if was == now.value {
			in.Off = int16(then.value)
		}
		if now.loads && then.loads && now.size != then.size {
			return resize(in, now, then)
		}
	case bpf.ALU, bpf.ALU64:
		if n := int64(then.value); n > math.MaxUint32 || n < math.MinInt32 {
			return fmt.Sprintf("the number is %#x there: an instruction has room for 32 bits", then.value)
		}
		if in.UsesSrc() {
			return "the instruction has no number in it"
		}
		if uint32(was) == uint32(now.value) {
			in.Imm = int32(then.value)
			return ""
		}
	case bpf.LD:
		if !in.IsWide() || len(insns) < 2 {
			return "the instruction has no number in it"
		}
		if was = bpf.Wide(insns[0], insns[1]); was == now.value {
			in.Imm, insns[1].Imm = int32(then.value), int32(then.value>>32)
		}
	default:
		return "the instruction has no number in it"
	}
	if was != now.value {
		return fmt.Sprintf("the instruction has %d, where the object's own types have %d", was, now.value)
	}
	return ""
}

// resize changes how many bytes an instruction loads or stores. The rest of a register is 0 then, so
// that numbers must have no sign.
func resize(in *bpf.Insn, now, then answer) string {
	sizes := map[uint32]uint8{1: bpf.B, 2: bpf.H, 4: bpf.W, 8: bpf.DW}
	size, ok := sizes[then.size]
	if !ok || now.signed || then.signed || in.Size() != int(now.size) {
		return fmt.Sprintf("it has %d bytes in the kernel, and %d in the object", then.size, now.size)
	}
	in.Op = in.Op&^bpf.DW | size
	return ""
}

// poison makes the instruction one that the verifier refuses.
func poison(insns []bpf.Insn) {
	call := bpf.Insn{Op: uint8(bpf.JMP) | bpf.Call, Imm: unreachable}
	if insns[0].IsWide() && len(insns) > 1 {
		insns[1] = call
	}
	insns[0] = call
}
