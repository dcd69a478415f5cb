package program

// Trap context. The text of Go's errors as far as it lies in memory: no method of theirs is called here.

import (
	"io/fs"
	"unsafe"

	"sonde/probe/attach"
)

// maxInside is how many errors may be inside another.
const maxInside = 4

// helpErrorText writes the text of an error, as far as there is room; of one of another type a question mark.
func helpErrorText(methods, data, to, n, _, _ uintptr, _ uint32, _ *attach.Hit) uintptr {
	zero(pointer(to), n)
	o := output{to: to, size: n}
	o.failure(methods, data)
	return o.end()
}

// failure writes the text of an error. An error that wraps others with a text of its own has theirs in it.
func (o *output) failure(methods, data uintptr) {
	for range maxInside {
		if methods != pathMethods {
			break
		}
		if readable(data, unsafe.Sizeof(fs.PathError{})) < unsafe.Sizeof(fs.PathError{}) {
			return
		}
		o.goString(data + unsafe.Offsetof(fs.PathError{}.Op))
		o.text(" ")
		o.goString(data + unsafe.Offsetof(fs.PathError{}.Path))
		o.text(": ")
		inner := data + unsafe.Offsetof(fs.PathError{}.Err)
		methods, data = wordAt(inner), wordAt(inner+wordSize)
	}
	switch {
	case methods == 0:
		o.text("nil")
	case methods == errnoMethods && readable(data, wordSize) == wordSize && wordAt(data) < uintptr(len(errnoTexts)):
		o.text(errnoTexts[wordAt(data)])
	case methods == textMethods[0], methods == textMethods[1], methods == textMethods[2]:
		o.goString(data)
	default:
		o.text("?")
	}
}

func wordAt(at uintptr) uintptr { return *(*uintptr)(pointer(at)) }

//go:noinline
func (o *output) text(s string) {
	for i := range len(s) {
		o.put(s[i])
	}
}

// goString writes the string of Go that lies somewhere, as far as it can be read and there is room.
func (o *output) goString(at uintptr) {
	if readable(at, 2*wordSize) < 2*wordSize {
		return
	}
	from := wordAt(at)
	for i := range readable(from, min(wordAt(at+wordSize), o.size)) {
		o.put(*byteAt(from + i))
	}
}
