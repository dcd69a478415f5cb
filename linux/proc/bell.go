package proc

// bell wakes all goroutines that wait for news. Its methods are called with mu held; a
// waiter receives from the channel without mu, and then looks again.
type bell struct{ ch chan struct{} }

func (b *bell) wait() <-chan struct{} {
	if b.ch == nil {
		b.ch = make(chan struct{})
	}
	return b.ch
}

func (b *bell) ring() {
	if b.ch != nil {
		close(b.ch)
		b.ch = nil
	}
}
