package shell

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"sonde/internal/quick"
	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/linux/proc"
	"sonde/linux/proctest"
	"sonde/linux/syscall"
)

// TestPsListsProgramsAsLinuxDoes: one that waits, one that has stopped, and one that has ended and
// has not been waited for.
func TestPsListsProgramsAsLinuxDoes(t *testing.T) {
	const nPause, nFork, nSetsid = 34, 57, 112
	w := proctest.NewWorld(64<<20, syscall.Handle)
	img, err := w.Image("parent", func(p *proctest.Player) {
		p.Fork(func(c *proctest.Player) {}, nFork)
		p.Fork(func(c *proctest.Player) {
			c.Call(nSetsid)
			c.Call(nPause)
		}, nFork)
		p.Call(nPause)
	})
	if err != nil {
		t.Fatal(err)
	}
	args := "parent\x00a\nb\x00--long\x00"
	if _, err := img.Space.CopyOut(proctest.Data, []byte(args)); err != nil {
		t.Fatal(err)
	}
	img.Layout.ArgStart, img.Layout.ArgEnd = proctest.Data, proctest.Data+uint64(len(args))
	files, err := syscall.NewFiles(vfs.Root.RootPlace())
	if err != nil {
		t.Fatal(err)
	}
	p, err := w.Table.Start(proc.Spec{Image: img, Resources: files})
	if err != nil {
		t.Fatal(err)
	}
	m := fakeMachine()
	m.Programs = OnTable(w.Table)
	m.Running = func() []int { return []int{0, p.PID} }
	want := regexp.MustCompile(`^    PID CPU TTY      STAT   TIME COMMAND
      2   1 \?        S      0:00 parent a\?b --long
      3   - \?        Z      0:00 \[parent\] <defunct>
      4   - \?        Ss     0:00 parent a\?b --long

     ID CPU STAT       AGE NAME                 WAITS FOR
      1   0 R      1:00:00 init
      2   - S      0:01:01 rcu                  select
`)
	var out string
	for end := time.Now().Add(quick.Hang); ; time.Sleep(time.Millisecond) {
		var b strings.Builder
		New(m, &b).Run("ps")
		if out = b.String(); want.MatchString(out) {
			break
		} else if time.Now().After(end) {
			t.Fatalf("ps prints\n%s", out)
		}
	}
	stopped, _ := w.Table.Find(4)
	stopped.Send(proc.SignalOf(abi.SIGSTOP))
	for end := time.Now().Add(quick.Hang); stopped.State() != "T"; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not stop")
		}
	}
	var b strings.Builder
	New(m, &b).Run("ps")
	if !strings.Contains(b.String(), "\n      4   - ?        Ts     0:00 parent a?b --long\n") {
		t.Errorf("ps prints\n%s", b.String())
	}
	for style, want := range map[string]string{
		"aux": `^USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND
root           2 [ \d]\d\.\d [ \d]\d\.\d +\d+ +\d+ \?        S    \d\d:\d\d   0:00 parent a\?b --long
root           3 .* \?        Z    \d\d:\d\d   0:00 \[parent\] <defunct>
root           4 .* \?        Ts   \d\d:\d\d   0:00 parent a\?b --long
$`,
		"-ef": `^UID          PID    PPID  C STIME TTY          TIME CMD
root           2       1 [ \d]\d \d\d:\d\d \?        00:00:00 parent a\?b --long
root           3       2 .*
root           4       2 .*
$`,
		"-Z": `^ps: unknown option -Z\n`,
	} {
		b.Reset()
		if New(m, &b).Run("ps " + style); !regexp.MustCompile(want).MatchString(b.String()) {
			t.Errorf("ps %s prints\n%s", style, b.String())
		}
	}
	stopped.Kill(abi.SIGKILL)
	p.Kill(abi.SIGKILL)
	<-p.Done()
}
