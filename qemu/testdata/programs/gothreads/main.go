// A Go program: goroutines on threads, garbage, timers, signals, nil pointers, a
// loop that only a signal interrupts, a child process.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "collect" {
		collect()
		return
	}
	if len(os.Args) > 1 {
		fmt.Println("child:", os.Args[1:])
		os.Exit(4)
	}
	garbage()
	stacks()
	start := time.Now()
	time.Sleep(50 * time.Millisecond)
	fmt.Println("slept:", time.Since(start) >= 50*time.Millisecond)
	func() {
		defer func() { fmt.Println("recovered:", recover()) }()
		var p *int
		*p = 1
	}()
	panics()
	signals()
	child()
}

// panics has skipped call itself twice, 300 times; the innermost call of each is recovered from.
func panics() {
	for range 300 {
		skipped(2)
	}
}

//go:noinline
func skipped(n int) {
	if n == 0 {
		panic("of a test")
	}
	if n == 2 {
		defer func() { recover() }()
	}
	skipped(n - 1)
	runtime.KeepAlive(&n)
}

// collect is little work with many collections.
func collect() {
	var wg sync.WaitGroup
	kept := make([][]byte, 100)
	for g := range 4 {
		wg.Go(func() {
			for i := g; i < len(kept); i += 4 {
				kept[i] = fmt.Appendf(nil, "%d %s", i, make([]byte, 1000))
				if i%20 == 0 {
					runtime.GC()
				}
			}
		})
	}
	wg.Wait()
	runtime.GC()
	n := 0
	for _, b := range kept {
		n += len(b)
	}
	fmt.Println("collected, kept", n, deep(200))
}

// stacks lets the stacks of goroutines grow, and shrink with collections: 20 times 1001
// calls of deep.
func stacks() {
	var wg sync.WaitGroup
	sums := make([]int, 20)
	for i := range sums {
		wg.Go(func() { sums[i] = deep(1000) })
	}
	wg.Wait()
	total := 0
	for _, s := range sums {
		total += s
	}
	fmt.Println("deep", total)
}

//go:noinline
func deep(n int) int {
	var room [100]byte
	room[n%100] = 1
	if n == 500 {
		runtime.GC()
	}
	if n == 0 {
		return 0
	}
	return deep(n-1) + int(room[n%100])
}

func garbage() {
	var wg sync.WaitGroup
	var mu sync.Mutex
	total := 0
	for range 20 {
		wg.Go(func() {
			var keep [][]byte
			for i := range 300 {
				b := make([]byte, 5000+i)
				b[i] = byte(i)
				keep = append(keep, b)
			}
			for i, b := range keep {
				if b[i] != byte(i) {
					panic("memory was changed")
				}
				mu.Lock()
				total += len(b)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	runtime.GC()
	fmt.Println("total", total)
}

func signals() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1)
	syscall.Kill(os.Getpid(), syscall.SIGUSR1)
	fmt.Println("signal:", <-c)
	done := make(chan bool)
	for range runtime.GOMAXPROCS(0) {
		go func() {
			for n := 0; ; n++ {
			}
		}()
	}
	go func() { time.Sleep(20 * time.Millisecond); close(done) }()
	<-done // the loops are interrupted by signals
	runtime.GC()
	fmt.Println("loops are interrupted")
}

func child() {
	out, err := exec.Command("gothreads", "a", "b").Output()
	fmt.Printf("%s%v\n", out, err)
}
