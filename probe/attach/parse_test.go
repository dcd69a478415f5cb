package attach

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"
)

var places = map[string]Site{
	"vfs.Read":                           {Symbol: "vfs.Read"},
	"vfs.(*File).Read":                   {Symbol: "vfs.(*File).Read"},
	"vfs.*":                              {Symbol: "vfs.*"},
	"vfs.Read+0x10":                      {Symbol: "vfs.Read", Offset: 0x10},
	"type:.eq.sonde/kernel/vfs.T+0x10":   {Symbol: "type:.eq.sonde/kernel/vfs.T", Offset: 0x10},
	"0xffffffff84123456":                 {Addr: 0xffffffff84123456},
	"ret:vfs.Read":                       {Symbol: "vfs.Read", Return: true},
	"kernel/vfs/io.go:76":                {Kind: Line, File: "kernel/vfs/io.go", Line: 76},
	"/bin/sh:main":                       {Kind: Program, File: "/bin/sh", Symbol: "main"},
	"sh:main+0x4":                        {Kind: Program, File: "sh", Symbol: "main", Offset: 4},
	"/bin/sh:0x1ed880":                   {Kind: Program, File: "/bin/sh", Offset: 0x1ed880},
	"/bin/x:foo@plt":                     {Kind: Program, File: "/bin/x", Symbol: "foo@plt"},
	"/lib/libc.so.6:std::sort":           {Kind: Program, File: "/lib/libc.so.6", Symbol: "std::sort"},
	"7:0x401665":                         {Kind: Program, PID: 7, Addr: 0x401665},
	"7:ret:/lib/libc.so:write":           {Kind: Program, PID: 7, Return: true, File: "/lib/libc.so", Symbol: "write"},
	"inline:sync.(*Mutex).Lock":          {Kind: Inline, Symbol: "sync.(*Mutex).Lock"},
	"inline:vfs.*":                       {Kind: Inline, Symbol: "vfs.*"},
	"w@printk.consoleLevel":              {Kind: Watch, Symbol: "printk.consoleLevel"},
	"rw@printk.consoleLevel+0x4:4":       {Kind: Watch, Access: ReadWrite, Symbol: "printk.consoleLevel", Offset: 4, Length: 4},
	"x@vfs.Read":                         {Kind: Watch, Access: Execute, Symbol: "vfs.Read"},
	"7:r@0x601040:8":                     {Kind: Watch, PID: 7, Access: Read, Addr: 0x601040, Length: 8},
	"sys:openat":                         {Kind: Call, Symbol: "openat"},
	"7:ret:sys:open*":                    {Kind: Call, PID: 7, Return: true, Symbol: "open*"},
	"tick:99hz":                          {Kind: Tick, Hz: 99},
	"every:1.5s":                         {Kind: Every, Period: 1500 * time.Millisecond},
	"tick":                               {Symbol: "tick"},
	"main.f[go.shape.struct { A int }]":  {Symbol: "main.f[go.shape.struct { A int }]"},
	"7:ret:0x401665":                     {Kind: Program, PID: 7, Return: true, Addr: 0x401665},
	"ret:sh:main":                        {Kind: Program, Return: true, File: "sh", Symbol: "main"},
	"ret:sh:0x1ed880":                    {Kind: Program, Return: true, File: "sh", Offset: 0x1ed880},
	"7:sys:openat":                       {Kind: Call, PID: 7, Symbol: "openat"},
	"w@/bin/prog:main.counter":           {Kind: Watch, File: "/bin/prog", Symbol: "main.counter"},
	"7:rw@./prog:counter+0x8:4":          {Kind: Watch, PID: 7, Access: ReadWrite, File: "./prog", Symbol: "counter", Offset: 8, Length: 4},
	"w@type:.eq.sonde/kernel/vfs.T:1":    {Kind: Watch, Symbol: "type:.eq.sonde/kernel/vfs.T", Length: 1},
	"ret:sonde/kernel/vfs.(*File).Read":  {Return: true, Symbol: "sonde/kernel/vfs.(*File).Read"},
	"sonde/kernel/vfs.(*File).Read+0x10": {Symbol: "sonde/kernel/vfs.(*File).Read", Offset: 0x10},

	`"/tmp/co:lon/p":work+0x4`:            {Kind: Program, File: "/tmp/co:lon/p", Symbol: "work", Offset: 4},
	`7:ret:"/tmp/co:lon/p":work`:          {Kind: Program, PID: 7, Return: true, File: "/tmp/co:lon/p", Symbol: "work"},
	`"/tmp/co:lon/p":0x10`:                {Kind: Program, File: "/tmp/co:lon/p", Offset: 0x10},
	`"a\"b\\:":main`:                      {Kind: Program, File: `a"b\:`, Symbol: "main"},
	"/tmp/at@x/p:work":                    {Kind: Program, File: "/tmp/at@x/p", Symbol: "work"},
	`"at@x/p":work`:                       {Kind: Program, File: "at@x/p", Symbol: "work"},
	`"ret":main`:                          {Kind: Program, File: "ret", Symbol: "main"},
	`"7":main`:                            {Kind: Program, File: "7", Symbol: "main"},
	`"/bin/x.go":main`:                    {Kind: Program, File: "/bin/x.go", Symbol: "main"},
	"/tmp/sp ace/p:work":                  {Kind: Program, File: "/tmp/sp ace/p", Symbol: "work"},
	"/bin/p:type:.eq.[2]fmt.fmt":          {Kind: Program, File: "/bin/p", Symbol: "type:.eq.[2]fmt.fmt"},
	"/lib/libc.so.6:realpath@GLIBC_2.2.5": {Kind: Program, File: "/lib/libc.so.6", Symbol: "realpath@GLIBC_2.2.5"},
	`/bin/p:"operator+"`:                  {Kind: Program, File: "/bin/p", Symbol: "operator+"},
	`/bin/p:"operator+"+0x4`:              {Kind: Program, File: "/bin/p", Symbol: "operator+", Offset: 4},
	`"/co:lon":"x+1"`:                     {Kind: Program, File: "/co:lon", Symbol: "x+1"},
	`"f[go.shape.struct { A \"x:y\" }]"`:  {Symbol: `f[go.shape.struct { A "x:y" }]`},
	`"f[\"a@b\"]"+0x10`:                   {Symbol: `f["a@b"]`, Offset: 0x10},
	`f[go.shape.struct { A "json\"" }]`:   {Symbol: `f[go.shape.struct { A "json\"" }]`},
	`w@"/tmp/co:lon/p":counter`:           {Kind: Watch, File: "/tmp/co:lon/p", Symbol: "counter"},
	`7:w@"/tmp/co:lon/p":counter+0x8:4`:   {Kind: Watch, PID: 7, File: "/tmp/co:lon/p", Symbol: "counter", Offset: 8, Length: 4},
	`w@/bin/p:"a:8":4`:                    {Kind: Watch, File: "/bin/p", Symbol: "a:8", Length: 4},
	`w@"a:8"`:                             {Kind: Watch, Symbol: "a:8"},
}

// TestOfPrograms: a watchpoint is the kernel's unless it says whose it is.
func TestOfPrograms(t *testing.T) {
	for text, want := range map[string]bool{"w@/bin/prog:counter": true, "w@a.counter": false, "7:w@0x1000": true, "w@0x1000": false, "/bin/prog:main": true, "ret:sys:read": true, "vfs.Read": false, "a.go:7": false} {
		if s, err := ParseSite(text); err != nil || s.OfPrograms() != want {
			t.Errorf("%s: %v, %v; want %v", text, s.OfPrograms(), err, want)
		}
	}
}

// TestFrom: a file is where its caller means it.
func TestFrom(t *testing.T) {
	for text, want := range map[string]string{
		"./t1:work": "/tmp/t1:work", "../t1:work": "/tmp/../t1:work", "a/t1:work+0x4": "/tmp/a/t1:work+0x4", "t1:work": "t1:work", "/bin/t1:work": "/bin/t1:work",
		"w@./t1:counter": "w@/tmp/t1:counter", "7:ret:./t1:work": "7:ret:/tmp/t1:work", "a/b.go:7": "a/b.go:7", "kernel/vfs.Read": "kernel/vfs.Read",
		`"./co:lon":work`: `"/tmp/co:lon":work`,
	} {
		s, err := ParseSite(text)
		if got := s.From("/tmp").String(); err != nil || got != want {
			t.Errorf("%s: %s, %v", text, got, err)
		}
		if got := TextFrom("/tmp", text); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
	if s, _ := ParseSite("./t1:work"); s.From("/").File != "/t1" {
		t.Error(s.From("/"))
	}
	if got := TextFrom("/tmp", "nonsense:./x:+"); got != "nonsense:./x:+" {
		t.Error(got)
	}
}

// TestAt: what has been cut is a name, whatever it begins with.
func TestAt(t *testing.T) {
	in := func(file string) Site { return Site{Kind: Program, File: file} }
	for _, c := range []struct {
		of   Site
		text string
		want Site
	}{
		{Site{}, "vfs.Read+0x10", Site{Symbol: "vfs.Read", Offset: 0x10}},
		{Site{Return: true}, "vfs.Read", Site{Symbol: "vfs.Read", Return: true}},
		{Site{}, "0x1000", Site{Addr: 0x1000}},
		{Site{}, "ret:vfs", Site{Symbol: "ret:vfs"}},
		{in("/co:lon"), "type:.eq.x+4", Site{Kind: Program, File: "/co:lon", Symbol: "type:.eq.x", Offset: 4}},
		{in("p"), "0x10", Site{Kind: Program, File: "p", Offset: 0x10}},
	} {
		if got, err := c.of.At(c.text); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v", c.text, got, err)
		}
	}
	for _, text := range []string{"vfs.Read+x", "0xzz", "", "vfs.Read+4"} {
		if got, err := (Site{Return: true}).At(text); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

func TestParseSite(t *testing.T) {
	for text, want := range places {
		got, err := ParseSite(text)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		if got.String() != text {
			t.Errorf("%s prints as %s", text, got)
		}
	}
}

// TestOtherSpellings: what is read in several ways is printed in one.
func TestOtherSpellings(t *testing.T) {
	for text, want := range map[string]string{
		"vfs.Read+16":        "vfs.Read+0x10",
		"vfs.Read+0x10/0x80": "vfs.Read+0x10",
		"vfs.Read+0":         "vfs.Read",
		"vfs.Read+1+2":       "vfs.Read+0x3",
		"0x1000+8":           "0x1008",
		"7:0000000000401665": "7:0x401665",
		"ffffffff84123456":   "0xffffffff84123456",
		"ret:7:/bin/sh:main": "7:ret:/bin/sh:main",
		"w@4096:010":         "w@0x1000:8",
		"every:60s":          "every:1m0s",
	} {
		if got, err := ParseSite(text); err != nil || got.String() != want {
			t.Errorf("%s: %s, %v; want %s", text, got, err, want)
		}
	}
}

func TestRefusedPlaces(t *testing.T) {
	for text, why := range map[string]string{
		"":                          "it is empty",
		"ret:":                      "it is empty",
		"7:":                        "it is empty",
		"ret:ret:vfs.Read":          "twice",
		"0:0x1000":                  "0 is not the number of a process",
		"99999999999:0x1000":        "99999999999 is not the number",
		"7:8:0x1000":                "two processes, 7 and 8",
		"7:vfs.Read":                "vfs.Read alone is a function of the kernel; of process 7, give FILE:vfs.Read",
		"7:tick:9hz":                "a tick is not one of process 7",
		"7:io.go:3":                 "a source line is not one of process 7",
		"q@printk.consoleLevel":     `"q" before @ is not an access; give w, rw, r or x`,
		"@printk.consoleLevel":      "not an access",
		"w@":                        "what is to be watched is missing",
		"w@printk.consoleLevel:4+8": "give SYMBOL+OFFSET:LENGTH",
		"w@printk.consoleLevel:0":   "the length 0 is not possible",
		"ret:w@printk.consoleLevel": "a watchpoint does not return",
		"ret:io.go:3":               "a source line does not return",
		"inline:":                   "the function is missing, as in inline:sync.(*Mutex).Lock",
		"inline:a.F+0x10":           "inline: is for a function; give inline:a.F",
		"ret:inline:a.F":            "a copy of a function does not return",
		"7:inline:a.F":              "a copy of a function is not one of process 7",
		"ret:tick:9hz":              "a tick does not return",
		"ret:vfs.Read+0x4":          "not for an instruction in it",
		"io.go:":                    `"" after io.go is not the number of a line`,
		"io.go:0":                   `"0" after io.go`,
		"io.go:x":                   `"x" after io.go`,
		":main":                     "the file before the colon is missing",
		"vfs.Read+0x10x":            `"0x10x" behind vfs.Read+ is not an offset; give a number of bytes, as in vfs.Read+0x10`,
		"+0x10":                     "the function before +0x10 is missing, as in vfs.Read+0x10",
		"0xzz":                      `"0xzz" is not an address`,
		"0x12345678123456781":       `"0x12345678123456781" is not an address`,
		"w@printk.consoleLevel+x":   `"x" behind printk.consoleLevel+ is not an offset`,
		"ret:vfs.Read+":             `"" behind vfs.Read+ is not an offset`,
		"/bin/sh:main+1y":           `"1y" behind main+ is not an offset`,
		"sys:":                      "the name of the system call is missing",
		"tick:99":                   `"99" is not a frequency; give tick:1hz`,
		"tick:0hz":                  "not a frequency",
		"tick:1000000hz":            "not a frequency",
		"every:1":                   `"1" is not an interval`,
		"every:1us":                 "not an interval",
		"every:-1s":                 "not an interval",
		"every:2562047h":            "give 1ms to 8760h",
		"/bin/sh":                   "the file /bin/sh without a function; give both, as in /bin/sh:FUNCTION",
		"/bin/sh:":                  "the file /bin/sh without a function",
		"sh:":                       "the file sh without a function",

		"vfs.Read+18446744073709551615+0x12": `"18446744073709551615+0x12" behind vfs.Read+ is not an offset`,
		"0xffffffffffffffff+0x12":            `"0xffffffffffffffff+0x12" is not an address`,
	} {
		got, err := ParseSite(text)
		switch {
		case !errors.Is(err, syscall.EINVAL):
			t.Errorf("%q: %+v, %v", text, got, err)
		case !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), `"`+text+`"`):
			t.Errorf("%q: %v; want %q", text, err, why)
		}
	}
}

func TestKindsOfPlaces(t *testing.T) {
	if s, err := ParseSiteOf("w@printk.consoleLevel", Kernel, Watch); err != nil || s.Kind != Watch {
		t.Error(s, err)
	}
	_, err := ParseSiteOf("w@printk.consoleLevel", Kernel, Program)
	if want := `place "w@printk.consoleLevel": this is a watchpoint, not a place in the kernel or a place in a program`; !errors.Is(err, syscall.EINVAL) || err.Error() != want {
		t.Error(err)
	}
	if _, err = ParseSiteOf("vfs.Read", Watch); err == nil || !strings.HasSuffix(err.Error(), "not a watchpoint; give the access and what is watched, as in w@printk.consoleLevel") {
		t.Error(err)
	}
	if _, err := ParseSiteOf("", Kernel); !errors.Is(err, syscall.EINVAL) {
		t.Error(err)
	}
}

func TestPattern(t *testing.T) {
	for symbol, want := range map[string]bool{
		"vfs.Read": false, "vfs.(*File).Read": false, "vfs.*": true, "*": true, "vfs.(*File).*": true, "(*": false,
	} {
		if got := (Site{Symbol: symbol}).Pattern(); got != want {
			t.Errorf("%s: %v", symbol, got)
		}
	}
}

// FuzzParseSite: whatever is read prints as text that is read as the same.
func FuzzParseSite(f *testing.F) {
	for text := range places {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSite(text)
		if err != nil {
			if !errors.Is(err, syscall.EINVAL) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		again, err := ParseSite(s.String())
		if err != nil || again != s {
			t.Errorf("%q: %+v prints as %q, which is %+v, %v", text, s, s.String(), again, err)
		}
	})
}
