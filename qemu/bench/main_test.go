package main

import (
	"errors"
	"maps"
	"strings"
	"testing"
)

func TestParsePeer(t *testing.T) {
	peer, err := parsePeer(header(false, false) + "\n# Linux\n\nboot_ms\t2000\nk\t1200\tmore\n510/off/smp1/k.net\t1139\n61/off/smp1/k.net\t1242\n" +
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

func TestParsePeerRowsOfPrograms(t *testing.T) {
	peer, err := parsePeer("510/smp1/getpid\t387\n510+tuned/smp1/getpid\t424\n510/smp2/int3\t9000\n510/off/smp1/int3.net\t657\n" +
		"510/smp1/thread\tFAIL clone: no\nsmp1/stat\t3784\n")
	want := figures{"smp1/getpid": 387, "smp2/int3": 9000, "int3": 657, "smp1/stat": 3784}
	if err != nil || !maps.Equal(peer, want) {
		t.Errorf("%v, %v", peer, err)
	}
}

func TestRowsOfPrograms(t *testing.T) {
	var all results
	all.parse("# Linux 6.1.0-sonde #1, 1 CPUs\n# alu n=100 2.00 3.00\nalu\t2.00\n# copy_words_kib n=7 800.00 900.00\n# getpid n=9 500.25 400.00\nthread\tFAIL clone: no\n")
	all.parse("# getpid n=9 450.00\n# alu n=100 2.50\n# copy_words_kib n=7 1000.00\n")
	var out strings.Builder
	all.print(&out, 1, figures{"smp1/alu": 1, "smp1/copy_words_kib": 400, "smp1/getpid": 400})
	// The machine is twice as slow as the peer's was.
	want := "smp1/alu\t2.00\t1.00\t2.00\t2.00..3.00\nsmp1/copy_words_kib\t800\t400\t2.00\t800..1000\n" +
		"smp1/getpid\t400\t400\t0.50\t400..500\nsmp1/thread\tFAIL clone: no\n"
	if out.String() != want {
		t.Errorf("%s\nwant %s", out.String(), want)
	}
	out.Reset()
	all.print(&out, 2, nil)
	if !strings.Contains(out.String(), "smp2/getpid\t400\t400..500\n") {
		t.Errorf("%s", out.String())
	}
}

func TestMedian(t *testing.T) {
	values := []float64{5, 1, 4, 2, 3}
	got, spread, err := median(5, func() (float64, error) { v := values[0]; values = values[1:]; return v, nil })
	if got != 3 || spread != "1..5" || err != nil {
		t.Error(got, spread, err)
	}
}
