package printk

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unsafe"
)

type (
	phys  uint64
	name  string
	small int8
)

// print formats as Printk does.
func print(format string, args ...any) string {
	var text [maxText]byte
	l := line{b: text[:]}
	l.format(format, args)
	return string(text[:l.n])
}

func TestFormatAgreesWithFmt(t *testing.T) {
	values := map[string][]any{
		"integers": {0, 1, -1, 42, int8(-128), int16(300), int32(-70000), int64(-1 << 63),
			uint(7), uint8(255), uint16(65535), uint32(1 << 31), ^uint64(0), uintptr(0xfee00000),
			phys(0x1000), small(-5)},
		"strings":  {"", "hello", name("typed"), "tab\tquote\"back\\nl\n", []byte("bytes")},
		"booleans": {true, false},
	}
	verbs := map[string]string{
		"integers": "%d|%5d|%-5d|%05d|%+d|%x|%X|%#x|%08x|%#08x|%-8x|%b|%o|%.4d|%v|%3c",
		"strings":  "%s|%8s|%-8s|%.2s|%q|%v|%x|%X",
		"booleans": "%t|%v|%7t|%-7v",
	}
	for kind, list := range values {
		for _, verb := range strings.Split(verbs[kind], "|") {
			for _, v := range list {
				if _, isBytes := v.([]byte); isBytes && verb == "%v" {
					continue // fmt prints [98 121 …], the log prints text
				}
				if got, want := print(verb, v), fmt.Sprintf(verb, v); got != want {
					t.Errorf("%s of %T %v: got %q, want %q", verb, v, v, got, want)
				}
			}
		}
	}
}

func TestFormatMistakesAreVisible(t *testing.T) {
	n := 5
	tests := []struct{ name, got, want string }{
		{"missing", print("%d %d", 1), "1 %!d(MISSING)"},
		{"extra", print("%d", 1, 2), "1%!(EXTRA)"},
		{"no verb", print("50%"), "50%!(NOVERB)"},
		{"wrong verb", print("%d", "x"), "%!d(?)"},
		{"other kind", print("%v", 1.5), "%!v(?)"},
		{"error", print("%v", fmt.Errorf("x"))[:2], "0x"},
		{"nil", print("%v", nil), "<nil>"},
		{"percent", print("100%%"), "100%"},
		{"length letters", print("%lu %llx %zd", 1, 255, 3), "1 ff 3"},
		{"pointer", print("%p", &n), fmt.Sprintf("%p", &n)},
		{"pointer to pointer type", print("%p", unsafe.Pointer(&n)), fmt.Sprintf("%p", &n)},
		{"address", print("%p", uintptr(0x10)), "0x10"},
		{"func", print("%p", TestKindsMatchReflect), fmt.Sprintf("%p", TestKindsMatchReflect)},
		{"nil func", print("%p", (func())(nil)), "0x0"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, tt.got, tt.want)
		}
	}
}

func TestKindsMatchReflect(t *testing.T) {
	for _, v := range []any{true, 1, int8(1), int16(1), int32(1), int64(1), uint(1), uint8(1),
		uint16(1), uint32(1), uint64(1), uintptr(1), 1.0, [1]int{}, make(chan int), func() {},
		map[int]int{}, &struct{}{}, []byte{}, "s", struct{ p *int }{}, unsafe.Pointer(nil)} {
		e := (*iface)(unsafe.Pointer(&v))
		if got, want := e.typ.kind&kindMask, uint8(reflect.TypeOf(v).Kind()); got != want {
			t.Errorf("%T: kind %d, want %d", v, got, want)
		}
	}
}

var sink int // keeps the arguments of the next test from being constants

func TestPrintkDoesNotAllocate(t *testing.T) {
	fresh(t)
	showOn(func(p []byte) { sink += len(p) })
	n := testing.AllocsPerRun(100, func() {
		sink++
		s := levelNames[sink%8]
		p := phys(sink)
		b := sink%2 == 0
		Info("%d %s %x %v %q %p", sink, s, p, b, s, &sink)
		Printk(Level(sink%8), "%c %08x", 'a'+sink%26, uint32(sink))
	})
	if n != 0 {
		t.Errorf("%v allocations per message", n)
	}
}
