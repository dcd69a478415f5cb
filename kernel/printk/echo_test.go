package printk

import (
	"strings"
	"testing"
)

// loud is a console on which every line shown logs n more, as a probe on
// memmove with a handler that logs does.
func loud(t *testing.T, n int, level Level) (shown *[]string) {
	fresh(t)
	task := uintptr(1)
	SetTask(func() uintptr { return task })
	shown = new([]string)
	showOn(func(p []byte) {
		*shown = append(*shown, string(p))
		for range n {
			if len(*shown) < 10_000 {
				Printk(level, "echo")
			}
		}
	})
	return shown
}

func TestEchoesOfTheConsoleComeToAnEnd(t *testing.T) {
	shown := loud(t, 12, LevelInfo)
	for round := range 2 {
		*shown = nil
		Info("one line")
		if n := strings.Count(strings.Join(*shown, ""), "echo"); n != maxEchoes {
			t.Errorf("round %d: %d echoes, want %d", round, n, maxEchoes)
		}
	}
	if all := strings.Join(*shown, ""); !strings.Contains(all, "printk messages dropped **") {
		t.Errorf("what was dropped is not told: %s", all)
	}
	s := ReadStats()
	if lines := uint64(len(*shown)); s.Dropped < 2*11*maxEchoes || s.Dropped > 2*12*lines {
		t.Errorf("%d dropped", s.Dropped)
	}
	*shown = nil
	Flush()
}

func TestErrorsAreNoEchoes(t *testing.T) {
	shown := loud(t, 1, LevelErr)
	Info("one line")
	if len(*shown) < 10_000 {
		t.Errorf("%d lines", len(*shown))
	}
}

// TestOthersMayLogWhileTheConsoleIsTaken: only who is at the console echoes.
func TestOthersMayLogWhileTheConsoleIsTaken(t *testing.T) {
	fresh(t)
	task, lines := uintptr(1), 0
	SetTask(func() uintptr { return task })
	showOn(func(p []byte) {
		if lines++; lines == 1 {
			task = 2
			for range 5 * maxEchoes {
				Info("of another")
			}
			task = 1
		}
	})
	Info("one line")
	if s := ReadStats(); lines != 1+5*maxEchoes || s.Dropped != 0 {
		t.Errorf("%d lines, %d dropped", lines, s.Dropped)
	}
}
