package printk

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// A writer is interrupted between claiming its slot and finishing it.
func TestUnfinishedRecordHoldsTheConsoleUntilItIsFinished(t *testing.T) {
	fresh(t)
	var out bytes.Buffer
	showOn(func(p []byte) { out.Write(p) })
	ticket := log.next.Add(1) - 1
	if !log.claim(ticket) {
		t.Fatal("claim failed")
	}
	Info("from the NMI")
	if out.Len() != 0 {
		t.Errorf("shown out of order: %q", out.String())
	}
	if got := dmesg(t, LevelDebug); !strings.Contains(got, "NMI") {
		t.Errorf("dmesg waits for the unfinished record: %q", got)
	}
	log.slot(ticket).meta.Store(packMeta(LevelInfo, 0, 0, 1))
	log.slot(ticket).state.Store(done(ticket))
	emit(0)
	if got, want := out.String(), "[    0.000000] \n[    0.000000] from the NMI\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAbandonedRecordDoesNotStopTheLog(t *testing.T) {
	fresh(t)
	lines := 0
	showOn(func(p []byte) { lines++ })
	log.claim(log.next.Add(1) - 1) // never finished
	const n = 3 * slotCount
	for i := range n {
		Info("%d", i)
	}
	s := ReadStats()
	if s.Dropped != 3 && s.Dropped != 2 {
		t.Errorf("%d dropped, want one for each time round", s.Dropped)
	}
	if want := n - int(s.Dropped) + 1; lines != want { // 1 says that one was not shown
		t.Errorf("%d lines shown, want %d", lines, want)
	}
}

func TestLongRecordThatFindsABusySlotIsDroppedWhole(t *testing.T) {
	fresh(t)
	log.next.Store(3)
	log.claim(3) // will be busy when the ring comes round
	log.next.Store(slotCount + 1)
	Info("%s", strings.Repeat("y", 1000))
	Info("after")
	if got, want := dmesg(t, LevelDebug), "[    0.000000] after\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFlushShowsEverythingThoughTheConsoleIsTaken(t *testing.T) {
	fresh(t)
	var out bytes.Buffer
	showOn(func(p []byte) { out.Write(p) })
	consoleOwner.Store(1) // by somebody who died
	log.claim(log.next.Add(1) - 1)
	Emerg("last words")
	if out.Len() != 0 {
		t.Fatalf("the console was not taken: %q", out.String())
	}
	Flush()
	if got, want := out.String(), "** 1 printk messages dropped **\n[    0.000000] last words\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNothingIsLostOrMixedUnderLoad(t *testing.T) {
	fresh(t)
	var out bytes.Buffer
	showOn(func(p []byte) { out.Write(p) })
	const writers, each = 8, 1000
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				Info("writer %d message %d %s", w, i, strings.Repeat("z", i%200))
			}
		})
	}
	wg.Go(func() {
		for range 20 {
			for rec := range Records() {
				checkMessage(t, string(rec.Text()))
			}
		}
	})
	wg.Wait()
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	shown := 0
	for _, l := range lines {
		if !strings.HasPrefix(l, "** ") {
			checkMessage(t, l[len("[    0.000000] "):])
			shown++
		}
	}
	// A record overwritten just after the console copied it counts as unseen
	// too, so the sum may be a little high; it must never be low.
	s := ReadStats()
	if got := shown + int(s.Unseen+s.Dropped); got < writers*each || shown > writers*each {
		t.Errorf("%d shown, %+v: %d accounted for, want %d", shown, s, got, writers*each)
	}
}

// checkMessage fails unless text is one that the writers above wrote.
func checkMessage(t *testing.T, text string) {
	t.Helper()
	var w, i int
	if _, err := fmt.Sscanf(text, "writer %d message %d", &w, &i); err != nil {
		t.Errorf("torn message %q", text)
		return
	}
	if want := fmt.Sprintf("writer %d message %d %s", w, i, strings.Repeat("z", i%200)); text != want {
		t.Errorf("torn message %q, want %q", text, want)
	}
}
