//go:build tamago

// Package leaves reads page tables as the processor does, not through package paging.
package leaves

import (
	"sonde/arch/amd64"
	"sonde/kernel/mm"
	"sonde/kernel/mm/frame"
)

// A Leaf is one mapping, with the rights of the whole path to it.
type Leaf struct {
	VA, PA, Size         uint64
	Write, Execute, User bool
}

// Rights is what it can be used for, as "rw-".
func (l Leaf) Rights() string {
	rights := []byte("r--")
	if l.Write {
		rights[1] = 'w'
	}
	if l.Execute {
		rights[2] = 'x'
	}
	return string(rights)
}

// All returns the kernel's own mappings, in ascending order.
func All() []Leaf { return Of(mm.Tables.Root) }

// entryOf reads entry i of the table at PA: one of the kernel's, or a program's.
func entryOf(pa, i uint64) uint64 {
	if p := frame.Kernel.Peek(frame.Frame(pa)); p != nil {
		return frame.Kernel.Words(frame.Frame(pa))[i]
	}
	return mm.Tables.Mem.Read64(pa + i*8)
}

// Of returns the mappings of the tables at physical address root, a program's for example.
func Of(root uint64) (all []Leaf) {
	var walk func(table, va uint64, level int, path Leaf)
	walk = func(table, va uint64, level int, path Leaf) {
		for i := range uint64(512) {
			e := entryOf(table, i)
			if e&amd64.PTE_P == 0 {
				continue
			}
			l := Leaf{
				VA: uint64(int64(va+i<<(12+9*level)) << 16 >> 16), Size: 1 << (12 + 9*level),
				Write:   path.Write && e&amd64.PTE_W != 0,
				Execute: path.Execute && e&amd64.PTE_NX == 0,
				User:    path.User && e&amd64.PTE_U != 0,
			}
			if level > 0 && e&amd64.PTE_PS == 0 {
				walk(e&amd64.PTE_ADDR, l.VA, level-1, l)
				continue
			}
			l.PA = e & amd64.PTE_ADDR &^ (l.Size - 1)
			all = append(all, l)
		}
	}
	walk(root, 0, 3, Leaf{Write: true, Execute: true, User: true})
	return all
}
