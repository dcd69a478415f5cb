package kthread

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"

	"sonde/kernel/printk"
)

// status returns the entry of a thread, or nil.
func status(t *Task) *Status {
	for _, s := range Tasks() {
		if s.Task == t {
			return &s
		}
	}
	return nil
}

func TestThreadIsListedWhileItRunsAndAfter(t *testing.T) {
	stop := make(chan struct{})
	task := Run("worker", func() { <-stop })
	if s := status(task); s == nil || s.State != Running || s.Name != "worker" || !s.Ended.IsZero() {
		t.Errorf("while running: %+v", s)
	}
	close(stop)
	<-task.Done()
	if s := status(task); s == nil || s.State != Done || s.Ended.Before(s.Started) {
		t.Errorf("after: %+v", s)
	}
}

func TestPanicEndsOnlyItsThreadAndIsLogged(t *testing.T) {
	for _, v := range []any{"text", errors.New("error"), 7} {
		task := Run("fragile", func() { panic(v) })
		<-task.Done()
		if s := status(task); s.State != Panicked {
			t.Errorf("%v: state %s", v, s.State)
		}
	}
	var log bytes.Buffer
	if err := printk.Dmesg(&log, printk.LevelErr); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"panicked: text", "panicked: error", "fragile", "kthread_test.go:"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q", want)
		}
	}
}

func TestGoexitIsAnOrdinaryEnd(t *testing.T) {
	task := Run("leaver", runtime.Goexit)
	<-task.Done()
	if s := status(task); s.State != Done {
		t.Errorf("state %s", s.State)
	}
}

func TestOnlyTheLastEndedThreadsAreKept(t *testing.T) {
	stop := make(chan struct{})
	long := Run("long", func() { <-stop })
	for range 3 * keepEnded {
		<-Run("short", func() {}).Done()
	}
	ended := 0
	for _, s := range Tasks() {
		if s.State != Running {
			ended++
		}
	}
	if ended != keepEnded || status(long) == nil {
		t.Errorf("%d ended threads kept, want %d; the running one: %v", ended, keepEnded, status(long))
	}
	close(stop)
	<-long.Done()
}
