package main

import (
	"errors"
	"testing"
)

func TestParsePeer(t *testing.T) {
	peer, err := parsePeer("# Linux\n\nboot_ms\t2000\nk\t1139\tmore\n")
	if err != nil || len(peer) != 2 || peer["boot_ms"] != 2000 || peer["k"] != 1139 {
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
		peer map[string]float64
		want string
	}{
		{nil, "boot_ms\t500"},
		{map[string]float64{"boot_ms": 2000}, "boot_ms\t500\t2000\t0.25"},
		{map[string]float64{"other": 1}, "boot_ms\t500\t-\t-"},
	} {
		if got := line("boot_ms", 500, c.peer); got != c.want {
			t.Errorf("%v: %q, want %q", c.peer, got, c.want)
		}
	}
}

func TestMedian(t *testing.T) {
	values := []float64{5, 1, 4, 2, 3}
	got, err := median(5, func() (float64, error) { v := values[0]; values = values[1:]; return v, nil })
	if got != 3 || err != nil {
		t.Error(got, err)
	}
}
