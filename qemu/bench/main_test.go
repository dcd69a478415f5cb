package main

import (
	"errors"
	"maps"
	"testing"
)

func TestParsePeer(t *testing.T) {
	peer, err := parsePeer("# Linux\n\nboot_ms\t2000\nk\t1200\tmore\n510/off/smp1/k.net\t1139\n61/off/smp1/k.net\t1242\n" +
		"510/off/smp2/b.net\t100\n510/default/smp1/b.net\t90\n510/off/smp1/regpair_us\t231\nunknown\t1\n")
	want := figures{"boot_ms": 2000, "k": 1139, "regpair": 231e3}
	if err != nil || !maps.Equal(peer, want) {
		t.Errorf("%v, %v", peer, err)
	}
	for _, bad := range []string{"boot_ms 2000\n", "boot_ms\tfast\n"} {
		if _, err := parsePeer(bad); !errors.Is(err, errPeer) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestRatioOnlyWithAPeer(t *testing.T) {
	for _, c := range []struct {
		peer figures
		want string
	}{
		{nil, "boot_ms\t500\t490..520"},
		{figures{"boot_ms": 2000}, "boot_ms\t500\t2000\t0.25\t490..520"},
		{figures{"other": 1}, "boot_ms\t500\t-\t-\t490..520"},
	} {
		if got := line("boot_ms", 500, "490..520", c.peer); got != c.want {
			t.Errorf("%v: %q, want %q", c.peer, got, c.want)
		}
	}
}

func TestMedian(t *testing.T) {
	values := []float64{5, 1, 4, 2, 3}
	got, spread, err := median(5, func() (float64, error) { v := values[0]; values = values[1:]; return v, nil })
	if got != 3 || spread != "1..5" || err != nil {
		t.Error(got, spread, err)
	}
}
