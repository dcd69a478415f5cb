package tty

import "sonde/kernel/poll"

// The kernel's own shell has the keyboard while no program is in the foreground.

// Offer is Input while a program is in the foreground. Otherwise it takes nothing and
// returns false.
//
// Context: goroutine, one at a time.
func (t *TTY) Offer(p []byte) (taken bool) {
	t.locked(func() poll.Events {
		if taken = t.group != 0; !taken || t.hungUp {
			return 0
		}
		for _, c := range p {
			t.typed(c)
		}
		return poll.In | poll.Out
	})
	return taken
}

// Reclaim takes the terminal away from programs. It returns what was typed and not read:
// lines, and what is there of the one being typed.
func (t *TTY) Reclaim() (typed []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.lines {
		typed = append(typed, l...)
	}
	typed = append(typed, t.line...)
	t.forget()
	t.group = 0
	return typed
}
