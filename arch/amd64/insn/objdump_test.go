package insn

import (
	"bufio"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// dataInText are Go functions that hold data, on which decoders may differ.
var dataInText = []string{"crypto/internal/boring/sig."}

const httpProgram = `package main

import "net/http"

func main() { http.ListenAndServe("", nil) }
`

func TestObjdumpAgreesOnTestBinary(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	compareObjdump(t, exe)
}

func TestObjdumpAgreesOnHTTPServer(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and disassembles a net/http program; the test binary is done in -short, too")
	}
	compareObjdump(t, buildHTTP(t))
}

// TestObjdumpAgreesOnFile compares the file named by SONDE_INSN_ELF, to try code of other compilers
// by hand.
func TestObjdumpAgreesOnFile(t *testing.T) {
	name := os.Getenv("SONDE_INSN_ELF")
	if name == "" {
		t.Skip("SONDE_INSN_ELF is not set")
	}
	compareObjdump(t, name)
}

func buildHTTP(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	src, exe := filepath.Join(dir, "main.go"), filepath.Join(dir, "http")
	if err := os.WriteFile(src, []byte(httpProgram), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-p=1", "-o", exe, src)
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("cannot build the program to disassemble: %v\n%s", err, out)
	}
	return exe
}

// comparison counts what was compared and shows the first disagreements.
type comparison struct {
	t     *testing.T
	text  []byte
	base  uint64
	fn    string // the function being compared
	funcs int
	insts int
	direct,
	rip,
	data, // lines skipped in dataInText
	wrong int
}

func compareObjdump(t *testing.T, file string) {
	t.Helper()
	tool, err := exec.LookPath("objdump")
	if err != nil {
		t.Skip("objdump (binutils) is not installed: nothing to compare with")
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("the binary at hand is not x86-64")
	}
	c := comparison{t: t}
	c.load(file)
	cmd := exec.Command(tool, "-d", "-w", "-z", "--insn-width=16", "-j", ".text", file)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		c.line(lines.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("objdump: %v", err)
	}
	t.Logf("%s: %d instructions in %d functions compared, of them %d direct branches, %d RIP-relative; %d disagreements, %d lines of data in text skipped",
		filepath.Base(file), c.insts, c.funcs, c.direct, c.rip, c.wrong, c.data)
	if c.insts < 10000 {
		t.Errorf("only %d instructions: is objdump's format another one?", c.insts)
	}
}

func (c *comparison) load(file string) {
	c.t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		c.t.Fatal(err)
	}
	defer f.Close()
	s := f.Section(".text")
	if s == nil {
		c.t.Fatal("no .text")
	}
	if c.text, err = s.Data(); err != nil {
		c.t.Fatal(err)
	}
	c.base = s.Addr
}

// line takes "0000000000401000 <main.main>:" or
// "  401000:<tab>48 83 ec 08 <tab>sub    $0x8,%rsp".
func (c *comparison) line(s string) {
	if name, ok := strings.CutSuffix(s, ">:"); ok {
		_, c.fn, _ = strings.Cut(name, "<")
		c.funcs++
		return
	}
	part := strings.SplitN(s, "\t", 3)
	if len(part) < 3 {
		return
	}
	addr, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(part[0]), ":"), 16, 64)
	if err != nil {
		return
	}
	for _, d := range dataInText {
		if strings.HasPrefix(c.fn, d) {
			c.data++
			return
		}
	}
	c.compare(addr, len(strings.Fields(part[1])), part[2])
}

// compare compares one instruction: n bytes at addr that objdump prints as text.
func (c *comparison) compare(addr uint64, n int, text string) {
	code := c.text[addr-c.base:]
	if code[0] == 0x9B && n > 1 { // objdump takes fwait and fnstcw for the one instruction fstcw
		addr, n, code = addr+1, n-1, code[1:]
	}
	c.insts++
	in, err := Decode(code)
	switch {
	case strings.Contains(text, "(bad)"):
		if err == nil {
			c.report(addr, n, text, "decoded, length %d", in.Len)
		}
		return
	case err != nil:
		c.report(addr, n, text, "%v", err)
		return
	case int(in.Len) != n:
		c.report(addr, n, text, "length %d", in.Len)
		return
	}
	op, args := mnemonic(text)
	if want := flowOf(op, args); in.Flow != want {
		c.report(addr, n, text, "flow %v, want %v", in.Flow, want)
	}
	if in.Flow.Direct() {
		c.direct++
		if got := in.Target(addr); strconv.FormatUint(got, 16) != strings.TrimPrefix(firstWord(args), "0x") {
			c.report(addr, n, text, "target %#x", got)
		}
	}
	plain, _, _ := strings.Cut(args, "<") // the names of branch targets
	plain, _, _ = strings.Cut(plain, "#")
	mem, hasMem := parseOperand(strings.TrimSpace(plain))
	if d := diffOperand(&in, mem, hasMem); d != "" {
		c.report(addr, n, text, "%s", d)
	}
	if d := diffParts(&in, code); d != "" {
		c.report(addr, n, text, "%s", d)
	}
	c.compareMem(addr, &in, text)
}

// compareMem compares the address of a RIP-relative operand with objdump's comment.
func (c *comparison) compareMem(addr uint64, in *Inst, text string) {
	_, comment, ok := strings.Cut(text, "# ")
	if !ok || !in.RIPRel {
		return
	}
	c.rip++
	got := addr + uint64(in.Len) + uint64(in.Disp())
	if strconv.FormatUint(got, 16) != strings.TrimPrefix(firstWord(comment), "0x") {
		c.report(addr, int(in.Len), text, "operand at %#x", got)
	}
}

func (c *comparison) report(addr uint64, n int, text, format string, args ...any) {
	c.t.Helper()
	c.wrong++
	if c.wrong > 10 {
		c.t.Fail()
		return
	}
	off := addr - c.base
	c.t.Errorf("%#x in %s: % x: objdump has %d bytes, %q; here "+format,
		append([]any{addr, c.fn, c.text[off:min(off+uint64(n), uint64(len(c.text)))], n, text}, args...)...)
}
