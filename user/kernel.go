package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"sonde/user/tools"
)

// commandFile is where the kernel's shell takes commands; shell/handed.go says how.
const commandFile = "/sys/kernel/debug/command"

// bt hands a script over to the kernel, and prints what comes back. ^C ends the script, not this program:
// what the script says at its end is printed, too.
func bt(s tools.Streams, args []string) error {
	args, input, err := located(s.In, args)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(commandFile, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	request := "bt\x00"
	for _, a := range args {
		request += a + "\x00"
	}
	request += input
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	head := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, uint32(len(request))), uint32(1+len(args)))
	if _, err := f.Write(append(head, request...)); err != nil {
		return err
	}
	go func() {
		<-interrupts
		f.Write([]byte{3})
	}()
	return answered(s, bufio.NewReader(f))
}

// answered prints the parts of an answer, and returns the status at its end.
func answered(s tools.Streams, r io.Reader) error {
	for {
		var head [2]uint32
		if err := binary.Read(r, binary.LittleEndian, &head); err != nil {
			return fmt.Errorf("the kernel's answer: %w", err)
		}
		to := map[uint32]io.Writer{1: s.Out, 2: s.Err}[head[0]]
		if to == nil {
			var status uint32
			if err := binary.Read(r, binary.LittleEndian, &status); err != nil || status == 0 {
				return err
			}
			return tools.Status(status)
		}
		if _, err := io.CopyN(to, r, int64(head[1])); err != nil {
			return err
		}
	}
}

// located makes the names of files in the arguments of bt absolute, since the kernel's shell is somewhere
// else, and reads the input if that is the script. A script that is not there may be a pattern of -l.
func located(in io.Reader, args []string) (all []string, input string, err error) {
	given := false // by -e
	for i := 0; i < len(args); i++ {
		a, isFile := args[i], false
		switch {
		case a == "-" && !given:
			text, err := io.ReadAll(in)
			return append(all, args[i:]...), string(text), err
		case !strings.HasPrefix(a, "-"), a == "--":
			if _, missing := os.Stat(a); !given && missing == nil {
				a, err = filepath.Abs(a)
			}
			return append(append(all, a), args[i+1:]...), "", err
		case strings.HasPrefix(a, "-o") && len(a) > 2:
			all, a, isFile = append(all, "-o"), a[2:], true
		case strings.HasPrefix(a, "--output="):
			all, a, isFile = append(all, "-o"), a[len("--output="):], true
		case valued(a) && i+1 < len(args):
			given = given || a == "-e"
			isFile = a == "-o" || a == "--output"
			i++
			all, a = append(all, a), args[i]
		default:
			given = given || strings.HasPrefix(a, "-e")
		}
		if isFile {
			if a, err = filepath.Abs(a); err != nil {
				return nil, "", err
			}
		}
		all = append(all, a)
	}
	return all, "", nil
}

// valued tells whether the next argument belongs to an option of bt.
func valued(option string) bool {
	switch option {
	case "--output", "--format", "--config":
		return true
	}
	return !strings.HasPrefix(option, "--") && strings.ContainsRune("ecpfoB", rune(option[len(option)-1]))
}
