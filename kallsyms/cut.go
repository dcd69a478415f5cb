package kallsyms

import "unicode/utf8"

// MaxName is how many bytes a name has at most: readers of /proc/kallsyms have buffers of 256, with a zero at the end.
const MaxName = 255

// What Cut leaves of a name before and after the hash, which has 8 digits between two "~".
const (
	cutHead = 180
	cutTail = MaxName - cutHead - 10
)

// Cut returns a name as the table has it, and with it all files and lists: of one that is too long, as names of
// instances of generic functions can be, a hash of the whole name stands for the middle. Resolve takes both.
func Cut(name string) string {
	if len(name) <= MaxName {
		return name
	}
	hash := uint32(2166136261) // FNV-1a
	for i := range len(name) {
		hash = (hash ^ uint32(name[i])) * 16777619
	}
	head, tail := cutHead, len(name)-cutTail
	for head > 0 && !utf8.RuneStart(name[head]) {
		head--
	}
	for tail < len(name) && !utf8.RuneStart(name[tail]) {
		tail++
	}
	b := append(make([]byte, 0, MaxName), name[:head]...)
	b = append(b, '~')
	for shift := 28; shift >= 0; shift -= 4 {
		b = append(b, hexDigits[hash>>shift&15])
	}
	return string(append(append(b, '~'), name[tail:]...))
}
