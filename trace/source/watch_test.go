package source

import (
	"fmt"
	"strings"
	"testing"
)

// TestWatch: what is watched is the kernel's, or a variable of a program, in one process or in all.
func TestWatch(t *testing.T) {
	for _, c := range []struct {
		point, want string
		pid         int
	}{
		{"watchpoint:printk.consoleLevel:4:w", "w@printk.consoleLevel:4", 7},
		{"w:a/b.c+8:8:wr", "rw@a/b.c+0x8:8", 0},
		{"watchpoint:0x1000", "w@0x1000", 0},
		{"watchpoint:/bin/wt:shared:8:w", "w@/bin/wt:shared:8", 0},
		{"w:/bin/wt:shared+8:4:rw", "7:rw@/bin/wt:shared+0x8:4", 7},
		{"watchpoint:./wt:shared", "w@/tmp/wt:shared", 0},
		{`watchpoint:"/tmp/co:lon":"ns::n":8:r`, `r@"/tmp/co:lon":ns::n:8`, 0},
		{"watchpoint:wt:work:1:x", "x@/bin/wt:work:1", 0},
	} {
		s := newSource(t)
		s.Dir, s.PID = "/tmp", c.pid
		sites, err := s.Places(pointOf(t, c.point))
		if got := fmt.Sprint(sites); err != nil || got != "["+c.want+"]" {
			t.Errorf("%s: %v, %v; want %s", c.point, got, err, c.want)
			continue
		}
		if got, err := s.Target(pointOf(t, c.point)); err != nil || !got.Watch || got.User != (sites[0].File != "") {
			t.Errorf("%s: %+v, %v", c.point, got, err)
		}
	}
	for point, want := range map[string]string{"w:/bin/a:b:x": `"x" is not a number of bytes`, "w:a:0": `"0" is not a number of bytes`,
		"w:a:b:8:q": `"q" says not how it is accessed`, "w:/bin/a:+8:8:w": "the function before +8 is missing"} {
		if _, err := newSource(t).Places(pointOf(t, point)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", point, err, want)
		}
	}
}
