package protocol

import (
	"fmt"
	"slices"
	"testing"
)

// whole is the order of chapter 8, with a last sync, so that the jump is there when it ends.
var whole = []Step{Int3, Sync, Wait, Tail, Sync, Head, Sync}

func TestWhole(t *testing.T) {
	if err := Check(whole...); err != nil {
		t.Error(err)
	}
}

// TestEachIsNeeded leaves out one step at a time.
func TestEachIsNeeded(t *testing.T) {
	for i, want := range []string{
		"after tail: a mixture at +0", // no int3
		"after tail: a mixture at +0", // not seen by all
		"after tail: a mixture at +2", // somebody is inside
		"after head: half a jump",     // no tail
		"after head: half a jump",     // the tail is not seen by all
		"at the end: the jump is not what every CPU reads",
		"at the end: the jump is not what every CPU reads",
	} {
		steps := slices.Delete(slices.Clone(whole), i, i+1)
		if got := fmt.Sprint(Check(steps...)); got != want {
			t.Errorf("without %v: %q, want %q", whole[i], got, want)
		}
	}
}

// TestWrongOrders: the same steps in another order.
func TestWrongOrders(t *testing.T) {
	for want, steps := range map[string][]Step{
		"after tail: a mixture at +0": {Tail, Sync, Int3, Sync, Wait, Head, Sync},
		"after tail: a mixture at +2": {Wait, Int3, Sync, Tail, Sync, Head, Sync},
		"after head: half a jump":     {Int3, Sync, Wait, Head, Tail, Sync, Sync},
	} {
		if got := fmt.Sprint(Check(steps...)); got != want {
			t.Errorf("%v: %q, want %q", steps, got, want)
		}
	}
}
