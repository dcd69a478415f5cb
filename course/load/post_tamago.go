//go:build tamago

package load

import (
	"encoding/binary"
	"fmt"
	"syscall"

	"sonde/course/load/fault"
	"sonde/kernel/refusal"
)

// The post office of lab 4. A letter is weighed, sorted into a hole, taken out with the seven others of
// its bag, cancelled and delivered. Each of the first three steps has a mistake; which of them matters
// depends on the letters.

// An Envelope is a letter on its way.
type Envelope struct {
	Number int
	Face   [24]byte // eight bytes of postmark, then eight with the number of whom it is for
}

const (
	bag    = 8    // letters that are delivered together
	people = 1000 // whom letters may be for
)

// desk has the envelopes: more than can be on their way at once.
var desk [4 * bag]Envelope

// holes are what letters are sorted into: the first eight are emptied.
var holes [2 * bag]*Envelope

// Weigh reports whether a letter may be posted: up to 2000 grams.
//
//go:noinline
func Weigh(e *Envelope, grams int) bool {
	if grams > 1000 {
		return false
	}
	return e != nil
}

// Sort puts a letter into its hole.
//
//go:noinline
func Sort(e *Envelope, hole int) {
	holes[hole] = e
}

// Cancel prints the postmark.
//
//go:noinline
func Cancel(e *Envelope, mark string) {
	copy(e.Face[:], mark)
}

// Deliver brings a letter to whom it is for, and reports whether there is such a person.
//
//go:noinline
func Deliver(e *Envelope) bool {
	return binary.BigEndian.Uint64(e.Face[8:]) < people
}

// An office handles the letters of a run.
type office struct {
	fault.Fault
	next                         int // the number of the letter that should come next
	arrived, disordered, changed int
}

// post passes letters between two goroutines: SEED,LETTERS.
func post(args []string) error {
	n, err := numbers(args[1])
	if err != nil {
		return err
	} else if n[0]%bag != 0 {
		return refusal.New(syscall.EINVAL, "letters come in bags of %d", bag)
	}
	o := office{Fault: fault.Of(args[0])}
	passed := make(chan *Envelope)
	go func() {
		defer close(passed)
		for i := range n[0] {
			if e := o.write(i); Weigh(e, o.grams(i)) {
				passed <- e
			}
		}
	}()
	open := -1 // the bag that is being filled
	for e := range passed {
		if e.Number/bag != open {
			o.empty()
			open = e.Number / bag
		}
		Sort(e, o.hole(e.Number))
	}
	o.empty()
	report("posted", "%d", n[0])
	report("lost", "%d", n[0]-o.arrived)
	report("disordered", "%d", o.disordered)
	report("changed", "%d", o.changed)
	return nil
}

// write addresses a letter.
func (o *office) write(number int) *Envelope {
	e := &desk[number%len(desk)]
	*e = Envelope{Number: number}
	binary.BigEndian.PutUint64(e.Face[8:], uint64(number%people))
	return e
}

// empty cancels and delivers what is in the first holes.
func (o *office) empty() {
	for i, e := range holes[:bag] {
		if holes[i] = nil; e == nil {
			continue
		}
		mark := o.mark(e.Number)
		if Cancel(e, mark); Deliver(e) {
			o.check(e, mark)
		}
	}
}

// check notes a letter that has arrived.
func (o *office) check(e *Envelope, mark string) {
	o.arrived++
	if e.Number < o.next {
		o.disordered++
	}
	o.next = e.Number + 1
	if to := int(binary.BigEndian.Uint64(e.Face[8:])); to != e.Number%people || string(e.Face[:8]) != mark[:8] {
		o.changed++
	}
}

// grams, hole and mark are what the clerks are told about a letter.
func (o *office) grams(number int) int {
	if o.Has(number) && o.Function == "Weigh" {
		return 1000 + 100*o.Size
	}
	return 20 + number%900
}

func (o *office) hole(number int) int {
	if o.Has(number) && o.Function == "Sort" {
		return number%bag + bag
	}
	return number % bag
}

func (o *office) mark(number int) string {
	mark := fmt.Sprintf("%08d", number)
	if o.Has(number) && o.Function == "Cancel" {
		mark += "Railway"[:o.Size]
	}
	return mark
}
