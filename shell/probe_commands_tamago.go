//go:build tamago && !noprobe

package shell

// Commands that probe, watch or measure what does.
func init() {
	builtins = append(builtins, benchCommand, bpfCommand, explainCommand, glassCommand, kwatchCommand, tracetopCommand)
}
