package main

import (
	"fmt"
	"net"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"sonde/qemu/machine"
)

// TestMachines boots what the kernel promises to run on. It must find every
// processor and give the heap nearly all of the memory.
func TestMachines(t *testing.T) {
	runsBeside(t)
	for _, c := range []struct {
		machine, memory string
		smp, mib        int
	}{
		{"q35", "128M", 1, 128},
		{"q35", "128M", 8, 128},
		{"q35", "1G", 8, 1 << 10},
		{"q35", "3G", 2, 3 << 10}, // has a hole for devices
		{"q35", "8G", 4, 8 << 10},
		{"microvm", "128M", 1, 128},
		{"microvm", "1G", 8, 1 << 10},
		{"microvm", "8G", 4, 8 << 10},
	} {
		t.Run(fmt.Sprintf("%s-%s-smp%d", c.machine, c.memory, c.smp), func(t *testing.T) {
			r := bootScript(t, normalImage, machine.Config{
				Machine: c.machine, Memory: c.memory, SMP: c.smp,
				Script: "lscpu | grep 'CPU(s):' ; free -m; cat /proc/interrupts",
			})
			if r.Crash || r.Status != 0 {
				t.Fatal(said(r))
			}
			out := string(r.Stdout)
			if n := number(out, `CPU\(s\): +(\d+)`); n != c.smp {
				t.Errorf("%d CPUs, want %d\n%s", n, c.smp, said(r))
			}
			total, free := number(out, `Mem: +(\d+)`), number(out, `Mem: +\d+ +\d+ +(\d+)`)
			if low := c.mib * 15 / 16; total < low-40 || total > c.mib || free < total-32 {
				t.Errorf("heap of %d MiB, %d free, on a machine of %d\n%s", total, free, c.mib, said(r))
			}
		})
	}
}

// number returns the first number in text that the group of pattern matches.
func number(text, pattern string) int {
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		return -1
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// TestProcessors: one that lacks what the kernel needs is refused, with the
// reason. Its first write to a control register used to reset it, silently.
func TestProcessors(t *testing.T) {
	runsBeside(t)
	for _, c := range []struct{ name, says string }{
		{"max,-nx", "the processor has no NX"},
		{"max,-lm", "the processor has no 64-bit mode"},
		{"qemu32", "the processor has no 64-bit mode"},
		{"max,-pge", "the processor lacks"},
		{"max,-sse2", "the processor lacks"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := bootScript(t, normalImage, machine.Config{SMP: 2, Script: "echo alive", Extra: []string{"-cpu", c.name}})
			if r.Status != machine.StatusCrash || !strings.HasPrefix(r.Reason, "sonde: boot failed: "+c.says) {
				t.Errorf("reason %q\n%s", r.Reason, said(r))
			}
		})
	}
}

// TestMoreProcessorsThanRoom: the rest runs. It used to say that they did not start.
func TestMoreProcessorsThanRoom(t *testing.T) {
	runsBeside(t)
	r := bootScript(t, normalImage, machine.Config{SMP: 1, Script: "lscpu | grep 'CPU(s):'", Extra: []string{"-smp", "34"}})
	const says = "smp: 2 CPUs are not used: there is room for 32"
	if n := number(string(r.Stdout), `CPU\(s\): +(\d+)`); n != 32 || !strings.Contains(string(r.Log), says) {
		t.Errorf("%d CPUs, want 32 and %q\n%s", n, says, said(r))
	}
}

// TestRefusalOnAScreen: a PC without a serial line says it where a VGA shows text.
func TestRefusalOnAScreen(t *testing.T) {
	runsBeside(t)
	socket := filepath.Join(t.TempDir(), "monitor")
	c := startConsole(t, machine.Config{Plain: true, Extra: []string{"-cpu", "max,-nx", "-vga", "std",
		"-chardev", "socket,id=peek,server=on,wait=off,path=" + socket, "-mon", "peek"}})
	c.see("data could be executed") // by now QEMU has made the socket
	monitor, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer monitor.Close()
	const vga = 0xb8000
	shown := ""
	for i, b := range peek(t, monitor, vga, 2*40) {
		if i%2 == 0 {
			shown += string(rune(b))
		}
	}
	if want := "sonde: boot failed: the processor has no NX"; !strings.HasPrefix(want, shown) {
		t.Errorf("the screen shows %q, want %q", shown, want)
	}
}

// TestRefusalInAPicture: so does one whose loader has left a picture; in the long run, of pixels
// of any size.
func TestRefusalInAPicture(t *testing.T) {
	runsBeside(t)
	for _, bits := range []uint32{24, 16, 32} {
		if bits != 24 && !long() {
			continue
		}
		extra, socket := withMonitor(t)
		c := startConsole(t, machine.Config{From: machine.USB, Plain: true, Image: askFor(t, imagePath(t, normalImage), 1280, 1024, bits),
			Extra: append(extra, "-cpu", "max,-nx")})
		c.seeIn(bootLimit, "data could be executed")
		awaitPicture(t, dial(t, socket), "sonde: boot failed: the processor has no NX, so data could be executed\n")
	}
}
