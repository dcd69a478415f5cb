package machine

import (
	"testing"
	"time"
)

// TestCrowd: the load of another time than now counts as well, and no host is faster than a quiet one.
func TestCrowd(t *testing.T) {
	for _, c := range []struct {
		load       string
		processors int
		want       int
	}{
		{"0.18 1.34 2.60 1/102 7519\n", 2, 1},
		{"", 2, 1},
		{"40.60 16.05 7.74 51/207 21798\n", 2, 20},
		{"3.00 20.00 38.00 2/200 7519\n", 2, 19},
		{"40.60 16.05 7.74 51/207 21798\n", 64, 1},
	} {
		if got := crowd(c.load, c.processors); got != c.want {
			t.Errorf("%q on %d processors: %d, want %d", c.load, c.processors, got, c.want)
		}
	}
	if got := Patience(time.Minute); got < time.Minute {
		t.Errorf("less than on a quiet host: %v", got)
	}
}
