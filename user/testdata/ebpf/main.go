// Command ebpf uses a kernel by github.com/cilium/ebpf, as tools do: it makes maps, loads programs, attaches them
// and reads what they tell. It prints a line for each thing that it tries, and fails if one did not work.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/rlimit"
)

// trials are what is tried, by name.
var trials = []struct {
	name string
	try  func()
}{
	{"maps", maps}, {"prefixes", prefixes}, {"batches", batches}, {"percpu", perCPU}, {"queues", queues}, {"inner", inner}, {"mapped", mapped}, {"frozen", frozen}, {"freezing", freezing},
	{"pins", pins}, {"refused", refused}, {"raw", raw}, {"information", information}, {"types", types},
	{"kprobes", kprobes}, {"kretprobes", kretprobes}, {"uprobes", uprobes}, {"ring", ring}, {"objects", objects},
	{"kprobe", kprobe}, {"kretprobe", kretprobe}, {"uprobe", uprobe}, {"uretprobe", uretprobe}, {"tracepoint", tracepoint}, {"rawpoint", rawPoint}, {"perf", perfEvents}, {"cookies", cookies}, {"later", later},
	{"tails", tails}, {"fentry", fentry}, {"fexit", fexit}, {"untraced", untraced}, {"many", many}, {"pinnedlinks", pinnedLinks}, {"heirs", heirs}, {"unmapped", unmapped}, {"remapped", remapped},
	{"fuzz", nil}, {"fuzzperf", nil}, {"fuzzboth", nil},
}

func main() {
	only := flag.String("only", "", "try this alone")
	flag.StringVar(&objectDir, "objects", "/tmp", "where object files that clang has made are: core.o and latency.o")
	calls := flag.Int("fuzz", 0, "make so many random calls")
	seed := flag.Int64("seed", 0, "begin the random calls with this number")
	killed := flag.Duration("kill", 0, "be killed after that time, whatever is being done")
	flag.Parse()
	if *killed > 0 {
		time.AfterFunc(*killed, func() { syscall.Kill(os.Getpid(), syscall.SIGKILL) })
	}
	if err := rlimit.RemoveMemlock(); err != nil {
		fmt.Println("FAIL memlock:", err)
		os.Exit(1)
	}
	fuzzed := map[string]func(*fuzzer){"fuzz": (*fuzzer).call, "fuzzperf": (*fuzzer).perfCall, "fuzzboth": (*fuzzer).either}
	failed := false
	for _, t := range trials {
		if *only != "" && t.name != *only || t.try == nil && *calls == 0 {
			continue
		}
		try := t.try
		if try == nil {
			try = func() { fuzz(*calls, *seed, fuzzed[t.name]) }
		}
		if err := outcome(try); err != nil {
			failed = true
			var refused *ebpf.VerifierError
			if errors.As(err, &refused) {
				err = fmt.Errorf("%+v", refused)
			}
			fmt.Printf("FAIL %s: %v\n", t.name, err)
			continue
		}
		fmt.Println("ok", t.name)
	}
	if failed {
		os.Exit(1)
	}
}

// failure ends a trial.
type failure struct{ error }

// outcome is why a trial has failed; nil: it has not.
func outcome(try func()) (err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case failure:
			err = e.error
		default:
			panic(e)
		}
	}()
	try()
	return nil
}

// check ends the trial if there are errors.
func check(errs ...error) {
	if err := errors.Join(errs...); err != nil {
		panic(failure{err})
	}
}

// got is what a call returns that may fail.
func got[T any](v T, err error) T {
	check(err)
	return v
}

func fail(format string, args ...any) { panic(failure{fmt.Errorf(format, args...)}) }

// want fails if what is not as it should be.
func want[T comparable](what string, got, want T) {
	if got != want {
		fail("%s is %v, want %v", what, got, want)
	}
}

func same[T comparable](what string, got, want []T) {
	if !slices.Equal(got, want) {
		fail("%s is %v, want %v", what, got, want)
	}
}

// at is what a map has for a number.
func at[T any](m *ebpf.Map, key uint32) (v T) {
	check(m.Lookup(key, &v))
	return v
}
