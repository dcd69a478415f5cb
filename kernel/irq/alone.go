package irq

// alone counts interrupts of a line that no driver's device has asked for. Other devices on the line may ask now and
// then; one without a driver never stops, since nothing sees to it.
type alone struct {
	n    int
	mask func()
}

// mostAlone is how many in a row there may be; Linux gives up a line after as many.
const mostAlone = 100_000

// count counts an interrupt. Context: interrupt, of one CPU.
func (a *alone) count(asked bool) {
	if asked {
		a.n = 0
	} else if a.n++; a.n == mostAlone {
		a.mask()
	}
}
