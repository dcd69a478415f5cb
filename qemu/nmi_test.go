package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"sonde/qemu/machine"
)

// TestNMIsFromPowerOn sends NMIs to all CPUs from the kernel's first instructions with a table of
// handlers until it powers off, while probes are set, hit and removed. Before that, in firmware and in
// the kernel's few instructions without one, an NMI resets the machine.
func TestNMIsFromPowerOn(t *testing.T) {
	runsBeside(t)
	cases, rounds := "ktest kprobes/several_ kprobes/own_function kprobes/fault_handler user/exceptions user/flags", 1
	if long() {
		cases, rounds = "ktest kprobes/ user/ optimized/", 5
	}
	for range rounds {
		for _, smp := range []int{1, 2, 4} {
			sent, r := underNMIs(t, machine.Config{Image: imagePath(t, testImage), SMP: smp}, cases)
			if r.Status != 0 || strings.Contains(string(r.Stdout), "FAIL ") || !passes.Match(r.Log) || sent < 10 {
				t.Errorf("%d CPUs, %d NMIs: status %d\n%s", smp, sent, r.Status, said(r))
			}
			t.Logf("%d CPUs: %d NMIs", smp, sent)
		}
	}
}

// passes is the summary of a run in which cases ran, and none failed.
var passes = regexp.MustCompile(`(?m)^[1-9]\d* passed, 0 failed`)

// underNMIs runs a script at the prompt, with an NMI every 5 ms or so from the begin on.
func underNMIs(t *testing.T, c machine.Config, script string) (sent int, r machine.Result) {
	socket := filepath.Join(t.TempDir(), "monitor")
	c.Extra = []string{"-chardev", "socket,id=nmis,server=on,wait=off,path=" + socket, "-mon", "nmis"}
	con := startConsole(t, c)
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		var monitor net.Conn
		for err := error(io.EOF); err != nil; time.Sleep(time.Millisecond) {
			monitor, err = net.Dial("unix", socket)
		}
		defer monitor.Close()
		awaitKernel(monitor)
		go io.Copy(io.Discard, monitor)
		for {
			select {
			case <-end:
				return
			case <-time.After(5 * time.Millisecond):
			}
			if _, err := fmt.Fprintln(monitor, "nmi"); err != nil {
				return
			}
			sent++
		}
	}()
	con.enter(script + "; poweroff")
	r = con.wait()
	close(end)
	<-ended
	return sent, r
}

// inKernel is what QEMU says when a CPU has the kernel's table of handlers.
var inKernel = regexp.MustCompile(`IDT= *ffffffff8`)

// awaitKernel waits until the first CPU has handlers: a host may take the CPU away right before.
func awaitKernel(monitor net.Conn) {
	lines := bufio.NewReader(monitor)
	for {
		if _, err := fmt.Fprintln(monitor, "info registers"); err != nil {
			return
		}
		for {
			line, err := lines.ReadString('\n')
			if err != nil || inKernel.MatchString(line) {
				return
			}
			if strings.HasPrefix(line, "EFER=") {
				break // it is near the end
			}
		}
	}
}
