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

	"sonde/user/tools"
)

// A program gets its arguments without its name.
type program func(args []string) error

// status is an error that only sets the exit status.
type status = tools.Status

// own are the programs that are not u-root's.
var own = map[string]program{
	"burn":   burn,
	"echo":   tool(tools.Echo),
	"env":    tool(tools.Env),
	"false":  tool(tools.False),
	"grep":   tool(tools.Grep),
	"gunzip": tool(tools.Gzip("gunzip")),
	"gzip":   tool(tools.Gzip("gzip")),
	"head":   tool(tools.Head),
	"kill":   tool(tools.Kill),
	"ln":     tool(tools.Ln),
	"myprog": myprog,
	"nm":     tool(nm),
	"seq":    tool(tools.Seq),
	"sh":     tool(sh),
	"sleep":  sleep,
	"sort":   tool(tools.Sort),
	"tail":   tool(tools.Tail),
	"tee":    tool(tools.Tee),
	"true":   tool(tools.True),
	"uniq":   tool(tools.Uniq),
	"wc":     tool(tools.Wc),
	"work":   work,
	"zcat":   tool(tools.Gzip("zcat")),
}

// tool makes a program of a command.
func tool(c tools.Command) program {
	return func(args []string) error {
		return c(tools.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, args)
	}
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
	var err error
	switch p, isOwn := own[name]; {
	case name == "box":
		list()
	case isOwn:
		err = p(args)
	case core[name] != nil:
		err = runCore(name, args)
	default:
		f, open := os.OpenFile(commandFile, os.O_RDWR, 0)
		if errors.Is(open, os.ErrNotExist) {
			fmt.Fprintf(os.Stderr, "box: there is no program %q\n", name)
			return 127
		}
		if err = open; err == nil {
			err = handOver(tools.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, f, append([]string{name}, args...)...)
		}
	}
	var s status
	switch {
	case err == nil:
		return 0
	case errors.As(err, &s):
		return int(s)
	}
	fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
	return 1
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
