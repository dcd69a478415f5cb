package coreutils

import "strings"

// Opts are the options that a command was given, with their values.
type Opts map[byte]string

// Given reports whether an option was given.
func (o Opts) Given(c byte) bool {
	_, ok := o[c]
	return ok
}

// Options takes single-letter options out of args, as getopt(3) does. known lists them; a letter followed
// by ":" takes a value, and the value of any other is the letter, once for each time that it was given.
// "--" ends them; with "+" at the beginning of known, the first word that is not an option does, too.
//
// Errors: ErrUsage; ErrHelp for -h, if that is not among them.
func Options(args []string, known string) (opts Opts, operands []string, err error) {
	known, first := strings.CutPrefix(known, "+")
	opts = make(Opts)
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		if word == "--" {
			break
		}
		if len(word) < 2 || word[0] != '-' {
			operands = append(operands, word)
			if first {
				break
			}
			continue
		}
		for i := 1; i < len(word); i++ {
			at := strings.IndexByte(known, word[i])
			if at < 0 && word[i] == 'h' {
				return nil, nil, ErrHelp
			}
			if at < 0 || word[i] == ':' {
				return nil, nil, Usagef("unknown option -%c", word[i])
			}
			if !strings.HasPrefix(known[at+1:], ":") {
				opts[word[i]] += word[i : i+1]
				continue
			}
			value := word[i+1:]
			if value == "" {
				if len(args) == 0 {
					return nil, nil, Usagef("option -%c needs a value", word[i])
				}
				value, args = args[0], args[1:]
			}
			opts[word[i]] = value
			break
		}
	}
	return opts, append(operands, args...), nil
}
