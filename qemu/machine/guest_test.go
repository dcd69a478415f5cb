package machine

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
)

// What a test guest does after it has written its command line to the console
// and to the script output.
const (
	thenExit   = iota // write the given value to the exit port
	thenTriple        // triple fault
	thenHang          // halt with interrupts off
	thenEcho          // echo the console, exit with the value at 'q'
	thenFlood         // write floodSize bytes to each, then exit
)

const floodSize = 1 << 20

// guest writes a kernel of a few dozen bytes, so that this package is tested
// without the real one, and returns its path.
func guest(t *testing.T, then int, value byte) string {
	t.Helper()
	const base = 0x100000
	var b bytes.Buffer
	write := func(v any) { binary.Write(&b, binary.LittleEndian, v) }
	code := guestCode(then, value)
	const headers = 64 + 2*56
	const noteSize = 24
	write(elf.Header64{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', 2, 1, 1}, Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64),
		Version: 1, Entry: base, Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 2,
	})
	write(elf.Prog64{Type: uint32(elf.PT_NOTE), Off: headers, Filesz: noteSize, Memsz: noteSize, Align: 4})
	write(elf.Prog64{
		Type: uint32(elf.PT_LOAD), Flags: 7, Off: headers + noteSize, Vaddr: base, Paddr: base,
		Filesz: uint64(len(code)), Memsz: uint64(len(code)), Align: 1,
	})
	write([]uint32{4, 8, 18})
	b.WriteString("Xen\x00")
	write(uint64(base))
	b.Write(code)
	path := filepath.Join(t.TempDir(), "guest.elf")
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func guestCode(then int, value byte) []byte {
	code := []byte{
		0x8b, 0x73, 0x18, // mov esi, [ebx+24]: hvm_start_info.cmdline_paddr
		0xac,       // 3: lodsb
		0x84, 0xc0, // test al, al
		0x74, 0x0c, // jz 20
		0x66, 0xba, 0xe9, 0x00, // mov dx, 0xe9
		0xee,                   // out dx, al
		0x66, 0xba, 0xf8, 0x03, // mov dx, 0x3f8, last: who has read it from the console finds it in the output
		0xee,       // out dx, al
		0xeb, 0xef, // jmp 3
	}
	exit := []byte{
		0xb8, value, 0, 0, 0, // mov eax, value
		0x66, 0xba, 0xf4, 0x00, // mov dx, 0xf4
		0xef,       // out dx, eax
		0xeb, 0xfe, // jmp .
	}
	switch then {
	case thenTriple:
		// lidt [esp-6] with whatever is there would do, too; two zeros make it certain.
		return append(code, 0x6a, 0x00, 0x6a, 0x00, 0x0f, 0x01, 0x1c, 0x24, 0x0f, 0x0b) // push 0; push 0; lidt [esp]; ud2
	case thenHang:
		return append(code, 0xfa, 0xf4, 0xeb, 0xfd) // cli; hlt; jmp -3
	case thenEcho:
		code = append(code,
			0x66, 0xba, 0xfd, 0x03, // mov dx, 0x3fd
			0xec,       // in al, dx
			0xa8, 0x01, // test al, 1
			0x74, 0xf7, // jz -9
			0x66, 0xba, 0xf8, 0x03, // mov dx, 0x3f8
			0xec,      // in al, dx
			0xee,      // out dx, al
			0x3c, 'q', // cmp al, 'q'
			0x75, 0xed, // jne -19
		)
	case thenFlood:
		code = append(code,
			0xb9, 0, 0, floodSize>>16, 0, // mov ecx, floodSize
			0x88, 0xc8, // mov al, cl
			0x66, 0xba, 0xf8, 0x03, // mov dx, 0x3f8
			0xee,                   // out dx, al
			0x66, 0xba, 0xe9, 0x00, // mov dx, 0xe9
			0xee,       // out dx, al
			0xe2, 0xf2, // loop -14
		)
	}
	return append(code, exit...)
}
