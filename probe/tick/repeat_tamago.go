//go:build tamago

package tick

import (
	"sync"
	"time"

	"sonde/arch/amd64"
	"sonde/probe/attach"
	"sonde/probe/handler"
	"sonde/probe/ledger"
)

// repeat calls the handler in a goroutine, so that it may block. A handler that is late is not called
// for the times that it has missed.
func (t *ticker) repeat() {
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		clock := time.NewTicker(time.Duration(t.period))
		defer clock.Stop()
		for {
			select {
			case <-clock.C:
				t.call()
			case <-over:
				return
			}
		}
	}()
	t.stop = sync.OnceFunc(func() {
		close(over)
		<-ended
	})
}

// call calls the handler once. It counts as CPU 0, because the goroutine may move.
func (t *ticker) call() {
	t.accounts.CountNested(0, ledger.Entered)
	if t.flags.Has(disabled | abandoned) {
		t.accounts.CountNested(0, ledger.Disarmed)
		return
	}
	returned := false
	defer func() {
		if !returned {
			t.accounts.CountNested(0, ledger.Abandoned)
			t.flags.Set(abandoned)
			handler.Panicked("tick", t.place.Where, recover())
		}
	}()
	t.handler(&attach.Hit{Regs: new(amd64.Regs), Place: t.place, MayBlock: true})
	t.accounts.CountNested(0, ledger.Handled)
	returned = true
}
