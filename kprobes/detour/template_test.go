package detour

import (
	"bytes"
	"encoding/binary"
	"testing"

	"sonde/kallsyms"
	"sonde/kprobes/machine"
)

// asm returns a template: INT3s as far as the room, the marks behind, and the end.
func asm(head int, marks ...uint32) []byte {
	code := append(bytes.Repeat([]byte{0xcc}, head), bytes.Repeat([]byte{0x90}, CheckRoom)...)
	code = binary.LittleEndian.AppendUint64(append(code, 0x48, 0xba), MarkPoint) // MOVQ
	for _, m := range marks {
		code = binary.LittleEndian.AppendUint32(append(code, 0x68), m) // PUSHQ
	}
	return append(code, 0x0f, 0x0b)
}

// TestTemplatesAreFilledIn: all that a detour knows of itself is where the marks
// were, and nothing else is changed.
func TestTemplatesAreFilledIn(t *testing.T) {
	all := [][]byte{Call: asm(3, MarkBehind, MarkResume), Note: asm(7, MarkWhere, MarkLate), CallsGo: asm(0, MarkResume)}
	var image []byte
	var syms []kallsyms.Symbol
	for i, code := range all {
		syms = append(syms, kallsyms.Symbol{Name: string(rune('a' + i)), Addr: uint64(0x1000 + len(image)), Size: uint64(len(code)), Type: 'T'})
		image = append(image, code...)
	}
	table, err := kallsyms.Load(kallsyms.Encode(syms))
	if err != nil {
		t.Fatal(err)
	}
	real, kernel := machine.This, kallsyms.Kernel()
	defer func() { machine.This = real; kallsyms.SetKernel(kernel) }()
	machine.This.Code = func(addr, n uintptr) []byte { return image[addr-0x1000:][:n] }
	kallsyms.SetKernel(table)
	SetTemplates(uintptr(syms[Call].Addr), uintptr(syms[Note].Addr), uintptr(syms[CallsGo].Addr), 0xaaaa)

	for i, head := range []int{Call: 3, Note: 7, CallsGo: 0} {
		d := &Detour{Addr: 0x4000, Head: 0x8000, Resume: 0x8100, Begins: Template(i)}
		code, entry := d.Begin()
		if entry != head+CheckRoom || cap(code) < Size {
			t.Errorf("%d: the entry is at %d, the capacity %d", i, entry, cap(code))
		}
		d.Fill(code)
		want := [][]byte{Call: asm(3, 0x4001, 0x8100), Note: asm(7, 0x8000+7+CheckRoom+2, 0xaaaa), CallsGo: asm(0, 0x8100)}[i]
		binary.LittleEndian.PutUint64(want[head+CheckRoom+2:], 0)
		if want = want[:len(want)-2]; !bytes.Equal(code, want) {
			t.Errorf("%d: % x\nwant % x", i, code, want)
		}
		if d.PointAt != 0x8000+uintptr(head)+CheckRoom+2 {
			t.Errorf("%d: the point's address is at %#x", i, d.PointAt)
		}
		if addr, size := d.Begins.Where(); addr != uintptr(syms[i].Addr) || size != uintptr(len(code)) {
			t.Errorf("%d: %d bytes at %#x", i, size, addr)
		}
	}
}
