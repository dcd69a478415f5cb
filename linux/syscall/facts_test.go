package syscall

import (
	"bytes"
	"regexp"
	"strconv"
	"testing"

	"sonde/kernel/abi"
	"sonde/sysctl"
)

// fact reads a file in /proc/sys.
func fact(t *testing.T, name string) string {
	t.Helper()
	k, err := sysctl.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return k.String()
}

func TestFactsAreWhatCallsSay(t *testing.T) {
	const nUname = 63
	run(t, func(p *player) {
		p.Call(nUname, scratch)
		var u abi.Utsname
		copy(abi.Bytes(&u), p.Peek(scratch, len(abi.Bytes(&u))))
		text := func(b []byte) string { return string(b[:bytes.IndexByte(b, 0)]) }
		for name, want := range map[string]string{
			"kernel.ostype": text(u.Sysname[:]), "kernel.osrelease": text(u.Release[:]), "kernel.version": text(u.Version[:]),
			"kernel.hostname": text(u.Nodename[:]), "kernel.domainname": text(u.Domainname[:]),
		} {
			if got := fact(t, name); got != want {
				t.Errorf("%s is %q, uname says %q", name, got, want)
			}
		}
		size, _ := strconv.Atoi(fact(t, "fs.pipe-max-size"))
		p.Call(nPipe, scratch)
		want(t, p, "a pipe of that size", p.Call(nFcntl, uint64(p.Peek32(scratch)), abi.F_SETPIPE_SZ, uint64(size)), int64(size))
	})
}

// TestNumbersOfThreadsEndAtPidMax: the numbers wrap around, above those of early processes.
func TestNumbersOfThreadsEndAtPidMax(t *testing.T) {
	most, err := sysctl.Lookup("kernel.pid_max")
	if err != nil {
		t.Fatal(err)
	}
	before := most.String()
	defer most.Set(before)
	if most.Set("300") == nil || most.Set("4194305") == nil {
		t.Error("what is too few or too many was taken")
	}
	if err := most.Set("310"); err != nil {
		t.Fatal(err)
	}
	run(t, func(p *player) {
		last := int64(0)
		for range 330 {
			pid := p.Fork(func(*player) {}, nFork)
			if pid >= 310 || pid <= last && pid != 300 {
				t.Fatalf("%d came after %d", pid, last)
			}
			last = pid
			p.Call(nWait4, uint64(pid), 0, 0, 0)
		}
	})
}

func TestUUIDs(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	a, b := fact(t, "kernel.random.uuid"), fact(t, "kernel.random.uuid")
	boot := fact(t, "kernel.random.boot_id")
	if !form.MatchString(a) || !form.MatchString(b) || a == b || !form.MatchString(boot) || boot == a {
		t.Errorf("%s, %s, boot %s", a, b, boot)
	}
	if again := fact(t, "kernel.random.boot_id"); again != boot {
		t.Errorf("boot_id was %s and is %s", boot, again)
	}
}

// TestPipeMaxSizeCanBeSet: it could only be read, and programs that raise it ended.
func TestPipeMaxSizeCanBeSet(t *testing.T) {
	k, err := sysctl.Lookup("fs.pipe-max-size")
	if err != nil {
		t.Fatal(err)
	}
	before := k.String()
	defer k.Set(before)
	if err := k.Set("2097152"); err != nil || k.String() != "2097152" {
		t.Error(k.String(), err)
	}
	if err := k.Set("100"); err == nil || k.String() != "2097152" {
		t.Error(k.String(), err)
	}
}
