package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// terminalSize returns what tells the kernel how large our terminal is, for its command line: ""
// where there is none, or it does not know.
func terminalSize() string {
	stty := exec.Command("stty", "size")
	stty.Stdin = os.Stdin
	out, err := stty.Output()
	var rows, columns int
	if n, _ := fmt.Sscan(string(out), &rows, &columns); err != nil || n != 2 || rows == 0 || columns == 0 {
		return ""
	}
	return fmt.Sprintf("rows=%d columns=%d", rows, columns)
}

// colours tells the kernel that our terminal shall show none, if that is so.
func colours() string {
	if os.Getenv("NO_COLOR") == "" {
		return ""
	}
	return " NO_COLOR=1"
}

// oneStream reports whether standard output and standard error are the same terminal, pipe or file,
// and whether that is a terminal.
func oneStream() (same, terminal bool) {
	out, err := os.Readlink("/proc/self/fd/1")
	if err != nil { // a host that has no such files
		return sameFile(os.Stdout, os.Stderr)
	}
	errs, _ := os.Readlink("/proc/self/fd/2")
	return out == errs, strings.HasPrefix(out, "/dev/pts/") || strings.HasPrefix(out, "/dev/tty")
}

// sameFile is oneStream for any host: what can be told from the files themselves.
func sameFile(out, errs *os.File) (same, terminal bool) {
	a, err1 := out.Stat()
	b, err2 := errs.Stat()
	if err1 != nil || err2 != nil {
		return false, false
	}
	return os.SameFile(a, b), a.Mode()&os.ModeCharDevice != 0
}
