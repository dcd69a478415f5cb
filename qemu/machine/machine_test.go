package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"sonde/internal/exitcode"
	"sonde/kallsyms"
)

const patience = 10 * time.Minute

// needQEMU skips on hosts without QEMU, loudly.
func needQEMU(t *testing.T) {
	t.Helper()
	if _, err := Find(); err != nil {
		t.Skip(err)
	}
}

func TestRunReportsHowTheMachineEnded(t *testing.T) {
	needQEMU(t)
	for _, name := range []string{"q35", "microvm"} {
		for _, c := range []struct {
			name   string
			then   int
			value  byte
			status int
			crash  bool
		}{
			{"not found", thenExit, byte(exitcode.ForScript(127)), 127, false},
			{"success", thenExit, exitcode.Script, 0, false},
			{"status 7", thenExit, exitcode.Script + 7, 7, false},
			{"greatest status", thenExit, exitcode.Script + exitcode.MaxStatus, exitcode.MaxStatus, false},
			{"crash", thenExit, exitcode.Crash, StatusCrash, true},
			{"triple fault", thenTriple, 0, StatusCrash, true},
		} {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				script := "a 'b'; c,d"
				r, err := Run(context.Background(), Config{
					Image: guest(t, c.then, c.value), Machine: name, SMP: 2, Append: "x=1", Script: script, Timeout: patience,
				})
				if err != nil || r.Status != c.status || r.Crash != c.crash || (r.Reason != "") != c.crash {
					t.Errorf("status %d, crash %v (%s), %v", r.Status, r.Crash, r.Reason, err)
				}
				if want := "x=1 -- " + script; string(r.Stdout) != want || !strings.HasSuffix(string(r.Log), want) {
					t.Errorf("stdout %q, console %q; want %q", r.Stdout, r.Log, want)
				}
			})
		}
	}
}

// slow is a reader on a terminal that can hardly keep up.
type slow struct{}

func (slow) Write(b []byte) (int, error) {
	time.Sleep(10 * time.Millisecond)
	return len(b), nil
}

func TestNothingIsLostOnTheWayOut(t *testing.T) {
	needQEMU(t)
	r, err := Run(context.Background(), Config{
		Image: guest(t, thenFlood, exitcode.Script), Machine: "microvm", Append: "x", Stdout: slow{}, Log: slow{}, Timeout: patience,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := make([]byte, floodSize)
	for i := range want {
		want[i] = byte(floodSize - i)
	}
	if !bytes.Equal(r.Stdout, append([]byte("x"), want...)) {
		t.Errorf("output: %d bytes of %d", len(r.Stdout), floodSize+1)
	}
	if !bytes.Equal(r.Log, append([]byte("x"), want...)) {
		t.Errorf("console: %d bytes of %d", len(r.Log), floodSize+1)
	}
}

func TestRunStopsAtTheTimeout(t *testing.T) {
	needQEMU(t)
	r, err := Run(context.Background(), Config{Image: guest(t, thenHang, 0), Append: "hi", Timeout: 3 * time.Second})
	if !errors.Is(err, ErrTimeout) || r.Status != StatusTimeout || !strings.Contains(err.Error(), "timed out after 3s") {
		t.Errorf("status %d, %v", r.Status, err)
	}
}

// TestStoppedMachineSaysWhereItWas: when the time of what hangs is over, all that it has said is
// there, and where its processors were; the second one waits for the first to start it.
func TestStoppedMachineSaysWhereItWas(t *testing.T) {
	needQEMU(t)
	ctx, end := context.WithCancelCause(context.Background())
	s, err := Start(ctx, Config{Image: guest(t, thenHang, 0), SMP: 2, Append: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Expect("hi", patience); err != nil {
		t.Error(err)
	}
	end(context.DeadlineExceeded)
	r, err := s.Wait()
	if !errors.Is(err, ErrTimeout) || r.Status != StatusTimeout || !strings.HasSuffix(err.Error(), r.Reason) {
		t.Errorf("status %d, %v", r.Status, err)
	}
	if !strings.HasPrefix(r.Reason, "CPU 0 was at 0x1000") || !strings.Contains(r.Reason, ", CPU 1 was at 0x") {
		t.Errorf("reason %q", r.Reason)
	}
	if string(r.Stdout) != "hi" || !strings.HasSuffix(string(r.Log), "hi") {
		t.Errorf("output %q, console %q", r.Stdout, r.Log)
	}
}

func TestWhereNamesFunctions(t *testing.T) {
	symbols, err := kallsyms.Load(kallsyms.Encode([]kallsyms.Symbol{{Name: "f", Addr: 0x1000, Size: 0x20, Type: 'T'}, {Name: "g", Addr: 0x1040, Size: 0x10, Type: 'T'}}))
	if err != nil {
		t.Fatal(err)
	}
	shown := ""
	for _, ip := range []string{"RIP=0000000000001000", "EIP=00001003", "RIP=000000000000103f", "RIP=000000000000104f", "RIP=ffffffff84000000", "EIP=00000fff"} {
		shown += "CPU#0\r\nRAX=0 RBX=0\r\n" + ip + " RFL=00000246 [---Z-P-]\r\n\r\n"
	}
	const want = "CPU 0 was at f+0x0, CPU 1 was at f+0x3, CPU 2 was at 0x103f, CPU 3 was at g+0xf, CPU 4 was at 0xffffffff84000000, CPU 5 was at 0xfff"
	if got := where(shown, symbols); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestSessionTypesAndExpects(t *testing.T) {
	needQEMU(t)
	var live bytes.Buffer
	s, err := Start(context.Background(), Config{
		Image: guest(t, thenEcho, exitcode.Script+3), Machine: "microvm", Append: "ready", Log: &live, Timeout: patience,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Expect("ready", patience); err != nil {
		t.Error(err)
	}
	if err := s.Type("one two "); err != nil {
		t.Error(err)
	}
	if got, err := s.Expect(`t\w+ `, patience); err != nil || got != "one two " {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := s.Expect("never", 50*time.Millisecond); !errors.Is(err, ErrTimeout) {
		t.Error(err)
	}
	s.Type("q")
	if _, err := s.Expect("never", patience); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if r, err := s.Wait(); err != nil || r.Status != 3 || !bytes.Equal(r.Log, live.Bytes()) {
		t.Errorf("status %d, %v; log %q, live %q", r.Status, err, r.Log, live.Bytes())
	}
}

func TestQEMUsOwnFailureIsReported(t *testing.T) {
	needQEMU(t)
	r, err := Run(context.Background(), Config{Image: "/nonexistent.elf", Timeout: patience})
	if !errors.Is(err, ErrQEMU) || r.Status != StatusQEMU || !strings.Contains(err.Error(), "nonexistent.elf") {
		t.Errorf("status %d, %v", r.Status, err)
	}
}

func TestImpossibleMachinesAreRefused(t *testing.T) {
	for _, c := range []Config{
		{Machine: "vax"},
		{SMP: -1}, {SMP: 2, Accel: Counted},
		{SMP: maxSMP + 1},
		{Memory: "64"},
		{Memory: "Inf"},
		{Timeout: -1},
		{Append: "x -- y", Script: "ls"},
		{Append: "x -- y"},
		{Append: `x="y`, Script: "ls"},
		{Script: "ls\x00"},
		{Script: strings.Repeat("x", MaxCommandLine)},
	} {
		if r, err := Run(context.Background(), c); !errors.Is(err, ErrConfig) || r.Status != StatusUsage {
			t.Errorf("%+.40v: status %d, %v", c, r.Status, err)
		}
	}
	for _, c := range []Config{
		{Memory: "96"}, {Memory: "98304K"}, {Memory: "0.125g"}, {Memory: "1T"}, {SMP: maxSMP},
		{Append: `a="b -- c" --d`, Script: " \t\nls -- x"},
		{Append: `a="b -- c"`},
	} {
		if err := c.withDefaults().Check(); err != nil {
			t.Errorf("%+.40v: %v", c, err)
		}
	}
	for _, a := range []Accel{TCG, KVM, Counted, Stepped} {
		if got, err := ParseAccel(string(a)); got != a || err != nil {
			t.Errorf("%s: %s, %v", a, got, err)
		}
	}
	if _, err := ParseAccel("xen"); !errors.Is(err, ErrConfig) {
		t.Error(err)
	}
}

func TestClassify(t *testing.T) {
	for i, c := range []struct {
		e      ending
		status int
		reason string
		err    error
	}{
		{ending{code: 0, shutdown: "guest-shutdown"}, 0, "", nil},
		{ending{code: 0, shutdown: "guest-reset", log: []byte("x\n[ 1.0] reboot: now\n")}, 0, "", nil},
		{ending{code: 0, shutdown: "guest-reset", log: []byte("x\nlast\n")}, StatusCrash, "last", nil},
		{ending{code: 0, shutdown: "host-signal"}, StatusInterrupt, "", ErrInterrupted},
		{ending{code: 0, shutdown: stoppedItself, stderr: []byte("KVM internal error")}, StatusQEMU, "", ErrQEMU},
		{ending{code: 0}, StatusQEMU, "", ErrQEMU},
		{ending{code: 1, stderr: []byte("bad")}, StatusQEMU, "", ErrQEMU},
		{ending{code: exitcode.Process(5)}, StatusQEMU, "", ErrQEMU},
		{ending{code: exitcode.Process(exitcode.Crash), log: []byte("a\n[    1.250000] panic: b\ngoroutine 1")}, StatusCrash, "panic: b", nil},
		{ending{code: killed}, StatusQEMU, "", ErrQEMU},
	} {
		var r Result
		err := r.classify(c.e)
		if r.Status != c.status || !errors.Is(err, c.err) || !strings.Contains(r.Reason, c.reason) {
			t.Errorf("case %d: status %d, reason %q, %v", i, r.Status, r.Reason, err)
		}
	}
}

func TestArguments(t *testing.T) {
	args := Config{Image: "k", GDB: &GDB{Port: 99}, Accel: TCG, Script: "ls"}.withDefaults().pipedArguments(medium{}, "out", "control")
	line := fmt.Sprint(args)
	for _, want := range []string{"-machine q35", "tcg,thread=multi", "-cpu max", "-no-reboot", "-- ls"} {
		if !strings.Contains(line, want) {
			t.Errorf("%s lacks %q", line, want)
		}
	}
	if slices.Contains(Config{}.withDefaults().terminalArguments(medium{}), "-no-reboot") {
		t.Error("a person's reboot must reboot")
	}
}
