//go:build linux && amd64

// Command clerk is the program whose requests lab 7 follows. Each worker has a thread of its own. It
// sends requests through a pipe to an assistant, who answers through another.
//
//	clerk -n 3 -threads 2 -processes 4
//	clerk -n 3 -fork -exec Letter
//
// A request is a call of Letter, Parcel or Telegram. When a process ends, it prints what its requests
// were, a line for each: the function; how many nanoseconds the call took by itself, and how many its
// caller has waited; the tree that lab7 should print, with a semicolon between two lines.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// options are the command line.
type options struct {
	n, threads, processes, seed int
	fork                        bool
	exec                        string
}

// calm keeps Go's runtime from interrupting system calls of workers, by signals.
var calm = [2]string{"GODEBUG", "asyncpreemptoff=1"}

// name is what the process is called.
var name = filepath.Base(os.Args[0])

func init() {
	runtime.LockOSThread() // the first worker has the first thread
	debug.SetGCPercent(-1)
}

func main() {
	if os.Getenv(calm[0]) == "" {
		check(syscall.Exec(file, os.Args, []string{calm[0] + "=" + calm[1]}))
	}
	var o options
	flag.IntVar(&o.n, "n", 3, "requests of each kind that each worker sends")
	flag.IntVar(&o.threads, "threads", 1, "workers of each process")
	flag.IntVar(&o.processes, "processes", 1, "processes at the same time")
	flag.IntVar(&o.seed, "seed", 1, "decides how long requests are")
	flag.BoolVar(&o.fork, "fork", false, "fork in the middle of each request; every other child becomes a clerk")
	flag.StringVar(&o.exec, "exec", "", "at the end, become another clerk in the middle of a call of this `function`")
	flag.Parse()
	var others []int
	for i := 1; i < o.processes; i++ {
		others = append(others, fork(o.again(100*i, "-threads", strconv.Itoa(o.threads))))
	}
	o.work()
	for _, pid := range others {
		wait(pid)
	}
}

// again is what another clerk is started with.
func (o *options) again(seed int, more ...string) (argv []*byte) {
	argv, err := syscall.SlicePtrFromStrings(append([]string{os.Args[0], "-n", strconv.Itoa(o.n), "-seed", strconv.Itoa(o.seed + seed)}, more...))
	check(err)
	return argv
}

// work runs the workers, and prints what they did.
func (o *options) work() {
	workers := make([]*worker, o.threads)
	var all sync.WaitGroup
	for i := range workers {
		workers[i] = o.worker(i)
		if i > 0 {
			all.Go(func() {
				runtime.LockOSThread()
				workers[i].run()
			})
		}
	}
	workers[0].run()
	all.Wait()
	var said strings.Builder
	for _, w := range workers {
		said.WriteString(strings.Join(w.said, ""))
	}
	_, err := syscall.Write(1, []byte(said.String()))
	check(err)
	if f := functions[o.exec]; f != nil {
		argv := o.again(50)
		workers[0].between = func() { become(argv) }
		f(1000, workers[0])
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "clerk:", err)
		os.Exit(1)
	}
}
