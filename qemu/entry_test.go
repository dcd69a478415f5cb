package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sonde/arch/amd64"
	"sonde/internal/image"
	"sonde/qemu/machine"
)

// firstPage is where the image begins, and leftOver a place in that page that is nobody's.
const firstPage, leftOver = 64 << 20, 0x400

// leave is 32-bit code that leaves the processor as no loader should and continues at to.
// It uses the words below leftOver for its operands.
func leave(to, breakAt uint32) []byte {
	var b []byte
	code := func(op []byte, args ...uint32) {
		b = append(b, op...)
		for _, a := range args {
			b = binary.LittleEndian.AppendUint32(b, a)
		}
	}
	const words = firstPage + leftOver + 0x200
	msr := func(number, high, low uint32) {
		code([]byte{0xb9}, number) // mov ecx
		code([]byte{0xba}, high)   // mov edx
		code([]byte{0xb8}, low)    // mov eax
		code([]byte{0x0f, 0x30})   // wrmsr
	}
	code([]byte{0xbc}, words) // mov esp
	code([]byte{0xb8}, amd64.CR4_VME|amd64.CR4_PVI|amd64.CR4_TSD|amd64.CR4_DE|amd64.CR4_PSE|amd64.CR4_PCE|amd64.CR4_OSFXSR|
		amd64.CR4_UMIP|amd64.CR4_LA57|amd64.CR4_FSGSBASE|amd64.CR4_OSXSAVE|amd64.CR4_SMEP|amd64.CR4_SMAP|amd64.CR4_PKE)
	code([]byte{0x0f, 0x22, 0xe0})        // mov cr4, eax
	code([]byte{0xc7, 0x05}, words, 0)    // mov [words], 0
	code([]byte{0x0f, 0xae, 0x15}, words) // ldmxcsr: no exception masked
	code([]byte{0xd9, 0x2d}, words)       // fldcw: neither
	code([]byte{0xb8}, amd64.CR0_PE|amd64.CR0_EM|amd64.CR0_TS|amd64.CR0_AM|amd64.CR0_NW|amd64.CR0_CD)
	code([]byte{0x0f, 0x22, 0xc0}) // mov cr0, eax
	msr(amd64.MSR_EFER, 0, amd64.EFER_SCE|amd64.EFER_LME|amd64.EFER_NXE)
	msr(0x1a0, 1<<(34-32), 1<<22|1) // no NX, three leaves of CPUID
	msr(amd64.MSR_PAT, 0, 0)        // all uncached
	msr(amd64.MSR_DEBUGCTL, 0, 2)   // traps at branches only
	msr(amd64.MSR_SYSENTER_CS, 0, amd64.SelKernelCode)
	code([]byte{0xc7, 0x05}, 0xfee00080, 0xff) // mov [TPR], 255
	code([]byte{0xb8}, breakAt)
	code([]byte{0x0f, 0x23, 0xc0}) // mov dr0, eax
	code([]byte{0xb8}, 0x402)
	code([]byte{0x0f, 0x23, 0xf8}) // mov dr7, eax: at that instruction
	code([]byte{0x68}, amd64.RFLAGS_NT|amd64.RFLAGS_IOPL|amd64.RFLAGS_DF|amd64.RFLAGS_AC|amd64.RFLAGS_FIXED)
	code([]byte{0x9d})                                           // popfd
	code([]byte{0xe9}, to-(firstPage+leftOver+uint32(len(b))+5)) // jmp
	return b
}

// withCode is an image which begins at the code that made returns for its real entry.
func withCode(t *testing.T, made func(entry uint32) []byte) string {
	t.Helper()
	path := imagePath(t, normalImage)
	info, err := image.Inspect(path)
	if err != nil {
		t.Fatal(err)
	}
	entry, err := info.Symbols.Addr("pvhentry")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	loaded := uint32(entry.Addr - image.Base)
	code := made(loaded)
	if room := data[leftOver : leftOver+0x204]; !bytes.Equal(room, make([]byte, len(room))) || len(code) > 0x180 {
		t.Fatalf("no room for %d bytes", len(code))
	}
	copy(data[leftOver:], code)
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_NOTE { // its words are sizes, type, "Xen", address
			if at := p.Off + 16; binary.LittleEndian.Uint64(data[at:]) == uint64(loaded) {
				binary.LittleEndian.PutUint64(data[at:], firstPage+leftOver)
				code = nil
			}
		}
	}
	if code != nil {
		t.Fatal("no note that names the entry")
	}
	out := filepath.Join(t.TempDir(), "sonde.elf")
	if err := os.WriteFile(out, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestProcessorAsFirmwareLeftIt: nothing of it is trusted. LA57 left on used to be what
// resets a machine without a word.
func TestProcessorAsFirmwareLeftIt(t *testing.T) {
	runsBeside(t)
	at, _ := code(t, "main.entry64") // the last to run where it is loaded
	breakAt := uint32(at - image.Base)
	path := withCode(t, func(entry uint32) []byte { return leave(entry, breakAt) })
	const script = "insmod kprobe_example; cat /proc/version; rmmod kprobe_example; rdmsr 1a0; rdmsr 1d9; rdmsr 174; rdmsr 277"
	const clean = "0\n0\n7040600070106\n"
	for _, c := range []struct{ cpu, says string }{
		{"max,vendor=AuthenticAMD", "400400001\n" + clean}, // has no such register
		{"max,vendor=GenuineIntel", "1\n" + clean},
	} {
		r := bootImage(t, path, machine.Config{SMP: 1, Extra: []string{"-cpu", c.cpu}, Script: script})
		if r.Crash || r.Status != 0 || !strings.HasSuffix(string(r.Stdout), c.says) || !strings.Contains(string(r.Log), "post_handler: p->addr") {
			t.Errorf("%s, want %q: %s", c.cpu, c.says, said(r))
		}
	}
}

// TestExceptionBeforeTraps: the first code in Go runs into a UD2, a division by zero or a page
// fault, the last of which has an error code. It used to reset the machine without a word.
func TestExceptionBeforeTraps(t *testing.T) {
	runsBeside(t)
	at, _ := code(t, "main.findImage")
	for _, c := range []struct {
		name  string
		code  []byte
		after uint64 // where it traps
	}{
		{"UD2", []byte{0x0f, 0x0b}, 0},
		{"division", []byte{0x31, 0xc9, 0xf7, 0xf1}, 2},               // xor ecx, ecx; div ecx
		{"page fault", []byte{0x48, 0xa1, 0, 0, 0, 0, 0, 1, 0, 0}, 0}, // mov rax, [1 TiB]
	} {
		t.Run(c.name, func(t *testing.T) {
			path := changed(t, at, c.code)
			r := bootImage(t, path, machine.Config{Script: "echo alive"})
			want := fmt.Sprintf("sonde: boot failed: an exception before there are traps, at (0x%016x)", at+c.after)
			if r.Status != machine.StatusCrash || !strings.Contains(string(r.Log), want) {
				t.Errorf("it does not say %q\n%s", want, said(r))
			}
		})
	}
}

// changed is an image with other code at addr.
func changed(t *testing.T, addr uint64, code []byte) string {
	t.Helper()
	data, err := os.ReadFile(imagePath(t, normalImage))
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && addr >= p.Vaddr && addr < p.Vaddr+p.Filesz {
			copy(data[p.Off+addr-p.Vaddr:], code)
			out := filepath.Join(t.TempDir(), "sonde.elf")
			if err := os.WriteFile(out, data, 0o644); err != nil {
				t.Fatal(err)
			}
			return out
		}
	}
	t.Fatalf("%#x is not in the file", addr)
	return ""
}
