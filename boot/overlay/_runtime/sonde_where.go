package runtime

// Which line of which file code belongs to, and what a handler panics with, for
// reports that are made in a trap.
//
// Why it is here: what the runtime offers for it allocates (CallersFrames), and the
// value of a panic is known only where it is raised.

import "unsafe"

// SondeWhere returns the function that the instruction at pc is of, or the one that was
// inlined there, with file and line; "" and 0 for no code of Go's. It allocates nothing.
//
// Context: any.
func SondeWhere(pc uintptr) (function, file string, line int) {
	f := findfunc(pc)
	if !f.valid() {
		return "", "", 0
	}
	u, uf := newInlineUnwinder(f, pc)
	sf := u.srcFunc(uf)
	file, line = u.fileLine(uf)
	return sf.name(), file, line
}

// sondeWords is where the text of a panic is put together, per CPU.
var sondeWords [sondeTrapCPUs][128]byte

// sondeAbandonPanic is sondeAbandon for a panic with the value e.
func sondeAbandonPanic(e any) {
	mp := getg().m
	if mp == nil || mp.id >= 0 {
		return
	}
	words := sondeWords[-1-mp.id][:0]
	text := ""
	switch v := e.(type) {
	case nil:
		text = "nil"
	case string:
		text = v
	case errorString:
		text = string(v)
	case plainError:
		text = string(v)
	case int:
		text = sondeString(appendIntStr(words, int64(v), true))
	case uint64:
		text = sondeString(appendIntStr(words, int64(v), false))
	default: // its methods may do anything
		text = toRType(efaceOf(&e)._type).string()
	}
	sondeRaiseAbandon("panic", text)
}

// sondeAbandonBounds is sondeAbandonPanic for what is made a value by an allocation.
func sondeAbandonBounds(e *boundsError) {
	mp := getg().m
	if mp == nil || mp.id >= 0 {
		return
	}
	words := sondeWords[-1-mp.id][:0]
	form := boundsErrorFmts[e.code]
	if e.signed && e.x < 0 {
		form = boundsNegErrorFmts[e.code]
	}
	for i := 0; i < len(form) && len(words) < cap(words)-40; i++ {
		switch {
		case form[i] != '%':
			words = append(words, form[i])
			continue
		case form[i+1] == 'x':
			words = appendIntStr(words, e.x, e.signed)
		default:
			words = appendIntStr(words, int64(e.y), true)
		}
		i++
	}
	sondeRaiseAbandon("panic", sondeString(words))
}

// sondeString is b as a string, without a copy.
func sondeString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
