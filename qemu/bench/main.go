// Command bench measures the kernel in QEMU and prints a table, TSV:
//
//	boot_ms<TAB>203<TAB>198..241    from the start of QEMU to the prompt, q35
//	boot_microvm_ms<TAB>121<TAB>119..135
//	k<TAB>520<TAB>515..602          what the kernel's own bench command says, in ns
//	smp1/getpid<TAB>410<TAB>402..533    a program's system call, on one processor, in ns
//
// The second column is the median of several boots or runs, the last column the least and
// the greatest. With -peer there are two columns between them: the number in the given
// file, and ours divided by it. The file has lines NAME<TAB>NUMBER, as printed by this
// command or by Linux's harness (see peer.go).
//
// Under an emulator on a shared machine no figure is stable; compare only figures that were
// measured alternately. With -count the kernel's rows are instructions, which are the same
// everywhere; but a single instruction may take as long as tens of others.
//
// The rows of programs come from testdata/ubench.c, a program that runs on Linux as it does
// here (see programs.go). -programs measures nothing else.
package main

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"sonde/internal/image"
	"sonde/qemu/machine"
)

// The usual numbers of runs of a row. Instructions are the same in each run, but for addresses and
// collections of garbage.
const (
	timedRuns   = 9
	countedRuns = 3
)

// imageFile is what is booted; "" is an image that is built.
var imageFile string

// kernel returns the path of the image that is booted.
var kernel = sync.OnceValues(func() (string, error) {
	if imageFile != "" {
		return imageFile, nil
	}
	return image.Build(image.BuildOptions{})
})

// limit is how long each machine may take.
var limit = machine.Patience(5 * time.Minute)

// usage is what -h prints in front of the options.
const usage = `usage: go run ./qemu/bench [options] [row...]

Measures booting, probes and system calls in QEMU, and prints a table of tab-separated values, whose
first line names the columns: the median, and from the least to the greatest. Rows that end in _ms
are in milliseconds.

`

func main() {
	n := flag.Int("n", 5, "`number` of boots per machine")
	runs := flag.Int("runs", 0, fmt.Sprintf("`number` of runs of each row of probes (default %d, with -count %d)", timedRuns, countedRuns))
	smp := flag.Int("smp", 1, "`number` of processors")
	peerFile := flag.String("peer", "", "compare with the numbers in this TSV `file` (see the comment in peer.go)")
	count := flag.Bool("count", false, "count instructions instead of time, on one processor; with arguments, only the rows of these names")
	only := flag.Bool("programs", false, "measure only programs; with arguments, only the rows of these names")
	flag.StringVar(&imageFile, "image", "", "boot this image `file` instead of building one")
	flag.DurationVar(&round, "round", round, "`time` of one round of a row of programs")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	fmt.Println(header(*count, *peerFile != ""))
	peer, err := readPeer(*peerFile)
	switch {
	case err != nil:
	case *count && *only:
		err = countPrograms(os.Stdout, flag.Args())
	case *count:
		err = instructions(cmp.Or(*runs, countedRuns), flag.Args(), peer)
	case *only:
		err = programs(max(*n, 1), peer, flag.Args())
	default:
		err = run(max(*n, 1), cmp.Or(*runs, timedRuns), *smp, peer)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// headed is how the header begins.
const headed = "row\t"

// header names the columns, and the unit of the numbers.
func header(count, peer bool) string {
	columns := []string{headed + "ns"}
	if count {
		columns[0] = headed + "instructions"
	}
	if peer {
		columns = append(columns, "peer", "ratio")
	}
	return strings.Join(append(columns, "from..to"), "\t")
}

func run(n, runs, smp int, peer figures) error {
	path, err := kernel()
	if err != nil {
		return err
	}
	c := machine.Config{Image: path, SMP: smp, Timeout: limit}
	for _, row := range []struct{ name, machine string }{{"boot_ms", "q35"}, {"boot_microvm_ms", "microvm"}} {
		c.Machine = row.machine
		ms, spread, err := median(n, func() (float64, error) { return boot(c) })
		if err != nil {
			return fmt.Errorf("%s: %w", row.name, err)
		}
		fmt.Println(line(row.name, ms, spread, peer))
	}
	c.Machine, c.Script = "q35", benchScript(runs, nil)
	if err := probes(c, peer); err != nil {
		return err
	}
	return programs(n, peer, nil)
}

// instructions prints the given rows, or all, in instructions, which a peer's are as well.
func instructions(runs int, rows []string, peer figures) error {
	path, err := kernel()
	if err != nil {
		return err
	}
	return probes(machine.Config{Image: path, Accel: machine.Counted, Timeout: limit, Script: benchScript(runs, rows)}, peer)
}

// benchScript is the kernel's own command, with some of its rows or with those that it usually measures.
func benchScript(runs int, rows []string) string {
	return fmt.Sprintf("bench -n %d %s", runs, strings.Join(rows, " "))
}

// boot returns the time to the prompt in milliseconds.
func boot(c machine.Config) (float64, error) {
	from := time.Now()
	s, err := machine.Start(context.Background(), c)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	_, err = s.Expect(`sonde# `, limit)
	return float64(time.Since(from).Microseconds()) / 1000, err
}

// probes prints what the kernel itself measures.
func probes(c machine.Config, peer figures) error {
	r, err := machine.Run(context.Background(), c)
	for text := range strings.Lines(string(r.Stdout)) {
		fields := strings.Split(strings.TrimSpace(text), "\t")
		if len(fields) != 3 {
			continue
		}
		if v, err := strconv.ParseFloat(fields[1], 64); err == nil {
			fmt.Println(line(fields[0], v, fields[2], peer))
		}
	}
	if err == nil && r.Status != 0 {
		last := r.Stdout[bytes.LastIndexByte(bytes.TrimSpace(r.Stdout), '\n')+1:]
		err = fmt.Errorf("status %d: %s %s", r.Status, bytes.TrimSpace(last), r.Reason)
	}
	return err
}

// line formats a row; without a peer it has no columns for one.
func line(name string, v float64, spread string, peer figures) string {
	columns := []string{name, fmt.Sprintf("%.0f", v)}
	if p, ok := peer[name]; ok && p > 0 {
		columns = append(columns, fmt.Sprintf("%.0f", p), fmt.Sprintf("%.2f", v/p))
	} else if peer != nil {
		columns = append(columns, "-", "-")
	}
	return strings.Join(append(columns, spread), "\t")
}

// median returns the median of n results of f, and their range.
func median(n int, f func() (float64, error)) (v float64, spread string, err error) {
	var all []float64
	for range n {
		v, err := f()
		if err != nil {
			return 0, "", err
		}
		all = append(all, v)
	}
	slices.Sort(all)
	return all[n/2], fmt.Sprintf("%.0f..%.0f", all[0], all[n-1]), nil
}
