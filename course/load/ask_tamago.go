//go:build tamago

package load

import (
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"time"

	"sonde/kernel/cpu"
	"sonde/kernel/procfs"
	"sonde/kernel/refusal"
)

// What lab 8 asks about. Each of these functions does something once, of a size that it is told, and
// returns how much of it there was: the nanoseconds that it waited, the bytes that it allocated, how many
// goroutines it woke.

// Nap waits for a time.
//
//go:noinline
func Nap(size int) int64 {
	begun := cpu.Nanotime()
	time.Sleep(long(size))
	return cpu.Nanotime() - begun
}

// Queue waits for a channel.
//
//go:noinline
func Queue(size int) int64 {
	next := make(chan int)
	go after(size, func() { next <- 0 })
	begun := cpu.Nanotime()
	<-next
	return cpu.Nanotime() - begun
}

// Bell waits for a condition.
//
//go:noinline
func Bell(size int) int64 {
	var all sync.WaitGroup
	all.Add(1)
	go after(size, all.Done)
	begun := cpu.Nanotime()
	all.Wait()
	return cpu.Nanotime() - begun
}

// long is how long something of a size takes: so long that it does not matter how long a busy machine keeps a
// CPU waiting between what is measured here and what a probe measures.
func long(size int) time.Duration { return time.Duration(size) * 20 * time.Millisecond }

func after(size int, f func()) {
	time.Sleep(long(size))
	f()
}

// till, scales and safe are locks, and Till, Scales and Safe wait for them.
var till, scales, safe sync.Mutex

//go:noinline
func Till(size int) int64 {
	hold(&till, size)
	begun := cpu.Nanotime()
	till.Lock()
	took := cpu.Nanotime() - begun
	till.Unlock()
	return took
}

//go:noinline
func Scales(size int) int64 {
	hold(&scales, size)
	begun := cpu.Nanotime()
	scales.Lock()
	took := cpu.Nanotime() - begun
	scales.Unlock()
	return took
}

//go:noinline
func Safe(size int) int64 {
	hold(&safe, size)
	begun := cpu.Nanotime()
	safe.Lock()
	took := cpu.Nanotime() - begun
	safe.Unlock()
	return took
}

// hold has another goroutine hold a lock for a time.
func hold(l *sync.Mutex, size int) {
	held := make(chan int)
	go func() {
		l.Lock()
		held <- 0
		time.Sleep(long(size))
		l.Unlock()
	}()
	<-held
}

// paper is what Wrap, Pack and Seal allocate.
var paper [3][]byte

//go:noinline
func Wrap(size int) int64 { paper[0] = make([]byte, 100*size); return int64(len(paper[0])) }

//go:noinline
func Pack(size int) int64 { paper[1] = make([]byte, 400*size); return int64(len(paper[1])) }

//go:noinline
func Seal(size int) int64 { paper[2] = make([]byte, 30+size); return int64(len(paper[2])) }

// Ring wakes goroutines one after another, by a channel.
//
//go:noinline
func Ring(size int) int64 {
	door := make(chan int)
	waiting(size, func() { <-door })
	for range size {
		door <- 0
	}
	return int64(size)
}

// Knock wakes goroutines one after another, by a condition.
//
//go:noinline
func Knock(size int) int64 {
	var mu sync.Mutex
	door := sync.NewCond(&mu)
	waiting(size, func() { mu.Lock(); door.Wait(); mu.Unlock() })
	for range size {
		door.Signal()
		time.Sleep(time.Millisecond) // so that they do not wait for the lock, and wake each other
	}
	return int64(size)
}

// Call wakes all goroutines at once, by closing a channel.
//
//go:noinline
func Call(size int) int64 {
	door := make(chan int)
	waiting(size, func() { <-door })
	close(door)
	return int64(size)
}

// waiting starts goroutines, and returns when they have had time enough to begin to wait.
func waiting(n int, wait func()) {
	for range n {
		go wait()
	}
	time.Sleep(30 * time.Millisecond)
}

// An act is one of the functions above.
type act struct {
	name string
	do   func(size int) int64
}

// questions are those of the lab whose answers are known.
var questions = map[string][]act{
	"waits":   {{"Nap", Nap}, {"Queue", Queue}, {"Bell", Bell}},
	"locks":   {{"Till", Till}, {"Scales", Scales}, {"Safe", Safe}},
	"garbage": {{"Wrap", Wrap}, {"Pack", Pack}, {"Seal", Seal}},
	"wakes":   {{"Ring", Ring}, {"Knock", Knock}, {"Call", Call}},
}

// ask does what a question is about, and reports how much each function did: QUESTION,SEED,ROUNDS,GOROUTINES.
func ask(args []string) error {
	acts, err := acting(args[0])
	if err != nil {
		return err
	}
	n, err := numbers(args[1:]...)
	if err != nil {
		return err
	}
	amounts := make([][]int64, n[2])
	together(n[2], func(g int) {
		random := rand.New(rand.NewPCG(uint64(n[0]), uint64(g)))
		amounts[g] = make([]int64, len(acts))
		for range n[1] {
			for i := range acts {
				amounts[g][i] += acts[i].do(5 + random.IntN(5*(1+i*i)))
			}
		}
	})
	for i, a := range acts {
		sum := int64(0)
		for g := range amounts {
			sum += amounts[g][i]
		}
		report("amount."+a.name, "%d", sum)
	}
	return nil
}

func acting(question string) ([]act, error) {
	acts, ok := questions[question]
	if !ok {
		return nil, refusal.New(syscall.EINVAL, "%q is no question that has a workload", question)
	}
	return acts, nil
}

// plain is what a call of each function took when nothing asked, in instructions.
var plain = map[string]int64{}

// toll measures what asking costs, for each call of a function that a question is about: QUESTION,CALLS. The
// first time, it only measures what a call takes. In a machine that counts, a nanosecond is an instruction; one
// that sleeps does not count, so calls do not wait for time, but for each other.
func toll(args []string) error {
	acts, err := acting(args[0])
	if err != nil {
		return err
	}
	n, err := numbers(args[1])
	if err != nil {
		return err
	}
	f := acts[0].do
	least := int64(1 << 62) // of several rounds: interrupts take time, too
	for range 5 {
		begun := busy()
		for range n[0] {
			f(1)
		}
		least = min(least, (busy()-begun)/int64(n[0]))
	}
	key := strings.Join(args, ",")
	if _, again := plain[key]; !again {
		plain[key] = least
	}
	report("toll", "%d", least-plain[key])
	return nil
}

// busy is the time that the CPU has not been idle.
func busy() int64 {
	up, idle := procfs.Uptime()
	return int64(up - idle)
}
