//go:build linux

package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"sonde/shell/coreutils"
)

// commandFile is where the kernel's shell takes commands, and gives answers, in parts; shell/handed.go says
// how.
const commandFile = "/sys/kernel/debug/command"

// handOver has a command of the kernel's shell run in the current folder, and prints what it says. ^C ends
// the command, not this program: what it says at its end is printed, too.
func handOver(u *coreutils.IO, f io.ReadWriter, words ...string) error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	words = slices.Concat([]string{here}, os.Environ(), words)
	if err := writePart(f, coreutils.HandsCommand, strings.Join(words, "\x00")+"\x00"); err != nil {
		return err
	}
	go func() {
		<-interrupts
		writePart(f, coreutils.HandsInterrupt, "")
	}()
	return answered(u, bufio.NewReader(f), f)
}

// writePart writes a part at once.
func writePart(f io.Writer, kind uint32, data string) error {
	_, err := f.Write(coreutils.Part(kind, []byte(data)))
	return err
}

// answered prints the parts of an answer, gives the command the input that it asks for, and returns the status
// at its end.
func answered(u *coreutils.IO, r io.Reader, w io.Writer) error {
	for {
		var head [2]uint32
		if err := binary.Read(r, binary.LittleEndian, &head); err != nil {
			return fmt.Errorf("the kernel's answer: %w", err)
		}
		if to := map[uint32]io.Writer{coreutils.GetsOutput: u.Out, coreutils.GetsErrors: u.Err}[head[0]]; to != nil {
			if _, err := io.CopyN(to, r, int64(head[1])); err != nil {
				return err
			}
			continue
		}
		var n uint32
		if err := binary.Read(r, binary.LittleEndian, &n); err != nil {
			return err
		}
		if head[0] == coreutils.GetsAsked {
			go func() { // the command can end before something is typed
				b := make([]byte, n)
				n, err := u.In.Read(b)
				if err != nil && err != io.EOF {
					fmt.Fprintln(u.Err, err)
				}
				writePart(w, coreutils.HandsInput, string(b[:n]))
			}()
		} else if n != 0 {
			return coreutils.Status(n)
		} else {
			return nil
		}
	}
}
