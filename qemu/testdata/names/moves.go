// A program whose goroutines are on another thread when a function returns than when it was called.
package main

import (
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
)

const goroutines, calls = 4, 10

func main() {
	runtime.GOMAXPROCS(1) // a goroutine that was in a system call has to wait for the thread that has the processor
	var wg sync.WaitGroup
	var done atomic.Bool
	go func() {
		for !done.Load() {
		}
	}()
	for range goroutines {
		wg.Go(func() {
			for range calls {
				moves()
			}
		})
	}
	wg.Wait()
	done.Store(true)
}

// moves returns on another thread.
//
//go:noinline
func moves() {
	for thread := syscall.Gettid(); syscall.Gettid() == thread; {
		syscall.Nanosleep(&syscall.Timespec{Nsec: 1e6}, nil)
	}
}
