package shell

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"sonde/internal/quick"
)

// TestScripts: what a shell's language has, in one line each.
func TestScripts(t *testing.T) {
	tests := []struct {
		name, script, out string
		status            int
	}{
		{"a variable", "x=1; y=$x$x; echo $y ${y} \"$y\" '$y'", "11 11 11 $y\n", 0},
		{"defaults", "echo ${a:-none} ${a=set} $a ${#a}", "none set set 3\n", 0},
		{"cutting", "f=/tmp/a.b.c; echo ${f##*/} ${f%.*} ${f/a/x} ${f^^}", "a.b.c /tmp/a.b /tmp/x.b.c /TMP/A.B.C\n", 0},
		{"an assignment for one command", "x=1; x=2 eval 'echo $x'; echo $x", "2\n1\n", 0},
		{"one that fails leaves none before it", "readonly r=1; x=1; x=2 r=2 true; echo $? $x; x=3 r=3; echo $x", "sh: r is readonly\n1 1\nsh: r is readonly\n3\n", 0},
		{"a format that would fill the memory", "f=%9999d; f=$f$f$f$f$f$f$f$f; f=$f$f$f$f$f$f$f$f; printf $f 1 | wc -c", "printf: the format fills 639936 bytes, more than 524288\nusage: printf format [word...]\n0\n", 0},
		{"a job without a name", "wait ''; echo $?; fg '' && echo never; bg ''; echo on", "wait: pid  is not a child of this shell\n127\nfg: : no such job\nbg: : no such job\non\n", 0},
		{"its status", "x=$(false); echo $?; x=1 true; echo $?", "1\n0\n", 0},
		{"arithmetic", "i=3; echo $((i*2+1)); ((i++)); echo $i; let i+=5; echo $i; ((i==9)) && echo nine", "7\n4\n9\nnine\n", 0},
		{"dividing by zero", "echo $((1/0)); echo on", "echo: division by zero\non\n", 0},
		{"for", "for i in a b c; do echo -n $i; done; echo", "abc\n", 0},
		{"for as in C", "for ((i=0; i<3; i++)); do echo -n $i; done; echo", "012\n", 0},
		{"braces", "echo {1..3}{a,b}", "1a 1b 2a 2b 3a 3b\n", 0},
		{"while", "i=0; while [ $i -lt 3 ]; do i=$((i+1)); echo -n $i; done; echo", "123\n", 0},
		{"until", "i=3; until test $i = 0; do echo -n $i; i=$((i-1)); done; echo", "321\n", 0},
		{"break and continue", "for i in 1 2 3 4; do [ $i = 2 ] && continue; [ $i = 4 ] && break; echo -n $i; done; echo", "13\n", 0},
		{"break two", "for i in 1 2; do for j in 1 2; do echo -n $i$j; break 2; done; done; echo", "11\n", 0},
		{"if", "if false; then echo a; elif true; then echo b; else echo c; fi; if false; then :; fi; echo $?", "b\n0\n", 0},
		{"case", "for x in apple fig kiwi; do case $x in a*) echo A;; f?g|k) echo F;; *) echo other;; esac; done", "A\nF\nother\n", 0},
		{"conditions", "[[ abc == a* && ! -e /none ]] && echo yes; [[ x -eq 3 ]]; echo $?; [ -d /tmp -a ! -f /tmp ] && echo dir", "yes\nsh: \"x\" and \"3\" are not both numbers\nusage: sh\n2\ndir\n", 0},
		{"an expression", "[[ 'hit 42' =~ ([0-9]+) ]] && echo ${BASH_REMATCH[1]}", "42\n", 0},
		{"a function", "f() { echo $# $1; return 3; }; f a b; echo $?; echo $#", "2 a\n3\n0\n", 0},
		{"local variables", "x=1; f() { local x=2 y=3; echo $x$y; }; f; echo $x$y", "23\n1\n", 0},
		{"recursion", "f() { [ $1 = 0 ] && return; echo -n $1; f $(($1-1)); }; f 5; echo", "54321\n", 0},
		{"a subshell", "x=1; (x=2; cd /proc; echo $x $PWD; exit 4); echo $? $x $PWD", "2 /proc\n4 1 /\n", 0},
		{"substitution", "x=$(echo a; echo b); echo \"$x\"; echo $x `echo c`", "a\nb\na b c\n", 0},
		{"a group", "{ echo a; echo b; } | wc -l; { echo 1; echo 2; } > /tmp/g; cat /tmp/g", "2\n1\n2\n", 0},
		{"read", "printf '1 2 3\\n4 5\\n' | while read a b; do echo \"$b:$a\"; done", "2 3:1\n5:4\n", 0},
		{"here documents", "x=1; cat <<E\n$x b\nE\ncat <<'E'\n$x\nE\ncat <<< \"$x!\"", "1 b\n$x\n1!\n", 0},
		{"negation", "! true; echo $?; if ! false; then echo t; fi", "1\nt\n", 0},
		{"patterns", "mkdir /tmp/p; cd /tmp/p; for f in b a c.x; do : > $f; done; echo *; echo ?.x [ab] none*; echo \"*\"; rm *; cd ..; rm p", "a b c.x\nc.x a b none*\n*\n", 0},
		{"cd", "cd /proc/sys; pwd; cd ..; pwd; cd -; cd /none; cat version 2>&1; cd; pwd", "/proc/sys\n/proc\n/proc/sys\ncd: /none: no such file or directory\ncat: /proc/sys/version: no such file or directory\n/\n", 0},
		{"parameters", "set -- a 'b c'; for i; do echo \"<$i>\"; done; shift; echo $# \"$@\" ${1}", "<a>\n<b c>\n1 b c b c\n", 0},
		{"arrays", "a=(x y); a[2]=z; a+=(w); echo ${a[1]} ${#a[@]} \"${a[@]}\"", "y 4 x y z w\n", 0},
		{"set -e", "set -e; false || true; if false; then :; fi; false; echo never", "", 1},
		{"set -u", "echo a$none; set -u; echo b$none; echo never", "a\necho: none: unbound variable\n", 1},
		{"set -x", "set -x; x=1; echo $x", "+ x=1\n+ echo 1\n1\n", 0},
		{"pipefail", "false | true; echo $?; set -o pipefail; false | true; echo $?", "0\n1\n", 0},
		{"readonly", "readonly r=1; r=2; echo $? $r", "sh: r is readonly\n1 1\n", 0},
		{"eval and exit", "eval 'x=1; echo $x'; exit 5; echo never", "1\n", 5},
		{"files", "echo 'echo in $1; x=$1; return 2; echo never' > /tmp/f; . /tmp/f here; echo $? $x; sh /tmp/f there; echo $x", "in here\n2 here\nin there\nhere\n", 0},
		{"sh -c", "x=1; export y=2; sh -c 'echo [$x] $y $0 $1; exit 3' name one; echo $?", "[] 2 name one\n3\n", 0},
		{"sh of the input", "echo 'echo from $0' | sh", "from sh\n", 0},
		{"sh -e", "sh -e -c 'false; echo never'; echo $?", "1\n", 0},
		{"unset", "x=1; qqqq() { echo f; }; unset x; unset -f qqqq; echo [$x]; qqqq", "[]\nqqqq: command not found\n", 127},
		{"trap", "sh -c 'trap \"echo bye\" EXIT; (trap); trap; exit 3'; echo $?; trap x INT", "trap -- 'echo bye' EXIT\nbye\n3\ntrap: INT: only EXIT can be trapped\nusage: trap [script|-] EXIT\n", 2},
		{"what names are", "f() { :; }; type f cat if; command -v cat; type none", "f is a function\ncat is a command of the shell\nif is a word of the language\ncat\ntype: none: not found\n", 1},
		{"formats", "printf '%5d|%-4s|%x\\n' 42 ab 255; printf '%s\\n' a b", "   42|ab  |ff\na\nb\n", 0},
		{"numbers in formats", "printf '%d %%d %s %x\\n' 5x y \"'a\" 0x10 z; echo $?; printf '%d\\n' 99999999999999999999; printf '[%d]\\n' ''", "0 %d y 61\n16 %d z 0\nprintf: \"5x\" is not a number\n1\n9223372036854775807\nprintf: 99999999999999999999 does not fit in 64 bits\n[0]\n", 0},
		{"unset of what is no name", "x=1; unset 1a x; echo $? [$x]", "unset: \"1a\" is not the name of a variable\n1 []\n", 0},
		{"jobs in a loop", "for i in 1 2; do sleep 0 & done; wait; jobs; echo over", "over\n", 0},
		{"all of the output", "{ cat /none; echo a; } >& /tmp/g; wc -l < /tmp/g; cat /none |& wc -l", "2\n1\n", 0},
		{"what is not supported", "coproc ls; declare -A a; set -z; echo $?; sh -h", "sh: coproc is not supported\ndeclare: the option -A is not supported\nset: unknown option -z\nusage: set [-efux] [-o pipefail] [--] [parameter...]\n2\nsh: unknown option -h\nusage: sh [-efux] -c script [name [parameter...]] | [file [parameter...]]\n", 2},
		{"paths like options", "cd /tmp; mkdir -x a; rm -x a; mkdir -- -p; rm -- -p; ls /tmp | grep p", "mkdir: unknown option -x\nusage: mkdir [-p] directory...\nrm: unknown option -x\nusage: rm [-fr] path...\n", 1},
		{"-h", "insmod -h; modinfo -h | head -n 1; date -h | head -n 1; free -h | wc -l; echo -h", "usage: insmod module [name=NAME] [parameter=value...]\nload a module (name=: under another name, so that it can be loaded again)\nusage: modinfo name\nusage: date [+%s]\n2\n-h\n", 0},
		{"modules", "modinfo none; insmod none", "modinfo: none: no such module; lsmod -a lists all\ninsmod: none: no such module; lsmod -a lists all\n", 1},
		{"time", "{ time true; } 2>&1 | grep -c real; time false 2>&1 | grep -c x; echo $?", "1\n0\nREAL1\n", 0},
	}
	for _, tt := range tests {
		out, status := runScript(tt.script)
		out = regexp.MustCompile(`real\t0m\d\.\d+s\n`).ReplaceAllString(out, "REAL")
		if out != tt.out || status != tt.status {
			t.Errorf("%s: got %q, status %d; want %q, status %d", tt.name, out, status, tt.out, tt.status)
		}
	}
	runScript("rm /tmp/g /tmp/f")
}

// noParts waits until the jobs of a script have ended: others are refused while there are many.
func noParts(t *testing.T, name string) {
	t.Helper()
	for end := time.Now().Add(quick.Hang); parts.Load() != 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if n := parts.Load(); n != 0 {
		t.Errorf("%s: %d parts run", name, n)
	}
}

// TestScriptsAreBounded: what would take all memory, or all of a stack, is an error in words, and the
// shell runs on.
func TestScriptsAreBounded(t *testing.T) {
	for name, tt := range map[string]struct{ script, want string }{
		"recursion":              {"f() { f; }; f", "nested too deeply"},
		"mutual recursion":       {"f() { g; }; g() { (f); }; f", "nested too deeply"},
		"recursion in $( )":      {"f() { echo $(f); }; f", "nested too deeply"},
		"recursion by eval":      {"x='eval \"$x\"'; eval \"$x\"", "nested too deeply"},
		"recursion by files":     {"echo '. /tmp/r' > /tmp/r; . /tmp/r", "nested too deeply"},
		"recursion by sh":        {"echo 'sh /tmp/r' > /tmp/r; sh /tmp/r", "nested too deeply"},
		"recursion in pipes":     {"f() { f | f; }; f", "parts of pipelines"},
		"recursion with &":       {"f() { f & f & }; f; wait", ""}, // the jobs that continue are ended, see below
		"nested parentheses":     {strings.Repeat("(", 100000), "nested too deeply"},
		"nested substitutions":   {strings.Repeat("$(", 50000), "nested too deeply"},
		"nested quotes":          {strings.Repeat("\"${a:-", 20000), "nested too deeply"},
		"nested arithmetic":      {"echo $((" + strings.Repeat("(", 60000) + "1", "nested too deeply"},
		"nested braces":          {strings.Repeat("{ ", 60000), "nested too deeply"},
		"nested conditions":      {strings.Repeat("if ", 40000), "nested too deeply"},
		"a long script":          {strings.Repeat("true;", 30000), "more than 131072"},
		"braces":                 {"echo {1..1000000000}", "larger than 524288 bytes"},
		"braces of braces":       {"echo {1..1000}{1..1000}{1..1000}{1..1000}", "larger than 524288 bytes"},
		"braces in braces":       {"echo {a,{1..100000}{1..100000}}", "larger than 524288 bytes"},
		"huge braces":            {"echo {-9223372036854775807..9223372036854775807}", "larger than 524288 bytes"},
		"doubling":               {"x=ab; while :; do x=$x$x || break; done", "larger than 524288 bytes"},
		"doubling by +=":         {"x=ab; for i in {1..40}; do x+=$x || break; done", "larger than 524288 bytes"},
		"doubling by replacing":  {"x=$(printf '%09d' 1); for i in 1 2 3 4 5; do x=${x//?/$x} || break; done", "larger than 524288 bytes"},
		"doubling of an array":   {"a=(x); for i in {1..40}; do a+=(\"${a[@]}\") || break; done", "larger than 524288 bytes"},
		"doubling of parameters": {"set -- a b; for i in {1..40}; do set -- \"$@\" \"$@\" || break; done", "larger than 524288 bytes"},
		"many bytes":             {"x=a; for i in {1..15}; do x=$x$x; done; for i in {1..1000}; do eval y$i=$x || break; done", "variables and functions would take more"},
		"many variables":         {"for i in {1..2000}; do eval x$i=1 || break; done", "1000 variables"},
		"many functions":         {"for i in {1..3000}; do eval \"f$i() { :; }\" || break; done", "variables and functions would take more"},
		"output without end":     {"x=$(while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa || exit; done)", "output of $( ) has more"},
		"a wide format":          {"printf %1000000000s", "more than 4 digits"},
		"walks of patterns":      {"echo /*/../*/../*/../*/../*/../*/../*/../*", "more than 1000 directories"},
		"a long line":            {"while :; do echo -n aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa || break; done | read x", "more than 65536 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			var b buffer
			quick.Do(t, func() { New(fakeMachine(), &b).Run(tt.script) })
			if out := b.String(); !strings.Contains(out, tt.want) {
				t.Errorf("%.300q, want %q", out, tt.want)
			}
			if out, status := runScript("echo alive"); out != "alive\n" || status != 0 {
				t.Errorf("afterwards %q", out)
			}
			if n := parsed.Load(); n != 0 {
				t.Errorf("%d bytes of scripts are held", n)
			}
			noParts(t, name)
		})
	}
	runScript("rm /tmp/r")
}
