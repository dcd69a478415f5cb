package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sonde/qemu/machine"
)

// longNMIs is the variable that makes TestNMIsFromPowerOn take minutes.
const longNMIs = "SONDE_NMIS"

// TestNMIsFromPowerOn sends NMIs to all CPUs from the first instruction of the kernel that
// can take one until it powers off, while probes are set, hit and removed.
func TestNMIsFromPowerOn(t *testing.T) {
	runsScripts(t)
	cases, rounds := "ktest kprobes/some_; ktest user/events", 1
	if os.Getenv(longNMIs) != "" {
		cases, rounds = "ktest kprobes/; ktest user/; ktest optimized/", 5
	}
	for range rounds {
		for _, smp := range []int{1, 2, 4} {
			sent, r := underNMIs(t, machine.Config{Image: imagePath(t, testImage), SMP: smp}, cases)
			if r.Status != 0 || strings.Contains(string(r.Stdout), "FAIL ") || !strings.Contains(string(r.Log), "0 failed") || sent < 10 {
				t.Errorf("%d CPUs, %d NMIs: status %d\n%s", smp, sent, r.Status, said(r))
			}
			t.Logf("%d CPUs: %d NMIs", smp, sent)
		}
	}
}

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
		go io.Copy(io.Discard, monitor)
		con.Expect("booting", bootLimit)
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
