//go:build unix

package verify

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestBusyHost: what is refused, and in which words, depends neither on how fast the host is nor on what else
// it does. A process walks a program up to a limit, and is stopped meanwhile for longer than a walk may take.
func TestBusyHost(t *testing.T) {
	if os.Getenv("SONDE_WALK") != "" {
		text := "r6 = *(u64 *)(r1 + 0); r7 = 0; "
		for i := range 20 {
			text += fmt.Sprintf("if r6 & %d goto a%d; r7 += 1; a%d: r7 += r7; ", 1<<i, i, i) + strings.Repeat("r0 = 0; ", 8)
		}
		fmt.Println("it walks")
		_, e := check(t, text+"r1 = r10; r1 += r7; exit", Limits{Values: 5_000_000, Memory: 1 << 30})
		fmt.Println(e)
		return
	}
	t.Parallel()
	c := exec.Command(os.Args[0], "-test.run=^TestBusyHost$")
	c.Env = append(os.Environ(), "SONDE_WALK=1")
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Process.Kill()
	lines := bufio.NewScanner(out)
	lines.Scan()
	c.Process.Signal(syscall.SIGSTOP)
	time.Sleep(2500 * time.Millisecond)
	c.Process.Signal(syscall.SIGCONT)
	lines.Scan()
	const want = "the walk compares and keeps more than 5000000 values; most states, 65, are kept at instruction 147"
	if got := lines.Text(); !strings.HasSuffix(got, want) {
		t.Errorf("got %q, expected %q", got, want)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}
