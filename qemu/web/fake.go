package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"

	"sonde/internal/image"
	"sonde/qemu/web/replay"
	"sonde/qemu/web/serve"
)

//go:embed explain.json
var explained string

// show serves the page until ^C.
func show() error {
	s, address, err := serveFake()
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Println("open", address)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	<-stop
	return nil
}

// serveFake begins to serve the page. What the kernel would print is recorded, and counts go up by themselves.
func serveFake() (s *serve.Server, address string, err error) {
	k := &recorded{boot: 1, here: true}
	s = &serve.Server{Runner: k, Functions: []string{"sonde/kernel/vfs.Read", "sonde/kernel/vfs.(*File).Read", "sonde/kernel/vfs.Write"}}
	k.changed = s.Changed
	s.Root, _ = image.Root()
	address, err = s.Listen()
	return s, address, err
}

// recorded is a kernel that answers from recordings.
type recorded struct {
	changed func()

	mu sync.Mutex
	// guarded by mu:
	boot int64
	here bool
}

// Kernel implements serve.Runner.
func (k *recorded) Kernel() (serve.Hello, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return serve.Hello{Version: "(recorded)", CPUs: 2, Boot: k.boot}, k.here
}

// reboot ends the kernel, which is back after as long as a boot takes.
func (k *recorded) reboot() {
	for _, here := range []bool{false, true} {
		k.mu.Lock()
		if k.here = here; here {
			k.boot++
		}
		k.mu.Unlock()
		k.changed()
		time.Sleep(3 * time.Second)
	}
}

// Run implements serve.Runner.
func (k *recorded) Run(ctx context.Context, words []string, out, errs io.Writer) (status int, err error) {
	line := strings.Join(words, " ")
	switch {
	case words[0] == "explain":
		io.WriteString(out, explained)
	case words[0] == "glass":
		io.WriteString(out, string(kind(line).JSON()))
	case words[0] == "bt":
		return 0, script(ctx, line, out)
	case words[0] == "dmesg":
		io.WriteString(out, "[    0.873347] sonde (recorded) booting on 2 CPUs\n[    1.381859] vfs: kernel/vfs/io.go:33\n")
		<-ctx.Done()
	case words[0] == "sh" && words[2] == "reboot":
		go k.reboot()
		return 0, serve.ErrGone
	case words[0] == "sh":
		fmt.Fprintf(out, "there is no kernel that could run %s\n", words[len(words)-1])
	default:
		fmt.Fprintf(out, "there is no kernel that could run %s\n", line)
	}
	return 0, nil
}

// kind is the recording that a command asks for.
func kind(line string) replay.Kind {
	at := replay.Kinds[0]
	for _, k := range replay.Kinds {
		if k.Name == "way" && strings.Contains(line, " -o ") || strings.Contains(line, "-t "+k.Name) {
			at = k
		}
	}
	return at
}

// script is one that prints twice a second.
func script(ctx context.Context, line string, out io.Writer) error {
	t := time.NewTicker(500 * time.Millisecond)
	defer t.Stop()
	for n := 0; ; n += 7 {
		switch {
		case strings.Contains(line, "--format chrome"):
			if n == 0 {
				io.WriteString(out, `{"displayTimeUnit":"ns","traceEvents":[`+"\n"+`{"name":"thread_name","ph":"M","pid":0,"tid":1,"args":{"name":"recorded"}}`)
			}
			fmt.Fprintf(out, ",\n"+`{"name":"vfs.Read","ph":"B","pid":0,"tid":1,"ts":%d}`+",\n"+`{"name":"vfs.Read","ph":"E","pid":0,"tid":1,"ts":%d}`+"\n", 10*n+1, 10*n+40)
		case strings.Contains(line, "hist("):
			fmt.Fprintf(out, `{"type": "hist", "data": {"@ns": [{"min": 512, "max": 1023, "count": %d}, {"min": 1024, "max": 2047, "count": %d}]}}`+"\n", n, n/2)
		case strings.Contains(line, "kstack"):
			fmt.Fprintf(out, `{"type": "map", "data": {"@": {"\n    vfs.Read+2\n    shell.cat+7\n": %d, "\n    vfs.Read+2\n    linux/syscall.read+9\n": 3}}}`+"\n", n+1)
		default:
			fmt.Fprintf(out, `{"type": "map", "data": {"@": %d}}`+"\n", n)
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return nil
		}
	}
}
