//go:build linux

// Command box is all of sonde's own programs in one file. The name that it is called by
// selects the program; called as box, it lists the names, or runs the program that its
// first argument names. Any other name is a command of the kernel's shell, to which it is
// handed over.
//
// The shell is mvdan.cc/sh, the file commands are u-root's. Ours are about the kernel:
// programs to be probed, and programs that make work.
package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"sonde/shell/coreutils"
	"sonde/user/tools"
)

// own are the programs that are not u-root's.
var own = commands(coreutils.Commands, tools.Commands, []*coreutils.Command{
	{Name: "burn", Usage: "[-n cpus] [-t duration]", Help: "keep processors busy without a system call", Verbatim: true, Run: burn},
	{Name: "myprog", Usage: "[-n calls] [-every duration] [-burst calls]", Help: "call myfunc again and again", Verbatim: true, Run: myprog},
	{Name: "nm", Usage: "[-n | -p] file...", Help: "list the symbols of programs (-n: by address, -p: unsorted)", Options: "np", Run: nm},
	{Name: "sh", Usage: "[-efux] [-c script | file] [parameter...]", Help: "run a script, a file, or the input", Verbatim: true, Run: sh},
	{Name: "work", Usage: "[-n goroutines] [-rounds n]", Help: "calculate in several goroutines", Verbatim: true, Run: work},
})

func commands(lists ...[]*coreutils.Command) map[string]*coreutils.Command {
	all := map[string]*coreutils.Command{}
	for _, c := range slices.Concat(lists...) {
		all[c.Name] = c
	}
	return all
}

func main() {
	name, args := filepath.Base(os.Args[0]), os.Args[1:]
	if name == "box" && len(args) > 0 {
		name, args = args[0], args[1:]
	}
	os.Exit(run(name, args))
}

// run runs a program and returns its exit status.
func run(name string, args []string) int {
	u := &coreutils.IO{Name: name, In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Files: files{}, Kill: kill}
	var err error
	switch c, isOwn := own[name]; {
	case name == "box":
		list()
	case isOwn:
		return c.Exec(u, args)
	case core[name] != nil:
		err = runCore(name, args)
	default:
		f, open := os.OpenFile(commandFile, os.O_RDWR, 0)
		if errors.Is(open, os.ErrNotExist) {
			fmt.Fprintf(os.Stderr, "box: there is no program %q\n", name)
			return 127
		}
		if err = open; err == nil {
			err = handOver(u, f, append([]string{name}, args...)...)
		}
	}
	return coreutils.Report(os.Stderr, name, "", err)
}

// list prints the names of all programs.
func list() {
	for _, name := range slices.Sorted(maps.Keys(names())) {
		fmt.Println(name)
	}
}

func names() map[string]bool {
	all := map[string]bool{}
	for name := range own {
		all[name] = true
	}
	for name := range core {
		all[name] = true
	}
	return all
}
