package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sonde/kernel/wire"
	"sonde/qemu/web/serve"
)

// A lossy line drops every byte with a chance of 1 in so many; 0: none.
type lossy struct {
	io.Writer
	one  int
	mu   sync.Mutex
	cut  bool // drops all
	lost int
}

func (l *lossy) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var left []byte
	for _, c := range b {
		if l.cut || l.one > 0 && rand.IntN(l.one) == 0 {
			l.lost++
			continue
		}
		left = append(left, c)
	}
	l.Writer.Write(left)
	return len(b), nil
}

// pair is the agent of the kernel, with a real shell, and ours, over lossy lines.
type pair struct {
	*serve.Agent
	toKernel, fromKernel *lossy
	kernel               *Agent
}

func join(t *testing.T, one int, terminal func([]byte)) *pair {
	t.Helper()
	down, toKernel := io.Pipe()
	up, fromKernel := io.Pipe()
	j := &pair{toKernel: &lossy{Writer: toKernel, one: one}, fromKernel: &lossy{Writer: fromKernel, one: one}}
	j.kernel = &Agent{
		Shell: func(out io.Writer) *Shell {
			s := New(fakeMachine(), out)
			s.Register(&Command{Name: "waits", Run: func(c *Context, _ []string) error {
				<-c.Interrupt
				return Status(statusInterrupted)
			}})
			return s
		},
		Send:    func(m wire.Message) { j.fromKernel.Write(wire.Append(nil, m)) },
		Hello:   func(boot int64) []byte { return fmt.Appendf(nil, `{"boot":%d}`, boot) },
		Present: func(bool) {},
		Boot:    1000,
	}
	go func() {
		r := wire.Reader{}
		buf := make([]byte, 4096)
		for {
			n, err := down.Read(buf)
			if err != nil {
				return
			}
			r.Feed(buf[:n], j.kernel.Take)
		}
	}()
	j.Agent = serve.NewAgent(struct {
		io.Reader
		io.Writer
	}{up, j.toKernel}, terminal)
	t.Cleanup(func() { fromKernel.Close(); <-j.Gone; down.Close() })
	for _, here := j.Kernel(); !here; _, here = j.Kernel() {
		time.Sleep(time.Millisecond)
	}
	return j
}

// TestLossyLine: over a line that loses one byte in 300, every command runs once, and its end is heard of.
func TestLossyLine(t *testing.T) { synctest.Test(t, lossyLine) }

func lossyLine(t *testing.T) {
	j := join(t, 300, nil)
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			var out, errs bytes.Buffer
			long := strings.Repeat("x ", 10*i)
			status, err := j.Run(t.Context(), []string{"echo", fmt.Sprint(i), long}, &out, &errs)
			if status != 0 || err != nil || errs.Len() > 0 {
				t.Errorf("%d: status %d, %v: %s", i, status, err, &errs)
			}
			if strings.Count(out.String(), "\n") > 1 {
				t.Errorf("it ran more than once: %q", &out)
			}
		})
	}
	all.Wait()
	if j.toKernel.lost == 0 || j.fromKernel.lost == 0 {
		t.Error("no byte was lost")
	}
	if h, _ := j.Kernel(); h.Damaged == 0 {
		t.Error("bytes were lost, and no message")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := j.Run(ctx, []string{"waits"}, io.Discard, io.Discard); err != nil && !errors.Is(err, serve.ErrGone) {
		t.Error(err)
	}
}

// TestCutLine: while the cable is pulled the page is told that nothing answers, the kernel ends what runs, and when the
// cable is back the commands have ended as those of a kernel that was there before.
func TestCutLine(t *testing.T) { synctest.Test(t, cutLine) }

func cutLine(t *testing.T) {
	j := join(t, 0, nil)
	first, _ := j.Kernel()
	ended := make(chan error, 1)
	go func() {
		_, err := j.Run(t.Context(), []string{"waits"}, io.Discard, io.Discard)
		ended <- err
	}()
	cut := func(is bool) {
		for _, l := range []*lossy{j.toKernel, j.fromKernel} {
			l.mu.Lock()
			l.cut = is
			l.mu.Unlock()
		}
	}
	for n := 0; n == 0; time.Sleep(time.Millisecond) { // until it runs
		j.kernel.mu.Lock()
		n = len(j.kernel.runs)
		j.kernel.mu.Unlock()
	}
	cut(true)
	h, _ := j.Kernel()
	for ; h.Silent == 0; h, _ = j.Kernel() {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(silence / 2) // until the kernel has seen it, too
	cut(false)
	if err := <-ended; !errors.Is(err, serve.ErrGone) {
		t.Errorf("the kernel has ended it, and it ends by %v", err)
	}
	if h, here := j.Kernel(); !here || h.Silent != 0 || h.Boot == first.Boot {
		t.Errorf("%+v, before: %+v", h, first)
	}
	if status, err := j.Run(t.Context(), []string{"true"}, io.Discard, io.Discard); status != 0 || err != nil {
		t.Errorf("status %d, %v", status, err)
	}
}

// TestAnotherLauncher: its commands do not meet those of the one before, which end.
func TestAnotherLauncher(t *testing.T) { synctest.Test(t, anotherLauncher) }

func anotherLauncher(t *testing.T) {
	j := join(t, 0, nil)
	ended := make(chan error, 1)
	go func() {
		status, err := j.Run(t.Context(), []string{"waits"}, io.Discard, io.Discard)
		if status == statusInterrupted {
			err = serve.ErrGone
		}
		ended <- err
	}()
	for n := 0; n == 0; time.Sleep(time.Millisecond) {
		j.kernel.mu.Lock()
		n = len(j.kernel.runs)
		j.kernel.mu.Unlock()
	}
	j.kernel.Take(wire.Message{Kind: wire.Ask, Data: []byte("another")})
	if err := <-ended; !errors.Is(err, serve.ErrGone) {
		t.Error(err)
	}
}

// TestTerminalShares: what is between messages is the terminal's, with a zero in it, too.
func TestTerminalShares(t *testing.T) { synctest.Test(t, terminalShares) }

func terminalShares(t *testing.T) {
	seen := make(chan string, 100)
	j := join(t, 0, func(b []byte) { seen <- string(b) })
	j.fromKernel.Write([]byte("sonde# \x00abc"))
	if status, err := j.Run(t.Context(), []string{"true"}, io.Discard, io.Discard); status != 0 || err != nil {
		t.Errorf("status %d, %v", status, err)
	}
	j.fromKernel.Write([]byte("\x00Kernel panic"))
	for text := ""; !strings.HasSuffix(text, "Kernel panic"); {
		text += <-seen
	}
}
