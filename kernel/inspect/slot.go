package inspect

import (
	"fmt"
	"strconv"
	"strings"

	"sonde/kernel/pci"
)

// Slot selects functions by their place, each part of which may be left open.
type Slot struct{ bus, slot, function int }

const anyPart = -1

// ParseSlot reads what lspci -s takes: [[[[domain]:]bus]:][slot][.function], in hexadecimal, with nothing or
// * for a part that may be anything. The domain must be 0.
//
// Errors: what is wrong, in words.
func ParseSlot(text string) (s Slot, err error) {
	s = Slot{anyPart, anyPart, anyPart}
	if before, function, ok := strings.Cut(text, "."); ok {
		text = before
		if s.function, err = part("function", function, pci.Functions-1); err != nil {
			return s, err
		}
	}
	parts := strings.Split(text, ":")
	if len(parts) > 3 {
		return s, fmt.Errorf("a slot is [[BUS]:][SLOT][.FUNCTION], not %q", text)
	}
	for i, p := range []struct {
		name string
		most int
		to   *int
	}{{"slot", pci.Slots - 1, &s.slot}, {"bus", pci.Buses - 1, &s.bus}, {"domain", 0, new(int)}} {
		if i < len(parts) && err == nil {
			*p.to, err = part(p.name, parts[len(parts)-1-i], p.most)
		}
	}
	return s, err
}

func part(name, text string, most int) (int, error) {
	if text == "" || text == "*" {
		return anyPart, nil
	}
	n, err := strconv.ParseUint(text, 16, 16)
	if err != nil || int(n) > most {
		return 0, fmt.Errorf("%q is not a %s: give 0 to %x, in hexadecimal", text, name, most)
	}
	return int(n), nil
}

// Has reports whether p is where s says.
func (s Slot) Has(p pci.Function) bool {
	is := func(want int, part uint8) bool { return want == anyPart || want == int(part) }
	return is(s.bus, p.Bus) && is(s.slot, p.Slot) && is(s.function, p.Func)
}
