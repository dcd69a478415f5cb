//go:build unix

package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sonde/internal/quick"
)

func TestCancelledRunLeavesNoQEMU(t *testing.T) {
	needQEMU(t)
	ctx, cancel := context.WithCancel(context.Background())
	s, err := Start(ctx, Config{Image: guest(t, thenHang, 0), Append: "hi", Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Expect("hi", patience); err != nil {
		t.Error(err)
	}
	var all Share
	for _, had := range s.Shares() {
		all.Ran, all.Delayed = all.Ran+had.Ran, all.Delayed+had.Delayed
	}
	if runtime.GOOS == "linux" && (all.Ran == 0 || all.Delayed == 0) {
		t.Errorf("no thread has run, or none has ever waited for a processor: %+v", all)
	}
	pid := s.Pid()
	cancel()
	if r, err := s.Wait(); !errors.Is(err, ErrInterrupted) || r.Status != StatusInterrupt {
		t.Errorf("status %d, %v", r.Status, err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d is still there: %v", pid, err)
	}
}

// TestQEMUBehindAScript: if what PATH has is a script, signals reach QEMU nevertheless.
func TestQEMUBehindAScript(t *testing.T) {
	needQEMU(t)
	if runtime.GOOS != "linux" {
		t.Skip("QEMU is in a group of its own on Linux only")
	}
	path, _ := Find()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, filepath.Base(path)), []byte("#!/bin/sh\n"+path+" \"$@\"\nexit $?\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	ctx, cancel := context.WithCancel(context.Background())
	s, err := Start(ctx, Config{Image: guest(t, thenHang, 0), Append: "hi", Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Expect("hi", patience); err != nil {
		t.Error(err)
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", s.Pid()))
	if err != nil {
		t.Error(err)
	}
	cancel()
	ended := make(chan struct{})
	go func() { s.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(quick.Hang): // QEMU has the other ends of our pipes
		t.Error("the machine does not end")
	}
	for _, child := range strings.Fields(string(children)) {
		for end := time.Now().Add(quick.Hang); runs(child) && time.Now().Before(end); { // it was killed a moment ago
			time.Sleep(time.Millisecond)
		}
		if runs(child) {
			t.Errorf("QEMU is still there: %s", child)
			pid, _ := strconv.Atoi(child)
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	if len(children) == 0 {
		t.Error("the script has not started QEMU")
	}
}

// runs reports whether a process has not ended.
func runs(pid string) bool {
	state, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && !bytes.Contains(state, []byte(") Z "))
}
