package kwatch

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"sonde/arch/amd64"
	"sonde/internal/quick"
	"sonde/probe/glass"
)

// TestCameraGivesTheHandlerBack: a camera is called in place of the handler, once, until it goes.
func TestCameraGivesTheHandlerBack(t *testing.T) {
	log := onFake(t)
	film, err := glass.New(1, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer film.Close()
	handled, recorded := 0, 0
	this.careful = func(any) bool { return false }
	this.record = func(c *Camera, h *Hit, r *amd64.Regs) { recorded++; c.handler(h, r) }
	n, err := RegisterKwatch(0x1000, 8, Write, func(*Hit, *amd64.Regs) { handled++ })
	if err != nil {
		t.Fatal(err)
	}
	p := points[n].Load()
	if _, err := RegisterCamera(n+1, film); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("of a free register: %v", err)
	}
	loads := len(*log)
	c, err := RegisterCamera(n, film)
	if err != nil || !p.careful || len(*log) != loads+1 {
		t.Fatalf("%v, careful %v, %d loads", err, p.careful, len(*log)-loads)
	}
	if _, err := RegisterCamera(n, film); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("a second: %v", err)
	}
	p.handler(nil, nil)
	UnregisterCamera(c)
	UnregisterCamera(c)
	p.handler(nil, nil)
	if handled != 2 || recorded != 1 || p.careful || p.camera != nil || film.Done() {
		t.Errorf("%d handled, %d recorded, careful %v", handled, recorded, p.careful)
	}
}

// busyProgram is a program in a handler that asks for the list of watchpoints before it returns.
type busyProgram struct{ program }

func (busyProgram) pid() int { return 7 }

func (busyProgram) film(*Camera) (restore func()) {
	All()
	return func() { All() }
}

// TestCameraWaitsForAHandler: the handler of a program may use this package while a camera waits for it. Both used to
// wait for ever, and everybody else who wanted a watchpoint.
func TestCameraWaitsForAHandler(t *testing.T) {
	onFake(t)
	film, err := glass.New(1, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer film.Close()
	points[0].Store(&point{addr: 0x1000, length: 8, user: busyProgram{}})
	done := make(chan error)
	go func() {
		c, err := RegisterCamera(0, film)
		UnregisterCamera(c)
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil || points[0].Load().camera != nil {
			t.Error(err, points[0].Load().camera)
		}
	case <-time.After(quick.Hang):
		t.Fatal("they wait for each other")
	}
}

// TestWatchpointGoesBeforeItsCamera: nobody waits for a hit that cannot come.
func TestWatchpointGoesBeforeItsCamera(t *testing.T) {
	onFake(t)
	film, err := glass.New(1, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer film.Close()
	n, err := RegisterKwatch(0x1000, 8, Write, nothing)
	if err != nil {
		t.Fatal(err)
	}
	c, err := RegisterCamera(n, film)
	if err != nil {
		t.Fatal(err)
	}
	if err := UnregisterKwatch(n); err != nil || !film.Done() {
		t.Errorf("%v, the film is over: %v", err, film.Done())
	}
	UnregisterCamera(c)
}
