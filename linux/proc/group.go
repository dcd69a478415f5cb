package proc

import (
	"slices"
	"syscall"

	"sonde/kernel/abi"
)

// Group is a process group: a job of a shell.
type Group struct {
	ID      int
	session *Session
	// guarded by Table.mu:
	members []*Process // alive or not yet waited for
}

// Session is the process groups of one login, that is, of one shell.
type Session struct {
	ID int
	// guarded by Table.mu:
	leader *Process // nil when it has ended
	groups int
	tty    Terminal
}

// Terminal is what processes need of the terminal that controls their session.
type Terminal interface {
	// HangUp: the leader of the session has ended.
	HangUp()
}

// join moves p into g, which may be new. mu held.
func (t *Table) join(p *Process, g *Group) {
	t.leave(p)
	if len(g.members) == 0 {
		t.groups[g.ID] = g
		g.session.groups++
	}
	g.members = append(g.members, p)
	p.group = g
}

// leave removes p from its group. A group without members ceases to exist, and so does a
// session without groups. mu held.
func (t *Table) leave(p *Process) {
	g := p.group
	if g == nil {
		return
	}
	i := slices.Index(g.members, p)
	g.members = slices.Delete(g.members, i, i+1)
	p.group = nil
	if len(g.members) == 0 {
		delete(t.groups, g.ID)
		if g.session.groups--; g.session.groups == 0 {
			delete(t.sessions, g.session.ID)
		}
	}
}

// orphaned reports whether no process could continue g: no member has a parent in another
// group of the session. mu held.
func (g *Group) orphaned() bool {
	for _, p := range g.members {
		if p.state == alive && p.parent != nil && p.parent.group != nil &&
			p.parent.group != g && p.parent.group.session == g.session {
			return false
		}
	}
	return true
}

// Orphaned reports whether no process could continue p's group if it stopped.
func (p *Process) Orphaned() bool {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	return p.group == nil || p.group.orphaned()
}

// SetGroup puts the process with number pid (0: p itself) into the group with number id (0:
// the process's own number).
//
// Errors: ESRCH, EINVAL, EPERM, EACCES: as setpgid(2).
func (p *Process) SetGroup(pid, id int) error {
	t := p.table
	t.mu.Lock()
	defer t.mu.Unlock()
	who := p
	if pid != 0 && pid != p.PID {
		if who = t.procs[pid]; who == nil || who.parent != p {
			return syscall.ESRCH
		}
		if who.group.session != p.group.session {
			return syscall.EPERM
		}
		if who.execed {
			return syscall.EACCES
		}
	}
	if id < 0 {
		return syscall.EINVAL
	}
	if id == 0 {
		id = who.PID
	}
	if who.group.session.leader == who {
		return syscall.EPERM
	}
	g := t.groups[id]
	switch {
	case g == nil && id != who.PID, g != nil && g.session != who.group.session:
		return syscall.EPERM
	case g == nil:
		g = &Group{ID: id, session: who.group.session}
	}
	if who.group != g {
		t.join(who, g)
	}
	return nil
}

// NewSession makes p the leader of a new session and group, without a terminal.
//
// Errors: EPERM p already leads a group.
func (p *Process) NewSession() (id int, err error) {
	t := p.table
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.groups[p.PID] != nil {
		return 0, syscall.EPERM
	}
	s := &Session{ID: p.PID, leader: p}
	t.sessions[s.ID] = s
	t.join(p, &Group{ID: p.PID, session: s})
	return s.ID, nil
}

// Group returns the numbers of p's group and session; 0 after p has been waited for.
func (p *Process) Group() (group, session int) {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	if p.group == nil {
		return 0, 0
	}
	return p.group.ID, p.group.session.ID
}

// HasGroup reports whether there is a group of that number in p's session.
func (p *Process) HasGroup(id int) bool {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	g := p.table.groups[id]
	return g != nil && p.group != nil && g.session == p.group.session
}

// Terminal returns the terminal that controls p's session, nil for none.
func (p *Process) Terminal() Terminal {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	if p.group == nil {
		return nil
	}
	return p.group.session.tty
}

// SetTerminal sets the terminal (nil: none) of p's session; p must lead the session.
//
// Errors: EPERM.
func (p *Process) SetTerminal(tty Terminal) error {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	s := p.group.session
	if s.leader != p || tty != nil && s.tty != nil && s.tty != tty {
		return syscall.EPERM
	}
	for _, o := range p.table.sessions {
		if o != s && tty != nil && o.tty == tty {
			return syscall.EPERM // another session's
		}
	}
	s.tty = tty
	return nil
}

// SessionOf returns the number of the session that a terminal controls, 0 for none.
func (t *Table) SessionOf(tty Terminal) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.sessionOf(tty); s != nil {
		return s.ID
	}
	return 0
}

// sessionOf is SessionOf. mu held.
func (t *Table) sessionOf(tty Terminal) *Session {
	for _, s := range t.sessions {
		if s.tty == tty {
			return s
		}
	}
	return nil
}

// Disown removes a terminal that no longer exists from the session that it controls. The
// session's leader gets SIGHUP and SIGCONT.
func (t *Table) Disown(tty Terminal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.sessionOf(tty)
	if s == nil {
		return
	}
	s.tty = nil
	if s.leader != nil {
		s.leader.send(signalOf(abi.SIGHUP))
		s.leader.send(signalOf(abi.SIGCONT))
	}
}
