//go:build tamago

package shell

// Commands that need the machine itself.
func init() {
	builtins = append(builtins, crashCommand)
	builtins = append(builtins, machineCommands...)
}
