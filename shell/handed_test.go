package shell

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"sonde/kernel/vfs"
	"sonde/shell/coreutils"
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

// request is a command as it is written, in the root folder.
func request(words ...string) []byte {
	return written(coreutils.HandsCommand, "/\x00"+strings.Join(words, "\x00")+"\x00")
}

// written is a part.
func written(kind uint32, data string) []byte {
	b := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, kind), uint32(len(data)))
	return append(b, data...)
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
	if n, err := f.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("before there is a command: %d, %v", n, err)
	}
	for _, b := range request("hears", "one", "", "two words") { // in pieces
		if _, err := f.Write([]byte{b}); err != nil {
			t.Fatal(err)
		}
	}
	for _, input := range []string{"in\x00", "put", ""} {
		if kind, data := nextPart(t, f); kind != coreutils.GetsAsked || len(data) != 4 {
			t.Fatalf("kind %d, %q", kind, data)
		}
		if _, err := f.Write(written(coreutils.HandsInput, input)); err != nil {
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

// TestAHandedCommandIsInterrupted: by ^C, while it waits, and while it waits for input. Its own status, if it fails
// then, is not the one that is told.
func TestAHandedCommandIsInterrupted(t *testing.T) {
	for _, command := range []string{"waits", "hears"} {
		f := handOver(t)
		f.Write(request(command))
		nextPart(t, f) // it is waiting
		for range 2 {
			if _, err := f.Write(written(coreutils.HandsInterrupt, "")); err != nil {
				t.Fatal(err)
			}
		}
		for {
			if kind, data := nextPart(t, f); kind == coreutils.GetsEnd {
				if data[0] != statusInterrupted {
					t.Errorf("%s: %v", command, data)
				}
				break
			}
		}
		vfs.Close(f)
	}
}

// variables are so many assignments.
func variables(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "V%d=x ", i)
	}
	return b.String()
}

func TestAWrongCommandIsRefused(t *testing.T) {
	long := written(coreutils.HandsCommand, "")
	binary.LittleEndian.PutUint32(long[4:], mostHanded+1)
	for name, c := range map[string]struct {
		request []byte
		want    error
	}{
		"long":       {long, syscall.E2BIG},
		"no name":    {written(coreutils.HandsCommand, "/\x00"), syscall.EINVAL},
		"variables":  {request("A=1"), syscall.EINVAL},
		"many":       {request(append(strings.Fields(variables(maxNames)), "hears")...), syscall.E2BIG},
		"no zero":    {written(coreutils.HandsCommand, "/\x00hears"), syscall.EINVAL},
		"no folder":  {written(coreutils.HandsCommand, "/nowhere\x00hears\x00"), syscall.ENOENT},
		"input":      {written(coreutils.HandsInput, "x"), syscall.EINVAL},
		"an end":     {written(coreutils.HandsInterrupt, ""), syscall.EINVAL},
		"no kind":    {written(9, ""), syscall.EINVAL},
		"two":        {append(request("waits"), request("waits")...), syscall.EINVAL},
		"more input": {append(request("waits"), append(written(coreutils.HandsInput, "x"), written(coreutils.HandsInput, "y")...)...), syscall.EINVAL},
	} {
		f := handOver(t)
		if _, err := f.Write(c.request); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		vfs.Close(f)
	}
	f := handOver(t)
	f.Write(request("nosuch"))
	if kind, data := nextPart(t, f); kind != coreutils.GetsErrors || !strings.Contains(string(data), "nosuch: command not found") {
		t.Errorf("kind %d, %q", kind, data)
	}
	if kind, data := nextPart(t, f); kind != coreutils.GetsEnd || data[0] != statusNotFound {
		t.Errorf("kind %d, %v", kind, data)
	}
	vfs.Close(f)
}
