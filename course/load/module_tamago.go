//go:build tamago

package load

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"sonde/kernel/cpu"
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/kernel/refusal"
)

// Port is where the grader listens.
const Port = 0x2e0

// running is held while a workload runs, which has this name.
var running struct {
	sync.Mutex
	name string
}

// report passes a fact on to the grader, and to the log. Of an instance with a name of its own, the
// key begins with that name.
func report(key, format string, args ...any) {
	if running.name != "work" {
		key = running.name + "." + key
	}
	line := key + " " + fmt.Sprintf(format, args...)
	printk.Info("work: %s", line)
	for i := range len(line) {
		cpu.Out8(Port, line[i])
	}
	cpu.Out8(Port, '\n')
}

// workloads are what do= can say, each with the number of its arguments.
var workloads = map[string]struct {
	args int
	run  func(args []string) error
}{
	"calls":  {3, calls},
	"refuse": {1, refuse},
	"probes": {0, probes},
	"writes": {4, writes},
	"times":  {5, times},
	"panics": {3, panics},
	"post":   {2, post},
	"tiers":  {4, tiers},
	"cost":   {2, cost},
	"file":   {1, file},
	"ask":    {4, ask},
	"toll":   {2, toll},
}

func init() {
	module.Register(&module.Module{Name: "work", Doc: "do what the labs measure: do=calls,Letter,1000,2", New: newWork})
}

func newWork(name string) *module.Instance {
	var do string
	return &module.Instance{
		Params: module.Params{"do": module.String(&do, "the workload and its arguments, with commas between")},
		Init:   func() error { return run(name, do) },
		Exit:   func() {},
	}
}

// run does what a parameter says.
//
// Errors: EINVAL there is no such workload, or its arguments are wrong.
func run(name, do string) error {
	running.Lock()
	defer running.Unlock()
	running.name = name
	words := strings.Split(do, ",")
	w, ok := workloads[words[0]]
	if !ok || len(words)-1 != w.args {
		return refusal.New(syscall.EINVAL, "do=%s: there is no such workload with %d arguments", do, len(words)-1)
	}
	if err := w.run(words[1:]); err != nil {
		return err
	}
	report("done", "%s", words[0])
	return nil
}

// numbers turns arguments into numbers that are greater than 0.
//
// Errors: EINVAL one is none.
func numbers(args ...string) ([]int, error) {
	list := make([]int, len(args))
	for i, a := range args {
		n, err := strconv.Atoi(a)
		if err != nil || n <= 0 {
			return nil, refusal.New(syscall.EINVAL, "%q is not a number greater than 0", a)
		}
		list[i] = n
	}
	return list, nil
}
