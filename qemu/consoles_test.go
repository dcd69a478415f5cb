package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sonde/qemu/machine"
)

// greeting is what the log says first, and so on every console that gets it.
const greeting = "Command line: "

// TestConsoles: the log goes where console= says, or firmware, or to what there is; and the last
// console= is the terminal. A second serial port is at 0x2f8.
func TestConsoles(t *testing.T) {
	runsBeside(t)
	dir := t.TempDir()
	spcr := filepath.Join(dir, "spcr")
	if err := os.WriteFile(spcr, spcrFor(0x2f8, 3), 0o644); err != nil {
		t.Fatal(err)
	}
	const first, second = 1, 2
	for _, c := range []struct {
		name, line string
		extra      []string
		consoles   string // /proc/consoles
		log        int    // where it goes
		says       string // in the log
	}{
		{"second", "console=ttyS1,115200", nil, "ttyS1                RW- (EC p a)    4:65\n", second, ""},
		{"both", "console=ttyS1 console=uart,io,0x3f8", nil,
			"ttyS0                RW- (EC p a)    4:64\nttyS1                RW- (E  p a)    4:65\n", first | second, ""},
		{"firmware's", "", []string{"-acpitable", "sig=SPCR,data=" + spcr}, "ttyS1                RW- (EC p a)    4:65\n", second, ""},
		{"mistakes", "console=hvc0 console=ttyS3 console=uart,mmio,0xfff000 console=tty0", nil, "ttyS0                RW- (EC p a)    4:64\n", first,
			"console=hvc0: unknown console|console=ttyS3: no serial port|console=uart,mmio,0xfff000: no serial port|console=tty0: there is no screen"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "second")
			r := bootScript(t, normalImage, machine.Config{Append: c.line, Script: "cat /proc/consoles",
				Extra: append(c.extra, "-chardev", "file,id=second,path="+file, "-device", "isa-serial,chardev=second,iobase=0x2f8,irq=3")})
			got, _ := os.ReadFile(file)
			for bit, log := range map[int][]byte{first: r.Log, second: got} {
				if has := bytes.Contains(log, []byte(greeting)); has != (c.log&bit != 0) {
					t.Errorf("port %d has the log: %v; it says\n%s", bit, has, log)
				}
			}
			if string(r.Stdout) != c.consoles {
				t.Errorf("/proc/consoles is\n%swant\n%s%s", r.Stdout, c.consoles, said(r))
			}
			for _, want := range strings.Split(c.says, "|") {
				if !bytes.Contains(r.Log, []byte(want)) {
					t.Errorf("the log does not say %q\n%s", want, said(r))
				}
			}
		})
	}
}

// spcrFor is the body of an SPCR for a port.
func spcrFor(port uint64, irq byte) []byte {
	const head, size = 36, 80
	b := make([]byte, size)
	copy(b[40:], []byte{1, 8, 0, 1})
	binary.LittleEndian.PutUint64(b[44:], port)
	copy(b[52:], []byte{1, irq})
	b[58] = 7
	copy(b[64:], "\xff\xff\xff\xff")
	return b[head:]
}

// TestNoFirstPort: a machine without the usual serial port boots, silently if there is nothing
// else to talk by.
func TestNoFirstPort(t *testing.T) {
	runsBeside(t)
	r := bootScript(t, normalImage, machine.Config{NoCOM1: true, SMP: 2, Script: "cat /proc/consoles; echo alive"})
	if r.Crash || r.Status != 0 || string(r.Stdout) != "alive\n" || len(r.Log) != 0 {
		t.Error(said(r))
	}
}

// TestPortOnPCI is found if there is no other, and what is typed there arrives, though its
// interrupt is not known.
func TestPortOnPCI(t *testing.T) {
	runsBeside(t)
	c := startConsole(t, machine.Config{NoCOM1: true, Extra: []string{"-device", "pci-serial,chardev=console"}})
	c.see(greeting)
	c.enter("cat /proc/consoles /proc/ioports")
	c.see(`ttyS4                RW- \(EC p a\)    4:68\r?\n`)
	c.see(`c[0-9a-f]{3}-c[0-9a-f]{3} : 0000:00:0[0-9].0\r?\n  c[0-9a-f]{3}-c[0-9a-f]{3} : serial\r?\n`)
	c.enter("echo 0123456789012345678901234567890123456789 | wc -c")
	c.see(`\n41\r?\n`)
	c.enter("poweroff")
	c.wait()
}

// TestPortInMemory: registers in memory are reached before and after the kernel's tables
// are in use. QEMU's PCs have no such port, so shared memory on PCI plays one that is always ready: the
// log's last byte is in its first register.
func TestPortInMemory(t *testing.T) {
	runsBeside(t)
	const size, stride, lineStatus, ready = 1 << 20, 4, 5, 0x60
	file := filepath.Join(t.TempDir(), "memory")
	b := make([]byte, size)
	b[lineStatus*stride] = ready
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	r := bootScript(t, normalImage, machine.Config{Append: "console=ttyS0 console=uart,mmio32,0xfea00000,115200", Script: "cat /proc/consoles",
		Extra: []string{"-object", "memory-backend-file,id=m,share=on,size=1M,mem-path=" + file, "-device", "ivshmem-plain,memdev=m"}})
	b, err := os.ReadFile(file)
	if err != nil || b[0] != '\n' || b[3*stride] != 3 || b[7*stride] != 0x5a {
		t.Errorf("%v, registers % x\n%s", err, b[:8*stride], said(r))
	}
	if !strings.HasPrefix(string(r.Stdout), "ttyS0                RW- (E  p a)    4:64\nuart0 ") {
		t.Error(said(r))
	}
}
