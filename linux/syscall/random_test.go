package syscall

import (
	"flag"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"sonde/kernel/abi"
	"sonde/linux/proctest"
)

var calls = flag.Int("calls", 20000, "how many random system calls TestRandomCalls makes")

// arguments are values that are likely to break calls.
var arguments = []uint64{
	0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 100, 4095, 4096, 4097, 1 << 16, 1 << 20, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32,
	1<<47 - 1, 1 << 47, 1<<47 - 4096, 1<<63 - 1, 1 << 63, ^uint64(0), ^uint64(0) - 99, ^uint64(0) - 4095,
	proctest.Data, proctest.Data + 1, proctest.Data + 4, proctest.Data + 8, proctest.Data + 0x1000,
	proctest.Data + 0x2000, proctest.Data + proctest.DataSize - 1, proctest.Data + proctest.DataSize,
	proctest.StackTop - 4096, proctest.StackTop,
}

// notRandom are calls that end the program, or wait for events that never come.
var notRandom = map[string]bool{
	"exit": true, "exit_group": true, "execve": true, "rt_sigreturn": true,
	"vfork": true, // it runs no child here, and its parent waits for one
}

// TestRandomCalls makes random system calls with random arguments: they must return and leave
// nothing over. An alarm ends those that wait; if one kills the program, a new program continues.
func TestRandomCalls(t *testing.T) {
	w := world(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	made := 0
	deadline := time.Now().Add(2 * long)
	for made < *calls && time.Now().Before(deadline) {
		p := begin(t, w, func(p *player) {
			action(p, abi.SIGALRM, func(*player, uint64, uint64, uint64) {}, 0, 0)
			for range 500 {
				n := random.Uint64N(Numbers)
				if random.Uint64N(50) == 0 {
					n = random.Uint64()
				}
				if notRandom[Name(n)] {
					continue
				}
				var args []uint64
				for range 6 {
					v := arguments[random.IntN(len(arguments))]
					if random.Uint64N(4) == 0 {
						v = random.Uint64() >> random.Uint64N(64)
					}
					args = append(args, v)
				}
				made++
				p.Fork(func(c *player) {}, n, args...)
			}
		})
		stop := make(chan bool)
		go func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(3 * time.Millisecond):
					for _, q := range w.Table.Processes() {
						sendFrom(q, abi.SIGALRM)
						sendFrom(q, abi.SIGCONT)
					}
				}
			}
		}()
		select {
		case <-p.Done():
		case <-time.After(200 * time.Millisecond): // it blocks its signals, or has many children
			for _, q := range w.Table.Processes() {
				q.Kill(abi.SIGKILL)
			}
		}
		finish(t, w, p)
		close(stop)
	}
	settle(t, w)
	for _, line := range w.Log() {
		if strings.Contains(line, "BUG") {
			t.Error(line)
		}
	}
	t.Logf("%d calls", made)
}

// settle waits until all that was started has ended.
func settle(t *testing.T, w *proctest.World) {
	t.Helper()
	for end := time.Now().Add(long); ; time.Sleep(time.Millisecond) {
		for _, q := range w.Table.Processes() {
			q.Kill(abi.SIGKILL)
		}
		if n, _, _ := w.Table.Counts(); n == 0 {
			return
		} else if time.Now().After(end) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d processes do not end\n%s", n, threadsOf(string(stacks[:runtime.Stack(stacks, true)])))
		}
	}
}

// threadsOf selects the goroutines that are threads of programs.
func threadsOf(stacks string) (threads string) {
	for g := range strings.SplitSeq(stacks, "\n\n") {
		if strings.Contains(g, "proc.(*Thread).run") {
			threads += g + "\n\n"
		}
	}
	return threads
}
