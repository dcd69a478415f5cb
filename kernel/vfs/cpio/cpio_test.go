package cpio

import (
	"bytes"
	"errors"
	"math/rand"
	"os/exec"
	"reflect"
	"strings"
	"testing"
)

var sample = []Entry{
	{Name: "bin", Ino: 1, Mode: Dir | 0755, Links: 2, Time: 1e9, Data: []byte{}},
	{Name: "bin/sh", Ino: 2, Mode: Regular | 0755, UID: 1, GID: 2, Links: 1, Data: []byte("contents")},
	{Name: "bin/empty", Ino: 3, Mode: Regular | 0644, Links: 1, Data: []byte{}},
	{Name: "bin/ash", Ino: 4, Mode: Symlink | 0777, Links: 1, Data: []byte("sh")},
}

func archive(t *testing.T, list []Entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b)
	for _, e := range list {
		w.Add(e)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	data := archive(t, sample)
	got, size, err := Read(append(bytes.Clone(data), "more"...))
	if err != nil || size != len(data) {
		t.Fatalf("%d bytes of %d, %v", size, len(data), err)
	}
	for i := range got {
		if !reflect.DeepEqual(got[i], sample[i]) {
			t.Errorf("got %+v, want %+v", got[i], sample[i])
		}
	}
	if len(got) != len(sample) {
		t.Errorf("%d entries", len(got))
	}
}

// TestCpioReadsWhatWeWrite asks the host's cpio, which also makes archives with checksums.
func TestCpioReadsWhatWeWrite(t *testing.T) {
	path, err := exec.LookPath("cpio")
	if err != nil {
		t.Skip("no cpio here")
	}
	cmd := exec.Command(path, "-it", "--quiet")
	cmd.Stdin = bytes.NewReader(archive(t, sample))
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "bin\nbin/sh\nbin/empty\nbin/ash\n" {
		t.Errorf("%q, %v", out, err)
	}
	for _, format := range []string{"newc", "crc"} {
		cmd := exec.Command(path, "-o", "--quiet", "-H", format)
		cmd.Stdin = strings.NewReader("cpio.go\nread.go\n")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		list, _, err := Read(out)
		if err != nil || len(list) != 2 || list[1].Name != "read.go" || !bytes.Contains(list[1].Data, []byte("package cpio")) {
			t.Errorf("%s: %d entries, %v", format, len(list), err)
		}
	}
}

func TestCorruptArchivesSayWhatIsWrong(t *testing.T) {
	good := archive(t, sample)
	set := func(at int, text string) []byte {
		b := bytes.Clone(good)
		copy(b[at:], text)
		return b
	}
	const field = len(magic)
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "at byte 0: it ends within the header"},
		{"no archive", set(0, "070707"), `no entry begins here, but "070707"`},
		{"old format", set(0, "\xc7\x71"), "no entry begins here"},
		{"no trailer", good[:len(good)-124], "it ends within the header"},
		{"cut in a header", good[:50], "it ends within the header"},
		{"cut in a name", good[:headSize+1], "it ends within the name"},
		{"no digits", set(field+8, "4xed"), `"4XED`},
		{"no name", set(field+8*fieldName, "00000001"), "a name of 1 bytes"},
		{"endless name", set(field+8*fieldName, "FFFFFFFF"), "a name of 4294967295 bytes"},
		{"long name", set(field+8*fieldName, "00000005"), "does not end where it should"},
		{"endless contents", set(field+8*fieldSize, "FFFFFFFF"), "it ends within the contents of bin"},
	} {
		_, _, err := Read(tt.data)
		if !errors.Is(err, ErrFormat) || !strings.Contains(strings.ToUpper(err.Error()), strings.ToUpper(tt.want)) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
	sh := bytes.Index(good, []byte("bin/sh")) - headSize
	if _, _, err := Read(set(sh, magicSum)); err == nil || !strings.Contains(err.Error(), "bin/sh: its sum is wrong") {
		t.Errorf("wrong sum: %v", err)
	}
}

// TestRandomDamageDoesNoHarm: damaged data gives entries within the data, or an error.
func TestRandomDamageDoesNoHarm(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	good := archive(t, sample)
	for range 20000 {
		b := bytes.Clone(good[:rnd.Intn(len(good)+1)])
		for range rnd.Intn(4) {
			if len(b) > 0 {
				b[rnd.Intn(len(b))] = "0F7\x00/9"[rnd.Intn(6)]
			}
		}
		if list, size, err := Read(b); err == nil && (size > len(b) || len(list) > len(sample)) {
			t.Fatalf("%d bytes of %d, %d entries", size, len(b), len(list))
		} else if err != nil && !errors.Is(err, ErrFormat) {
			t.Fatal(err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, size, err := Read(data)
		if err == nil && (size > len(data) || len(list) > len(data)/headSize) {
			t.Error(size, len(list))
		}
	})
}
