//go:build tamago

package shell

// The commands that need the machine itself; ktest adds itself to the images
// that are built for it.
func init() {
	builtins = append(builtins, benchCommand, crashCommand, explainCommand, kwatchCommand)
	builtins = append(builtins, machineCommands...)
}
