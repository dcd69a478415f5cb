package main

import (
	"bytes"
	"fmt"
	"image"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/image/font/inconsolata"

	"sonde/qemu/machine"
)

// TestScreenAndKeyboard: who has no serial line sees the boot on the screen, and types at
// the keyboard. What the screen shows is read from QEMU's picture of it.
func TestScreenAndKeyboard(t *testing.T) {
	runsBeside(t)
	extra, socket := withMonitor(t)
	c := startConsole(t, machine.Config{SMP: 2, From: machine.USB, Plain: true, Append: "keymap=de", Extra: extra})
	c.seeIn(bootLimit, prompt)
	monitor := dial(t, socket)
	for _, want := range []string{"02 03 04 05 06 07 08 09\n", "Command line: keymap=de", "boot: shell after", "sonde#"} {
		awaitPicture(t, monitor, want)
	}
	// uname -s, where the keyboard has - beside the right shift.
	for _, key := range []string{"u", "n", "a", "m", "e", "spc", "slash", "s", "ret"} {
		fmt.Fprintf(monitor, "sendkey %s\n", key)
	}
	c.see(`uname -s\r?\n(\x1b\[[0-9;?]*[A-Za-z])*sonde\r?\n`)
	awaitPicture(t, monitor, "sonde# uname -s\nsonde\nsonde#")
	c.key("head -300 /proc/kallsyms | tail -60; echo the last\r")
	awaitPicture(t, monitor, "\nthe last\nsonde#")
	for range 3 {
		fmt.Fprintln(monitor, "sendkey shift-pgup")
	}
	awaitPicture(t, monitor, "sonde# uname -s\nsonde\nsonde#")
	c.key("echo the present\r")
	awaitPicture(t, monitor, "\nthe present\nsonde#")
	c.key("crash panic\r")
	awaitPicture(t, monitor, "Kernel panic - not syncing")
	awaitCode(t, monitor, `^sonde [0-9a-f]+\nffffffff[0-9a-f]{8} [0-9a-f]{16}\n([0-9a-f]{8} ?){2,10}\npanic: `)
}

// awaitCode waits until a reader finds a QR code on the screen, whose text must fit want.
func awaitCode(t *testing.T, monitor net.Conn, want string) {
	t.Helper()
	reader, err := exec.LookPath("zbarimg")
	if err != nil {
		t.Log("skipped: there is no zbarimg to read the code with")
		return
	}
	file := filepath.Join(t.TempDir(), "code.ppm")
	var text string
	for end := time.Now().Add(bootLimit / 3); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		fmt.Fprintf(monitor, "screendump %s\n", file)
		out, _ := exec.Command(reader, "--quiet", "--raw", file).Output()
		if text = strings.TrimSpace(string(out)); text != "" {
			break
		}
	}
	if !regexp.MustCompile(want).MatchString(text) {
		t.Fatalf("the code says %q, want %s", text, want)
	}
	named, err := decode(text, imagePath(t, normalImage))
	if err != nil || !strings.Contains(named, "asked for\n") || !strings.Contains(named, "shell/cmd_crash_tamago.go:") {
		t.Errorf("%v, and the launcher says of it:\n%s", err, named)
	}
	if _, err := decode(strings.Replace(text, "sonde ", "sonde 1", 1), imagePath(t, normalImage)); err == nil {
		t.Error("the code of another kernel is named by this one's symbols")
	}
}

// TestUnknownLayout: a keyboard whose layout the kernel does not know types by that of the US.
func TestUnknownLayout(t *testing.T) {
	runsBeside(t)
	extra, socket := withMonitor(t)
	c := startConsole(t, machine.Config{From: machine.USB, Plain: true, Append: "keymap=fr", Extra: extra})
	c.seeIn(bootLimit, `there is no layout "fr"[^#]*`+prompt)
	monitor := dial(t, socket)
	for _, key := range []string{"u", "n", "a", "m", "e", "spc", "minus", "s", "ret"} {
		fmt.Fprintf(monitor, "sendkey %s\n", key)
	}
	c.see(`uname -s\r?\n(\x1b\[[0-9;?]*[A-Za-z])*sonde\r?\n`)
}

// withMonitor are arguments that give QEMU a monitor at a socket.
func withMonitor(t *testing.T) (args []string, socket string) {
	socket = filepath.Join(t.TempDir(), "monitor")
	return []string{"-chardev", "socket,id=peek,server=on,wait=off,path=" + socket, "-mon", "peek"}, socket
}

// dial connects to a monitor.
func dial(t *testing.T, socket string) net.Conn {
	t.Helper()
	monitor, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { monitor.Close() })
	return monitor
}

// awaitPicture waits until the screen shows text.
func awaitPicture(t *testing.T, monitor net.Conn, text string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "screen.ppm")
	var seen string
	for end := time.Now().Add(bootLimit / 3); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		fmt.Fprintf(monitor, "screendump %s\n", file)
		if picture, err := os.ReadFile(file); err == nil {
			if seen = readPicture(picture); strings.Contains(seen, text) {
				return
			}
		}
	}
	t.Fatalf("the screen does not show %q:\n%s", text, seen)
}

// readPicture recognizes the characters in a picture in PPM by their shapes, which are the
// font's own; ? is none of them.
func readPicture(ppm []byte) string {
	const width, height = 8, 16
	var w, h, most int
	if n, _ := fmt.Sscanf(string(ppm[:min(len(ppm), 64)]), "P6\n%d %d\n%d", &w, &h, &most); n != 3 || len(ppm) < 3*w*h {
		return ""
	}
	pixels := ppm[len(ppm)-3*w*h:]
	shapes := fontShapes()
	var text bytes.Buffer
	for y := 0; y+height <= h; y += height {
		var line strings.Builder
		for x := 0; x+width <= w; x += width {
			var shape [height]byte
			for i := range height {
				for j := range width {
					if pixels[3*((y+i)*w+x+j)] > 0x50 {
						shape[i] |= 0x80 >> j
					}
				}
			}
			c, ok := shapes[shape]
			if !ok {
				c = '?'
			}
			line.WriteByte(c)
		}
		text.WriteString(strings.TrimRight(line.String(), " ?") + "\n")
	}
	return text.String()
}

// fontShapes are the font's characters by their pixels.
func fontShapes() map[[16]byte]byte {
	shapes := map[[16]byte]byte{}
	mask := inconsolata.Regular8x16.Mask.(*image.Alpha)
	for g := range 95 {
		var shape [16]byte
		for y := range shape {
			for x := range 8 {
				if mask.Pix[(17*g+1+y)*mask.Stride+x] >= 0x60 {
					shape[y] |= 0x80 >> x
				}
			}
		}
		shapes[shape] = byte(' ' + g)
	}
	return shapes
}
