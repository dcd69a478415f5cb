package tools

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"sonde/shell/coreutils"
)

func seq(u *coreutils.IO, args []string) error {
	if len(args) < 1 || len(args) > 3 {
		return coreutils.Usagef("give one number to three")
	}
	var v [3]int
	for i, text := range args {
		n, err := strconv.Atoi(text)
		if err != nil {
			return coreutils.Usagef("%q is not a whole number", text)
		}
		v[i] = n
	}
	first, step, last := 1, 1, v[len(args)-1]
	switch len(args) {
	case 2:
		first = v[0]
	case 3:
		first, step = v[0], v[1]
	}
	if step == 0 {
		return coreutils.Usagef("the step must not be 0")
	}
	w := bufio.NewWriter(u.Out)
	for i := first; step > 0 && i <= last || step < 0 && i >= last; i += step {
		if _, err := fmt.Fprintln(w, i); err != nil {
			return err
		}
	}
	return w.Flush()
}

func env(u *coreutils.IO, args []string) error {
	vars := os.Environ()
	for len(args) > 0 && strings.Contains(args[0], "=") {
		vars, args = append(vars, args[0]), args[1:]
	}
	if len(args) == 0 {
		for _, v := range vars {
			fmt.Fprintln(u.Out, v)
		}
		return nil
	}
	path, err := exec.LookPath(args[0])
	if err != nil {
		fmt.Fprintf(u.Err, "env: %v\n", err)
		return coreutils.Status(127)
	}
	return syscall.Exec(path, args, vars)
}

func ln(u *coreutils.IO, args []string) error {
	if len(args) != 2 {
		return coreutils.Usagef("give a file and its new name")
	}
	old, name := args[0], args[1]
	if i, err := os.Stat(name); err == nil && i.IsDir() {
		name = filepath.Join(name, filepath.Base(old))
	}
	if u.Given('f') {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if u.Given('s') {
		return os.Symlink(old, name)
	}
	return os.Link(old, name)
}
