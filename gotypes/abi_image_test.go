package gotypes_test

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"reflect"
	"slices"
	"testing"

	. "sonde/gotypes"
	"sonde/internal/image"
)

// typesOf makes Descs of what DWARF says.
type typesOf []Desc

func (all *typesOf) add(x Desc) ID {
	*all = append(*all, x)
	return ID(len(*all) - 1)
}

func (all *typesOf) of(t dwarf.Type) ID {
	n := int(t.Size())
	switch t := t.(type) {
	case *dwarf.TypedefType:
		return all.of(t.Type)
	case *dwarf.FloatType:
		return all.add(Desc{Kind: reflect.Float64, Size: n, Align: n})
	case *dwarf.ComplexType:
		return all.add(Desc{Kind: reflect.Complex128, Size: n, Align: n / 2})
	case *dwarf.ArrayType:
		e := all.of(t.Type)
		return all.add(Desc{Kind: reflect.Array, Size: n, Align: (*all)[e].Align, Len: int(t.Count), Elem: e})
	case *dwarf.StructType:
		r := Desc{Kind: reflect.Struct, Size: n, Align: 1}
		for _, f := range t.Field {
			c := all.of(f.Type)
			r.Fields = append(r.Fields, Field{Type: c})
			r.Align = max(r.Align, (*all)[c].Align)
		}
		return all.add(r)
	case *dwarf.PtrType, *dwarf.FuncType:
		return all.add(Desc{Kind: reflect.Uintptr, Size: 8, Align: 8})
	}
	if n <= 0 || n > 8 {
		n = 8
	}
	return all.add(Desc{Kind: reflect.Uintptr, Size: n, Align: n})
}

var dregs = map[byte]Reg{0: AX, 3: BX, 2: CX, 5: DI, 4: SI, 8: R8, 9: R9, 10: R10, 11: R11}

// pieces returns the registers of a location expression, or that it is on the stack.
func pieces(e []byte) (regs []Reg, stack bool, ok bool) {
	for i := 0; i < len(e); {
		switch op := e[i]; {
		case op == 0x93: // piece
			i += 2
		case op >= 0x50 && op <= 0x6f:
			n := op - 0x50
			if r, g := dregs[n]; g {
				regs = append(regs, r)
			} else if n >= 17 {
				regs = append(regs, X0+Reg(n-17))
			} else {
				return nil, false, false
			}
			i++
		case op == 0x9c || op == 0x91:
			return nil, true, i == 0
		default:
			return nil, false, false
		}
	}
	return regs, false, true
}

// TestAssignAgreesWithTheCompiler compares the registers of the arguments of all functions in the
// test image with what its DWARF says of their first instruction.
//
// Left out are arguments of which DWARF says nothing there, or only parts, and those it has in
// memory though they come in registers: too large for the compiler to keep in registers, they are
// stored first. ABI0 wrappers have all arguments on the stack. One of 1,000 may differ: the compiler
// sometimes lets a variable begin where another's value is equal to it.
func TestAssignAgreesWithTheCompiler(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the test image")
	}
	path, err := image.Build(image.BuildOptions{Test: true})
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(path + ".raw")
	if err != nil {
		t.Fatal(err)
	}
	d, err := f.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	lists, _ := f.Section(".debug_loclists").Data()
	var addrs []byte
	if s := f.Section(".debug_addr"); s != nil {
		addrs, _ = s.Data()
	}
	locs := locations{lists, addrs}
	funcs, agree, differ, unknown := 0, 0, 0, 0
	r := d.Reader()
	var cu *dwarf.Entry
	for {
		e, err := r.Next()
		if err != nil || e == nil {
			break
		}
		if e.Tag == dwarf.TagCompileUnit {
			cu = e
			continue
		}
		if e.Tag != dwarf.TagSubprogram {
			continue
		}
		fn := e
		low, has := e.Val(dwarf.AttrLowpc).(uint64)
		if !has || !e.Children {
			r.SkipChildren()
			continue
		}
		if org, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok {
			rr := d.Reader()
			rr.Seek(org)
			fn, _ = rr.Next()
		}
		types := typesOf{{}}
		var ps, rs []Param
		var pl, rl [][]byte
		for {
			c, err := r.Next()
			if err != nil || c == nil || c.Tag == 0 {
				break
			}
			if c.Tag == dwarf.TagFormalParameter {
				o := c
				if org, ok := c.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok {
					rr := d.Reader()
					rr.Seek(org)
					o, _ = rr.Next()
				}
				if o.Val(dwarf.AttrName) == ".dict" {
					continue // since Go 1.27; Dictionary says where
				}
				ty, err := d.Type(o.Val(dwarf.AttrType).(dwarf.Offset))
				if err != nil {
					t.Fatal(err)
				}
				var loc []byte
				switch v := c.Val(dwarf.AttrLocation).(type) {
				case []byte:
					loc = v
				case int64:
					loc = locs.at(cu, v, low)
				}
				if out, _ := o.Val(dwarf.AttrVarParam).(bool); out {
					rs = append(rs, Param{Type: types.of(ty)})
					rl = append(rl, loc)
				} else {
					ps = append(ps, Param{Type: types.of(ty)})
					pl = append(pl, loc)
				}
			}
			if c.Children {
				r.SkipChildren()
			}
		}
		funcs++
		name, _ := fn.Val(dwarf.AttrName).(string)
		at := Dictionary(name)
		if at > len(ps) {
			at = -1
		}
		if at >= 0 {
			ps = slices.Insert(ps, at, Param{Type: ^ID(0)})
			pl = slices.Insert(pl, at, nil)
		}
		args, _ := Assign(types, ps, rs)
		for i, l := range pl {
			regs, stack, ok := pieces(l)
			partial := !stack && len(regs) < len(args[i].Regs)
			stored := stack && !args[i].OnStack
			if !ok || partial || stored || len(regs) == 0 && !stack {
				unknown++
				continue
			}
			good := stack == args[i].OnStack && len(regs) == len(args[i].Regs)
			for j := range regs {
				good = good && regs[j] == args[i].Regs[j]
			}
			if good {
				agree++
			} else {
				differ++
				t.Logf("%s: argument %d: DWARF says %v, Assign %v", name, i, regs, args[i])
			}
		}
	}
	t.Logf("%d functions: %d arguments agree, %d differ, %d left out", funcs, agree, differ, unknown)
	if agree < 10000 || differ*1000 > agree {
		t.Error("Assign does not follow the compiler")
	}
}

// locations is .debug_loclists and .debug_addr.
type locations struct{ lists, addrs []byte }

// at returns the expression that holds at the address pc, from the list at off.
//
// Source: DWARF 5, "Location Lists".
func (l locations) at(cu *dwarf.Entry, off int64, pc uint64) []byte {
	ab, _ := cu.Val(dwarf.AttrAddrBase).(int64)
	p := int(off)
	base := uint64(0)
	ul := func() int { v, n := binary.Uvarint(l.lists[p:]); p += n; return int(v) }
	ad := func(i int) uint64 { return binary.LittleEndian.Uint64(l.addrs[int(ab)+8*i:]) }
	for {
		k := l.lists[p]
		p++
		var b, e uint64
		switch k {
		case 0:
			return nil
		case 1:
			base = ad(ul())
			continue
		case 3:
			b = ad(ul())
			e = b + uint64(ul())
		case 4:
			b = base + uint64(ul())
			e = base + uint64(ul())
		case 6:
			base = binary.LittleEndian.Uint64(l.lists[p:])
			p += 8
			continue
		case 7:
			b, e = binary.LittleEndian.Uint64(l.lists[p:]), binary.LittleEndian.Uint64(l.lists[p+8:])
			p += 16
		case 8:
			b = binary.LittleEndian.Uint64(l.lists[p:])
			p += 8
			e = b + uint64(ul())
		default:
			return nil
		}
		n := ul()
		if b <= pc && pc < e {
			return l.lists[p : p+n]
		}
		p += n
	}
}
