package keyboard

import "slices"

// layout has the character of each key, by its code: alone, with Shift, and with the
// right Alt key. 0 is none.
type layout struct{ plain, shifted, right [keys]rune }

// keys is one more than the highest code of a key that layouts differ in.
const keys = 0x57

// rows describe a layout: the row of the digits, the three of letters, and the key beside
// the left Shift that only some keyboards have, each alone and with Shift. The row
// of home ends with the key left of the digits, and the low one begins with the one beside
// Enter. With the right Alt key a digit, or another character, types what is after it.
type rows struct {
	name                                                        string
	digits, digitsUp, top, topUp, home, homeUp, low, lowUp, odd string
	right                                                       string
}

var layouts = [...]rows{
	{
		"us",
		"1234567890-=", "!@#$%^&*()_+",
		"qwertyuiop[]", "QWERTYUIOP{}",
		"asdfghjkl;'`", `ASDFGHJKL:"~`,
		`\zxcvbnm,./`, "|ZXCVBNM<>?",
		`\|`, "",
	},
	{
		"gb",
		"1234567890-=", `!"£$%^&*()_+`,
		"qwertyuiop[]", "QWERTYUIOP{}",
		"asdfghjkl;'`", "ASDFGHJKL:@¬",
		"#zxcvbnm,./", "~ZXCVBNM<>?",
		`\|`, "",
	},
	{
		"de",
		"1234567890ß´", "!\"§$%&/()=?`",
		"qwertzuiopü+", "QWERTZUIOPÜ*",
		"asdfghjklöä^", "ASDFGHJKLÖÄ°",
		"#yxcvbnm,.-", "'YXCVBNM;:_",
		"<>", "7{8[9]0}ß\\q@e€+~<|",
	},
}

// layout looks up the rows' codes.
func (r *rows) layout() (l layout) {
	for _, row := range [...]struct {
		first       int
		plain, with string
	}{
		{0x02, r.digits, r.digitsUp}, {0x10, r.top, r.topUp}, {0x1e, r.home, r.homeUp},
		{0x2b, r.low, r.lowUp}, {0x56, r.odd[:1], r.odd[1:]},
	} {
		for i, c := range []rune(row.plain) {
			l.plain[row.first+i] = c
		}
		for i, c := range []rune(row.with) {
			l.shifted[row.first+i] = c
		}
	}
	for _, same := range [...]struct{ code, c rune }{{0x01, 0x1b}, {0x0e, 0x7f}, {0x0f, '\t'}, {0x1c, '\r'}, {0x39, ' '}} {
		l.plain[same.code], l.shifted[same.code] = same.c, same.c
	}
	for pair := []rune(r.right); len(pair) > 0; pair = pair[2:] {
		l.right[slices.Index(l.plain[:], pair[0])] = pair[1]
	}
	return l
}

// names lists the layouts.
func names() (all string) {
	for i, l := range layouts {
		if i > 0 {
			all += ", "
		}
		all += l.name
	}
	return all
}
