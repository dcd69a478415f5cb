//go:build tamago

package examples

import (
	"fmt"
	"io"
	"syscall"
	"time"

	"sonde/arch/amd64"
	"sonde/kernel/module"
	"sonde/kernel/refusal"
	"sonde/kernel/tally"
	"sonde/kprobes"
)

// argdist: which values an argument of a function has, or its result. Go passes the first
// nine words of the arguments, a string being two of them and a slice three, in the registers
// that argWords lists, and results the same way.
//
//	insmod argdist target=vfs.Read arg=2            the length of its buffer, as a histogram
//	insmod argdist target=vfs.Read arg=0 result=1 count=1     its result, value by value
var (
	argTarget   string
	argInterval int
	argMost     = 20
	argWord     int
	argResult   bool
	argCount    bool
	argHist     *tally.Hist
	argValues   *tally.Values
	argRegs     []func(*amd64.Regs) uint64 // registers to read in calls of the target
	argProbe    *probed
	argShow     *tally.Show
)

// argWords are the registers for arguments and results in Go's calls. Source: Go's
// ABIInternal.
var argWords = [...]func(*amd64.Regs) uint64{
	func(r *amd64.Regs) uint64 { return r.AX }, func(r *amd64.Regs) uint64 { return r.BX }, func(r *amd64.Regs) uint64 { return r.CX },
	func(r *amd64.Regs) uint64 { return r.DI }, func(r *amd64.Regs) uint64 { return r.SI }, func(r *amd64.Regs) uint64 { return r.R8 },
	func(r *amd64.Regs) uint64 { return r.R9 }, func(r *amd64.Regs) uint64 { return r.R10 }, func(r *amd64.Regs) uint64 { return r.R11 },
}

// The registers in calls of other programs. Source: System V ABI for x86-64.
var (
	argWordsC = [...]func(*amd64.Regs) uint64{
		func(r *amd64.Regs) uint64 { return r.DI }, func(r *amd64.Regs) uint64 { return r.SI }, func(r *amd64.Regs) uint64 { return r.DX },
		func(r *amd64.Regs) uint64 { return r.CX }, func(r *amd64.Regs) uint64 { return r.R8 }, func(r *amd64.Regs) uint64 { return r.R9 },
	}
	resultsC = [...]func(*amd64.Regs) uint64{func(r *amd64.Regs) uint64 { return r.AX }, func(r *amd64.Regs) uint64 { return r.DX }}
)

func init() {
	module.Register(&module.Module{
		Name: "argdist",
		Doc:  "histogram or counts of an argument or a result: target=vfs.Read arg=2",
		Params: module.Params{
			"target":   module.String(&argTarget, "function, or FILE:FUNCTION of a program").Valid(validTarget),
			"arg":      module.Int(&argWord, "which word of the arguments or results, from 0"),
			"result":   module.Bool(&argResult, "show a word of the results instead of the arguments"),
			"count":    module.Bool(&argCount, "count each value; otherwise a histogram by powers of two"),
			"interval": module.Int(&argInterval, "seconds between reports in the log; 0: report only at rmmod").Within(0, maxInterval),
			"n":        module.Int(&argMost, "with count: show the n most frequent").Within(1, maxShown),
		},
		Init: argInit,
		Exit: argExit,
	})
}

func argNote(r *amd64.Regs) {
	if v := argRegs[argWord](r); argCount {
		argValues.Add(v)
	} else {
		argHist.Add(v)
	}
}

func argEntered(_ *kprobes.Kprobe, r *amd64.Regs) int             { argNote(r); return 0 }
func argReturned(_ *kprobes.KretprobeInstance, r *amd64.Regs) int { argNote(r); return 0 }

func argInit() (err error) {
	if argTarget == "" {
		return refusal.New(syscall.EINVAL, "give the function, as in target=vfs.Read")
	}
	if argRegs, err = argRegisters(); err != nil {
		return err
	}
	if argWord < 0 || argWord >= len(argRegs) {
		return refusal.New(syscall.EINVAL, "arg=%d: only words 0 to %d are in registers", argWord, len(argRegs)-1)
	}
	argHist, argValues = new(tally.Hist), new(tally.Values)
	if argResult {
		argProbe, err = onReturn(argTarget, 64, argReturned, argNote)
	} else {
		argProbe, err = onEntry(argTarget, argEntered, argNote)
	}
	if err != nil {
		return err
	}
	if argShow, err = tally.Begin("argdist", time.Duration(argInterval)*time.Second, argWrite); err != nil {
		argProbe.remove()
	}
	return err
}

// argRegisters returns the registers of the target's arguments or results.
func argRegisters() (regs []func(*amd64.Regs) uint64, err error) {
	path, _, ok := inProgram(argTarget)
	if !ok {
		return argWords[:], nil
	}
	if programs == nil {
		return nil, errNoPrograms(path)
	}
	isGo, err := programs.isGo(path)
	switch {
	case isGo:
		regs = argWords[:]
	case argResult:
		regs = resultsC[:]
	default:
		regs = argWordsC[:]
	}
	return regs, err
}

func argExit() {
	argProbe.remove()
	argShow.End()
}

func argWrite(w io.Writer) {
	what, l := "argument", argProbe.ledger()
	if argResult {
		what = "result"
	}
	fmt.Fprintf(w, "%s, word %d of its %ss: %s, %d missed\n", argTarget, argWord, what, tally.Some(l.Handled, "call"), l.Missed()+argValues.Lost())
	if !argCount {
		argHist.Draw(w)
		return
	}
	all := argValues.All()
	fmt.Fprintf(w, "%10s %20s\n", "COUNT", "VALUE")
	for _, v := range all[:min(len(all), argMost)] {
		fmt.Fprintf(w, "%10d %20d\n", v.Count, int64(v.Value))
	}
}
