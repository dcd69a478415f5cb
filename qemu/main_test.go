package main

import (
	"io"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		args     []string
		script   string
		scripted bool
		timeout  time.Duration
		ok       bool
	}{
		{nil, "", false, 0, true},
		{[]string{"-c", "ls"}, "ls", true, scriptTimeout, true},
		{[]string{"-c", "ls", "-timeout", "5s"}, "ls", true, 5 * time.Second, true},
		{[]string{"-c", "ls", "-gdb"}, "ls", true, 0, true},
		{[]string{"-test"}, "ktest", true, scriptTimeout, true},
		{[]string{"-test", "-c", "ktest sched"}, "ktest sched", true, scriptTimeout, true},
		{[]string{"-c", ""}, "", true, 0, false},
		{[]string{"ls"}, "", false, 0, false},
		{[]string{"-accel", "xen"}, "", false, 0, false},
		{[]string{"-nope"}, "", false, 0, false},
	} {
		o, err := parse(c.args, io.Discard)
		if (err == nil) != c.ok || c.ok && (o.Script != c.script || o.scripted != c.scripted || o.Timeout != c.timeout) {
			t.Errorf("parse %q: %+v, %v", c.args, o, err)
		}
	}
}
