package machine

import (
	"fmt"
	"os"
)

// Agent is the launcher's end of one more serial port, at which the kernel runs commands (package wire).
type Agent struct{ link }

// agentPort is what the kernel calls the port.
const agentPort = "ttyS1"

// NewAgent makes the line for one machine, by Config.Agent. Reading it ends when QEMU does. The caller must Close it.
func NewAgent() (*Agent, error) {
	l, err := controlLink(0)
	if err != nil {
		return nil, fmt.Errorf("machine: no line to the agent: %w", err)
	}
	return &Agent{l}, nil
}

// arguments are what QEMU is told, in which the inherited file has the number fd.
func (a *Agent) arguments(fd int) []string {
	if a == nil {
		return nil
	}
	if a.theirs != nil {
		a.where = fmt.Sprintf("socket,id=%%s,fd=%d", fd)
	}
	return []string{"-chardev", a.chardev("agent"), "-device", "isa-serial,index=1,chardev=agent"}
}

// inherited are the files for QEMU.
func (a *Agent) inherited() []*os.File {
	if a == nil {
		return nil
	}
	return inherited(&a.link)
}

// started gives up what only QEMU needs, now that it has it.
func (a *Agent) started() {
	if a != nil {
		a.closeTheirs()
	}
}
