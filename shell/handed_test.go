package shell

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"sonde/kernel/vfs"
)

// handOver opens the file of commands on a shell with one more command, "hears", which repeats what it
// gets, and "waits" for ^C.
func handOver(t *testing.T) *vfs.File {
	t.Helper()
	tree := vfs.New()
	hears := &Command{Name: "hears", Run: func(c *Context, args []string) error {
		in, _ := io.ReadAll(c.In)
		io.WriteString(c.Out, strings.Join(args, "|")+"<"+string(in))
		io.WriteString(c.Err, "wrong")
		return Status(7)
	}}
	waits := &Command{Name: "waits", Run: func(c *Context, _ []string) error {
		io.WriteString(c.Out, "waiting")
		<-c.Interrupt
		return Status(statusInterrupted)
	}}
	err := MountCommand(tree, "/command", func(out io.Writer) *Shell {
		s := New(fakeMachine(), out)
		s.Register(hears, waits)
		return s
	})
	if err != nil {
		t.Fatal(err)
	}
	f, err := tree.OpenFile("/command", os.O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// request is a command as it is written.
func request(input string, words ...string) []byte {
	b := binary.LittleEndian.AppendUint32(make([]byte, 4), uint32(len(words)))
	for _, w := range words {
		b = append(b, w+"\x00"...)
	}
	b = append(b, input...)
	binary.LittleEndian.PutUint32(b, uint32(len(b)-8))
	return b
}

// nextPart reads a part of the answer.
func nextPart(t *testing.T, f *vfs.File) (kind uint32, data []byte) {
	t.Helper()
	var head [2]uint32
	if err := binary.Read(f, binary.LittleEndian, &head); err != nil {
		t.Fatal(err)
	}
	data = make([]byte, head[1])
	if _, err := io.ReadFull(f, data); err != nil {
		t.Fatal(err)
	}
	return head[0], data
}

func TestACommandIsHandedOver(t *testing.T) {
	f := handOver(t)
	for _, b := range request("in\x00put", "hears", "one", "", "two words") { // in pieces
		if _, err := f.Write([]byte{b}); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []string{"one||two words<in\x00put", "wrong", "\x07\x00\x00\x00"} {
		if kind, data := nextPart(t, f); kind != uint32(i+1) || string(data) != want {
			t.Errorf("part %d is of kind %d and %q, want %q", i, kind, data, want)
		}
	}
	if n, err := f.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("behind the end: %d, %v", n, err)
	}
	vfs.Close(f)
}

// TestAHandedCommandIsInterrupted: by what is written behind it.
func TestAHandedCommandIsInterrupted(t *testing.T) {
	f := handOver(t)
	f.Write(request("", "waits"))
	nextPart(t, f) // it is waiting
	for range 2 {
		if _, err := f.Write([]byte{3}); err != nil {
			t.Fatal(err)
		}
	}
	if kind, data := nextPart(t, f); kind != handedEnd || data[0] != statusInterrupted {
		t.Errorf("kind %d, %v", kind, data)
	}
	vfs.Close(f)
}

func TestAWrongCommandIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		request []byte
		want    error
	}{
		"long":      {append(binary.LittleEndian.AppendUint32(nil, mostHanded), 1, 0, 0, 0), syscall.E2BIG},
		"no words":  {request("x"), syscall.EINVAL},
		"few words": {append([]byte{2, 0, 0, 0, 255, 255, 255, 255}, "a\x00"...), syscall.EINVAL},
	} {
		f := handOver(t)
		if _, err := f.Write(c.request); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		vfs.Close(f)
	}
	f := handOver(t)
	f.Write(request("", "nosuch"))
	if kind, data := nextPart(t, f); kind != handedErr || !strings.Contains(string(data), "nosuch: command not found") {
		t.Errorf("kind %d, %q", kind, data)
	}
	if kind, data := nextPart(t, f); kind != handedEnd || data[0] != statusNotFound {
		t.Errorf("kind %d, %v", kind, data)
	}
	vfs.Close(f)
}
