package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"

	"sonde/internal/image"
	"sonde/qemu/machine"
	"sonde/qemu/web/serve"
)

// serve prepares for -web: the kernel gets an agent, and a server on this host shows it. The caller must call stop.
func (o *options) serve() (stop func(), err error) {
	link, err := machine.NewAgent()
	if err != nil {
		return nil, err
	}
	o.Agent = link
	close, err := o.show(serve.NewAgent(link, nil))
	if err != nil {
		link.Close()
		return nil, err
	}
	return func() { close(); link.Close() }, nil
}

// show begins to serve the page of a kernel, and prints its address. The caller must call stop.
func (o *options) show(agent *serve.Agent) (stop func(), err error) {
	info, err := image.Inspect(o.Image)
	if err != nil {
		return nil, err
	}
	s := &serve.Server{Runner: agent, Sum: info.Symbols.Sum()}
	for f := range info.Symbols.Text {
		s.Functions = append(s.Functions, f.Name)
	}
	for _, guest := range slices.Sorted(maps.Keys(o.programs)) {
		s.Programs = append(s.Programs, &serve.Program{Host: o.programs[guest], Guest: guest})
	}
	s.Root, _ = image.Root() // a launcher that was copied elsewhere has no source
	address, err := s.Listen()
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(os.Stderr, "qemu: open %s\n", address)
	ctx, cancel := context.WithCancel(context.Background())
	go s.Watch(ctx)
	return func() { cancel(); s.Close() }, nil
}
