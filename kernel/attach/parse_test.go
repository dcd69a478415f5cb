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
	"w@printk.level":                     {Kind: Watch, Symbol: "printk.level"},
	"rw@printk.level+0x4:4":              {Kind: Watch, Access: ReadWrite, Symbol: "printk.level", Offset: 4, Length: 4},
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
		"":                    "it is empty",
		"ret:":                "it is empty",
		"7:":                  "it is empty",
		"ret:ret:vfs.Read":    "twice",
		"0:0x1000":            "0 is not the number of a process",
		"99999999999:0x1000":  "99999999999 is not the number",
		"7:8:0x1000":          "two processes, 7 and 8",
		"7:vfs.Read":          "vfs.Read alone is a function of the kernel; of process 7, give FILE:vfs.Read",
		"7:tick:9hz":          "a tick is not one of process 7",
		"7:io.go:3":           "a source line is not one of process 7",
		"q@printk.level":      `"q" before @ is not an access; give w, rw, r or x`,
		"@printk.level":       "not an access",
		"w@":                  "what is to be watched is missing",
		"w@printk.level:4+8":  "give SYMBOL+OFFSET:LENGTH",
		"w@printk.level:0":    "the length 0 is not possible",
		"ret:w@printk.level":  "a watchpoint does not return",
		"ret:io.go:3":         "a source line does not return",
		"inline:":             "the function is missing, as in inline:sync.(*Mutex).Lock",
		"inline:a.F+0x10":     "inline: is for a function; give inline:a.F",
		"ret:inline:a.F":      "a copy of a function does not return",
		"7:inline:a.F":        "a copy of a function is not one of process 7",
		"ret:tick:9hz":        "a tick does not return",
		"ret:vfs.Read+0x4":    "not for an instruction in it",
		"io.go:":              `"" after io.go is not the number of a line`,
		"io.go:0":             `"0" after io.go`,
		"io.go:x":             `"x" after io.go`,
		":main":               "the file before the colon is missing",
		"vfs.Read+0x10x":      `"0x10x" behind vfs.Read+ is not an offset; give a number of bytes, as in vfs.Read+0x10`,
		"+0x10":               "the function before +0x10 is missing, as in vfs.Read+0x10",
		"0xzz":                `"0xzz" is not an address`,
		"0x12345678123456781": `"0x12345678123456781" is not an address`,
		"w@printk.level+x":    `"x" behind printk.level+ is not an offset`,
		"ret:vfs.Read+":       `"" behind vfs.Read+ is not an offset`,
		"/bin/sh:main+1y":     `"1y" behind main+ is not an offset`,
		"sys:":                "the name of the system call is missing",
		"tick:99":             `"99" is not a frequency; give tick:1hz`,
		"tick:0hz":            "not a frequency",
		"tick:1000000hz":      "not a frequency",
		"every:1":             `"1" is not an interval`,
		"every:1us":           "not an interval",
		"every:-1s":           "not an interval",
		"every:2562047h":      "give 1ms to 8760h",
		"/bin/sh":             "the file /bin/sh without a function; give both, as in /bin/sh:FUNCTION",
		"/bin/sh:":            "the file /bin/sh without a function",
		"sh:":                 "the file sh without a function",

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
	if s, err := ParseSiteOf("w@printk.level", Kernel, Watch); err != nil || s.Kind != Watch {
		t.Error(s, err)
	}
	_, err := ParseSiteOf("w@printk.level", Kernel, Program)
	if want := `place "w@printk.level": this is a watchpoint, not a place in the kernel or a place in a program`; !errors.Is(err, syscall.EINVAL) || err.Error() != want {
		t.Error(err)
	}
	if _, err = ParseSiteOf("vfs.Read", Watch); err == nil || !strings.HasSuffix(err.Error(), "not a watchpoint; give the access and what is watched, as in w@printk.level") {
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
