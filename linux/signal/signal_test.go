package signal

import (
	"testing"

	"sonde/kernel/abi"
)

func info(n int, code int32) *abi.Siginfo { return &abi.Siginfo{Signo: int32(n), Code: code} }

func TestQueueOrder(t *testing.T) {
	var q Queue
	q.Add(info(abi.SIGTERM, 0))
	q.Add(info(40, 1))
	q.Add(info(abi.SIGHUP, 0))
	q.Add(info(40, 2))
	if q.Add(info(abi.SIGTERM, 9)) {
		t.Error("a second SIGTERM was queued")
	}
	q.Add(info(abi.SIGSEGV, 0))
	if n, _ := q.Next(0); n != abi.SIGSEGV {
		t.Errorf("next is %d", n)
	}
	var got []int
	for {
		var i abi.Siginfo
		ok := q.Take(Of(abi.SIGHUP), &i)
		if !ok {
			break
		}
		got = append(got, int(i.Signo)*100+int(i.Code))
	}
	want := []int{1100, 1500, 4001, 4002}
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
	if q.Set() != Of(abi.SIGHUP) || q.Len() != 1 {
		t.Errorf("%#x waits, %d of them", q.Set(), q.Len())
	}
}

func TestQueueRemove(t *testing.T) {
	var q Queue
	q.Add(info(abi.SIGTSTP, 0))
	q.Add(info(abi.SIGCONT, 0))
	q.Remove(Stops)
	if q.Set() != Of(abi.SIGCONT) || q.Len() != 1 {
		t.Errorf("%#x, %d", q.Set(), q.Len())
	}
}

func TestDefaults(t *testing.T) {
	// signal(7), "Standard signals".
	want := map[int]Default{
		abi.SIGKILL: Terminate, abi.SIGSEGV: Core, abi.SIGCHLD: Ignore, abi.SIGTSTP: Stop,
		abi.SIGCONT: Continue, abi.SIGWINCH: Ignore, abi.SIGURG: Ignore, abi.SIGIO: Terminate, 50: Terminate,
	}
	for n, d := range want {
		if DefaultOf(n) != d {
			t.Errorf("%s: %v, want %v", abi.SignalName(n), DefaultOf(n), d)
		}
	}
}

func TestActionsAfterExec(t *testing.T) {
	var a Actions
	a[abi.SIGINT] = abi.Sigaction{Handler: 0x1000, Flags: abi.SA_RESTART}
	a[abi.SIGHUP] = abi.Sigaction{Handler: abi.SIG_IGN, Mask: 5}
	if !a.Caught(abi.SIGINT) || a.Ignored(abi.SIGINT) || !a.Ignored(abi.SIGHUP) || !a.Ignored(abi.SIGCHLD) {
		t.Error("before exec")
	}
	a.ForExec()
	if a.Caught(abi.SIGINT) || !a.Ignored(abi.SIGHUP) || a[abi.SIGINT] != (abi.Sigaction{}) {
		t.Error("after exec")
	}
}
