package run

import (
	"fmt"
	"strconv"
	"strings"
)

// Flags are the options of the command.
type Flags struct {
	Script    string
	HasScript bool // by -e; otherwise Args begin with a file
	Args      []string
	PID       int
	Command   string // along with which the script runs
	Budget    int    // thousandths of a CPU that a probe may take
	JSON      bool
	Output    string   // a file
	Format    string   // folded, chrome, perfetto or pprof: what is written instead of text
	Config    []string // name=value

	Self, List, Show, Quiet, Verbose, Missing, DryRun, Unsafe, NoWarnings, Usage, WithCommand bool
}

// Usage is what the command can be given.
const Usage = `USAGE:
    bt [OPTIONS] FILE [ARGUMENT...]
    bt [OPTIONS] -e 'SCRIPT' [ARGUMENT...]
    bt -l [PATTERN | FILE]
OPTIONS:
    -e SCRIPT        run this script
    -c COMMAND       run this command meanwhile, and end with it
    -p PID           limit probes in programs to this process, and end with it
    -l, -lv          list what can be probed, with -v with the arguments
    -f text|json     the format of the output
    -o FILE          write the output to FILE
    --format NAME    write for other tools: folded, chrome, perfetto or pprof
    -q               print nothing about the probes
    -v               also print what became of all hits
    -d               print the programs, run nothing
    --dry-run        check everything, attach nothing
    -k               warn if a key of a map is missing
    -B PERCENT       limit each probe to this share of a CPU
    --config N=V     a setting, as in the script's config
    --include FILE   ignored, as #include is: declare structs in the script
    --self           count what bt does itself, too
    --unsafe         allow system() and signal()
    --no-warnings    only errors
    --usage          this text
ARGUMENTS are $1, $2 and so on; behind --, --name=value is what getopt("name") returns.
`

// long are other names of options.
var long = map[string]string{"--output": "-o", "--list": "-l", "--quiet": "-q", "--help": "--usage", "-h": "--usage", "--verbose": "-v", "--debug": "-d", "--pid": "-p", "--cmd": "-c"}

// ParseFlags reads the arguments of the command.
//
// Errors: which argument is wrong.
func ParseFlags(args []string) (*Flags, error) {
	f := &Flags{}
	words, given := 0, false // words: of the script and its arguments
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		switch {
		case given: // everything after -- is the script's
			f.Args = append(f.Args, word)
			continue
		case word == "--":
			given = true
			continue
		case len(word) < 2 || word[0] != '-' || words > 0 && !f.HasScript:
			f.Args = append(f.Args, word)
			words++
			continue
		}
		var err error
		if args, err = f.option(word, args); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// option reads one word of options, and returns what is left.
func (f *Flags) option(word string, args []string) ([]string, error) {
	if strings.HasPrefix(word, "--") || long[word] != "" {
		name, value, has := strings.Cut(word, "=")
		if other := long[name]; other != "" {
			name = other
		}
		if has {
			args = append([]string{value}, args...)
		}
		return f.one(name, args)
	}
	for i := 1; i < len(word); i++ {
		if strings.IndexByte("ecpfoB", word[i]) >= 0 {
			if i+1 < len(word) {
				args = append([]string{word[i+1:]}, args...)
			}
			return f.one("-"+word[i:i+1], args)
		}
		if _, err := f.one("-"+word[i:i+1], nil); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// one reads an option, whose value comes next in args.
func (f *Flags) one(name string, args []string) ([]string, error) {
	switches := map[string]*bool{"-l": &f.List, "-d": &f.Show, "-q": &f.Quiet, "-v": &f.Verbose, "-k": &f.Missing, "--dry-run": &f.DryRun, "--unsafe": &f.Unsafe,
		"--no-warnings": &f.NoWarnings, "--usage": &f.Usage, "--self": &f.Self}
	if to := switches[name]; to != nil {
		*to = true
		return args, nil
	}
	values := map[string]func(string) error{"-e": f.script, "-c": f.command, "-p": f.process, "-f": f.text, "-B": f.budget, "--format": f.format,
		"-o":        func(s string) error { f.Output = s; return nil },
		"--include": func(string) error { return nil }, // as #include: a script that needs what is in the file says what it lacks
		"--config":  func(s string) error { f.Config = append(f.Config, s); return nil }}
	read := values[name]
	switch {
	case read == nil:
		return nil, fmt.Errorf("unknown option %s", name)
	case len(args) == 0:
		return nil, fmt.Errorf("option %s needs a value", name)
	}
	return args[1:], read(args[0])
}

func (f *Flags) script(s string) error {
	f.Script, f.HasScript = s, true
	return nil
}

func (f *Flags) command(s string) error {
	f.Command, f.WithCommand = s, true
	return nil
}

// maxPID is the largest number of a process.
const maxPID = 4 << 20

func (f *Flags) process(s string) (err error) {
	f.PID, err = strconv.Atoi(s)
	switch {
	case err != nil && len(s) > 0 && s[0] >= '0' && s[0] <= '9':
		return fmt.Errorf("ERROR: Failed to parse pid: invalid trailing bytes: %s", s)
	case err != nil:
		return fmt.Errorf("ERROR: Failed to parse pid: invalid integer: %s", s)
	case f.PID < 1 || f.PID > maxPID:
		return fmt.Errorf("ERROR: Pid out of range: %s", s)
	}
	return nil
}

func (f *Flags) text(s string) error {
	if f.JSON = s == "json"; !f.JSON && s != "text" {
		return fmt.Errorf("ERROR: Invalid output format %q: give text or json", s)
	}
	return nil
}

// formats are what --format can be.
const formats = "folded, chrome, perfetto, pprof"

func (f *Flags) format(s string) error {
	if f.Format = s; !strings.Contains(", "+formats+",", ", "+s+",") || s == "" {
		return fmt.Errorf("%q is not a format: give one of %s", s, formats)
	}
	return nil
}

func (f *Flags) budget(s string) error {
	percent, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
	if err != nil || !(percent >= 0.1 && percent <= 100) {
		return fmt.Errorf("%q is not a budget: give 0.1 to 100, in percent of a CPU", s)
	}
	f.Budget = int(percent*10 + 0.5)
	return nil
}
