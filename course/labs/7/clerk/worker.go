//go:build linux && amd64

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A worker sends requests, one after another.
type worker struct {
	*options
	first   int // the number of the first request
	random  *rand.Rand
	to      int    // the pipe to the assistant
	from    int    // the pipe of answers
	between func() // what to do in the middle of a request

	begun time.Time
	took  time.Duration
	tree  []string // of this request
	bytes int
	said  []string // of all requests
}

// functions are the kinds of requests. Each takes the number of the request, and returns how many bytes
// were written and read.
var functions = map[string]func(number int, w *worker) int{"Letter": Letter, "Parcel": Parcel, "Telegram": Telegram}

// Letter is written, and answered.
//
//go:noinline
func Letter(number int, w *worker) int {
	w.begin(number)
	w.write(20)
	w.between()
	w.read()
	return w.end()
}

// Parcel is written in two parts, of which each is answered.
//
//go:noinline
func Parcel(number int, w *worker) int {
	w.begin(number)
	w.write(30)
	w.read()
	w.between()
	w.write(10)
	w.read()
	return w.end()
}

// Telegram is written in two parts, and not answered.
//
//go:noinline
func Telegram(number int, w *worker) int {
	w.begin(number)
	w.write(0)
	w.between()
	w.write(0)
	return w.end()
}

// worker makes a worker and its assistant.
func (o *options) worker(i int) *worker {
	in, out := pipe(), pipe()
	go assist(in[0], out[1])
	return &worker{options: o, first: 100 * i, random: rand.New(rand.NewPCG(uint64(o.seed), uint64(i))), to: in[1], from: out[0]}
}

func pipe() (ends [2]int) {
	check(syscall.Pipe2(ends[:], syscall.O_CLOEXEC))
	return ends
}

// run sends all requests.
func (w *worker) run() {
	number := w.first
	for range w.n {
		for _, kind := range []string{"Letter", "Parcel", "Telegram"} {
			w.between = func() {}
			if w.fork {
				w.between = func() { w.forks(number) }
			}
			w.timed(kind, number)
			number++
		}
	}
}

// forks forks. Every other child becomes another clerk.
func (w *worker) forks(number int) {
	var argv []*byte
	if number%2 == 1 {
		argv = w.again(10 + number)
	}
	wait(fork(argv))
}

// timed sends a request, and notes what it was.
func (w *worker) timed(kind string, number int) {
	f := functions[kind]
	begun := time.Now()
	n := f(number, w)
	outside := time.Since(begun)
	head := fmt.Sprintf("request %d of %s[%d], thread %d, %d bytes", number, name, syscall.Getpid(), syscall.Gettid(), n)
	w.said = append(w.said, fmt.Sprintf("%s %d %d %s\n", kind, w.took, outside, strings.Join(slices.Insert(w.tree, 0, head), ";")))
}

func (w *worker) begin(number int) { w.begun, w.tree, w.bytes = time.Now(), nil, 0 }

func (w *worker) end() int {
	w.took = time.Since(w.begun)
	return w.bytes
}

// write writes a message. Its first two bytes say how long it is, and how long its answer.
func (w *worker) write(answer int) {
	if answer > 0 {
		answer += w.random.IntN(10)
	}
	message := make([]byte, 2+w.random.IntN(200))
	message[0], message[1] = byte(len(message)), byte(answer)
	n, err := syscall.Write(w.to, message)
	check(err)
	w.bytes += n
	w.tree = append(w.tree, fmt.Sprintf("  write %d;    vfs.Write %d;      pipe %d", n, n, n))
}

func (w *worker) read() {
	var answer [64]byte
	n, err := syscall.Read(w.from, answer[:])
	check(err)
	w.bytes += n
	w.tree = append(w.tree, fmt.Sprintf("  read %d;    vfs.Read %d", n, n))
}

// assist reads messages and answers them.
func assist(in, out int) {
	for {
		var message [256]byte
		n, err := syscall.Read(in, message[:2])
		check(err)
		if n == 0 {
			return
		}
		_, err = syscall.Read(in, message[2:message[0]])
		check(err)
		if answer := message[1]; answer > 0 {
			_, err = syscall.Write(out, message[:answer])
			check(err)
		}
	}
}
