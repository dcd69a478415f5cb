//go:build linux

package main

import (
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"sonde/shell/coreutils"
)

// burn keeps CPUs busy without a system call: burn [-n CPUS] [-t DURATION]. It prints how many rounds
// each thread made.
func burn(_ *coreutils.IO, args []string) error {
	flags := flag.NewFlagSet("burn", flag.ContinueOnError)
	n := flags.Int("n", 1, "how many threads")
	d := flags.Duration("t", time.Second, "how long to run")
	if err := flags.Parse(args); err != nil {
		return coreutils.Misused
	}
	var wait sync.WaitGroup
	done := make(chan struct{})
	rounds := make([]uint64, *n)
	for i := range rounds {
		wait.Go(func() { rounds[i] = spin(done) })
	}
	time.Sleep(*d)
	close(done)
	wait.Wait()
	fmt.Println(strings.Trim(fmt.Sprint(rounds), "[]"))
	return nil
}

// spin makes rounds until done is closed, and returns how many.
func spin(done <-chan struct{}) (rounds uint64) {
	x := uint64(1)
	for {
		for range 100_000 {
			x = x*6364136223846793005 + 1442695040888963407
		}
		rounds++
		select {
		case <-done:
			runtime.KeepAlive(x)
			return rounds
		default:
		}
	}
}

// work makes garbage in several threads and checks it: work [-n THREADS] [-rounds N].
// The last line is the same on every machine.
func work(_ *coreutils.IO, args []string) error {
	flags := flag.NewFlagSet("work", flag.ContinueOnError)
	n := flags.Int("n", 4, "how many goroutines")
	rounds := flags.Int("rounds", 20, "how many rounds each goroutine makes")
	if err := flags.Parse(args); err != nil {
		return coreutils.Misused
	}
	sums := make(chan uint64)
	for i := range *n {
		go func() { sums <- churn(i, *rounds) }()
	}
	var total uint64
	for range *n {
		total += <-sums
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Fprintf(os.Stderr, "collected %d times, %d KiB allocated\n", m.NumGC, m.TotalAlloc>>10)
	fmt.Printf("%016x\n", total)
	return nil
}

// churn fills maps and slices, and returns a sum of their contents.
func churn(seed, rounds int) (sum uint64) {
	for round := range rounds {
		m := map[string][]byte{}
		for k := range 200 {
			h := sha256.Sum256(fmt.Appendf(nil, "%d/%d/%d", seed, round, k))
			m[string(h[:8])] = append(make([]byte, 0, 1000), h[:]...)
		}
		for _, v := range m {
			sum += binary.LittleEndian.Uint64(v)
		}
		runtime.Gosched()
	}
	return sum
}
