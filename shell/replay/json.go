package replay

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"sonde/arch/amd64/listing"
)

// Version is that of the JSON.
const Version = 1

// WriteJSON prints rec as one JSON object, in a line. It does without encoding/json, which no other part
// of the kernel needs.
func (rec *Recording) WriteJSON(w io.Writer) error {
	var b bytes.Buffer
	j := jsonWriter{b: &b}
	j.object(func() {
		j.key("version").number(Version)
		j.key("place").text(rec.Place)
		j.key("file").text(rec.File)
		j.key("line").number(int64(rec.Line))
		j.key("tier").text(rec.Tier)
		j.key("hit").number(int64(rec.Hit))
		j.key("lost").number(int64(rec.Lost))
		j.key("complete").boolean(rec.Complete)
		j.key("original").array(len(rec.Original), func(i int) { j.code(&rec.Original[i]) })
		j.key("fused").array(len(rec.Fused), func(i int) { j.code(&rec.Fused[i]) })
		j.key("explain").text(rec.Explain)
		j.key("frames").array(len(rec.Frames), func(i int) { j.frame(&rec.Frames[i]) })
	})
	b.WriteByte('\n')
	_, err := b.WriteTo(w)
	return err
}

// A jsonWriter writes values one after the other, with commas between them.
type jsonWriter struct {
	b     *bytes.Buffer
	comma bool // one belongs in front of the next member
}

func (j *jsonWriter) object(members func()) {
	j.b.WriteByte('{')
	j.comma = false
	members()
	j.b.WriteByte('}')
	j.comma = true
}

func (j *jsonWriter) key(name string) *jsonWriter {
	if j.comma {
		j.b.WriteByte(',')
	}
	j.text(name)
	j.b.WriteByte(':')
	return j
}

func (j *jsonWriter) array(n int, element func(i int)) {
	j.b.WriteByte('[')
	for i := range n {
		if i > 0 {
			j.b.WriteByte(',')
		}
		element(i)
	}
	j.b.WriteByte(']')
	j.comma = true
}

func (j *jsonWriter) number(n int64) { j.raw(strconv.FormatInt(n, 10)) }
func (j *jsonWriter) boolean(v bool) { j.raw(strconv.FormatBool(v)) }
func (j *jsonWriter) word(v uint64)  { j.raw(fmt.Sprintf(`"%#x"`, v)) }
func (j *jsonWriter) null()          { j.raw("null") }

func (j *jsonWriter) raw(s string) {
	j.b.WriteString(s)
	j.comma = true
}

// text writes a string; what is no UTF-8 becomes U+FFFD.
func (j *jsonWriter) text(s string) {
	j.b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			j.b.WriteByte('\\')
			j.b.WriteRune(r)
		case r == '\n':
			j.b.WriteString(`\n`)
		case r < ' ' || r == utf8.RuneError:
			fmt.Fprintf(j.b, `\u%04x`, r)
		default:
			j.b.WriteRune(r)
		}
	}
	j.b.WriteByte('"')
	j.comma = true
}

func (j *jsonWriter) code(c *Code) {
	j.object(func() {
		j.key("addr").word(c.Addr)
		j.key("bytes").text(listing.Bytes(c.Bytes))
		j.key("asm").text(c.Asm)
	})
}

func (j *jsonWriter) frame(f *Frame) {
	j.object(func() {
		j.key("seq").number(int64(f.Seq))
		j.key("t").number(f.T)
		j.key("cpu").number(int64(f.CPU))
		j.key("who").object(func() {
			j.key("goroutine").number(int64(f.Goroutine))
			if f.PID != 0 {
				j.key("pid").number(int64(f.PID))
				j.key("tid").number(int64(f.TID))
			}
		})
		j.key("stage").text(f.Stage)
		j.key("says").text(f.Says)
		if j.key("ip"); f.IP == nil {
			j.null()
		} else {
			j.object(func() {
				j.key("addr").word(f.IP.Addr)
				j.key("is").text(f.IP.Is)
				j.key("asm").text(f.IP.Asm)
			})
		}
		j.key("regs").object(func() {
			for _, r := range f.Regs {
				j.key(r.Name).word(r.Value)
			}
		})
		if j.key("text"); f.Text == nil {
			j.null()
		} else {
			j.text(listing.Bytes(f.Text))
		}
		if j.key("stack"); f.Stack == nil {
			j.null()
		} else {
			j.array(len(f.Stack), func(i int) { j.stackWord(&f.Stack[i]) })
		}
	})
}

func (j *jsonWriter) stackWord(w *Word) {
	j.object(func() {
		j.key("addr").word(w.Addr)
		j.key("word").word(w.Value)
		j.key("is").text(w.Is)
	})
}
