package main

import (
	"io"
	"os/exec"
	"regexp"
	"testing"

	"sonde/qemu/machine"
)

// TestWebSerial is the launcher with -web -serial: the board is another QEMU, the cable a pty.
func TestWebSerial(t *testing.T) {
	runsBeside(t)
	path, err := launcher()
	if err != nil {
		t.Fatal(err)
	}
	board := startConsole(t, machine.Config{SMP: 2, NoCOM1: true, Append: "agent", Extra: []string{"-serial", "pty"}})
	device := regexp.MustCompile(`/dev/pts/\d+`).FindString(board.see(`/dev/pts/\d+ `))
	c := exec.Command(path, "-web", "-serial", device, "-image", imagePath(t, normalImage))
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	terminal := &screenful{t: t, more: make(chan string, 1<<16)}
	c.Stdout = writerTo(func(b []byte) { terminal.more <- string(b) })
	c.Stderr = c.Stdout
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+/\?t=[0-9a-f]{32}`).FindString(terminal.see(`open http://\S+\n`))
	if address == "" {
		t.Error("no address is printed")
	}
	io.WriteString(in, "\r")
	terminal.see(prompt)
	io.WriteString(in, "echo over $((40+2)) the cable\r")
	terminal.see(`(?m)^over 42 the cable\r?$`)
	io.WriteString(in, "\x01x")
	if err := c.Wait(); err != nil {
		t.Errorf("Ctrl-A X: %v", err)
	}
}
