package reach_test

import (
	"sonde/internal/image"
	"sonde/kallsyms"
	"sonde/kprobes/reach"
)

func init() {
	reach.BuildKernel = func() (path string, symbols *kallsyms.Table, err error) {
		if path, err = image.Build(image.BuildOptions{Test: true}); err != nil {
			return "", nil, err
		}
		info, err := image.Inspect(path)
		return path, info.Symbols, err
	}
}
