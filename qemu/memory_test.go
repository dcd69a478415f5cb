package main

import (
	"bufio"
	"fmt"
	"net"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"sonde/qemu/machine"
)

// dump is a line of docs/how-a-hit-works.md that shows memory: an address, and
// bytes of code.
var dump = regexp.MustCompile(`^ *(?:0x)?([0-9a-f]{8,16}):((?: +(?:0x)?[0-9a-f]{2}\b)+)`)

// TestDocsShowMemory: the bytes shown before, with and after the probe are those
// that QEMU's monitor reads then. Displacements depend on the build.
func TestDocsShowMemory(t *testing.T) {
	runsBeside(t)
	socket := filepath.Join(t.TempDir(), "monitor")
	c := startConsole(t, machine.Config{SMP: 2, Extra: []string{
		"-chardev", "socket,id=peek,server=on,wait=off,path=" + socket, "-mon", "peek",
	}})
	c.enter("true") // by now QEMU has made the socket
	monitor, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer monitor.Close()
	addr, _ := code(t, target)
	slot := firstSlot(t, monitor)
	shown := memoryShown(shownBy(t))
	for i, step := range []struct {
		command string
		addr    uint64
	}{
		{"true", addr}, // before
		{"insmod kprobe_example", slot},
		{"true", addr}, // with
		{"rmmod kprobe_example", addr},
	} {
		c.enter(step.command)
		c.enter("true") // it is done when this can be typed
		if i == len(shown) {
			t.Fatalf("the document shows memory %d times", len(shown))
		}
		want := noDisplacements(shown[i])
		if have := noDisplacements(peek(t, monitor, step.addr, len(shown[i]))); have != want {
			t.Errorf("number %d: the document shows %s, the memory holds %s", i+1, want, have)
		}
	}
	c.enter("poweroff")
	c.wait()
}

// memoryShown returns the bytes in each block that shows memory.
func memoryShown(list []block) (all [][]byte) {
	for _, b := range list {
		var bytes []byte
		for _, line := range b.lines {
			if m := dump.FindStringSubmatch(line); m != nil {
				bytes = append(bytes, hexBytes(m[2])...)
			}
		}
		if bytes != nil {
			all = append(all, bytes)
		}
	}
	return all
}

// hexBytes reads bytes in hexadecimal, with or without 0x.
func hexBytes(text string) (b []byte) {
	for _, field := range strings.Fields(text) {
		n, _ := strconv.ParseUint(strings.TrimPrefix(field, "0x"), 16, 8)
		b = append(b, byte(n))
	}
	return b
}

// noDisplacements renders code without what follows a JMP or JLS.
func noDisplacements(code []byte) string {
	return regexp.MustCompile(`(0f 86|e9)( [0-9a-f]{2}){1,4}`).ReplaceAllString(fmt.Sprintf("% x", code), "$1 ...")
}

// slotsMapped is a line of QEMU's "info mem" about the slots where they are executed,
// which are alone in having 12 MiB: mm.SlotBytes and mm.MadeBytes.
var slotsMapped = regexp.MustCompile(`^0*([0-9a-f]+)-[0-9a-f]+ 0000000000c00000 -r-`)

// firstSlot returns where the slots are: after the image, whose size depends on the
// build.
func firstSlot(t *testing.T, monitor net.Conn) uint64 {
	t.Helper()
	fmt.Fprintln(monitor, "info mem")
	monitor.SetReadDeadline(time.Now().Add(bootLimit / 3))
	for lines := bufio.NewReader(monitor); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if m := slotsMapped.FindStringSubmatch(line); m != nil {
			addr, _ := strconv.ParseUint(m[1], 16, 64)
			return addr
		}
	}
}

// peek reads n bytes of memory through QEMU's monitor.
func peek(t *testing.T, monitor net.Conn, addr uint64, n int) (b []byte) {
	t.Helper()
	fmt.Fprintf(monitor, "x /%dxb %#x\n", n, addr)
	monitor.SetReadDeadline(time.Now().Add(bootLimit / 3))
	lines := bufio.NewReader(monitor)
	for len(b) < n {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if m := dump.FindStringSubmatch(line); m != nil {
			b = append(b, hexBytes(m[2])...)
		}
	}
	return b
}
