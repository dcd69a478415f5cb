//go:build tamago

package main

import (
	"fmt"
	"time"

	"sonde/boot/cmdline"
	"sonde/kallsyms"
	"sonde/kernel/console"
	"sonde/kernel/cpu"
	"sonde/kernel/kthread"
	"sonde/kernel/printk"
	"sonde/kernel/wire"
	"sonde/shell"
)

// startAgent runs commands for the launcher, which is at the other end of the serial port that agent= on the command
// line names; without a name, or with that of the terminal's, at the other end of the terminal's line.
func startAgent() {
	name, ok := cmdline.Get(commandLine(), "agent")
	if !ok {
		return
	}
	l := console.ShareLink(name)
	if l == nil {
		var err error
		if l, err = agentLink(name); err != nil {
			printk.Warn("agent=%s: %s", name, err.Error())
			return
		}
	}
	a := &shell.Agent{Shell: newShell, Send: l.Send, Present: l.Present, Boot: time.Now().UnixNano(), Hello: func(boot int64) []byte {
		return fmt.Appendf(nil, `{"version":%q,"cpus":%d,"symbols":%d,"boot":%d,"lost":%d}`, version, cpu.Num(), kallsyms.Kernel().Sum(), boot, l.Lost())
	}}
	kthread.Run("agent", func() {
		a.Take(wire.Message{Kind: wire.Ask}) // the other end may have asked before
		l.Serve(a.Take)
	})
	printk.Info("agent: at %s", l.Name())
}

// agentLink opens a port that is no console.
func agentLink(name string) (*console.Link, error) {
	for i := range legacyPorts {
		p := &legacyPorts[i]
		if p.Name != name {
			continue
		}
		if p.Baud = usualBaud; p.Open() {
			return console.OpenLink(&acpiInfo.MADT, p)
		}
	}
	return nil, fmt.Errorf("no serial port of the 16550 kind answers there; give ttyS0 to ttyS3, or nothing for the terminal's")
}
