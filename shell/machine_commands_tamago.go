//go:build tamago

package shell

// Commands that need the machine itself.
func init() {
	builtins = append(builtins, benchCommand, bpfCommand, crashCommand, explainCommand, glassCommand, kwatchCommand, tracetopCommand)
	builtins = append(builtins, machineCommands...)
}
